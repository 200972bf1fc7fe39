#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "base/worker.h"

struct queue {
	struct job *first;
	struct job *last;
};

/*
 * The lock guards waiting, finished and ending; pending belongs to the loop's
 * thread. A thread takes a job out of waiting, owns it while it runs, and puts
 * it into finished, where the eventfd tells the loop to look.
 */
struct worker {
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct queue waiting;
	struct queue finished;
	bool ending;

	size_t pending;
	size_t queue_max;

	int finished_fd;
	sd_event_source *source;
	const char *name;
	unsigned started;
	pthread_t threads[];
};

static void queue_push(struct queue *q, struct job *job)
{
	job->next = NULL;
	if (q->last)
		q->last->next = job;
	else
		q->first = job;
	q->last = job;
}

static struct job *queue_pop(struct queue *q)
{
	struct job *job = q->first;

	if (!job)
		return NULL;
	q->first = job->next;
	if (!q->first)
		q->last = NULL;
	job->next = NULL;
	return job;
}

static struct job *worker_wait_job(struct worker *w)
{
	struct job *job;

	pthread_mutex_lock(&w->lock);
	while (!w->waiting.first && !w->ending)
		pthread_cond_wait(&w->work, &w->lock);
	job = queue_pop(&w->waiting);
	pthread_mutex_unlock(&w->lock);
	return job;
}

static void worker_hand_back(struct worker *w, struct job *job)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&w->lock);
	queue_push(&w->finished, job);
	pthread_mutex_unlock(&w->lock);
	/* Fails only when the counter is full, and then the loop is told. */
	(void)!write(w->finished_fd, &one, sizeof(one));
}

static void *worker_thread(void *userdata)
{
	struct worker *w = userdata;
	struct job *job;

	(void)pthread_setname_np(pthread_self(), w->name);
	while ((job = worker_wait_job(w))) {
		job->run(job);
		worker_hand_back(w, job);
	}
	return NULL;
}

/* Calls done() for what has finished by now. */
static void worker_finish_jobs(struct worker *w)
{
	struct queue finished;
	struct job *job;
	uint64_t count;

	/* Read first: what is handed back from here on makes it readable anew. */
	(void)!read(w->finished_fd, &count, sizeof(count));
	pthread_mutex_lock(&w->lock);
	finished = w->finished;
	w->finished = (struct queue){ NULL, NULL };
	pthread_mutex_unlock(&w->lock);

	while ((job = queue_pop(&finished))) {
		assert(w->pending > 0);
		w->pending--;
		if (job->done)
			job->done(job);
	}
}

static int on_finished(sd_event_source *source, int fd, uint32_t revents,
		       void *userdata)
{
	(void)source;
	(void)fd;
	(void)revents;
	worker_finish_jobs(userdata);
	return 0;
}

/* Threads inherit the mask; signals are for the loop. */
static int worker_start_threads(struct worker *w, unsigned threads)
{
	sigset_t all, before;
	int r;

	(void)sigfillset(&all);
	r = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (r > 0)
		return -r;
	while (w->started < threads) {
		r = pthread_create(&w->threads[w->started], NULL, worker_thread,
				   w);
		if (r > 0)
			break;
		w->started++;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

int worker_new(sd_event *event, const char *name, unsigned threads,
	       size_t queue_max, struct worker **ret_worker)
{
	_cleanup_(worker_freep) struct worker *w = NULL;
	int r;

	assert(threads > 0 && queue_max > 0);
	w = calloc(1, sizeof(*w) + threads * sizeof(w->threads[0]));
	if (!w)
		return -ENOMEM;
	(void)pthread_mutex_init(&w->lock, NULL);
	(void)pthread_cond_init(&w->work, NULL);
	w->name = name;
	w->queue_max = queue_max;
	w->finished_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->finished_fd < 0)
		return -errno;
	r = event_add_io(event, w->finished_fd, EPOLLIN, on_finished, w, name,
			 &w->source);
	if (r < 0)
		return r;
	r = worker_start_threads(w, threads);
	if (r < 0)
		return r;
	*ret_worker = take_ptr(w);
	return 0;
}

int worker_submit(struct worker *w, struct job *job)
{
	if (w->pending >= w->queue_max)
		return -EAGAIN;
	w->pending++;
	pthread_mutex_lock(&w->lock);
	queue_push(&w->waiting, job);
	pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&w->lock);
	return 0;
}

size_t worker_pending(const struct worker *w)
{
	return w->pending;
}

void worker_drain(struct worker *w)
{
	struct pollfd poll_fd = { .fd = w->finished_fd, .events = POLLIN };

	while (w->pending > 0) {
		(void)poll(&poll_fd, 1, -1);
		worker_finish_jobs(w);
	}
}

void worker_free(struct worker *w)
{
	unsigned i;

	if (!w)
		return;
	worker_drain(w);
	pthread_mutex_lock(&w->lock);
	w->ending = true;
	pthread_cond_broadcast(&w->work);
	pthread_mutex_unlock(&w->lock);
	for (i = 0; i < w->started; i++)
		(void)pthread_join(w->threads[i], NULL);

	w->source = sd_event_source_disable_unref(w->source);
	close_fd(&w->finished_fd);
	(void)pthread_cond_destroy(&w->work);
	(void)pthread_mutex_destroy(&w->lock);
	free(w);
}

void worker_freep(struct worker **w)
{
	worker_free(*w);
}
