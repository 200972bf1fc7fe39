/* SPDX-License-Identifier: Apache-2.0 */
#include "../unit/core_fixture.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "core/container.h"
#include "core/core_exec.h"

/*
 * Two cores, one with few sessions and one with as many as it is told, each
 * against a scripted hypervisor process and scripted guests, which run in a
 * process of their own: what is measured here is core, its store and nothing
 * else.
 *
 * Both do the same in turns, ROUNDS times: create BATCH more sessions, execute
 * in BATCH of all, list PAGE of them, and delete as many as were created. So
 * whatever changes on this machine meanwhile changes for both. What the loop's
 * thread spends on one of them must not grow by more than RATIO_MAX. Time is that
 * of a thread on a CPU.
 *
 * What the larger core does more is to wait for memory that was in no cache,
 * which comes much closer to RATIO_MAX while other programs use the caches as
 * well. So what is above it is measured again, TRIES times at most: what grows
 * with the number of sessions is above it each time.
 *
 * Then all sessions reach their hard limit at once.
 *
 *	tests/scale/scale [SESSIONS]
 */

enum {
	FEW = 100,
	SESSIONS = 10000,
	ROUNDS = 41,
	TRIES = 3,
	BATCH = 50,
	OUTSTANDING = 25,
	PAGE = 100,
	TURNS = 200,
	RSS_MAX_KIB = 64, /* of a session */
	STOPPING_MSEC = 1000,
};

#define RATIO_MAX 1.2

enum operation {
	OP_CREATE,
	OP_EXECUTE,
	OP_LIST,
	OP_DELETE,

	OP_COUNT,
};

/** struct cost - Of one operation in each round, in microseconds */
struct cost {
	double loop[ROUNDS];
	double process[ROUNDS];
};

/** struct scale - A core, and the ids of its sessions */
struct scale {
	struct fixture *fx;
	pid_t server;
	char (*ids)[ID_SIZE];
	size_t asked, answered, deleted;
	struct cost cost[OP_COUNT];
};

/* ------------------------------------------------- the other process */

static void on_heard(struct scripted_guest *g, uint32_t type, uint32_t call,
		     void *userdata)
{
	(void)call;
	(void)userdata;
	if (type == WIRE_INPUT && g->input.length == g->exec.source_size)
		guest_finish(g, WIRE_STATUS_OK, 0);
	else if (type == WIRE_QUIESCE)
		guest_say_quiesced(g, 0);
}

static void on_made(struct scripted_vmd *v, struct scripted_vm *vm)
{
	(void)v;
	vm->guest->heard = on_heard;
}

static void serve(int fd, size_t room)
{
	struct scripted_vmd v;
	sd_event *event;

	assert_int_equal(prctl(PR_SET_PDEATHSIG, SIGKILL), 0);
	assert_true(sd_event_new(&event) >= 0);
	vmd_script_init(&v, event, room);
	v.made = on_made;
	vmd_script_serve(&v, fd);
	while (v.link && sd_event_run(event, UINT64_MAX) >= 0)
		;
	_exit(0);
}

static pid_t start_server(struct fixture *fx, size_t room)
{
	int pair[2];
	pid_t pid;

	assert_int_equal(
		socketpair(AF_UNIX,
			   SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
			   pair),
		0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close_fd(&pair[1]);
		serve(pair[0], room);
	}
	close_fd(&pair[0]);
	fx->remote = pair[1];
	return pid;
}

/* ------------------------------------------------------------ measuring */

static double clock_usec(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* To be added to what cost_end() adds, so that the difference is left. */
static void cost_begin(struct cost *cost, size_t round)
{
	cost->loop[round] = -clock_usec(CLOCK_THREAD_CPUTIME_ID);
	cost->process[round] = -clock_usec(CLOCK_PROCESS_CPUTIME_ID);
}

static void cost_end(struct cost *cost, size_t round)
{
	cost->loop[round] += clock_usec(CLOCK_THREAD_CPUTIME_ID);
	cost->process[round] += clock_usec(CLOCK_PROCESS_CPUTIME_ID);
	cost->loop[round] /= BATCH;
	cost->process[round] /= BATCH;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What disturbs only adds: the lower quartile is what an operation costs. */
static double undisturbed(double *rounds)
{
	qsort(rounds, ROUNDS, sizeof(*rounds), by_size);
	return rounds[ROUNDS / 4];
}

static long rss_kib(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long total, resident = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%ld %ld", &total, &resident), 2);
	(void)fclose(f);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* ---------------------------------------------------------- operations */

static void on_one_created(void *userdata, const struct container_view *c,
			   const struct error *err)
{
	struct scale *s = userdata;

	if (err)
		fail_msg("%s", err->message);
	strcpy(s->ids[s->answered++], c->id);
}

static void create_until(struct scale *s, size_t count)
{
	const struct container_spec spec = { .name = "x" };
	struct error err = ERROR_INIT;
	size_t first = s->answered;

	while (s->answered < count) {
		while (s->asked < count &&
		       s->asked - s->answered < OUTSTANDING) {
			if (core_container_create(s->fx->core, &s->fx->who,
						  &spec, on_one_created, s,
						  &err) < 0)
				fail_msg("%s", err.message);
			s->asked++;
		}
		fixture_turn(s->fx);
	}
	for (; first < count; first++)
		fixture_wait_state(s->fx, s->ids[first], SESSION_VIEW_RUNNING);
}

static void create(struct scale *s)
{
	create_until(s, s->answered + BATCH);
}

static void execute(struct scale *s)
{
	char id[ID_SIZE];
	size_t i;

	for (i = 0; i < BATCH; i++) {
		const char *c = s->ids[i * 7919 % s->answered];

		fixture_exec(s->fx, c, "1", id);
		fixture_wait_exec(s->fx, c, id, EXEC_OK);
	}
}

static void count_view(void *userdata, const struct container_view *view)
{
	(void)view;
	(*(size_t *)userdata)++;
}

static void list(struct scale *s)
{
	const struct core_page page = { .limit = PAGE };
	struct error err = ERROR_INIT;
	size_t i, n;
	bool more;

	for (i = 0; i < BATCH; i++) {
		n = 0;
		assert_int_equal(core_container_list(s->fx->core, &s->fx->who,
						     NULL, &page, count_view,
						     &n, &more, &err),
				 0);
		assert_int_equal(n, PAGE);
	}
}

static void on_one_deleted(void *userdata, const struct error *err)
{
	struct scale *s = userdata;

	if (err)
		fail_msg("%s", err->message);
	s->deleted++;
}

/* The newest, until nothing of them is left in memory. */
static void erase(struct scale *s)
{
	struct error err = ERROR_INIT;
	const char *id;
	size_t i;

	s->deleted = 0;
	for (i = 0; i < BATCH; i++) {
		id = s->ids[--s->answered];
		if (core_container_delete(s->fx->core, &s->fx->who, id,
					  on_one_deleted, s, &err) < 0)
			fail_msg("%s", err.message);
	}
	for (i = 0; i < BATCH; i++) {
		id = s->ids[s->answered + i];
		RUN_UNTIL(s->fx, !map_get(&s->fx->core->containers, id));
	}
	s->asked = s->answered;
	assert_int_equal(s->deleted, BATCH);
}

static const struct {
	const char *name;
	void (*run)(struct scale *s);
} operations[] = {
	[OP_CREATE] = { "create", create },
	[OP_EXECUTE] = { "execute", execute },
	[OP_LIST] = { "list of 100", list },
	[OP_DELETE] = { "delete", erase },
};
static_assert(sizeof(operations) / sizeof(operations[0]) == OP_COUNT,
	      "operations[] doesn't match enum operation");

static void measure(struct scale *s, size_t round)
{
	int op;

	for (op = 0; op < OP_COUNT; op++) {
		cost_begin(&s->cost[op], round);
		operations[op].run(s);
		cost_end(&s->cost[op], round);
		/* What is still being written is nobody's. */
		fixture_settle(s->fx);
	}
}

/* --------------------------------------------------------------- expiry */

struct expiry {
	size_t stopping, live;
};

static void look_at(void *object, void *userdata)
{
	const struct container *c = object;
	struct expiry *e = userdata;

	if (session_state_expired(c->state))
		e->stopping++;
	else
		e->live++;
}

/* The periodic comparison of all VMs; returns whether all go on. */
static bool compare(struct scale *s)
{
	struct expiry e = { 0 };

	clock_advance(s->fx->clock, RECONCILE_USEC);
	fixture_settle(s->fx);
	map_each(&s->fx->core->containers, look_at, &e);
	return e.stopping == 0 && vmd_client_hello(s->fx->client);
}

static double expire(struct scale *s)
{
	double begin;
	struct expiry e;
	unsigned i;

	fixture_settle(s->fx);
	/* That the clock is moved is the test's doing, and takes its time. */
	clock_advance(s->fx->clock, USEC_PER_HOUR);
	begin = clock_usec(CLOCK_THREAD_CPUTIME_ID);
	do {
		/* Looking at all is not to be what takes the time. */
		for (i = 0; i < TURNS; i++)
			if (sd_event_run(s->fx->event, USEC_PER_MSEC) <= 0)
				break;
		e = (struct expiry){ 0 };
		map_each(&s->fx->core->containers, look_at, &e);
	} while (e.live > 0);
	return (clock_usec(CLOCK_THREAD_CPUTIME_ID) - begin) / 1000;
}

/* ----------------------------------------------------------------- main */

/* One for the link of each VM, in either process. */
static void allow_descriptors(size_t sessions)
{
	const struct rlimit files = { .rlim_cur = sessions + 4096,
				      .rlim_max = sessions + 4096 };

	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		fail_msg("cannot have %zu descriptors", sessions + 4096);
}

static struct scale *scale_new(size_t sessions)
{
	struct scale *s = calloc(1, sizeof(*s));
	void *state;

	assert_non_null(s);
	s->ids = calloc(sessions + BATCH, ID_SIZE);
	assert_non_null(s->ids);
	assert_int_equal(fixture_setup(&state), 0);
	s->fx = state;
	fixture_set(s->fx, "pool.default.max=65536");
	fixture_set(s->fx, "pool.default.memory=128M");
	fixture_set(s->fx, "host.memory=16T");
	fixture_set(s->fx, "session.max_per_tenant=65536");
	s->server =
		start_server(s->fx, sessions + BATCH * (ROUNDS * TRIES + 1));
	fixture_start(s->fx);
	create_until(s, sessions);
	return s;
}

/* That all end is chaos's to show: here their VMs just go. */
static void scale_free(struct scale *s)
{
	(void)kill(s->server, SIGKILL);
	(void)waitpid(s->server, NULL, 0);
	(void)fixture_teardown((void **)&s->fx);
	free(s->ids);
	free(s);
}

static double print_figure(const char *name, const char *whose, double *few,
			   double *many)
{
	double a = undisturbed(few), b = undisturbed(many);

	printf("# %-12s %-8s %9.1f %9.1f   %.2f\n", name, whose, a, b, b / a);
	return b / a;
}

static bool is_flat(struct scale *few, struct scale *many)
{
	bool flat = true;
	size_t round;
	int op;

	for (round = 0; round < ROUNDS; round++) {
		measure(few, round);
		measure(many, round);
	}
	for (op = 0; op < OP_COUNT; op++) {
		struct cost *a = &few->cost[op], *b = &many->cost[op];

		flat &= print_figure(operations[op].name, "loop", a->loop,
				     b->loop) <= RATIO_MAX;
		(void)print_figure("", "process", a->process, b->process);
	}
	return flat;
}

static int verdict(int n, bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", n, what);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	size_t sessions = argc > 1 ? strtoul(argv[1], NULL, 10) : SESSIONS;
	struct scale *few, *many;
	double stopping;
	bool flat = false;
	int tries, r;
	long rss;

	setlinebuf(stdout);
	assert_true(sessions >= FEW);
	allow_descriptors(sessions + FEW + 2 * BATCH);
	few = scale_new(FEW);
	rss = rss_kib();
	many = scale_new(sessions);
	rss = rss_kib() - rss;
	printf("# %-21s %9d %9zu  ratio\n", "microseconds; sessions", FEW,
	       sessions);
	for (tries = 0; tries < TRIES && !flat; tries++)
		flat = is_flat(few, many);
	r = verdict(1, flat, "what an operation costs does not grow");
	printf("# RSS per session, KiB: %.1f\n",
	       (double)rss / (double)sessions);
	r |= verdict(2, rss <= RSS_MAX_KIB * (long)sessions,
		     "a session takes at most 64 KiB");
	r |= verdict(3, compare(many), "all are compared and go on");
	stopping = expire(many);
	printf("# all stopping after, ms of the loop: %.0f\n", stopping);
	r |= verdict(4, stopping <= STOPPING_MSEC,
		     "at their limit all stop within a second");
	printf("1..4\n");
	scale_free(few);
	scale_free(many);
	return r;
}
