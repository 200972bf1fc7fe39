#include "test.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "base/worker.h"

enum {
	TASKS = 200,
};

struct task {
	struct job job;
	struct fixture *fx;
	int input;
	int output;
	pthread_t ran_on;
	bool again;
};

struct fixture {
	sd_event *event;
	struct worker *worker;
	pthread_t loop;
	atomic_int gate; /* jobs wait until this is not zero */
	int done[TASKS];
	size_t done_count;
};

static void square(struct job *job)
{
	struct task *t = JOB_OWNER(job, struct task, job);

	while (!atomic_load(&t->fx->gate))
		(void)poll(NULL, 0, 1);
	t->output = t->input * t->input;
	t->ran_on = pthread_self();
}

static void note(struct job *job)
{
	struct task *t = JOB_OWNER(job, struct task, job);

	assert_true(pthread_equal(pthread_self(), t->fx->loop));
	assert_false(pthread_equal(t->ran_on, t->fx->loop));
	assert_int_equal(t->output, t->input * t->input);
	assert_in_range(t->fx->done_count, 0, TASKS - 1);
	t->fx->done[t->fx->done_count++] = t->input;
	if (t->again) {
		t->again = false;
		assert_int_equal(worker_submit(t->fx->worker, job), 0);
	}
}

static void fixture_begin(struct fixture *fx, unsigned threads, size_t queue)
{
	memset(fx, 0, sizeof(*fx));
	fx->loop = pthread_self();
	atomic_store(&fx->gate, 1);
	assert_true(sd_event_new(&fx->event) >= 0);
	assert_int_equal(
		worker_new(fx->event, "test", threads, queue, &fx->worker), 0);
}

static void fixture_end(struct fixture *fx)
{
	worker_free(fx->worker);
	sd_event_unref(fx->event);
}

static void task_init(struct task *t, struct fixture *fx, int input)
{
	*t = (struct task){ .job = { .run = square, .done = note },
			    .fx = fx,
			    .input = input };
}

static void jobs_run_elsewhere_and_are_done_on_the_loop(void **state)
{
	struct task tasks[TASKS];
	struct fixture fx;
	int i;

	(void)state;
	fixture_begin(&fx, 4, TASKS);
	for (i = 0; i < TASKS; i++) {
		task_init(&tasks[i], &fx, i);
		assert_int_equal(worker_submit(fx.worker, &tasks[i].job), 0);
	}
	while (worker_pending(fx.worker) > 0)
		assert_true(sd_event_run(fx.event, UINT64_MAX) >= 0);
	assert_int_equal(fx.done_count, TASKS);
	fixture_end(&fx);
}

static void one_thread_keeps_the_order(void **state)
{
	struct task tasks[TASKS];
	struct fixture fx;
	int i;

	(void)state;
	fixture_begin(&fx, 1, TASKS);
	for (i = 0; i < TASKS; i++) {
		task_init(&tasks[i], &fx, i);
		assert_int_equal(worker_submit(fx.worker, &tasks[i].job), 0);
	}
	worker_drain(fx.worker);
	assert_int_equal(fx.done_count, TASKS);
	for (i = 0; i < TASKS; i++)
		assert_int_equal(fx.done[i], i);
	fixture_end(&fx);
}

static void a_full_queue_takes_no_more(void **state)
{
	struct task tasks[3];
	struct fixture fx;
	int i;

	(void)state;
	fixture_begin(&fx, 1, 2);
	atomic_store(&fx.gate, 0);
	for (i = 0; i < 3; i++)
		task_init(&tasks[i], &fx, i);
	assert_int_equal(worker_submit(fx.worker, &tasks[0].job), 0);
	assert_int_equal(worker_submit(fx.worker, &tasks[1].job), 0);
	assert_int_equal(worker_submit(fx.worker, &tasks[2].job), -EAGAIN);
	assert_int_equal(worker_pending(fx.worker), 2);
	atomic_store(&fx.gate, 1);
	worker_drain(fx.worker);
	assert_int_equal(worker_submit(fx.worker, &tasks[2].job), 0);
	worker_drain(fx.worker);
	assert_int_equal(fx.done_count, 3);
	fixture_end(&fx);
}

static void done_may_submit_the_job_again(void **state)
{
	struct fixture fx;
	struct task t;

	(void)state;
	fixture_begin(&fx, 2, 1);
	task_init(&t, &fx, 7);
	t.again = true;
	assert_int_equal(worker_submit(fx.worker, &t.job), 0);
	worker_drain(fx.worker);
	assert_int_equal(fx.done_count, 2);
	fixture_end(&fx);
}

static void the_end_waits_for_what_was_submitted(void **state)
{
	struct task tasks[10];
	struct fixture fx;
	int i;

	(void)state;
	fixture_begin(&fx, 3, 10);
	for (i = 0; i < 10; i++) {
		task_init(&tasks[i], &fx, i);
		assert_int_equal(worker_submit(fx.worker, &tasks[i].job), 0);
	}
	fixture_end(&fx);
	assert_int_equal(fx.done_count, 10);
}

static void look_at_signals(struct job *job)
{
	struct task *t = JOB_OWNER(job, struct task, job);
	sigset_t set;

	(void)pthread_sigmask(SIG_BLOCK, NULL, &set);
	t->output = sigismember(&set, SIGTERM) && sigismember(&set, SIGCHLD);
}

static void signals_are_not_for_the_threads(void **state)
{
	struct fixture fx;
	struct task t;

	(void)state;
	fixture_begin(&fx, 1, 1);
	task_init(&t, &fx, 1);
	t.job.run = look_at_signals;
	t.job.done = NULL;
	assert_int_equal(worker_submit(fx.worker, &t.job), 0);
	worker_drain(fx.worker);
	assert_int_equal(t.output, 1);
	fixture_end(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_run_elsewhere_and_are_done_on_the_loop),
		cmocka_unit_test(one_thread_keeps_the_order),
		cmocka_unit_test(a_full_queue_takes_no_more),
		cmocka_unit_test(done_may_submit_the_job_again),
		cmocka_unit_test(the_end_waits_for_what_was_submitted),
		cmocka_unit_test(signals_are_not_for_the_threads),
	};

	return RUN_TESTS(tests);
}
