#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "vmd/vmd.h"

/* The client side against a peer that the test plays. */

#define LONG_ID "vm_0123456789012345678901234567890123456789012345"

struct fixture {
	sd_event *event;
	struct vmd_client *client;
	int peer;
	unsigned ready, changed, lost, gone, answers, items;
	int r;
	enum error_code code;
	int fd;
	char why[VMD_MESSAGE_MAX];
	char console[16];
	uint64_t libvirt_usec;
};

static void on_ready(const struct vmd_hello *hello, void *userdata)
{
	struct fixture *fx = userdata;

	(void)hello;
	fx->ready++;
}

static void on_changed(const struct vmd_hello *hello, void *userdata)
{
	struct fixture *fx = userdata;

	(void)hello;
	fx->changed++;
}

static void on_gone(const struct vmd_gone *gone, void *userdata)
{
	struct fixture *fx = userdata;

	assert_string_equal(gone->vm_id, "vm_a");
	fx->gone++;
}

static void on_lost(const char *why, void *userdata)
{
	struct fixture *fx = userdata;

	fx->lost++;
	(void)snprintf(fx->why, sizeof(fx->why), "%s", why ? why : "");
}

static void on_plain(int r, const struct error *err, void *userdata)
{
	struct fixture *fx = userdata;

	fx->answers++;
	fx->r = r;
	fx->code = err->code;
}

static void on_created(int r, const struct vmd_created *created,
		       const struct error *err, void *userdata)
{
	struct fixture *fx = userdata;

	on_plain(r, err, fx);
	if (created)
		fx->libvirt_usec = created->libvirt_usec;
}

static void on_dialled(int r, int fd, const struct error *err, void *userdata)
{
	struct fixture *fx = userdata;

	on_plain(r, err, fx);
	close_fd(&fx->fd);
	fx->fd = fd;
}

static void on_console(int r, const void *data, uint64_t length,
		       uint64_t total, const struct error *err, void *userdata)
{
	struct fixture *fx = userdata;

	on_plain(r, err, fx);
	if (r < 0)
		return;
	assert_int_equal(total, 100);
	memcpy(fx->console, data, length);
}

static void on_item(const struct vmd_vm *vm, void *userdata)
{
	struct fixture *fx = userdata;

	(void)vm;
	assert_int_equal(fx->answers, 0);
	fx->items++;
}

static const struct vmd_handlers handlers = {
	.ready = on_ready,
	.changed = on_changed,
	.vm_gone = on_gone,
	.lost = on_lost,
};

static void settle(struct fixture *fx)
{
	while (sd_event_run(fx->event, 0) > 0)
		;
}

/* What vmd says: header, body, maybe more body, maybe a descriptor. */
static void vmd_says(struct fixture *fx, uint32_t type, uint64_t serial,
		     const void *body, size_t size, const void *more,
		     size_t more_size, int fd)
{
	struct vmd_header h = { type, sizeof(h) + size + more_size, serial };
	struct iovec iov[] = {
		{ &h, sizeof(h) },
		{ (void *)body, size },
		{ (void *)more, more_size },
	};
	char control[CMSG_SPACE(sizeof(int))] = {};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 3 };

	if (fd >= 0) {
		struct cmsghdr *c;

		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	assert_int_equal(sendmsg(fx->peer, &msg, 0), h.size);
	settle(fx);
}

static void vmd_answers(struct fixture *fx, uint64_t serial, int r,
			const void *body, size_t size, int fd)
{
	struct vmd_answer answer = { .result = r };

	if (r < 0) {
		answer.code = ERR_HYPERVISOR;
		strcpy(answer.message, "no");
	}
	vmd_says(fx, VMD_ANSWER, serial, &answer, sizeof(answer), body, size,
		 fd);
}

/* Takes the next request; gives its serial. */
static uint64_t vmd_hears(struct fixture *fx, uint32_t type, void *body,
			  size_t size)
{
	char packet[VMD_PACKET_MAX];
	struct vmd_header h;

	assert_int_equal(recv(fx->peer, packet, sizeof(packet), MSG_DONTWAIT),
			 sizeof(h) + size);
	memcpy(&h, packet, sizeof(h));
	assert_int_equal(h.type, type);
	assert_int_not_equal(h.serial, 0);
	if (body)
		memcpy(body, packet + sizeof(h), size);
	return h.serial;
}

static void attach(struct fixture *fx)
{
	int pair[2];

	close_fd(&fx->peer);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
				    pair), 0);
	assert_int_equal(vmd_client_attach(fx->client, pair[0]), 0);
	fx->peer = pair[1];
}

static void say_hello(struct fixture *fx)
{
	struct vmd_hello hello = { .version = VMD_VERSION, .generation = 7 };

	vmd_says(fx, VMD_HELLO, 0, &hello, sizeof(hello), NULL, 0, -1);
}

static int set_up(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	fx->peer = -1;
	fx->fd = -1;
	assert_int_equal(sd_event_new(&fx->event), 0);
	assert_int_equal(vmd_client_new(fx->event, &handlers, fx, &fx->client),
			 0);
	attach(fx);
	*state = fx;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fx = *state;

	vmd_client_free(fx->client);
	close_fd(&fx->peer);
	close_fd(&fx->fd);
	sd_event_unref(fx->event);
	free(fx);
	return 0;
}

static void nothing_can_be_asked_before_hello(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(vmd_client_destroy(fx->client, "vm_a", on_plain, fx),
			 -ENOTCONN);
	assert_null(vmd_client_hello(fx->client));
	say_hello(fx);
	assert_int_equal(fx->ready, 1);
	assert_int_equal(vmd_client_hello(fx->client)->generation, 7);
	assert_int_equal(vmd_client_destroy(fx->client, "vm_a", on_plain, fx),
			 0);
	assert_int_equal(fx->answers, 0);
}

static void an_answer_reaches_its_call_in_any_order(void **state)
{
	const struct vmd_created created = { .libvirt_usec = 49 };
	struct vmd_create request = { .vm_id = "vm_a" }, heard;
	struct fixture *fx = *state;
	uint64_t first, second;

	say_hello(fx);
	assert_int_equal(vmd_client_create(fx->client, &request, on_created,
					   fx), 0);
	assert_int_equal(vmd_client_destroy(fx->client, "vm_b", on_plain, fx),
			 0);
	first = vmd_hears(fx, VMD_CREATE, &heard, sizeof(heard));
	assert_memory_equal(&heard, &request, sizeof(heard));
	second = vmd_hears(fx, VMD_DESTROY, NULL, sizeof(struct vmd_name));
	vmd_answers(fx, second, -ENOENT, NULL, 0, -1);
	assert_int_equal(fx->answers, 1);
	assert_int_equal(fx->r, -ENOENT);
	assert_int_equal(fx->code, ERR_HYPERVISOR);
	vmd_answers(fx, first, 0, &created, sizeof(created), -1);
	assert_int_equal(fx->answers, 2);
	assert_int_equal(fx->r, 0);
	assert_int_equal(fx->libvirt_usec, 49);
}

static void a_lost_connection_answers_everything_and_a_new_one_works(void **state)
{
	struct fixture *fx = *state;

	say_hello(fx);
	assert_int_equal(vmd_client_destroy(fx->client, "vm_a", on_plain, fx),
			 0);
	assert_int_equal(vmd_client_dial(fx->client, "vm_a", 1, on_dialled, fx,
					 NULL), 0);
	close_fd(&fx->peer);
	settle(fx);
	assert_int_equal(fx->answers, 2);
	assert_int_equal(fx->r, -ECONNRESET);
	assert_int_equal(fx->lost, 1);
	assert_string_equal(fx->why, "");
	assert_int_equal(vmd_client_reload(fx->client, on_plain, fx),
			 -ENOTCONN);
	attach(fx);
	say_hello(fx);
	assert_int_equal(fx->ready, 2);
	assert_int_equal(vmd_client_reload(fx->client, on_plain, fx), 0);
}

static void a_dialled_descriptor_is_the_callbacks(void **state)
{
	const struct vmd_dialled dialled = { .attempts = 1 };
	struct fixture *fx = *state;
	struct vmd_dial heard;
	uint64_t serial, call;
	int pair[2];

	say_hello(fx);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(vmd_client_dial(fx->client, "vm_a", 99, on_dialled,
					 fx, &call), 0);
	serial = vmd_hears(fx, VMD_DIAL, &heard, sizeof(heard));
	assert_int_equal(serial, call);
	assert_int_equal(heard.deadline_usec, 99);
	vmd_answers(fx, serial, 0, &dialled, sizeof(dialled), pair[0]);
	close_fd(&pair[0]);
	assert_int_equal(fx->answers, 1);
	assert_true(fx->fd >= 0);
	assert_true(fcntl(fx->fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(write(fx->fd, "x", 1), 1);
	close_fd(&pair[1]);
}

static void a_cancelled_dial_is_silent_and_leaks_nothing(void **state)
{
	const struct vmd_dialled dialled = {};
	struct fixture *fx = *state;
	uint64_t serial, call;
	int pair[2];
	char byte;

	say_hello(fx);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(vmd_client_dial(fx->client, "vm_a", 99, on_dialled,
					 fx, &call), 0);
	vmd_client_cancel_dial(fx->client, call);
	vmd_client_cancel_dial(fx->client, 12345);
	serial = vmd_hears(fx, VMD_DIAL, NULL, sizeof(struct vmd_dial));
	(void)vmd_hears(fx, VMD_CANCEL, NULL, sizeof(struct vmd_cancel));
	vmd_answers(fx, serial, 0, &dialled, sizeof(dialled), pair[0]);
	close_fd(&pair[0]);
	assert_int_equal(fx->answers, 0);
	/* The end of file says that no copy of the other end is left. */
	assert_int_equal(read(pair[1], &byte, 1), 0);
	close_fd(&pair[1]);
}

static void a_list_comes_before_its_end(void **state)
{
	const struct vmd_vm vm = { .vm_id = "vm_a" };
	struct fixture *fx = *state;
	uint64_t serial;

	say_hello(fx);
	assert_int_equal(vmd_client_list(fx->client, on_item, on_plain, fx),
			 0);
	serial = vmd_hears(fx, VMD_LIST, NULL, 0);
	vmd_says(fx, VMD_ITEM, serial, &vm, sizeof(vm), NULL, 0, -1);
	vmd_says(fx, VMD_ITEM, serial, &vm, sizeof(vm), NULL, 0, -1);
	vmd_answers(fx, serial, 0, NULL, 0, -1);
	assert_int_equal(fx->items, 2);
	assert_int_equal(fx->answers, 1);
}

static void a_console_comes_in_a_memfd(void **state)
{
	const struct vmd_console console = { .length = 5, .total = 100 };
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct fixture *fx = *state;
	uint64_t serial;

	say_hello(fx);
	assert_int_equal(write(fd, "hello", 5), 5);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
	assert_int_equal(vmd_client_console(fx->client, "vm_a", on_console,
					    fx), 0);
	serial = vmd_hears(fx, VMD_CONSOLE, NULL, sizeof(struct vmd_name));
	vmd_answers(fx, serial, 0, &console, sizeof(console), fd);
	close_fd(&fd);
	assert_int_equal(fx->r, 0);
	assert_string_equal(fx->console, "hello");
}

static void a_refusal_is_told_with_the_loss(void **state)
{
	const struct vmd_sentence sentence = { .text = "no QEMU" };
	struct fixture *fx = *state;

	vmd_says(fx, VMD_REFUSED, 0, &sentence, sizeof(sentence), NULL, 0, -1);
	assert_int_equal(fx->lost, 0);
	close_fd(&fx->peer);
	settle(fx);
	assert_int_equal(fx->lost, 1);
	assert_string_equal(fx->why, "no QEMU");
}

static void a_vmd_of_another_version_is_refused_in_words(void **state)
{
	const struct vmd_hello hello = { .version = VMD_VERSION + 1 };
	struct fixture *fx = *state;

	vmd_says(fx, VMD_HELLO, 0, &hello, 200, NULL, 0, -1);
	assert_int_equal(fx->ready, 0);
	assert_int_equal(fx->lost, 1);
	assert_non_null(strstr(fx->why, "another version"));
}

static void another_table_is_told(void **state)
{
	struct fixture *fx = *state;

	say_hello(fx);
	say_hello(fx);
	assert_int_equal(fx->ready, 1);
	assert_int_equal(fx->changed, 1);
}

static void the_end_of_a_vm_is_told(void **state)
{
	const struct vmd_gone gone = { .vm_id = "vm_a" };
	struct fixture *fx = *state;

	say_hello(fx);
	vmd_says(fx, VMD_GONE, 0, &gone, sizeof(gone), NULL, 0, -1);
	assert_int_equal(fx->gone, 1);
}

/* Each of these has to end the connection, and to do no more. */
static void what_breaks_the_protocol_ends_the_connection(void **state)
{
	struct vmd_gone endless;
	struct vmd_sentence text = {};
	struct fixture *fx = *state;
	unsigned n = 0;

	memset(&endless, 'x', sizeof(endless));
	say_hello(fx);
	vmd_says(fx, VMD_GONE, 0, &endless, sizeof(endless), NULL, 0, -1);
	assert_int_equal(fx->lost, ++n);
	attach(fx);
	vmd_says(fx, VMD_GONE, 0, &endless, sizeof(endless), NULL, 0, -1);
	assert_int_equal(fx->lost, ++n);
	attach(fx);
	say_hello(fx);
	vmd_answers(fx, 4711, 0, NULL, 0, -1);
	assert_int_equal(fx->lost, ++n);
	attach(fx);
	say_hello(fx);
	vmd_says(fx, VMD_PROGRESS, 0, &text, sizeof(text), NULL, 0, -1);
	assert_int_equal(fx->lost, ++n);
	attach(fx);
	vmd_says(fx, VMD_PROGRESS, 0, &text, 3, NULL, 0, -1);
	assert_int_equal(fx->lost, ++n);
	attach(fx);
	vmd_says(fx, 9999, 0, NULL, 0, NULL, 0, -1);
	assert_int_equal(fx->lost, ++n);
	assert_int_equal(fx->gone, 0);
	assert_int_equal(fx->answers, 0);
}

static void calls_are_limited(void **state)
{
	struct fixture *fx = *state;
	int i;

	say_hello(fx);
	for (i = 0; i < VMD_CALLS_MAX; i++)
		assert_int_equal(vmd_client_reload(fx->client, on_plain, fx),
				 0);
	assert_int_equal(vmd_client_reload(fx->client, on_plain, fx), -EAGAIN);
	vmd_client_free(fx->client);
	fx->client = NULL;
	assert_int_equal(fx->answers, VMD_CALLS_MAX);
}

static void ids_that_fit_no_message_are_refused(void **state)
{
	struct fixture *fx = *state;

	say_hello(fx);
	assert_int_equal(vmd_client_destroy(fx->client, "", on_plain, fx),
			 -EINVAL);
	assert_int_equal(vmd_client_destroy(fx->client, LONG_ID, on_plain, fx),
			 -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_can_be_asked_before_hello),
		TEST(an_answer_reaches_its_call_in_any_order),
		TEST(a_lost_connection_answers_everything_and_a_new_one_works),
		TEST(a_dialled_descriptor_is_the_callbacks),
		TEST(a_cancelled_dial_is_silent_and_leaks_nothing),
		TEST(a_list_comes_before_its_end),
		TEST(a_console_comes_in_a_memfd),
		TEST(a_refusal_is_told_with_the_loss),
		TEST(a_vmd_of_another_version_is_refused_in_words),
		TEST(another_table_is_told),
		TEST(the_end_of_a_vm_is_told),
		TEST(what_breaks_the_protocol_ends_the_connection),
		TEST(calls_are_limited),
		TEST(ids_that_fit_no_message_are_refused),
	};

	return RUN_TESTS(tests);
}
