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
 * One core with as many sessions as it is told, against a scripted hypervisor
 * process and scripted guests, which run in a process of their own: what is
 * measured here is core, its store and nothing else.
 *
 * Each operation is done SAMPLE times with few sessions and with all of them.
 * What the loop's thread spends on one must not grow by more than RATIO_MAX.
 * Then all sessions reach their hard limit at once. Time is that of the loop's
 * thread on a CPU, so that whatever else this machine does decides nothing.
 *
 *	tests/scale/scale [SESSIONS]
 */

enum {
	FEW = 100,
	SESSIONS = 10000,
	SAMPLE = 500,
	OUTSTANDING = 32,
	PAGE = 100,
	TURNS = 200,
	RSS_MAX_KIB = 64, /* of a session */
	STOPPING_MSEC = 1000,
};

#define RATIO_MAX 1.2

struct cost {
	double thread_usec, process_usec;
};

struct scale {
	struct fixture *fx;
	char (*ids)[ID_SIZE];
	size_t count;
	size_t answered;
	size_t failed;
	char last_exec[ID_SIZE];
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

static struct cost cost_now(void)
{
	return (struct cost){ clock_usec(CLOCK_THREAD_CPUTIME_ID),
			      clock_usec(CLOCK_PROCESS_CPUTIME_ID) };
}

static struct cost cost_of(struct cost from, size_t times)
{
	struct cost now = cost_now();

	return (struct cost){
		(now.thread_usec - from.thread_usec) / (double)times,
		(now.process_usec - from.process_usec) / (double)times,
	};
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

static void print_figure(const char *what, double few, double all)
{
	printf("# %-26s %9.1f %9.1f   %.2f\n", what, few, all,
	       few > 0 ? all / few : 0);
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
		while (s->count < count &&
		       s->count - s->answered < OUTSTANDING) {
			if (core_container_create(s->fx->core, &s->fx->who,
						  &spec, on_one_created, s,
						  &err) < 0)
				fail_msg("%s", err.message);
			s->count++;
		}
		fixture_turn(s->fx);
	}
	for (; first < count; first++)
		fixture_wait_state(s->fx, s->ids[first], SESSION_VIEW_RUNNING);
}

static void execute(struct scale *s)
{
	char id[ID_SIZE];
	size_t i;

	for (i = 0; i < SAMPLE; i++) {
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

	for (i = 0; i < SAMPLE; i++) {
		n = 0;
		assert_int_equal(core_container_list(s->fx->core, &s->fx->who,
						     NULL, &page, count_view,
						     &n, &more, &err),
				 0);
		assert_int_equal(n, PAGE);
	}
}

struct level {
	struct cost create, execute, list;
};

static void measure(struct scale *s, size_t sessions, struct level *ret)
{
	struct cost from;

	create_until(s, sessions - SAMPLE);
	from = cost_now();
	create_until(s, sessions);
	ret->create = cost_of(from, SAMPLE);
	from = cost_now();
	execute(s);
	ret->execute = cost_of(from, SAMPLE);
	from = cost_now();
	list(s);
	ret->list = cost_of(from, SAMPLE);
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
	double begin, msec;
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
	msec = (clock_usec(CLOCK_THREAD_CPUTIME_ID) - begin) / 1000;
	return msec;
}

/* ----------------------------------------------------------------- main */

static struct fixture *begin(size_t sessions)
{
	/* One for the link of each VM, in either process. */
	struct rlimit files = { .rlim_cur = sessions + 4096,
				.rlim_max = sessions + 4096 };
	struct fixture *fx;
	void *state;

	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		fail_msg("cannot have %zu descriptors", sessions + 4096);
	assert_int_equal(fixture_setup(&state), 0);
	fx = state;
	fixture_set(fx, "pool.default.max=65536");
	fixture_set(fx, "pool.default.memory=128M");
	fixture_set(fx, "host.memory=16T");
	fixture_set(fx, "session.max_per_tenant=65536");
	return fx;
}

static bool flat(const char *what, struct cost few, struct cost all)
{
	char title[64];

	(void)snprintf(title, sizeof(title), "%s, loop, us", what);
	print_figure(title, few.thread_usec, all.thread_usec);
	(void)snprintf(title, sizeof(title), "%s, process, us", what);
	print_figure(title, few.process_usec, all.process_usec);
	return all.thread_usec <= RATIO_MAX * few.thread_usec;
}

static int verdict(int n, bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", n, what);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	size_t sessions = argc > 1 ? strtoul(argv[1], NULL, 10) : SESSIONS;
	struct scale s = { .ids = calloc(sessions, ID_SIZE) };
	struct level few, all;
	double stopping;
	long rss;
	bool good;
	pid_t pid;
	int r;

	setlinebuf(stdout);
	assert_non_null(s.ids);
	assert_true(sessions >= FEW + 2 * SAMPLE);
	s.fx = begin(sessions);
	pid = start_server(s.fx, sessions + OUTSTANDING);
	fixture_start(s.fx);
	rss = rss_kib();
	measure(&s, FEW + SAMPLE, &few);
	measure(&s, sessions, &all);
	rss = rss_kib() - rss;
	printf("# %-26s %9d %9zu  ratio\n", "sessions", FEW + SAMPLE, sessions);
	good = flat("create", few.create, all.create);
	good &= flat("execute", few.execute, all.execute);
	good &= flat("list of 100", few.list, all.list);
	r = verdict(1, good, "what an operation costs does not grow");
	printf("# RSS per session, KiB: %.1f\n",
	       (double)rss / (double)sessions);
	r |= verdict(2, rss <= RSS_MAX_KIB * (long)sessions,
		     "a session takes at most 64 KiB");
	r |= verdict(3, compare(&s), "all are compared and go on");
	stopping = expire(&s);
	printf("# all stopping after, ms of the loop: %.0f\n", stopping);
	r |= verdict(4, stopping <= STOPPING_MSEC,
		     "at their limit all stop within a second");
	printf("1..4\n");
	/* That all end is chaos's to show: here their VMs just go. */
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	(void)fixture_teardown((void **)&s.fx);
	free(s.ids);
	return r;
}
