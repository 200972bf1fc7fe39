#ifndef CUPOLA_BASE_WORKER_H
#define CUPOLA_BASE_WORKER_H

/*
 * Threads for what blocks.
 *
 * A job is filled in by the loop's thread, handed over, run on some thread of
 * the worker, and handed back: at any time exactly one thread owns it, so
 * nothing in it needs a lock. run() must not touch anything but the job; done()
 * runs on the loop and may touch everything.
 *
 * Jobs are embedded in larger structs: container_of() is JOB_OWNER(). With one
 * thread they run in the order they were submitted; done() is called in the
 * order they finished.
 */

#include <stddef.h>
#include <systemd/sd-event.h>

/**
 * struct job - One piece of work
 * @run:	What blocks; on a thread of the worker
 * @done:	What follows; on the loop. The job is the caller's again, and may
 *		be freed or submitted anew in here. May be NULL
 * @next:	Private
 */
struct job {
	void (*run)(struct job *job);
	void (*done)(struct job *job);
	struct job *next;
};

/** JOB_OWNER() - The struct that a job is embedded in */
#define JOB_OWNER(job_ptr, type, member) \
	((type *)(void *)((char *)(job_ptr)-offsetof(type, member)))

struct worker;

/**
 * worker_new() - Start threads
 * @event:	Loop that done() is called from
 * @name:	Name of the threads, at most 15 characters; a string that stays
 * @threads:	How many
 * @queue_max:	How many jobs may be waiting or running, or waiting for done()
 * @ret_worker:	The worker, for worker_free()
 *
 * All signals are blocked in the threads.
 *
 * Return: 0 or a negative errno
 */
int worker_new(sd_event *event, const char *name, unsigned threads,
	       size_t queue_max, struct worker **ret_worker);

/**
 * worker_submit() - Hand a job over
 * @w:		Worker; on the thread of the loop only
 * @job:	Stays where it is until done() is called
 *
 * Return: 0, or -EAGAIN if the queue is full: the job was not taken
 */
int worker_submit(struct worker *w, struct job *job);

/** worker_pending() - How many jobs were submitted and are not done() */
size_t worker_pending(const struct worker *w);

/**
 * worker_drain() - Wait until no job is pending, calling done() meanwhile
 * @w:		Worker; not from inside a done()
 *
 * Blocks: for the end of a program and for tests. What done() submits is waited
 * for, too.
 */
void worker_drain(struct worker *w);

/** worker_free() - Drain, then end the threads; not from inside a done() */
void worker_free(struct worker *w);
void worker_freep(struct worker **w);

#endif
