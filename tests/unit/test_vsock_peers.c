/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

#include "api/http_listen.h"
#include "api/penalty.h"
#include "api/vsock_peers.h"
#include "base/cleanup.h"
#include "base/settings.h"

/*
 * Who may use a socket of AF_VSOCK. None is opened here: a socket of another
 * family stands for it, and accept4() says what the kernel would.
 */

static struct sockaddr_vm peer;

int __real_accept4(int fd, struct sockaddr *address, socklen_t *size,
		   int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size,
		   int flags);

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size,
		   int flags)
{
	int conn = __real_accept4(fd, NULL, NULL, flags);

	if (conn >= 0) {
		memcpy(address, &peer, sizeof(peer));
		*size = sizeof(peer);
	}
	return conn;
}

static int read_peers(const char *text, struct vsock_peers *ret)
{
	_cleanup_(settings_freep) struct settings *settings = NULL;
	struct error err = ERROR_INIT;
	char setting[2048];

	assert_int_equal(settings_new(settings_table, settings_table_count,
				      &settings), 0);
	(void)snprintf(setting, sizeof(setting), "listen.vsock_allow=%s", text);
	assert_int_equal(settings_set(settings, setting, &err), 0);
	return vsock_peers_read(settings, ret, &err);
}

static bool admits(const struct vsock_peers *peers, uint32_t cid)
{
	const struct sockaddr_vm vm = { .svm_family = AF_VSOCK,
					.svm_cid = cid };

	return vsock_peers_admit(peers, (const struct sockaddr *)&vm,
				 sizeof(vm));
}

static void context_ids_are_read(void **state)
{
	static const char *const bad[] = {
		"0", "4294967295", "4294967296", "-1", "3,4", "x", "3x", "0x3",
		"99999999999999999999",
	};
	struct vsock_peers peers;
	size_t i;

	(void)state;
	assert_int_equal(read_peers("", &peers), 0);
	assert_int_equal(peers.count, 0);
	assert_int_equal(read_peers("  1 3  4294967294 ", &peers), 0);
	assert_int_equal(peers.count, 3);
	assert_int_equal(peers.cid[2], 4294967294u);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (read_peers(bad[i], &peers) == 0)
			fail_msg("'%s' is taken", bad[i]);
}

static void more_than_there_is_room_for_are_refused(void **state)
{
	struct vsock_peers peers;
	char text[1024] = "";
	unsigned i;

	(void)state;
	for (i = 0; i < VSOCK_PEERS_MAX; i++)
		strcat(text, "7 ");
	assert_int_equal(read_peers(text, &peers), 0);
	strcat(text, "7");
	assert_true(read_peers(text, &peers) < 0);
}

static void only_those_that_are_named_are_admitted(void **state)
{
	struct sockaddr_vm vm = { .svm_family = AF_VSOCK, .svm_cid = 3 };
	const struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct vsock_peers peers, none = { .count = 0 };

	(void)state;
	assert_int_equal(read_peers("3 42", &peers), 0);
	assert_true(admits(&peers, 3));
	assert_true(admits(&peers, 42));
	assert_false(admits(&peers, 4));
	assert_false(admits(&peers, VMADDR_CID_ANY));
	assert_false(admits(&peers, VMADDR_CID_HOST));
	assert_false(admits(&none, 3));
	/* Half an address names nobody. */
	assert_false(vsock_peers_admit(&peers, (struct sockaddr *)&vm, 8));
	/* This is about VMs only. */
	assert_true(vsock_peers_admit(&none, (const struct sockaddr *)&un,
				      sizeof(un)));
}

static void a_socket_that_nobody_may_use_is_refused(void **state)
{
	const struct vsock_peers none = { .count = 0 };
	const struct vsock_peers one = { .cid = { 3 }, .count = 1 };
	struct error err = ERROR_INIT;

	(void)state;
	assert_true(vsock_peers_check(&none, AF_VSOCK, &err) < 0);
	assert_non_null(strstr(err.message, "listen.vsock_allow"));
	assert_int_equal(vsock_peers_check(&one, AF_VSOCK, NULL), 0);
	assert_int_equal(vsock_peers_check(&none, AF_INET, NULL), 0);
	assert_int_equal(vsock_peers_check(&none, AF_UNIX, NULL), 0);
}

static void keep(void *userdata, int fd, const struct sockaddr *address,
		 socklen_t size)
{
	unsigned *served = userdata;

	(void)address;
	(void)size;
	(*served)++;
	close(fd);
}

/* Whether a connection is closed, or handed on, when it comes from @cid. */
static bool is_served(uint32_t cid)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	_cleanup_close_ int client = -1;
	struct http_listeners listeners;
	struct vsock_peers peers;
	socklen_t size = sizeof(un);
	unsigned served = 0;
	char byte;
	int fd;

	peer = (struct sockaddr_vm){ .svm_family = AF_VSOCK, .svm_cid = cid };
	assert_int_equal(read_peers("3", &peers), 0);
	assert_true(sd_event_new(&event) >= 0);
	http_listeners_init(&listeners, event, &peers, keep, &served);
	/* A name of the kernel's own choice, below no directory. */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&un,
			      sizeof(un.sun_family)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&un, &size), 0);
	assert_int_equal(http_listeners_add(&listeners, fd, NULL), 0);
	client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&un, size), 0);
	assert_true(sd_event_run(event, UINT64_MAX) >= 0);
	assert_int_equal(read(client, &byte, 1), 0);
	http_listeners_done(&listeners);
	return served == 1;
}

static void others_are_closed_when_they_are_accepted(void **state)
{
	(void)state;
	assert_true(is_served(3));
	assert_false(is_served(4));
	assert_false(is_served(VMADDR_CID_HOST));
}

static void a_vm_is_one_client(void **state)
{
	struct sockaddr_vm a = { .svm_family = AF_VSOCK, .svm_cid = 3 };
	struct sockaddr_vm b = { .svm_family = AF_VSOCK, .svm_cid = 4 };
	uint64_t one, other;

	(void)state;
	one = penalty_network((struct sockaddr *)&a, sizeof(a));
	other = penalty_network((struct sockaddr *)&b, sizeof(b));
	assert_true(one != 0 && other != 0 && one != other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(context_ids_are_read),
		cmocka_unit_test(more_than_there_is_room_for_are_refused),
		cmocka_unit_test(only_those_that_are_named_are_admitted),
		cmocka_unit_test(a_socket_that_nobody_may_use_is_refused),
		cmocka_unit_test(others_are_closed_when_they_are_accepted),
		cmocka_unit_test(a_vm_is_one_client),
	};

	return RUN_TESTS(tests);
}
