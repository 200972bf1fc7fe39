#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "cli/save.h"

/* Each test has a directory of its own, and "outside" beside it. */
struct fixture {
	char top[64];
	char dir[80];
	char outside[80];
};

static int setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	test_make_directory("save", fx->top, sizeof(fx->top));
	snprintf(fx->dir, sizeof(fx->dir), "%s/dir", fx->top);
	snprintf(fx->outside, sizeof(fx->outside), "%s/outside", fx->top);
	assert_int_equal(mkdir(fx->dir, 0700), 0);
	assert_int_equal(mkdir(fx->outside, 0700), 0);
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(fs_remove_tree(AT_FDCWD, fx->top), 0);
	free(fx);
	return 0;
}

/* Saves @text as @path; the result's name, or the negative errno as text. */
static const char *put(struct fixture *fx, const char *path, bool overwrite,
		       const char *text)
{
	_cleanup_(save_freep) struct save *s = NULL;
	static char name[SAVE_PATH_MAX];
	int r = save_begin(fx->dir, path, overwrite, &s);

	if (r < 0) {
		snprintf(name, sizeof(name), "%d", r);
		return name;
	}
	assert_int_equal(write(save_fd(s), text, strlen(text)), strlen(text));
	snprintf(name, sizeof(name), "%s", save_name(s));
	assert_int_equal(save_commit(s), 0);
	return name;
}

static const char *get(struct fixture *fx, const char *name)
{
	static char text[256];
	_cleanup_(buf_done) struct buf content = BUF_INIT(sizeof(text) - 1);
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", fx->dir, name);
	if (fs_read_file(AT_FDCWD, path, &content) < 0)
		return "(none)";
	snprintf(text, sizeof(text), "%s", buf_str(&content));
	return text;
}

static void names_are_cleaned(void **state)
{
	static const struct {
		const char *path;
		const char *clean;
	} cases[] = {
		{ "/mnt/data/chart.png", "chart.png" },
		{ "/mnt/data/plots/a b.png", "plots/a b.png" },
		{ "/etc/passwd", "etc/passwd" },
		{ "../../etc/passwd", "_./_./etc/passwd" },
		{ "a/../b", "a/_./b" },
		{ "a//b///c/", "a/b/c" },
		{ ".bashrc", "_bashrc" },
		{ "/mnt/data/.ssh/authorized_keys", "_ssh/authorized_keys" },
		{ "-rf", "_rf" },
		{ "a\nb\x1b[2Jc", "a_b_[2Jc" },
		{ "..\\..\\x", "_._.._x" },
		{ "Gr\xc3\xb6\xc3\x9f"
		  "e.csv",
		  "Gr\xc3\xb6\xc3\x9f"
		  "e.csv" },
	};
	char clean[SAVE_PATH_MAX];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
			save_path_clean(cases[i].path, clean, sizeof(clean)),
			0);
		assert_string_equal(clean, cases[i].clean);
	}
}

static void what_has_no_name_is_refused(void **state)
{
	char clean[SAVE_PATH_MAX], deep[64] = "", longer[400];
	size_t i;

	(void)state;
	/* C1 steers terminals, and what reorders makes an exe a jpg. */
	assert_int_equal(save_path_clean("a\xc2\x9b/b\xe2\x80\xaegpj.exe", clean,
					 sizeof(clean)), 0);
	assert_string_equal(clean, "a_/b_gpj.exe");
	assert_int_equal(save_path_clean("\xe2\x81\xa6.ssh/\xc3\xa9", clean,
					 sizeof(clean)), 0);
	assert_string_equal(clean, "_.ssh/\xc3\xa9");
	assert_int_equal(save_path_clean("", clean, sizeof(clean)), -EINVAL);
	assert_int_equal(save_path_clean("/mnt/data/", clean, sizeof(clean)),
			 -EINVAL);
	assert_int_equal(save_path_clean("///", clean, sizeof(clean)), -EINVAL);
	for (i = 0; i <= SAVE_DEPTH_MAX; i++)
		strcat(deep, "d/");
	assert_int_equal(save_path_clean(deep, clean, sizeof(clean)),
			 -ENAMETOOLONG);
	memset(longer, 'x', sizeof(longer));
	longer[SAVE_NAME_MAX + 1] = '\0';
	assert_int_equal(save_path_clean(longer, clean, sizeof(clean)),
			 -ENAMETOOLONG);
	assert_int_equal(save_path_clean("abcdef", clean, 4), -ENAMETOOLONG);
}

static void folders_are_made_on_the_way(void **state)
{
	struct fixture *fx = *state;

	assert_string_equal(put(fx, "/mnt/data/a/b/c.txt", false, "deep"),
			    "a/b/c.txt");
	assert_string_equal(get(fx, "a/b/c.txt"), "deep");
}

static void a_file_that_exists_is_kept(void **state)
{
	struct fixture *fx = *state;

	assert_string_equal(put(fx, "r.tar.gz", false, "1"), "r.tar.gz");
	assert_string_equal(put(fx, "r.tar.gz", false, "2"), "r.tar-1.gz");
	assert_string_equal(put(fx, "r.tar.gz", false, "3"), "r.tar-2.gz");
	assert_string_equal(put(fx, "plain", false, "1"), "plain");
	assert_string_equal(put(fx, "plain", false, "2"), "plain-1");
	assert_string_equal(get(fx, "r.tar.gz"), "1");
	assert_string_equal(get(fx, "r.tar-2.gz"), "3");
}

static void the_longest_name_finds_room_for_a_number(void **state)
{
	struct fixture *fx = *state;
	char name[SAVE_NAME_MAX + 1];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memcpy(name + sizeof(name) - 5, ".txt", 4);
	assert_string_equal(put(fx, name, false, "1"), name);
	assert_int_equal(strlen(put(fx, name, false, "2")), SAVE_NAME_MAX);
}

static void overwriting_replaces_a_regular_file_whole(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(save_freep) struct save *s = NULL;

	assert_string_equal(put(fx, "x", false, "old"), "x");
	assert_int_equal(save_begin(fx->dir, "x", true, &s), 0);
	assert_int_equal(write(save_fd(s), "ne", 2), 2);
	assert_string_equal(get(fx, "x"), "old");
	save_free(take_ptr(s));
	assert_string_equal(get(fx, "x"), "old");
	assert_string_equal(put(fx, "x", true, "new"), "x");
	assert_string_equal(get(fx, "x"), "new");
}

static void what_is_not_committed_leaves_nothing(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(save_freep) struct save *s = NULL;

	assert_int_equal(save_begin(fx->dir, "half", false, &s), 0);
	assert_int_equal(write(save_fd(s), "h", 1), 1);
	save_free(take_ptr(s));
	assert_string_equal(get(fx, "half"), "(none)");
	/* A failure to begin must not remove what is somebody else's. */
	assert_string_equal(put(fx, "folder/x", false, "x"), "folder/x");
	assert_string_equal(put(fx, "folder", true, "y"), "-21"); /* EISDIR */
	assert_string_equal(get(fx, "folder/x"), "x");
}

static void links_lead_nowhere(void **state)
{
	struct fixture *fx = *state;
	char link[100], target[100];

	snprintf(link, sizeof(link), "%s/out", fx->dir);
	assert_int_equal(symlink(fx->outside, link), 0);
	assert_string_equal(put(fx, "out/file", false, "x"), "-40"); /* ELOOP */
	snprintf(link, sizeof(link), "%s/file", fx->dir);
	snprintf(target, sizeof(target), "%s/file", fx->outside);
	assert_int_equal(symlink(target, link), 0);
	assert_string_equal(put(fx, "file", true, "x"), "-40");
	assert_string_equal(put(fx, "file", false, "x"), "file-1");
	assert_int_equal(access(target, F_OK), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_cleaned),
		cmocka_unit_test(what_has_no_name_is_refused),
		TEST(folders_are_made_on_the_way),
		TEST(a_file_that_exists_is_kept),
		TEST(the_longest_name_finds_room_for_a_number),
		TEST(overwriting_replaces_a_regular_file_whole),
		TEST(what_is_not_committed_leaves_nothing),
		TEST(links_lead_nowhere),
	};

	return RUN_TESTS(tests);
}
