#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "vmd/child.h"
#include "vmd/console.h"
#include "vmd/libvirt_state.h"
#include "vmd/machine.h"
#include "vmd/machine_state.h"
#include "vmd/record.h"
#include "vmd/scratch.h"
#include "vmd/vm_user.h"

/* The small parts of vmd, each by itself. */

struct directory {
	char path[64];
	int fd;
};

static int set_up(void **state)
{
	struct directory *d = calloc(1, sizeof(*d));

	test_make_directory("parts", d->path, sizeof(d->path));
	d->fd = fs_open_dir(AT_FDCWD, d->path);
	*state = d;
	return 0;
}

static int tear_down(void **state)
{
	struct directory *d = *state;

	close_fd(&d->fd);
	assert_int_equal(fs_remove_tree(AT_FDCWD, d->path), 0);
	free(d);
	return 0;
}

static void a_machine_only_moves_forward(void **state)
{
	enum vmd_state from, to;

	(void)state;
	for (from = 0; from < VMD_STATE_COUNT; from++)
		for (to = 0; to < VMD_STATE_COUNT; to++)
			if (to <= from)
				assert_false(machine_state_may_follow(from, to));
	for (from = 0; from < VMD_STATE_GONE; from++)
		assert_true(machine_state_may_follow(from, from + 1));
	/* A VM that ran is gone only when its end was seen. */
	assert_false(machine_state_may_follow(VMD_STATE_RUNNING,
					      VMD_STATE_GONE));
}

static void a_record_is_read_back_in_its_boot_only(void **state)
{
	struct record record = { .version = RECORD_VERSION, .cid = 77 }, read;
	struct directory *d = *state;
	int fd;

	memcpy(record.magic, RECORD_MAGIC, sizeof(record.magic));
	strcpy(record.boot_id, "this");
	strcpy(record.vm_id, "vm_a");
	assert_int_equal(record_read(d->fd, "this", &read), -ENOENT);
	assert_int_equal(record_write(d->fd, &record), 0);
	assert_int_equal(record_read(d->fd, "this", &read), 0);
	assert_memory_equal(&read, &record, sizeof(read));
	assert_int_equal(record_read(d->fd, "that", &read), -ESTALE);
	/* Without its NUL a string would be read past its end. */
	memset(record.vm_id, 'x', sizeof(record.vm_id));
	assert_int_equal(record_write(d->fd, &record), 0);
	assert_int_equal(record_read(d->fd, "this", &read), -ESTALE);
	fd = openat(d->fd, RECORD_FILE, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_true(fd >= 0);
	close_fd(&fd);
	assert_int_equal(record_read(d->fd, "this", &read), -ESTALE);
}

static void every_vm_has_a_user_of_its_own(void **state)
{
	uint32_t cid;

	(void)state;
	for (cid = 0x8000; cid < 0x40000; cid++) {
		assert_true(vm_user_uid(cid) > vm_user_uid(cid - 1));
		assert_int_equal(vm_user_gid(cid, (gid_t)-1), vm_user_uid(cid));
		assert_int_equal(vm_user_gid(cid, 104), 104);
	}
	/* Whatever the CID: nobody's that a host could have. */
	assert_true(vm_user_uid(UINT32_MAX) >= VM_USER_FIRST);
	assert_true(vm_user_uid(UINT32_MAX) < 0x7fff0000);
	assert_true(vm_user_uid(0) >= VM_USER_FIRST);
}

/* Whoever chooses the CIDs chooses no user of another's. */
static void no_two_machines_have_one_user(void **state)
{
	struct machine gone = { .record.cid = 0x20000, .state = VMD_STATE_GONE };
	struct machine runs = { .record.cid = 0x10000,
				.state = VMD_STATE_RUNNING, .next = &gone };
	const struct host host = { .machines = &runs };

	(void)state;
	assert_true(machine_uses_cid(&host, 0x10000));
	assert_true(machine_uses_cid(&host, 0x10000 + VM_USER_COUNT));
	assert_true(machine_uses_cid(&host, 0x10000 + 17 * VM_USER_COUNT));
	assert_false(machine_uses_cid(&host, 0x10001));
	assert_false(machine_uses_cid(&host, 0x20000));
}

static void a_disk_is_given_to_the_user_of_its_vm_alone(void **state)
{
	struct directory *d = *state;
	struct stat st;
	int fd;

	fd = openat(d->fd, "disk", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close_fd(&fd);
	if (geteuid() != 0) {
		assert_int_equal(vm_user_own(d->fd, "disk", 77, 104), -EPERM);
		return;
	}
	assert_int_equal(vm_user_own(d->fd, "disk", 77, 104), 0);
	assert_int_equal(fstatat(d->fd, "disk", &st, 0), 0);
	assert_int_equal(st.st_uid, vm_user_uid(77));
	assert_int_equal(st.st_gid, 104);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(vm_user_take(d->fd, "disk"), 0);
	assert_int_equal(fstatat(d->fd, "disk", &st, 0), 0);
	assert_int_equal(st.st_uid, geteuid());
	/* Not what a link points to. */
	assert_int_equal(symlinkat("disk", d->fd, "link"), 0);
	assert_int_equal(vm_user_own(d->fd, "link", 78, 104), 0);
	assert_int_equal(fstatat(d->fd, "disk", &st, 0), 0);
	assert_int_equal(st.st_uid, geteuid());
}

static void a_console_keeps_the_newest_bytes_in_order(void **state)
{
	struct console console = CONSOLE_INIT;
	static char all[3 * VMD_CONSOLE_SIZE], got[VMD_CONSOLE_SIZE];
	struct vmd_console info;
	size_t i, part;
	int fd;

	(void)state;
	fd = console_export(&console, &info);
	assert_true(fd >= 0);
	assert_int_equal(info.length, 0);
	close_fd(&fd);
	for (i = 0; i < sizeof(all); i++)
		all[i] = (char)(i * 7 + i / 251);
	for (i = 0; i < sizeof(all); i += part) {
		part = i % 5000 + 1;
		if (part > sizeof(all) - i)
			part = sizeof(all) - i;
		assert_int_equal(console_add(&console, all + i, part), 0);
	}
	fd = console_export(&console, &info);
	assert_true(fd >= 0);
	assert_int_equal(info.length, VMD_CONSOLE_SIZE);
	assert_int_equal(info.total, sizeof(all));
	assert_int_equal(pread(fd, got, sizeof(got), 0), sizeof(got));
	assert_memory_equal(got, all + sizeof(all) - sizeof(got), sizeof(got));
	assert_int_equal(write(fd, "x", 1), -1);
	close_fd(&fd);
	console_done(&console);
}

#define DISK_BYTES ((uint64_t)256 << 20)

static void a_scratch_disk_is_sparse_private_and_ends_with_the_nonce(void **state)
{
	uint8_t nonce[VMD_NONCE_SIZE], block[SCRATCH_NONCE_BLOCK], magic[2];
	struct directory *d = *state;
	struct error err = ERROR_INIT;
	int template_fd, fd;
	struct stat st;

	memset(nonce, 0xa5, sizeof(nonce));
	template_fd = scratch_open_template(d->fd, DISK_BYTES, &err);
	assert_string_equal(err.message, "");
	assert_true(template_fd >= 0);
	assert_int_equal(scratch_make(template_fd, DISK_BYTES, d->fd, "disk",
				      nonce), 0);
	/* A second one of the name would be another VM's. */
	assert_int_equal(scratch_make(template_fd, DISK_BYTES, d->fd, "disk",
				      nonce), -EEXIST);
	close_fd(&template_fd);

	fd = openat(d->fd, "disk", O_RDONLY | O_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, DISK_BYTES + SCRATCH_NONCE_BLOCK);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_true(st.st_blocks * 512 < 4 << 20);
	/* ext4's magic number, in the superblock at 1024. */
	assert_int_equal(pread(fd, magic, 2, 1024 + 56), 2);
	assert_int_equal(magic[0] | magic[1] << 8, 0xef53);
	assert_int_equal(pread(fd, block, sizeof(block), (off_t)DISK_BYTES),
			 sizeof(block));
	assert_memory_equal(block, "CUPOLA\1\0\1\0\0\0", 12);
	assert_memory_equal(block + 12, nonce, sizeof(nonce));
	assert_int_equal(block[12 + sizeof(nonce)], 0);
	close_fd(&fd);
}

static void a_child_is_known_by_pid_and_start_time(void **state)
{
	char *const argv[] = { "/bin/sleep", "600", NULL };
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct child_end end;
	int fd, again;
	uint64_t start;
	pid_t pid;

	(void)state;
	fd = child_spawn(argv, null, &pid);
	assert_true(fd >= 0);
	start = child_start_time(pid);
	assert_int_not_equal(start, 0);
	assert_int_equal(child_find(pid, start + 1), -ESRCH);
	again = child_find(pid, start);
	assert_true(again >= 0);
	assert_true(child_is_alive(again));
	assert_int_equal(child_reap(again, &end), -EAGAIN);
	assert_int_equal(child_kill(again, SIGKILL), 0);
	assert_int_equal(child_wait(fd, USEC_PER_SEC), 0);
	assert_int_equal(child_reap(fd, &end), 0);
	assert_true(WIFSIGNALED(end.status));
	assert_int_equal(WTERMSIG(end.status), SIGKILL);
	assert_int_equal(child_reap(again, &end), -ECHILD);
	assert_int_equal(child_find(pid, start), -ESRCH);
	close_fd(&fd);
	close_fd(&again);
	close_fd(&null);
}

static void a_program_is_run_to_its_end(void **state)
{
	char *const good[] = { "/bin/true", NULL };
	char *const bad[] = { "/bin/false", NULL };
	char *const none[] = { "/no/such/program", NULL };
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(child_run(good, null), 0);
	assert_int_equal(child_run(bad, null), 1);
	assert_int_equal(child_run(none, null), -ENOENT);
	close_fd(&null);
}

static void libvirt_forgets_the_dead_and_nothing_else(void **state)
{
	static const char *const directories[] = {
		"run", "run/qemu", "lib", "lib/qemu", "lib/qemu/ram",
		"lib/qemu/domain-1-vm_dead", "lib/qemu/ram/1-vm_dead",
		"lib/qemu/save",
	};
	struct directory *d = *state;
	size_t i;

	/* A driver that was never opened has nothing to forget. */
	assert_int_equal(libvirt_state_prune(d->fd), 0);
	for (i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		assert_int_equal(mkdirat(d->fd, directories[i], 0700), 0);
	assert_int_equal(fs_write_file_atomic(d->fd, "run/qemu/vm_dead.xml",
					      "x", 1, 0600), 0);
	/* Somebody has the pid, but is no QEMU of that name. */
	assert_int_equal(fs_write_file_atomic(d->fd, "run/qemu/vm_dead.pid",
					      "1", 1, 0600), 0);
	assert_int_equal(fs_write_file_atomic(d->fd, "run/qemu/driver.pid",
					      "1", 1, 0600), 0);
	assert_int_equal(libvirt_state_prune(d->fd), 0);
	assert_int_equal(faccessat(d->fd, "run/qemu/vm_dead.xml", F_OK, 0), -1);
	assert_int_equal(faccessat(d->fd, "run/qemu/vm_dead.pid", F_OK, 0), -1);
	assert_int_equal(faccessat(d->fd, "lib/qemu/domain-1-vm_dead", F_OK,
				   0), -1);
	assert_int_equal(faccessat(d->fd, "lib/qemu/ram/1-vm_dead", F_OK, 0),
			 -1);
	assert_int_equal(faccessat(d->fd, "lib/qemu/save", F_OK, 0), 0);
	assert_int_equal(faccessat(d->fd, "run/qemu/driver.pid", F_OK, 0), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_machine_only_moves_forward),
		TEST(a_record_is_read_back_in_its_boot_only),
		TEST(every_vm_has_a_user_of_its_own),
		TEST(no_two_machines_have_one_user),
		TEST(a_disk_is_given_to_the_user_of_its_vm_alone),
		TEST(a_console_keeps_the_newest_bytes_in_order),
		TEST(a_scratch_disk_is_sparse_private_and_ends_with_the_nonce),
		TEST(a_child_is_known_by_pid_and_start_time),
		TEST(a_program_is_run_to_its_end),
		TEST(libvirt_forgets_the_dead_and_nothing_else),
	};

	return RUN_TESTS(tests);
}
