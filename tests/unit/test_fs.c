#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"

/* A directory of its own for each test. */
struct fixture {
	char path[64];
	int fd;
};

static int fixture_begin(void **state)
{
	static struct fixture fx;

	test_make_directory("fs", fx.path, sizeof(fx.path));
	fx.fd = fs_open_dir(AT_FDCWD, fx.path);
	assert_true(fx.fd >= 0);
	*state = &fx;
	return 0;
}

static int fixture_end(void **state)
{
	struct fixture *fx = *state;

	close_fd(&fx->fd);
	assert_int_equal(fs_remove_tree(AT_FDCWD, fx->path), 0);
	assert_int_equal(access(fx->path, F_OK), -1);
	return 0;
}

static void a_file_is_read_whole_or_not_at_all(void **state)
{
	_cleanup_(buf_done) struct buf fits = BUF_INIT(5), small = BUF_INIT(4);
	struct fixture *fx = *state;

	assert_int_equal(fs_write_file_atomic(fx->fd, "f", "hello", 5, 0640),
			 0);
	assert_int_equal(fs_read_file(fx->fd, "f", &fits), 0);
	assert_string_equal(buf_str(&fits), "hello");
	assert_int_equal(fs_read_file(fx->fd, "f", &small), -EMSGSIZE);
	assert_int_equal(fs_read_file(fx->fd, "none", &small), -ENOENT);
}

static void what_is_no_regular_file_is_not_read(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(100);
	struct fixture *fx = *state;

	assert_int_equal(mkfifoat(fx->fd, "fifo", 0600), 0);
	assert_int_equal(fs_read_file(fx->fd, "fifo", &b), -EINVAL);
	assert_int_equal(fs_read_file(fx->fd, ".", &b), -EISDIR);
}

static void a_written_file_replaces_the_old_one(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(100);
	struct fixture *fx = *state;
	mode_t before = umask(0077);
	char path[128];
	struct stat st;

	assert_int_equal(fs_write_file_atomic(fx->fd, "f", "old", 3, 0600), 0);
	assert_int_equal(fs_write_file_atomic(fx->fd, "f", "new", 3, 0644), 0);
	(void)umask(before);
	assert_int_equal(fstatat(fx->fd, "f", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	(void)snprintf(path, sizeof(path), "%s/f", fx->path);
	assert_int_equal(fs_write_file_atomic(AT_FDCWD, path, "abs", 3, 0644),
			 0);
	assert_int_equal(fs_read_file(fx->fd, "f", &b), 0);
	assert_string_equal(buf_str(&b), "abs");
}

static void a_failed_write_leaves_nothing_behind(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(mkdirat(fx->fd, "dir", 0700), 0);
	assert_int_equal(fs_write_file_atomic(fx->fd, "dir", "x", 1, 0600),
			 -EISDIR);
	assert_int_equal(fs_remove_tree(fx->fd, "dir"), 0);
	/* Only an empty directory can be removed so. */
	assert_int_equal(rmdir(fx->path), 0);
	assert_int_equal(mkdir(fx->path, 0700), 0);
}

static void directories_are_made_with_their_parents(void **state)
{
	struct fixture *fx = *state;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/a//b/c/", fx->path);
	assert_int_equal(fs_mkdir_p(path, 0755), 0);
	assert_int_equal(fs_mkdir_p(path, 0755), 0);
	assert_int_equal(faccessat(fx->fd, "a/b/c", X_OK, 0), 0);
	assert_int_equal(fs_write_file_atomic(fx->fd, "a/file", "", 0, 0600),
			 0);
	(void)snprintf(path, sizeof(path), "%s/a/file/x", fx->path);
	assert_int_equal(fs_mkdir_p(path, 0755), -ENOTDIR);
}

static void a_tree_is_removed_without_following_links(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(mkdirat(fx->fd, "keep", 0700), 0);
	assert_int_equal(fs_write_file_atomic(fx->fd, "keep/f", "", 0, 0600),
			 0);
	assert_int_equal(mkdirat(fx->fd, "tree", 0700), 0);
	assert_int_equal(mkdirat(fx->fd, "tree/sub", 0700), 0);
	assert_int_equal(symlinkat("../../keep", fx->fd, "tree/sub/link"), 0);
	assert_int_equal(symlinkat("keep", fx->fd, "link"), 0);
	assert_int_equal(fs_remove_tree(fx->fd, "tree"), 0);
	assert_int_equal(faccessat(fx->fd, "tree", F_OK, 0), -1);
	assert_int_equal(fs_remove_tree(fx->fd, "link"), 0);
	assert_int_equal(fs_remove_tree(fx->fd, "link"), 0);
	assert_int_equal(faccessat(fx->fd, "keep/f", F_OK, 0), 0);
	assert_int_equal(fs_open_dir(fx->fd, "none"), -ENOENT);
}

static void only_so_many_levels_are_removed(void **state)
{
	struct fixture *fx = *state;
	char path[256] = "d";
	int i;

	for (i = 0; i <= FS_REMOVE_DEPTH_MAX + 2; i++) {
		assert_int_equal(mkdirat(fx->fd, path, 0700), 0);
		(void)strcat(path, "/d");
	}
	assert_int_equal(fs_remove_tree(fx->fd, "d"), -ELOOP);
	assert_int_equal(fs_remove_tree(fx->fd, "d/d/d/d/d"), 0);
}

static void a_lock_has_one_holder_who_is_named(void **state)
{
	struct fixture *fx = *state;
	pid_t holder = -1;
	int first, second;

	first = fs_lock(fx->fd, "lock", NULL);
	assert_true(first >= 0);
	second = fs_lock(fx->fd, "lock", &holder);
	assert_int_equal(second, -EBUSY);
	assert_int_equal(holder, getpid());
	close_fd(&first);
	second = fs_lock(fx->fd, "lock", &holder);
	assert_true(second >= 0);
	close_fd(&second);
}

static void a_lock_ends_with_its_process(void **state)
{
	struct fixture *fx = *state;
	int fd, status;
	pid_t pid;

	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(fs_lock(fx->fd, "lock", NULL) >= 0 ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	fd = fs_lock(fx->fd, "lock", NULL);
	assert_true(fd >= 0);
	close_fd(&fd);
}

#define with_fixture(test) \
	cmocka_unit_test_setup_teardown(test, fixture_begin, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(a_file_is_read_whole_or_not_at_all),
		with_fixture(what_is_no_regular_file_is_not_read),
		with_fixture(a_written_file_replaces_the_old_one),
		with_fixture(a_failed_write_leaves_nothing_behind),
		with_fixture(directories_are_made_with_their_parents),
		with_fixture(a_tree_is_removed_without_following_links),
		with_fixture(only_so_many_levels_are_removed),
		with_fixture(a_lock_has_one_holder_who_is_named),
		with_fixture(a_lock_ends_with_its_process),
	};

	return RUN_TESTS(tests);
}
