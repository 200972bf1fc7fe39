/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "base/settings.h"
#include "kvm_access.h"
#include "tiny_image.h"
#include "vmd/host.h"
#include "vmd/pools.h"
#include "vmd/server.h"

/* What a client is told that comes when the host has changed. */

struct fixture {
	struct host host;
	struct server *server;
	struct sockaddr_un address;
	socklen_t address_size;
};

static int reload(struct settings **ret_settings, struct error *err,
		  void *userdata)
{
	(void)ret_settings;
	(void)userdata;
	return error_set(err, ERR_INTERNAL, "nothing is read anew here");
}

/* A name of the kernel's choice, that is no file. */
static void listen_on(struct fixture *fx)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	fx->address.sun_family = AF_UNIX;
	assert_int_equal(bind(fd, (struct sockaddr *)&fx->address,
			      sizeof(sa_family_t)), 0);
	fx->address_size = sizeof(fx->address);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&fx->address,
				     &fx->address_size), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(server_listen(fx->server, fd, geteuid()), 0);
}

static int setup(void **state)
{
	static const char *const assignments[] = {
		"hypervisor.accel=kvm", "pool.default.image=tiny",
	};
	struct fixture *fx = calloc(1, sizeof(*fx));
	struct error err = ERROR_INIT;
	size_t i;

	assert_non_null(fx);
	host_init(&fx->host);
	fx->host.state = "/nowhere";
	assert_true(sd_event_new(&fx->host.event) >= 0);
	assert_int_equal(clock_new(&fx->host.clock), 0);
	assert_int_equal(settings_new(settings_table, settings_table_count,
				      &fx->host.settings), 0);
	for (i = 0; i < sizeof(assignments) / sizeof(assignments[0]); i++)
		assert_int_equal(settings_set(fx->host.settings,
					      assignments[i], &err), 0);
	assert_int_equal(server_new(&fx->host, reload, fx, &fx->server), 0);
	listen_on(fx);
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	server_free(fx->server);
	pools_free(fx->host.pools);
	settings_free(fx->host.settings);
	clock_free(fx->host.clock);
	sd_event_unref(fx->host.event);
	free(fx);
	return 0;
}

static void load_pools(struct fixture *fx)
{
	struct error err = ERROR_INIT;

	assert_int_equal(pools_load(fx->host.settings, fx->host.state,
				    &fx->host.pools, &err), 0);
}

static int connect_to(struct fixture *fx)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&fx->address,
				 fx->address_size), 0);
	return fd;
}

/* The next message, which has to be HELLO. */
static struct vmd_hello hello(struct fixture *fx, int fd)
{
	struct {
		struct vmd_header header;
		struct vmd_hello hello;
	} got;
	ssize_t n;

	while ((n = recv(fd, &got, sizeof(got), MSG_DONTWAIT)) < 0) {
		assert_int_equal(errno, EAGAIN);
		assert_true(sd_event_run(fx->host.event, 10000000) > 0);
	}
	assert_int_equal(n, sizeof(got));
	assert_int_equal(got.header.type, VMD_HELLO);
	return got.hello;
}

static void hang_up(struct fixture *fx, int fd)
{
	close(fd);
	while (sd_event_run(fx->host.event, 0) > 0)
		;
}

/* As when a host starts, and loads KVM's module a moment after us. */
static void what_was_missing_is_looked_for_again(void **state)
{
	struct fixture *fx = *state;
	const struct vmd_hello start = { .version = VMD_VERSION };
	struct vmd_hello told;
	int fd;

	kvm_errno = EPERM;
	load_pools(fx);
	strcpy(fx->host.pools->pool[0].problem, "as it was at the start");
	server_ready(fx->server, &start);
	fd = connect_to(fx);
	told = hello(fx, fd);
	assert_int_equal(told.accelerator, VMD_ACCELERATOR_NONE);
	assert_non_null(strstr(told.pools[0].problem, "may not be opened"));
	hang_up(fx, fd);

	kvm_errno = 0;
	fd = connect_to(fx);
	told = hello(fx, fd);
	assert_int_equal(told.accelerator, VMD_ACCELERATOR_KVM);
	assert_string_equal(told.pools[0].problem, "");
	assert_string_equal(told.reason, "the settings say kvm");
	hang_up(fx, fd);
}

/* A table that lacks nothing stays as it is, with its generation. */
static void what_is_there_is_not_decided_again(void **state)
{
	struct fixture *fx = *state;
	const struct vmd_hello start = { .version = VMD_VERSION };
	uint32_t generation;
	int fd;

	kvm_errno = 0;
	load_pools(fx);
	fx->host.pools->pool[0].accelerator = VMD_ACCELERATOR_KVM;
	generation = fx->host.pools->generation;
	server_ready(fx->server, &start);
	kvm_errno = EPERM;
	fd = connect_to(fx);
	assert_int_equal(hello(fx, fd).generation, generation);
	hang_up(fx, fd);
}

static int make(void **state)
{
	int r = tiny_image_make(state);

	if (r == 0)
		tiny_image_wish("");
	return r;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_was_missing_is_looked_for_again),
		TEST(what_is_there_is_not_decided_again),
	};

	return cmocka_run_group_tests(tests, make, tiny_image_remove);
}
