/* SPDX-License-Identifier: Apache-2.0 */
#include "scripted_vmd.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "vmd/vmd_link.h"

static void answer(struct scripted_vmd *v, uint64_t serial, int r,
		   const void *body, size_t size, int fd)
{
	struct vmd_answer a = { .result = r };

	if (!v->link)
		return;
	if (r < 0) {
		a.code = ERR_HYPERVISOR;
		strcpy(a.message, "scripted failure");
	}
	assert_int_equal(vmd_link_send(v->link, VMD_ANSWER, serial, &a,
				       sizeof(a), body, size, fd),
			 0);
}

static struct scripted_vm *find(struct scripted_vmd *v, const char *id)
{
	size_t i;

	for (i = 0; i < v->count; i++)
		if (strcmp(v->vms[i].create.vm_id, id) == 0)
			return &v->vms[i];
	return NULL;
}

static void answer_create(struct scripted_vmd *v, struct scripted_vm *vm,
			  uint64_t serial)
{
	const struct vmd_created created = {
		.pid = 1,
		.libvirt_usec = 40000,
		.qemu_usec = 20000,
	};

	vm->state = VMD_STATE_RUNNING;
	answer(v, serial, 0, &created, sizeof(created), -1);
}

static void got_create(struct scripted_vmd *v, uint64_t serial,
		       const struct vmd_create *create)
{
	const struct vmd_created none = { 0 };
	struct scripted_vm *vm;

	v->creates++;
	if (v->taken_cids > 0) {
		v->taken_cids--;
		answer(v, serial, -EADDRINUSE, &none, sizeof(none), -1);
		return;
	}
	if (v->fail_create) {
		answer(v, serial, v->fail_create, &none, sizeof(none), -1);
		return;
	}
	assert_true(v->count < v->room);
	assert_null(find(v, create->vm_id));
	vm = &v->vms[v->count++];
	*vm = (struct scripted_vm){ .create = *create };
	vm->guest = guest_new(v->event, create->vm_id, create->nonce);
	vm->guest->mute = v->mute_guests;
	if (v->made)
		v->made(v, vm);
	vm->state = VMD_STATE_CREATING;
	if (v->hold_creates)
		vm->held_create = serial;
	else
		answer_create(v, vm, serial);
}

void vmd_answer_creates(struct scripted_vmd *v)
{
	size_t i;

	for (i = 0; i < v->count; i++) {
		if (!v->vms[i].held_create)
			continue;
		answer_create(v, &v->vms[i], v->vms[i].held_create);
		v->vms[i].held_create = 0;
	}
}

void vmd_vm_gone(struct scripted_vmd *v, struct scripted_vm *vm,
		 uint32_t reason)
{
	struct vmd_gone gone = {
		.reason = reason,
		.cpu_usec = 7000000,
		.cpu_exact = 1,
	};

	vm->state = VMD_STATE_GONE;
	vm->reason = reason;
	guest_hang_up(vm->guest);
	if (!v->link)
		return;
	strcpy(gone.vm_id, vm->create.vm_id);
	assert_int_equal(vmd_link_send(v->link, VMD_GONE, 0, &gone,
				       sizeof(gone), NULL, 0, -1),
			 0);
}

static void got_destroy(struct scripted_vmd *v, uint64_t serial,
			const struct vmd_name *name)
{
	const struct vmd_created none = { 0 };
	struct scripted_vm *vm = find(v, name->vm_id);

	v->destroys++;
	if (!vm) {
		answer(v, serial, -ENOENT, NULL, 0, -1);
		return;
	}
	if (v->fail_destroy) {
		answer(v, serial, v->fail_destroy, NULL, 0, -1);
		return;
	}
	if (v->hold_destroys) {
		vm->state = VMD_STATE_STOPPING;
		vm->destroy = serial;
		return;
	}
	if (vm->held_create) {
		answer(v, vm->held_create, -ECANCELED, &none, sizeof(none), -1);
		vm->held_create = 0;
		vm->state = VMD_STATE_GONE;
	}
	if (vm->state != VMD_STATE_GONE)
		vmd_vm_gone(v, vm, VMD_REASON_DESTROYED);
	answer(v, serial, 0, NULL, 0, -1);
}

static void got_dial(struct scripted_vmd *v, uint64_t serial,
		     const struct vmd_dial *dial)
{
	const struct vmd_dialled dialled = { .attempts = 1 };
	struct scripted_vm *vm = find(v, dial->vm_id);
	int pair[2];

	v->dials++;
	if (!vm || vm->state == VMD_STATE_GONE) {
		answer(v, serial, -ENOENT, &dialled, sizeof(dialled), -1);
		return;
	}
	if (v->refuse_dials || (v->dials_max && v->dials > v->dials_max)) {
		answer(v, serial, -ETIMEDOUT, &dialled, sizeof(dialled), -1);
		return;
	}
	assert_int_equal(socketpair(AF_UNIX,
				    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
				    0, pair),
			 0);
	answer(v, serial, 0, &dialled, sizeof(dialled), pair[0]);
	guest_connect(vm->guest, pair[1]);
}

static void got_list(struct scripted_vmd *v, uint64_t serial)
{
	size_t i;

	v->lists++;
	for (i = 0; i < v->count; i++) {
		struct vmd_vm item = {
			.state = v->vms[i].state,
			.reason = v->vms[i].reason,
			.cid = v->vms[i].create.cid,
			.parts = v->vms[i].state == VMD_STATE_GONE ?
					 0 :
					 0x1f & ~v->vms[i].lost_parts,
			.accelerator = VMD_ACCELERATOR_TCG,
			.vsock = VMD_VSOCK_USER,
			.cpu_usec = VMD_UNKNOWN,
		};

		strcpy(item.vm_id, v->vms[i].create.vm_id);
		strcpy(item.pool, "default");
		assert_int_equal(vmd_link_send(v->link, VMD_ITEM, serial, &item,
					       sizeof(item), NULL, 0, -1),
				 0);
	}
	if (v->hold_lists)
		v->held_list = serial;
	else
		answer(v, serial, 0, NULL, 0, -1);
}

static void got_inspect(struct scripted_vmd *v, uint64_t serial,
			const struct vmd_name *name)
{
	const struct scripted_vm *vm = find(v, name->vm_id);
	struct vmd_details details = {
		.vcpus = 2,
		.disk_bytes = 1000,
		.disk_used_bytes = 100,
		.rss_bytes = VMD_UNKNOWN,
	};

	if (vm) {
		details.vm.cpu_usec = 5000;
		strcpy(details.vm.vm_id, name->vm_id);
	}
	answer(v, serial, vm ? 0 : -ENOENT, &details, sizeof(details), -1);
}

static void got_probe(struct scripted_vmd *v, uint64_t serial,
		      const struct vmd_probe *probe)
{
	struct vmd_probed probed = {
		.booted = probe->accelerator == VMD_ACCELERATOR_TCG,
		.create_usec = 1000,
		.reason = "it was tried",
	};

	if (probed.booted) {
		probed.boot_usec = 2000000;
		probed.echo_usec = 3000;
	}
	answer(v, serial, v->fail_probe, &probed, sizeof(probed), -1);
}

static int memfd_of(const char *text)
{
	int fd = memfd_create("scripted", MFD_CLOEXEC);
	size_t size = strlen(text);

	assert_int_equal(write(fd, text, size), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void got_console(struct scripted_vmd *v, uint64_t serial,
			const struct vmd_name *name)
{
	const char *text = find(v, name->vm_id) ? v->console : NULL;
	struct vmd_console console = { .length = 0 };

	if (text) {
		console.length = strlen(text);
		console.total = console.length + v->console_lost;
	}
	answer(v, serial, text ? 0 : -ENOENT, &console, sizeof(console),
	       text ? memfd_of(text) : -1);
}

static void got_manifest(struct scripted_vmd *v, uint64_t serial)
{
	int fd = v->manifest ? memfd_of(v->manifest) : -1;

	answer(v, serial, fd < 0 ? -EIO : 0, NULL, 0, fd);
}

void vmd_answer_list(struct scripted_vmd *v)
{
	answer(v, v->held_list, 0, NULL, 0, -1);
	v->held_list = 0;
}

static int on_packet(struct vmd_packet *packet, void *userdata)
{
	struct scripted_vmd *v = userdata;

	switch (packet->type) {
	case VMD_CREATE:
		got_create(v, packet->serial, packet->body);
		break;
	case VMD_DESTROY:
		got_destroy(v, packet->serial, packet->body);
		break;
	case VMD_DIAL:
		got_dial(v, packet->serial, packet->body);
		break;
	case VMD_CANCEL:
		break;
	case VMD_LIST:
		got_list(v, packet->serial);
		break;
	case VMD_INSPECT:
		got_inspect(v, packet->serial, packet->body);
		break;
	case VMD_PROBE:
		got_probe(v, packet->serial, packet->body);
		break;
	case VMD_CONSOLE:
		got_console(v, packet->serial, packet->body);
		break;
	case VMD_MANIFEST:
		got_manifest(v, packet->serial);
		break;
	case VMD_DEADLINE:
		v->deadlines++;
		answer(v, packet->serial, 0, NULL, 0, -1);
		break;
	default:
		fail_msg("core asked 0x%x of vmd", packet->type);
	}
	return 0;
}

static void on_lost(int r, void *userdata)
{
	struct scripted_vmd *v = userdata;

	(void)r;
	vmd_link_free(v->link);
	v->link = NULL;
}

void vmd_script_serve(struct scripted_vmd *v, int fd)
{
	static const struct vmd_link_handlers handlers = {
		.got = on_packet,
		.lost = on_lost,
	};

	assert_null(v->link);
	assert_int_equal(vmd_link_new(v->event, fd, &handlers, v, &v->link), 0);
	assert_int_equal(vmd_link_send(v->link, VMD_HELLO, 0, &v->hello,
				       sizeof(v->hello), NULL, 0, -1),
			 0);
}

int vmd_script_connect(struct scripted_vmd *v)
{
	int pair[2];

	assert_int_equal(
		socketpair(AF_UNIX,
			   SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
			   pair),
		0);
	vmd_script_serve(v, pair[0]);
	return pair[1];
}

void vmd_script_drop(struct scripted_vmd *v)
{
	vmd_link_free(v->link);
	v->link = NULL;
}

void vmd_script_init(struct scripted_vmd *v, sd_event *event, size_t room)
{
	struct vmd_pool *pool = &v->hello.pools[0];

	*v = (struct scripted_vmd){ .event = event, .room = room };
	v->vms = calloc(room, sizeof(*v->vms));
	assert_non_null(v->vms);
	v->hello.version = VMD_VERSION;
	v->hello.generation = 1;
	v->hello.accelerator = VMD_ACCELERATOR_TCG;
	v->hello.vsock = VMD_VSOCK_USER;
	v->hello.pool_count = 1;
	strcpy(v->hello.uri, "test:///default");
	strcpy(pool->name, "default");
	strcpy(pool->image, "python");
	strcpy(pool->digest, "sha256:00");
	pool->accelerator = VMD_ACCELERATOR_TCG;
	pool->vcpus = 1;
	pool->memory_mib = 1024;
	pool->disk_bytes = 1u << 30;
}

void vmd_script_done(struct scripted_vmd *v)
{
	size_t i;

	vmd_script_drop(v);
	for (i = 0; i < v->count; i++)
		guest_free(v->vms[i].guest);
	free(v->vms);
	v->vms = NULL;
	v->count = 0;
}

struct scripted_vm *vmd_vm(struct scripted_vmd *v, size_t i)
{
	assert_true(i < v->count);
	return &v->vms[i];
}

size_t vmd_running(const struct scripted_vmd *v)
{
	size_t i, n = 0;

	for (i = 0; i < v->count; i++)
		n += v->vms[i].state == VMD_STATE_RUNNING;
	return n;
}
