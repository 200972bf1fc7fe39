/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/settings.h"
#include "turn/upstream.h"

struct fixture {
	sd_event *event;
	struct settings *settings;
	struct clock *clock;
	struct upstream *upstream;
	struct error err;
	char dir[64];
};

static int begin(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	assert_non_null(fx);
	assert_int_equal(settings_new(settings_table, settings_table_count,
				      &fx->settings), 0);
	assert_int_equal(clock_new_manual(0, 1700000000 * USEC_PER_SEC,
					  &fx->clock), 0);
	assert_true(sd_event_new(&fx->event) >= 0);
	test_make_directory("upstream", fx->dir, sizeof(fx->dir));
	*state = fx;
	return 0;
}

static int end(void **state)
{
	struct fixture *fx = *state;

	upstream_free(fx->upstream);
	sd_event_unref(fx->event);
	clock_free(fx->clock);
	settings_free(fx->settings);
	assert_int_equal(unsetenv("CREDENTIALS_DIRECTORY"), 0);
	assert_int_equal(fs_remove_tree(AT_FDCWD, fx->dir), 0);
	free(fx);
	return 0;
}

static int opens(struct fixture *fx)
{
	const struct upstream_config config = { .event = fx->event,
						.clock = fx->clock,
						.settings = fx->settings };

	return upstream_new(&config, &fx->upstream, &fx->err);
}

static void loads(struct fixture *fx, const char *text)
{
	if (settings_load_text(fx->settings, "conf", text, strlen(text),
			       &fx->err) < 0)
		fail_msg("%s", fx->err.message);
}

/* Whether such settings are refused at the check, with these words. */
static void is_refused(struct fixture *fx, const char *text, const char *words)
{
	loads(fx, text);
	assert_int_equal(upstream_check_settings(fx->settings, &fx->err),
			 -EINVAL);
	if (!strstr(fx->err.message, words))
		fail_msg("'%s' lacks '%s'", fx->err.message, words);
}

static void add_name(void *userdata, const struct upstream_model *model)
{
	strcat(strcat(userdata, model->name), " ");
}

static void without_settings_there_is_no_model(void **state)
{
	struct fixture *fx = *state;
	struct upstream_model model;
	char names[256] = "";

	assert_int_equal(opens(fx), 0);
	upstream_each_model(fx->upstream, add_name, names);
	assert_string_equal(names, "");
	assert_int_equal(upstream_model_find(fx->upstream, "m", &model,
					     &fx->err), -ENOENT);
	assert_string_equal(fx->err.message,
			    "There is no model 'm'; none is configured");
	assert_string_equal(fx->err.reason, "model_not_found");
	assert_string_equal(fx->err.param, "model");
}

static void models_are_listed_in_the_order_of_the_file(void **state)
{
	struct fixture *fx = *state;
	struct upstream_model model;
	char names[256] = "";

	loads(fx, "[model.gpt-4.1]\nurl = https://h.example/v1/\n"
		  "[model.x]\nurl = http://127.0.0.1:1/v1\nname = org/x:7b\n"
		  "[model]\nurl = http://[::1]:8090\nname = main\n");
	assert_int_equal(opens(fx), 0);
	upstream_each_model(fx->upstream, add_name, names);
	assert_string_equal(names, "main gpt-4.1 org/x:7b ");
	assert_int_equal(upstream_model_find(fx->upstream, "org/x:7b", &model,
					     &fx->err), 0);
	assert_int_equal(model.created_at, 1700000000);
	assert_int_equal(upstream_model_find(fx->upstream, "x", &model,
					     &fx->err), -ENOENT);
	assert_string_equal(fx->err.message, "There is no model 'x'; there are "
			    "'main', 'gpt-4.1', 'org/x:7b'");
}

static void an_address_is_needed(void **state)
{
	is_refused(*state, "[model.a]\nkey_file = k\n", "model.a.url is missing");
}

static void the_first_model_needs_a_name(void **state)
{
	is_refused(*state, "[model]\nurl = http://h/v1\n", "model.name");
}

static void addresses_are_of_http(void **state)
{
	is_refused(*state, "[model.a]\nurl = file:///etc/passwd\n",
		   "no http:// or https://");
}

static void addresses_are_whole(void **state)
{
	is_refused(*state, "[model.a]\nurl = h.example/v1\n",
		   "no http:// or https://");
}

static void an_address_holds_no_password(void **state)
{
	struct fixture *fx = *state;

	is_refused(fx, "[model.a]\nurl = https://u:secret@h/v1\n",
		   "neither user and password");
	assert_null(strstr(fx->err.message, "secret"));
}

static void two_models_cannot_have_one_name(void **state)
{
	is_refused(*state, "[model.a]\nurl = http://h/v1\n"
			   "[model.b]\nurl = http://h/v1\nname = a\n",
		   "Two models are called 'a'");
}

/* Writes a file of a key; the setting names it as @name. */
static void has_key(struct fixture *fx, const char *name, const char *text,
		    size_t size, mode_t mode)
{
	char path[128], set[256];

	snprintf(path, sizeof(path), "%s/key", fx->dir);
	assert_int_equal(fs_write_file_atomic(AT_FDCWD, path, text, size, mode),
			 0);
	snprintf(set, sizeof(set), "model.a.key_file=%s", name ? name : path);
	assert_int_equal(settings_set(fx->settings, set, &fx->err), 0);
	loads(fx, "[model.a]\nurl = http://h/v1\n");
}

static void key_is_refused(struct fixture *fx, const char *words)
{
	assert_true(opens(fx) < 0);
	assert_null(fx->upstream);
	assert_memory_equal(fx->err.message, "model.a.key_file: ", 18);
	assert_null(strstr(fx->err.message, "sesame"));
	if (!strstr(fx->err.message, words))
		fail_msg("'%s' lacks '%s'", fx->err.message, words);
}

static void a_key_is_read_from_a_file(void **state)
{
	struct fixture *fx = *state;

	has_key(fx, NULL, " sesame\r\n", 9, 0640);
	assert_int_equal(opens(fx), 0);
}

static void a_key_is_read_from_a_credential(void **state)
{
	struct fixture *fx = *state;

	has_key(fx, "key", "sesame\n", 7, 0400);
	assert_int_equal(setenv("CREDENTIALS_DIRECTORY", fx->dir, 1), 0);
	assert_int_equal(opens(fx), 0);
}

static void a_credential_needs_systemd(void **state)
{
	has_key(*state, "key", "sesame\n", 7, 0400);
	key_is_refused(*state, "systemd passed no credentials");
}

static void a_key_that_everybody_may_read_is_refused(void **state)
{
	has_key(*state, NULL, "sesame\n", 7, 0644);
	key_is_refused(*state, "everybody may read");
}

static void a_key_is_one_line(void **state)
{
	has_key(*state, NULL, "sesame\nHost: evil\n", 18, 0600);
	key_is_refused(*state, "one line of printable characters");
}

static void a_key_has_no_nul(void **state)
{
	has_key(*state, NULL, "sesame\0x\n", 9, 0600);
	key_is_refused(*state, "byte 0");
}

static void a_key_is_not_empty(void **state)
{
	has_key(*state, NULL, " \n", 2, 0600);
	key_is_refused(*state, "is empty");
}

static void a_key_has_a_limit(void **state)
{
	static char text[5000];

	memset(text, 's', sizeof(text));
	has_key(*state, NULL, text, sizeof(text), 0600);
	key_is_refused(*state, "longer than a key");
}

static void a_missing_file_is_named(void **state)
{
	has_key(*state, "/nonexistent/key", "sesame", 6, 0600);
	key_is_refused(*state, "'/nonexistent/key': No such file");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_settings_there_is_no_model),
		TEST(models_are_listed_in_the_order_of_the_file),
		TEST(an_address_is_needed),
		TEST(the_first_model_needs_a_name),
		TEST(addresses_are_of_http),
		TEST(addresses_are_whole),
		TEST(an_address_holds_no_password),
		TEST(two_models_cannot_have_one_name),
		TEST(a_key_is_read_from_a_file),
		TEST(a_key_is_read_from_a_credential),
		TEST(a_credential_needs_systemd),
		TEST(a_key_that_everybody_may_read_is_refused),
		TEST(a_key_is_one_line),
		TEST(a_key_has_no_nul),
		TEST(a_key_is_not_empty),
		TEST(a_key_has_a_limit),
		TEST(a_missing_file_is_named),
	};

	return RUN_TESTS(tests);
}
