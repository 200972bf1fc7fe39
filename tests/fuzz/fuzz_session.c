/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A whole daemon without its API, with a guest that says anything at any time.
 * Whatever that is, its session ends for a reason that may be, its execution in
 * a status that may be, and nothing is left of it.
 *
 * The first byte of an input says how the session stands (enum opening), then
 * come steps: one byte that says what (enum step), two of length, and as many
 * bytes.
 */

#include "fuzz.h"

#include "../unit/core_fixture.h"

#include "base/cleanup.h"
#include "core/pool.h"

/* Rows of ended sessions make a store slow: it begins anew after so many. */
enum { INPUTS_PER_STORE = 200 };

enum opening {
	OPENING_RUNNING, /* an execution runs */
	OPENING_IDLE,
	OPENING_PROOF, /* the guest is connected and has said nothing */

	OPENING_COUNT,
};

enum step {
	STEP_SAY, /* on the connection for control */
	STEP_SAY_MORE,
	STEP_BULK, /* what it will say when it is asked for a file */
	STEP_PASS, /* as many hundredths of a second as the length says */
	STEP_HANG_UP,
	STEP_EXEC,
	STEP_INTERRUPT,
	STEP_IDLE, /* until the last files are asked for */

	STEP_COUNT,
};

struct play {
	struct fixture *fx;
	struct scripted_guest *g;
	char container[ID_SIZE];
	char exec[ID_SIZE];
	struct buf bulk;
};

static void *state;
static unsigned inputs;

static void done_with_store(void)
{
	if (state)
		(void)fixture_teardown(&state);
	state = NULL;
}

static struct fixture *new_store(void)
{
	static bool once;

	/* Outside a test cmocka would only exit. */
	(void)setenv("CMOCKA_TEST_ABORT", "1", 1);
	if (!once)
		(void)atexit(done_with_store);
	once = true;
	done_with_store();
	(void)fixture_setup(&state);
	fixture_start(state);
	return state;
}

/* Until nothing moves, the two workers included. */
static void settle(struct fixture *fx)
{
	do {
		while (sd_event_run(fx->event, 0) > 0)
			;
		store_flush(fx->store);
	} while (sd_event_run(fx->event, USEC_PER_MSEC / 2) > 0);
}

static void on_started(void *userdata, const struct exec_view *exec,
		       const struct error *err)
{
	bool *called = userdata;

	(void)exec;
	(void)err;
	*called = true;
}

static void start_exec(struct play *p)
{
	const struct exec_spec spec = { .code = "x",
					.code_len = 1,
					.stdin_data = "" };
	struct error err = ERROR_INIT;
	bool called = false;

	/* It may be refused: too many wait, or the session has ended. */
	if (core_exec_start(p->fx->core, &p->fx->who, p->container, &spec,
			    on_started, &called, &err) >= 0)
		RUN_UNTIL(p->fx, called);
}

static void interrupt(struct play *p)
{
	struct error err = ERROR_INIT;

	if (p->exec[0])
		(void)core_exec_interrupt(p->fx->core, &p->fx->who,
					  p->container, p->exec, &err);
}

static void say(struct play *p, const uint8_t *data, size_t size)
{
	if (p->g->control)
		guest_say_raw(p->g, data, size);
	else if (!LIST_EMPTY(&p->g->lines))
		guest_say_bulk(p->g, data, size);
}

static void play_step(struct play *p, enum step step, const uint8_t *data,
		      size_t size)
{
	switch (step) {
	case STEP_BULK:
		buf_clear(&p->bulk);
		(void)buf_add(&p->bulk, data, size);
		break;
	case STEP_PASS:
		clock_advance(p->fx->clock, size * 10 * USEC_PER_MSEC);
		break;
	case STEP_HANG_UP:
		guest_hang_up(p->g);
		settle(p->fx);
		clock_advance(p->fx->clock, 200 * USEC_PER_MSEC);
		break;
	case STEP_EXEC:
		start_exec(p);
		break;
	case STEP_INTERRUPT:
		interrupt(p);
		break;
	case STEP_IDLE:
		clock_advance(p->fx->clock, 20 * USEC_PER_MINUTE);
		break;
	default:
		say(p, data, size);
	}
	settle(p->fx);
}

static void open_session(struct play *p, enum opening opening)
{
	struct answer a;

	/* Guests that never get ready here tell nothing of the image. */
	pool_booted(pool_find(p->fx->core, CORE_POOL_DEFAULT), true);
	p->fx->vmd.mute_guests = opening == OPENING_PROOF;
	fixture_create(p->fx, NULL, 0, &a);
	strcpy(p->container, a.id);
	settle(p->fx);
	p->g = fixture_guest(p->fx, p->container);
	if (opening == OPENING_PROOF) {
		/* Nor does it understand what it is answered. */
		p->g->deaf = true;
		return;
	}
	fixture_wait_state(p->fx, p->container, SESSION_VIEW_RUNNING);
	p->g->bulk = &p->bulk;
	if (opening == OPENING_RUNNING)
		fixture_exec(p->fx, p->container, "x", p->exec);
	settle(p->fx);
}

static void check_exec(struct play *p)
{
	struct exec_view v = fixture_exec_view(p->fx, p->container, p->exec);

	if (v.status == EXEC_QUEUED || v.status == EXEC_RUNNING)
		abort();
	if (v.out_len > WIRE_HEAD_MAX + WIRE_TAIL_MAX ||
	    v.err_len > WIRE_HEAD_MAX + WIRE_TAIL_MAX ||
	    v.artifact_count + v.skipped_count > WIRE_CHANGED_MAX)
		abort();
}

static bool reason_may_be(const char *reason)
{
	static const char *const reasons[] = {
		"guest_protocol_error", "guest_unresponsive", "boot_failed",
		"idle_timeout",         "hard_limit",
	};
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reason && strcmp(reason, reasons[i]) == 0)
			return true;
	return false;
}

/* What still lives is ended by the clock: of what is deleted nothing is told. */
static void close_session(struct play *p)
{
	struct fixture *fx = p->fx;
	unsigned i;

	for (i = 0; i < 8 && fixture_container(fx, p->container).state !=
				     SESSION_VIEW_ENDED;
	     i++) {
		clock_advance(fx->clock, 30 * USEC_PER_MINUTE);
		settle(fx);
	}
	fixture_wait_state(fx, p->container, SESSION_VIEW_ENDED);
	if (!reason_may_be(fixture_container(fx, p->container).ended_reason))
		abort();
	RUN_UNTIL(fx, vmd_running(&fx->vmd) == 0);
	settle(fx);
	if (p->exec[0])
		check_exec(p);
	for (i = 0; i < fx->vmd.count; i++)
		guest_free(fx->vmd.vms[i].guest);
	fx->vmd.count = 0;
	buf_done(&p->bulk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct play p = { .bulk = BUF_INIT(1u << 20) };

	if (size == 0)
		return 0;
	p.fx = inputs++ % INPUTS_PER_STORE ? state : new_store();
	open_session(&p, (enum opening)(data[0] % OPENING_COUNT));
	for (data++, size--; size > 0;) {
		enum step step = (enum step)(data[0] % STEP_COUNT);
		size_t length;

		if (size < 3)
			break;
		length = data[1] | (size_t)data[2] << 8;
		data += 3;
		size -= 3;
		if (step == STEP_PASS) {
			play_step(&p, step, data, length);
			continue;
		}
		length = length < size ? length : size;
		play_step(&p, step, data, length);
		data += length;
		size -= length;
	}
	close_session(&p);
	return 0;
}
