#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "vmd/dial.h"
#include "vmd/machine.h"

/* Dialling through a vsock daemon that the test plays. No process is started. */

struct fixture {
	char state[64];
	struct host host;
	struct machine *machine;
	struct dial *dial;
	int listener;
	unsigned done;
	int r, fd;
	unsigned attempts;
};

static const struct machine_watch nobody = { .created = NULL };

static void on_done(struct dial *dial, int r, int fd, unsigned attempts,
		    usec_t usec, void *userdata)
{
	struct fixture *fx = userdata;

	(void)usec;
	assert_ptr_equal(dial, fx->dial);
	fx->done++;
	fx->r = r;
	fx->fd = fd;
	fx->attempts = attempts;
}

static void guest_says(struct fixture *fx, const char *text)
{
	assert_int_equal(console_add(&fx->machine->console, text,
				     strlen(text)), 0);
}

static void daemon_listens(struct fixture *fx)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)snprintf(address.sun_path, sizeof(address.sun_path),
		       "%s/vm/vm_a/vsock", fx->state);
	fx->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC |
				       SOCK_NONBLOCK, 0);
	assert_int_equal(bind(fx->listener, (struct sockaddr *)&address,
			      sizeof(address)), 0);
	assert_int_equal(listen(fx->listener, 8), 0);
}

/* The daemon's end of the next attempt, after its question. */
static int daemon_accepts(struct fixture *fx)
{
	char question[32] = "";
	int i, fd = -1;

	for (i = 0; i < 100 && fd < 0; i++) {
		(void)sd_event_run(fx->host.event, 10000);
		fd = accept(fx->listener, NULL, NULL);
	}
	assert_true(fd >= 0);
	assert_true(recv(fd, question, sizeof(question) - 1, 0) > 0);
	assert_string_equal(question, "CONNECT 1023\n");
	return fd;
}

static void run_until_done(struct fixture *fx)
{
	int i;

	for (i = 0; i < 200 && !fx->done; i++)
		(void)sd_event_run(fx->host.event, 10000);
	assert_int_equal(fx->done, 1);
}

static void dial_for(struct fixture *fx, usec_t usec)
{
	assert_int_equal(dial_start(fx->machine,
				    clock_boot(fx->host.clock) + usec, on_done,
				    fx, &fx->dial), 0);
	assert_int_equal(fx->done, 0);
}

static int set_up(void **state)
{
	struct record record = { .vsock = VMD_VSOCK_USER };
	struct fixture *fx = calloc(1, sizeof(*fx));
	char path[80];

	test_make_directory("dial", fx->state, sizeof(fx->state));
	(void)snprintf(path, sizeof(path), "%s/vm/vm_a", fx->state);
	assert_int_equal(fs_mkdir_p(path, 0700), 0);
	host_init(&fx->host);
	fx->host.state = fx->state;
	fx->listener = -1;
	fx->fd = -1;
	assert_int_equal(sd_event_new(&fx->host.event), 0);
	assert_int_equal(clock_new(&fx->host.clock), 0);
	strcpy(record.vm_id, "vm_a");
	assert_int_equal(machine_new(&fx->host, &record, &nobody, NULL,
				     &fx->machine), 0);
	*state = fx;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fx = *state;

	machine_free(fx->machine);
	host_done(&fx->host);
	clock_free(fx->host.clock);
	sd_event_unref(fx->host.event);
	close_fd(&fx->listener);
	close_fd(&fx->fd);
	assert_int_equal(fs_remove_tree(AT_FDCWD, fx->state), 0);
	free(fx);
	return 0;
}

static void a_guest_that_answers_is_reached_and_not_a_byte_is_lost(void **state)
{
	const char answer[] = "OK 1073741824\nCHALLENGE";
	struct fixture *fx = *state;
	char bytes[32] = "";
	int fd;

	daemon_listens(fx);
	guest_says(fx, GUEST_LISTENS "\r\n");
	dial_for(fx, USEC_PER_SEC);
	fd = daemon_accepts(fx);
	/* In two parts, the second with what the guest said at once. */
	assert_int_equal(write(fd, answer, 5), 5);
	(void)sd_event_run(fx->host.event, 0);
	assert_int_equal(fx->done, 0);
	assert_int_equal(write(fd, answer + 5, sizeof(answer) - 6),
			 sizeof(answer) - 6);
	run_until_done(fx);
	assert_int_equal(fx->r, 0);
	assert_int_equal(fx->attempts, 1);
	assert_int_equal(read(fx->fd, bytes, sizeof(bytes)), 9);
	assert_string_equal(bytes, "CHALLENGE");
	close_fd(&fd);
}

static void a_refusal_is_tried_again(void **state)
{
	struct fixture *fx = *state;
	int fd;

	guest_says(fx, GUEST_LISTENS "\r\n");
	dial_for(fx, USEC_PER_SEC);
	(void)sd_event_run(fx->host.event, 20000);
	daemon_listens(fx);
	fd = daemon_accepts(fx);
	close_fd(&fd);
	fd = daemon_accepts(fx);
	assert_int_equal(write(fd, "nonsense\n", 9), 9);
	(void)sd_event_run(fx->host.event, 20000);
	close_fd(&fd);
	fd = daemon_accepts(fx);
	assert_int_equal(write(fd, "OK 1\n", 5), 5);
	run_until_done(fx);
	assert_int_equal(fx->r, 0);
	assert_true(fx->attempts >= 4);
	close_fd(&fd);
}

static void a_guest_is_not_dialled_before_it_says_that_it_listens(void **state)
{
	struct fixture *fx = *state;
	int fd;

	fx->machine->blind_from = USEC_INFINITY;
	daemon_listens(fx);
	dial_for(fx, USEC_PER_SEC);
	guest_says(fx, "[    0.1] cupola-guest: loading\r\ncupola-");
	(void)sd_event_run(fx->host.event, 20000);
	assert_int_equal(accept(fx->listener, NULL, NULL), -1);
	guest_says(fx, "cupola-guest: lis");
	guest_says(fx, "tening\r\n");
	fd = daemon_accepts(fx);
	assert_int_equal(write(fd, "OK 1\n", 5), 5);
	run_until_done(fx);
	assert_int_equal(fx->r, 0);
	assert_int_equal(fx->attempts, 1);
	close_fd(&fd);
}

static void a_guest_that_never_says_it_is_dialled_late_and_seldom(void **state)
{
	struct fixture *fx = *state;
	int fd;

	fx->machine->blind_from =
		clock_boot(fx->host.clock) + 50 * USEC_PER_MSEC;
	daemon_listens(fx);
	dial_for(fx, 300 * USEC_PER_MSEC);
	(void)sd_event_run(fx->host.event, 1000);
	assert_int_equal(accept(fx->listener, NULL, NULL), -1);
	fd = daemon_accepts(fx);
	close_fd(&fd);
	/* The next attempt would be after the deadline. */
	run_until_done(fx);
	assert_int_equal(fx->r, -ETIMEDOUT);
	assert_int_equal(fx->attempts, 1);
}

static void a_guest_that_never_answers_is_given_up_at_the_deadline(void **state)
{
	struct fixture *fx = *state;
	int fd;

	daemon_listens(fx);
	dial_for(fx, 100 * USEC_PER_MSEC);
	fd = daemon_accepts(fx);
	run_until_done(fx);
	assert_int_equal(fx->r, -ETIMEDOUT);
	assert_int_equal(fx->fd, -1);
	close_fd(&fd);
}

static void a_machine_that_ends_ends_its_dials(void **state)
{
	struct fixture *fx = *state;

	dial_for(fx, USEC_PER_SEC);
	dial_fail_all(fx->machine);
	assert_int_equal(fx->done, 1);
	assert_int_equal(fx->r, -ENOENT);
}

static void a_cancelled_dial_says_nothing(void **state)
{
	struct fixture *fx = *state;

	dial_for(fx, 10 * USEC_PER_MSEC);
	dial_cancel(fx->dial);
	(void)sd_event_run(fx->host.event, 20000);
	assert_int_equal(fx->done, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_guest_that_answers_is_reached_and_not_a_byte_is_lost),
		TEST(a_refusal_is_tried_again),
		TEST(a_guest_is_not_dialled_before_it_says_that_it_listens),
		TEST(a_guest_that_never_says_it_is_dialled_late_and_seldom),
		TEST(a_guest_that_never_answers_is_given_up_at_the_deadline),
		TEST(a_machine_that_ends_ends_its_dials),
		TEST(a_cancelled_dial_says_nothing),
	};

	return RUN_TESTS(tests);
}
