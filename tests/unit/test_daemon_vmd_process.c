#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "daemon/vmd_process.h"

/*
 * A shell stands in for cupola-vmd: it says its pid on descriptor 3, then waits
 * until the other end closes.
 */

static const char *const shell[] = {
	"cupola-vmd",
	"-c",
	"echo $$ >&3; read line <&3; exit 0",
	NULL,
};

struct fixture {
	sd_event *event;
	struct clock *clock;
	int binary;
	int socket; /* our end of the latest start */
	unsigned starts;
	bool gone;
	struct vmd_process *process;
};

static int on_connected(int fd, void *userdata)
{
	struct fixture *fx = userdata;

	close_fd(&fx->socket);
	fx->socket = fd;
	fx->starts++;
	return 0;
}

static void on_gone(void *userdata)
{
	struct fixture *fx = userdata;

	fx->gone = true;
}

/* As the daemon's first descriptor it is where the socket is to go, later. */
static int open_shell(void)
{
	int fd = open("/bin/sh", O_PATH | O_CLOEXEC);

	if (fd != VMD_PROCESS_FD) {
		assert_int_equal(dup3(fd, VMD_PROCESS_FD, O_CLOEXEC),
				 VMD_PROCESS_FD);
		close_fd(&fd);
	}
	return VMD_PROCESS_FD;
}

static int setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));
	struct vmd_process_config config = {
		.arguments = shell,
		.connected = on_connected,
		.userdata = fx,
	};

	fx->socket = -1;
	assert_int_equal(
		clock_new_manual(USEC_PER_HOUR, USEC_PER_DAY, &fx->clock), 0);
	fx->binary = open_shell();
	assert_true(sd_event_new(&fx->event) >= 0);
	config.event = fx->event;
	config.clock = fx->clock;
	config.binary = fx->binary;
	assert_int_equal(vmd_process_new(&config, &fx->process, NULL), 0);
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	close_fd(&fx->socket);
	vmd_process_free(fx->process);
	close_fd(&fx->binary);
	sd_event_unref(fx->event);
	clock_free(fx->clock);
	free(fx);
	return 0;
}

/* The pid that the running child tells. */
static pid_t child_pid(struct fixture *fx)
{
	char text[32] = "";

	assert_true(recv(fx->socket, text, sizeof(text) - 1, 0) > 0);
	return (pid_t)strtol(text, NULL, 10);
}

/* The loop waits for the child, not for time. */
static void run_until(struct fixture *fx, const bool *flag)
{
	while (!*flag)
		assert_true(sd_event_run(fx->event, 30 * USEC_PER_SEC) > 0);
}

static void one_that_dies_is_started_again_after_a_pause(void **state)
{
	struct fixture *fx = *state;
	pid_t first = child_pid(fx);

	assert_int_equal(fx->starts, 1);
	assert_int_equal(kill(first, SIGKILL), 0);
	assert_true(sd_event_run(fx->event, 30 * USEC_PER_SEC) > 0);
	assert_int_equal(sd_event_run(fx->event, 0), 0);
	assert_int_equal(fx->starts, 1);
	clock_advance(fx->clock, USEC_PER_SEC);
	assert_true(sd_event_run(fx->event, 30 * USEC_PER_SEC) > 0);
	assert_int_equal(fx->starts, 2);
	assert_int_not_equal(child_pid(fx), first);
}

static void one_that_goes_on_dying_is_started_more_slowly(void **state)
{
	struct fixture *fx = *state;
	unsigned i;

	for (i = 0; i < 4; i++) {
		assert_int_equal(kill(child_pid(fx), SIGKILL), 0);
		assert_true(sd_event_run(fx->event, 30 * USEC_PER_SEC) > 0);
		clock_advance(fx->clock, 2 * USEC_PER_SEC);
		assert_true(sd_event_run(fx->event, 30 * USEC_PER_SEC) > 0);
	}
	/* 0.2, 0.4, 0.8 and 1.6 s were the pauses; 3.2 s is the next. */
	assert_int_equal(fx->starts, 5);
	assert_int_equal(kill(child_pid(fx), SIGKILL), 0);
	assert_true(sd_event_run(fx->event, 30 * USEC_PER_SEC) > 0);
	clock_advance(fx->clock, 3 * USEC_PER_SEC);
	assert_int_equal(sd_event_run(fx->event, 0), 0);
	assert_int_equal(fx->starts, 5);
}

static void it_ends_when_our_end_closes(void **state)
{
	struct fixture *fx = *state;

	(void)child_pid(fx);
	vmd_process_stop(fx->process, on_gone, fx);
	assert_int_equal(sd_event_run(fx->event, 0), 0);
	close_fd(&fx->socket);
	run_until(fx, &fx->gone);
	assert_int_equal(fx->starts, 1);
}

static void stopping_between_two_starts_needs_no_child(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(kill(child_pid(fx), SIGKILL), 0);
	assert_true(sd_event_run(fx->event, 30 * USEC_PER_SEC) > 0);
	vmd_process_stop(fx->process, on_gone, fx);
	run_until(fx, &fx->gone);
	clock_advance(fx->clock, USEC_PER_MINUTE);
	assert_int_equal(sd_event_run(fx->event, 0), 0);
	assert_int_equal(fx->starts, 1);
}

static void one_that_does_not_listen_is_killed(void **state)
{
	struct fixture *fx = *state;
	pid_t pid = child_pid(fx);

	assert_int_equal(kill(pid, SIGSTOP), 0);
	vmd_process_stop(fx->process, on_gone, fx);
	close_fd(&fx->socket);
	vmd_process_kill(fx->process);
	run_until(fx, &fx->gone);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_that_dies_is_started_again_after_a_pause),
		TEST(one_that_goes_on_dying_is_started_more_slowly),
		TEST(it_ends_when_our_end_closes),
		TEST(stopping_between_two_starts_needs_no_child),
		TEST(one_that_does_not_listen_is_killed),
	};

	log_set_level(LOG_ERR);
	return RUN_TESTS(tests);
}
