/* SPDX-License-Identifier: Apache-2.0 */
#include "exec.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup.h"
#include "exec_slot.h"
#include "kernel.h"
#include "report.h"
#include "streams.h"

#define WAIT_FOR_KERNEL (120 * USEC_PER_SEC)
#define WAIT_FOR_DEATH (1 * USEC_PER_SEC)

struct execution exec_slots[WIRE_RETAINED_MAX];

static void on_timer(struct timer *t);

/* Of the one that is not finished, if there is one. */
static struct execution *current;
static struct timer timer = { .fire = on_timer };
static uint8_t source[WIRE_SOURCE_MAX];
static size_t source_size, stdin_size;
static int stdin_fd = -1;
static enum wire_status verdict;	/* why it is being ended; OK: it is not */
static bool grace_runs;
static usec_t started;
static uint64_t cpu_before, oom_before;

static uint32_t refused_call;		/* whose INPUT is dropped */
static uint32_t count;			/* in this kernel's life */
static bool state_lost;			/* since the last DONE */
static uint64_t grace = 1 * USEC_PER_SEC;
static void (*frames_callback)(void);

#define TO(state) (1u << (state))

static const unsigned moves[] = {
	[EXEC_FREE] = TO(EXEC_RECEIVING),
	[EXEC_RECEIVING] = TO(EXEC_WAITING) | TO(EXEC_FREE),
	[EXEC_WAITING] = TO(EXEC_RUNNING) | TO(EXEC_FINISHED),
	[EXEC_RUNNING] = TO(EXEC_ENDING) | TO(EXEC_FINISHED),
	[EXEC_ENDING] = TO(EXEC_FINISHED),
	[EXEC_FINISHED] = TO(EXEC_FREE),
};
static_assert(sizeof(moves) / sizeof(moves[0]) == EXEC_STATE_COUNT,
	      "moves[] doesn't match enum exec_state");

/* The only place that writes a state. */
static void exec_enter(struct execution *e, enum exec_state to)
{
	assert(moves[e->state] & TO(to));
	e->state = to;
	if (e == current)
		timer_clear(&timer);
	if (e == current && (to == EXEC_FINISHED || to == EXEC_FREE))
		current = NULL;
}

void exec_init(void (*on_frames)(void))
{
	frames_callback = on_frames;
}

void exec_set_grace(uint64_t usec)
{
	grace = usec;
}

struct execution *exec_find(uint32_t call)
{
	size_t i;

	for (i = 0; i < WIRE_RETAINED_MAX; i++)
		if (exec_slots[i].state != EXEC_FREE &&
		    exec_slots[i].call == call)
			return &exec_slots[i];
	return NULL;
}

static int refuse(uint32_t call, enum wire_refusal why,
		  enum wire_refusal *ret_refusal)
{
	refused_call = call;
	*ret_refusal = why;
	return -EBUSY;
}

static void close_stdin(void)
{
	if (stdin_fd >= 0)
		(void)close(stdin_fd);
	stdin_fd = -1;
}

static void begin_streams(struct execution *e)
{
	static const char *const names[] = { "stdout", "stderr" };
	const struct message_exec *m = &e->limits;
	uint64_t spill = m->flags & WIRE_EXEC_SPILL ? m->spill_max : 0;
	char name[sizeof(e->streams[0].spill_name)];
	size_t i;

	for (i = 0; i < 2; i++) {
		(void)snprintf(name, sizeof(name), "%s-%s.txt", names[i],
			       e->id);
		capture_begin(&e->streams[i], m->head_max, m->tail_max, spill,
			      name);
	}
}

static void begin_slot(struct execution *e, uint32_t call,
		       const struct message_exec *m)
{
	e->call = call;
	e->id_size = m->id.size;
	memcpy(e->id, m->id.data, m->id.size);
	e->id[m->id.size] = '\0';
	e->trace_size = m->trace.size;
	if (m->trace.size > 0)
		memcpy(e->trace, m->trace.data, m->trace.size);
	e->limits = *m;
	/* They point into a frame. */
	e->limits.id = e->limits.trace = (struct bytes){ 0 };
	e->displays.total = e->displays.kept = e->displays.bundle = 0;
	e->displays.size = 0;
	e->failure.is_set = false;
	e->done = (struct message_done){ .status = WIRE_STATUS_OK };
	e->sent = (struct attachment){ .is_on = true };
	begin_streams(e);
}

int exec_begin(uint32_t call, const struct message_exec *m,
	       enum wire_refusal *ret_refusal)
{
	struct execution *e = NULL;
	size_t i;

	if (exec_find(call))
		return refuse(call, WIRE_REFUSED_TWICE, ret_refusal);
	if (current)
		return refuse(call, WIRE_REFUSED_BUSY, ret_refusal);
	for (i = 0; i < WIRE_RETAINED_MAX && !e; i++)
		if (exec_slots[i].state == EXEC_FREE)
			e = &exec_slots[i];
	if (!e)
		return refuse(call, WIRE_REFUSED_FULL, ret_refusal);
	if (m->stdin_size > 0) {
		stdin_fd = memfd_create("stdin", MFD_CLOEXEC);
		if (stdin_fd < 0)
			return refuse(call, WIRE_REFUSED_MEMORY, ret_refusal);
	}
	begin_slot(e, call, m);
	source_size = stdin_size = 0;
	current = e;
	exec_enter(e, EXEC_RECEIVING);
	return 0;
}

/* What is measured begins anew, and nothing has been decided. */
static void begin_measures(void)
{
	verdict = WIRE_STATUS_OK;
	grace_runs = false;
	cpu_before = cgroup_cpu_usec();
	oom_before = cgroup_oom_kills_told();
	cgroup_reset_peak();
}

/* Begin to run, if everything is there that it takes. */
static void start_current(void)
{
	struct execution *e = current;
	const struct kernel_work work = {
		.id = { (const uint8_t *)e->id, e->id_size },
		.trace = { e->trace, e->trace_size },
		.source = { source, source_size },
		.stdin_fd = stdin_fd,
	};

	if (!kernel_is_alive()) {
		/* It may end without ever having run. */
		begin_measures();
		timer_set(&timer, clock_boot() + WAIT_FOR_KERNEL);
		return;
	}
	/* What was written while nothing ran is nobody's. */
	streams_drain();
	begin_measures();
	e->done.execution_count = ++count;
	exec_enter(e, EXEC_RUNNING);
	started = clock_boot();
	timer_set(&timer, started + e->limits.timeout_usec);
	/* If it fails the kernel dies, and that ends the execution. */
	(void)kernel_run(&work, count);
	close_stdin();
}

/* Return: 0 or -errno; a full memory shows here */
static int stdin_take(struct bytes data)
{
	while (data.size > 0) {
		ssize_t n = write(stdin_fd, data.data, data.size);

		if (n <= 0)
			return -ENOSPC;
		data.data += n;
		data.size -= (size_t)n;
	}
	return 0;
}

int exec_input(uint32_t call, struct bytes data,
	       enum wire_refusal *ret_refusal)
{
	struct execution *e = current;
	size_t room, n;

	if (call == refused_call)
		return 0;
	if (!e || e->call != call || e->state != EXEC_RECEIVING)
		return -EPROTO;
	room = e->limits.source_size - source_size;
	n = data.size < room ? data.size : room;
	memcpy(source + source_size, data.data, n);
	source_size += n;
	data.data += n;
	data.size -= n;
	if (data.size > e->limits.stdin_size - stdin_size)
		return -EPROTO;
	stdin_size += data.size;
	if (stdin_take(data) < 0) {
		close_stdin();
		exec_enter(e, EXEC_FREE);
		return refuse(call, WIRE_REFUSED_MEMORY, ret_refusal);
	}
	if (source_size < e->limits.source_size ||
	    stdin_size < e->limits.stdin_size)
		return 0;
	if (stdin_fd >= 0)
		(void)lseek(stdin_fd, 0, SEEK_SET);
	exec_enter(e, EXEC_WAITING);
	start_current();
	return 0;
}

static void fill_done(struct execution *e)
{
	struct message_done *d = &e->done;
	uint64_t cpu = cgroup_cpu_usec();
	size_t i;

	d->kernel_epoch = kernel_epoch();
	d->wall_usec = started > 0 ? clock_boot() - started : 0;
	d->cpu_usec = cpu > cpu_before ? cpu - cpu_before : 0;
	d->memory_peak_bytes = cgroup_peak_bytes();
	if (state_lost)
		d->flags |= WIRE_DONE_STATE_LOST;
	state_lost = false;
	for (i = 0; i < 2; i++) {
		capture_finish(&e->streams[i]);
		d->total[i] = e->streams[i].total;
		d->omitted[i] = capture_omitted(&e->streams[i]);
		d->spilled[i] = e->streams[i].spilled;
	}
	d->total[WIRE_DISPLAYS] = e->displays.total;
	d->omitted[WIRE_DISPLAYS] = e->displays.total - e->displays.kept;
}

static void finish(enum wire_status status)
{
	struct execution *e = current;

	e->done.status = status;
	/* The runner may say both, but only one can be so. */
	if (status == WIRE_STATUS_OK)
		e->failure.is_set = false;
	fill_done(e);
	changed_scan(&e->changed);
	e->done.changed = e->changed.count;
	e->done.unlisted = e->changed.unlisted;
	close_stdin();
	started = 0;
	exec_enter(e, EXEC_FINISHED);
	frames_callback();
	streams_rest();
	kernel_settle();
}

/* SIGINT first; whoever does not heed it within the grace is killed. */
static void end_by_force(enum wire_status why)
{
	verdict = why;
	grace_runs = true;
	kernel_interrupt(count);
	timer_set(&timer, clock_boot() + grace);
}

static void on_timer(struct timer *t)
{
	(void)t;
	switch (current->state) {
	case EXEC_WAITING:
		state_lost = true;
		finish(WIRE_STATUS_KERNEL_DIED);
		break;
	case EXEC_RUNNING:
		if (!grace_runs) {
			end_by_force(WIRE_STATUS_TIMEOUT);
			break;
		}
		exec_enter(current, EXEC_ENDING);
		kernel_kill();
		timer_set(&timer, clock_boot() + WAIT_FOR_DEATH);
		break;
	default:
		report("the kernel takes its time to die");
		state_lost = true;
		count = 0;
		finish(verdict);
	}
}

void exec_interrupt(uint32_t call)
{
	if (!current || current->call != call || grace_runs)
		return;
	if (current->state == EXEC_WAITING) {
		finish(WIRE_STATUS_INTERRUPTED);
	} else if (current->state == EXEC_RUNNING) {
		verdict = WIRE_STATUS_INTERRUPTED;
		kernel_interrupt(count);
	}
}

int exec_release(uint32_t call)
{
	struct execution *e = exec_find(call);

	if (!e)
		return 0;
	if (e->state != EXEC_FINISHED)
		return -EPROTO;
	exec_enter(e, EXEC_FREE);
	return 0;
}

void exec_detach_all(void)
{
	size_t i;

	for (i = 0; i < WIRE_RETAINED_MAX; i++)
		exec_slots[i].sent.is_on = false;
	if (current && current->state == EXEC_RECEIVING) {
		close_stdin();
		exec_enter(current, EXEC_FREE);
	}
}

static void on_kernel_ready(void)
{
	if (current && current->state == EXEC_WAITING)
		start_current();
	frames_callback();
}

/* The last of the output is told with DONE, in one packet. */
static bool end_follows;

static void on_kernel_output(enum wire_stream stream, const uint8_t *data,
			     size_t size)
{
	struct execution *e = current;

	/* Outside of an execution it is nobody's. */
	if (!e || (e->state != EXEC_RUNNING && e->state != EXEC_ENDING))
		return;
	capture_take(&e->streams[stream], data, size);
	if (e->streams[stream].total > e->limits.output_max &&
	    e->state == EXEC_RUNNING && !grace_runs)
		end_by_force(WIRE_STATUS_OUTPUT_LIMIT);
	if (!end_follows)
		frames_callback();
}

static enum wire_status status_of_end(bool failed)
{
	if (verdict == WIRE_STATUS_INTERRUPTED && !failed)
		return WIRE_STATUS_OK;		/* it was done already */
	if (verdict != WIRE_STATUS_OK)
		return verdict;
	return failed ? WIRE_STATUS_ERROR : WIRE_STATUS_OK;
}

static void on_kernel_message(const uint8_t *data, size_t size)
{
	bool failed;

	if (!current || current->state != EXEC_RUNNING)
		return;
	if (!exec_got_message(current, data, size, &failed)) {
		frames_callback();
		return;
	}
	/* All that was written before it said so is in the pipes now. */
	end_follows = true;
	streams_drain();
	end_follows = false;
	finish(status_of_end(failed));
}

static enum wire_status status_of_death(int wait_status)
{
	if (verdict != WIRE_STATUS_OK && verdict != WIRE_STATUS_INTERRUPTED)
		return verdict;
	if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL &&
	    cgroup_oom_kills() > oom_before)
		return WIRE_STATUS_OOM;
	return WIRE_STATUS_KERNEL_DIED;
}

static void on_kernel_died(int wait_status)
{
	bool had_state = count > 0;

	count = 0;
	if (!current ||
	    (current->state != EXEC_RUNNING && current->state != EXEC_ENDING)) {
		state_lost = state_lost || had_state;
		return;
	}
	state_lost = true;
	if (WIFSIGNALED(wait_status))
		current->done.signal = (uint8_t)WTERMSIG(wait_status);
	else
		current->done.exit_code = (uint8_t)WEXITSTATUS(wait_status);
	finish(status_of_death(wait_status));
}

const struct kernel_events exec_kernel_events = {
	.ready = on_kernel_ready,
	.message = on_kernel_message,
	.output = on_kernel_output,
	.died = on_kernel_died,
};
