#include "test.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/settings.h"

static int fixture_begin(void **state)
{
	struct settings *s;

	assert_int_equal(settings_new(settings_table, settings_table_count, &s),
			 0);
	*state = s;
	return 0;
}

static int fixture_end(void **state)
{
	settings_free(*state);
	return 0;
}

static void loads(struct settings *s, const char *text)
{
	struct error err = ERROR_INIT;

	if (settings_load_text(s, "conf", text, strlen(text), &err) < 0)
		fail_msg("%s", err.message);
}

static void refuses(struct settings *s, const char *text, const char *message)
{
	struct error err = ERROR_INIT;

	assert_int_equal(
		settings_load_text(s, "conf", text, strlen(text), &err),
		-EINVAL);
	assert_string_equal(err.message, message);
}

static void sets(struct settings *s, const char *assignment)
{
	struct error err = ERROR_INIT;

	if (settings_set(s, assignment, &err) < 0)
		fail_msg("%s", err.message);
}

static void does_not_set(struct settings *s, const char *assignment,
			 const char *message)
{
	struct error err = ERROR_INIT;

	assert_int_equal(settings_set(s, assignment, &err), -EINVAL);
	assert_string_equal(err.message, message);
}

static void without_a_file_there_are_defaults(void **state)
{
	struct settings *s = *state;

	assert_true(settings_usec(s, "session", "idle") == 1800 * USEC_PER_SEC);
	assert_string_equal(settings_string(s, "pool.default", "image"),
			    "python");
	assert_true(settings_bytes(s, "pool.default", "max_artifact") ==
		    64 << 20);
	assert_false(settings_bool(s, "host", "allow_emulation"));
	assert_true(settings_number(s, "host", "memory_commit") == 1.0);
	assert_string_equal(settings_string(s, "hypervisor", "accel"), "auto");
	assert_false(settings_is_set(s, "session", "idle"));
}

static void a_file_gives_values_of_every_type(void **state)
{
	struct settings *s = *state;

	loads(s, "# comment\n[session]\nidle = 90s ; remark\nhard=2h\n\n"
		 "[host]\nallow_emulation = yes\nmemory_commit = 0.3\n"
		 "[pool.default]\nimage=python-minimal\nmemory = 512M\n"
		 "ready = 3\n[hypervisor]\naccel = qemu\n"
		 "[test]\nminute_seconds = 500ms\n");
	assert_true(settings_usec(s, "session", "idle") == 90 * USEC_PER_SEC);
	assert_true(settings_usec(s, "session", "hard") == 2 * USEC_PER_HOUR);
	assert_true(settings_bool(s, "host", "allow_emulation"));
	assert_true(settings_number(s, "host", "memory_commit") == 0.3);
	assert_string_equal(settings_string(s, "pool.default", "image"),
			    "python-minimal");
	assert_true(settings_bytes(s, "pool.default", "memory") == 512 << 20);
	assert_int_equal(settings_uint(s, "pool.default", "ready"), 3);
	assert_string_equal(settings_string(s, "hypervisor", "accel"), "qemu");
	assert_int_equal(settings_usec(s, "test", "minute_seconds"), 500000);
	assert_true(settings_is_set(s, "session", "idle"));
}

static void mistakes_are_named_with_their_line(void **state)
{
	struct settings *s = *state;

	refuses(s, "[session]\nidel = 5\n",
		"conf:2: there is no setting 'idel' in section 'session'");
	refuses(s, "\n\n[sesion]\nidle = 5\n",
		"conf:4: there is no section 'sesion'");
	refuses(s, "[session]\nidle = soon\n",
		"conf:2: session.idle: 'soon' is not a number of seconds, or "
		"of ms, s, m, h or d");
	refuses(s, "[session]\nhard = 0\n",
		"conf:2: session.hard: '0' is not between 1 and 86400 "
		"seconds");
	refuses(s, "[session]\nidle_pools = 5\nidle_pools = 5\n",
		"conf:3: session.idle_pools: given a second time");
	refuses(s, "idle = 5\n", "conf:1: there is no section ''");
	refuses(s, "[exec]\ntimeout\n",
		"conf:2: neither '[section]' nor 'key = value'");
	refuses(s, "[hypervisor]\naccel = auto kvm\n",
		"conf:2: hypervisor.accel: 'auto kvm' is not one of: auto kvm "
		"qemu");
	refuses(s, "[host]\nmemory_commit = nan\n",
		"conf:2: host.memory_commit: 'nan' is not a decimal number");
	refuses(s, "[host]\nallow_emulation = maybe\n",
		"conf:2: host.allow_emulation: 'maybe' is not yes or no");
	refuses(s, "[pool.default]\nvcpus = -1\n",
		"conf:2: pool.default.vcpus: '-1' is not a whole number");
	refuses(s, "[pool.default]\nmemory = 99999999999999999999G\n",
		"conf:2: pool.default.memory: '99999999999999999999G' is not "
		"a number of bytes, or of K, M, G or T");
	refuses(s, "[pool.../x]\nmemory = 1G\n",
		"conf:2: there is no section 'pool.../x'");
}

static void what_the_ini_reader_would_cut_is_refused(void **state)
{
	struct settings *s = *state;
	struct error err = ERROR_INIT;
	char text[400];

	memset(text, 'x', sizeof(text));
	memcpy(text, "[listen]\nsocket = ", 18);
	assert_int_equal(
		settings_load_text(s, "conf", text, sizeof(text), &err),
		-EINVAL);
	assert_string_equal(err.message, "conf:2: the line is too long");
	refuses(s, "[pool.abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv]\n",
		"conf:1: the name of the section is too long");
	error_clear(&err);
	assert_int_equal(settings_load_text(s, "conf", "[exec]\0x\n", 9, &err),
			 -EINVAL);
	assert_string_equal(err.message, "conf:1: the line contains a NUL");
}

static void the_command_line_wins_whatever_the_order(void **state)
{
	struct settings *s = *state;

	sets(s, "session.idle=5");
	sets(s, "session.idle=6");
	loads(s, "[session]\nidle = 7\nhard = 8\n");
	sets(s, "session.hard=9");
	assert_true(settings_usec(s, "session", "idle") == 6 * USEC_PER_SEC);
	assert_true(settings_usec(s, "session", "hard") == 9 * USEC_PER_SEC);
}

static void assignments_are_checked_like_lines(void **state)
{
	struct settings *s = *state;

	does_not_set(s, "session.idle",
		     "'session.idle' is not of the form section.key=value");
	does_not_set(s, "idle=5",
		     "'idle=5' is not of the form section.key=value");
	does_not_set(s, ".idle=5",
		     "'.idle=5' is not of the form section.key=value");
	does_not_set(s, "session.=5",
		     "'session.=5' is not of the form section.key=value");
	does_not_set(s, "pool.*.ready=1", "there is no section 'pool.*'");
	does_not_set(s, "session.idle=",
		     "session.idle: '' is not a number of seconds, or of ms, "
		     "s, m, h or d");
	does_not_set(s, "listen.http=a\nb",
		     "listen.http: the value must be UTF-8 without control "
		     "characters");
	sets(s, "pool.gpt-4.1.image=a=b?c");
	assert_string_equal(settings_string(s, "pool.gpt-4.1", "image"),
			    "a=b?c");
}

/* A value of the limits' unit, as the file has it. */
static void write_assignment(const struct setting *row, uint64_t value,
			     char *ret, size_t size)
{
	const char *dot = strchr(row->section, '.');
	const unsigned section = dot ? (unsigned)(dot - row->section) :
				       (unsigned)strlen(row->section);
	int n = snprintf(ret, size, "%.*s%s.%s=", (int)section, row->section,
			 dot ? ".default" : "", row->key);

	if (row->type == SETTING_NUMBER)
		(void)snprintf(ret + n, size - (size_t)n, "%llu.%03llu",
			       (unsigned long long)value / 1000,
			       (unsigned long long)value % 1000);
	else
		(void)snprintf(ret + n, size - (size_t)n, "%llu%s",
			       (unsigned long long)value,
			       row->type == SETTING_SECONDS ? "ms" : "");
}

static void takes_bound(struct settings *s, const struct setting *row,
			uint64_t value)
{
	char assignment[128];

	write_assignment(row, value, assignment, sizeof(assignment));
	sets(s, assignment);
}

static void refuses_beyond(struct settings *s, const struct setting *row,
			   uint64_t value)
{
	struct error err = ERROR_INIT;
	char assignment[128], bounds[128];
	const char *equals;

	write_assignment(row, value, assignment, sizeof(assignment));
	equals = strchr(assignment, '=');
	if (row->type == SETTING_SECONDS || row->type == SETTING_NUMBER)
		(void)snprintf(bounds, sizeof(bounds), "between %g and %g",
			       (double)row->min / 1000,
			       (double)row->max / 1000);
	else
		(void)snprintf(bounds, sizeof(bounds),
			       "between %llu and %llu",
			       (unsigned long long)row->min,
			       (unsigned long long)row->max);
	if (settings_set(s, assignment, &err) >= 0)
		fail_msg("%s is taken", assignment);
	assert_memory_equal(err.message, assignment,
			    (size_t)(equals - assignment));
	if (!strstr(err.message, bounds))
		fail_msg("%s: %s", assignment, err.message);
}

static void every_amount_is_taken_up_to_its_bounds_and_not_beyond(void **state)
{
	struct settings *s = *state;
	size_t i;

	for (i = 0; i < settings_table_count; i++) {
		const struct setting *row = &settings_table[i];

		if (row->type < SETTING_UINT)
			continue;
		/* None is without a bound. */
		assert_true(row->max > 0);
		takes_bound(s, row, row->min);
		takes_bound(s, row, row->max);
		if (row->min > 0)
			refuses_beyond(s, row, row->min - 1);
		refuses_beyond(s, row, row->max + 1);
	}
}

static void open_sections_have_instances(void **state)
{
	struct settings *s = *state;

	assert_string_equal(settings_instance(s, "pool", 0), "default");
	assert_null(settings_instance(s, "pool", 1));
	loads(s, "[pool.big]\nmemory = 4G\nready = 0\n"
		 "[pool.default]\nready = 2\n[pool.small]\nmemory = 256M\n");
	assert_string_equal(settings_instance(s, "pool", 0), "default");
	assert_string_equal(settings_instance(s, "pool", 1), "big");
	assert_string_equal(settings_instance(s, "pool", 2), "small");
	assert_null(settings_instance(s, "pool", 3));
	assert_true(settings_bytes(s, "pool.big", "memory") == 4ULL << 30);
	assert_true(settings_bytes(s, "pool.small", "memory") == 256 << 20);
	assert_int_equal(settings_uint(s, "pool.big", "vcpus"), 1);
	assert_int_equal(settings_uint(s, "pool.never-named", "vcpus"), 1);
}

static void an_open_section_without_a_name_is_its_default_instance(void **state)
{
	struct settings *s = *state;

	loads(s, "[pool]\nmemory = 2G\n");
	sets(s, "pool.ready=5");
	assert_true(settings_bytes(s, "pool.default", "memory") == 2ULL << 30);
	assert_int_equal(settings_uint(s, "pool.default", "ready"), 5);
	assert_null(settings_instance(s, "pool", 1));
	refuses(s, "[pool.default]\nmemory = 2G\n",
		"conf:2: pool.default.memory: given a second time");
	does_not_set(s, "poo.ready=5", "there is no section 'poo'");
}

static void the_number_of_instances_has_a_limit(void **state)
{
	struct settings *s = *state;
	struct error err = ERROR_INIT;
	char text[64];
	int i;

	for (i = 1; i < LIMIT_SETTING_INSTANCES; i++) {
		(void)snprintf(text, sizeof(text), "pool.p%d.ready=1", i);
		sets(s, text);
	}
	assert_int_equal(settings_set(s, "pool.more.ready=1", &err), -EINVAL);
}

static void defaults_of_a_mode_are_weaker_than_the_file(void **state)
{
	struct settings *s = *state;

	loads(s, "[pool.big]\nmax = 5\n");
	assert_int_equal(settings_set_default(s, "pool.*.max=64"), 0);
	assert_int_equal(settings_set_default(s, "host.allow_emulation=yes"),
			 0);
	assert_int_equal(settings_uint(s, "pool.big", "max"), 5);
	assert_int_equal(settings_uint(s, "pool.default", "max"), 64);
	assert_true(settings_bool(s, "host", "allow_emulation"));
	assert_false(settings_is_set(s, "host", "allow_emulation"));
}

static void a_missing_file_is_an_error(void **state)
{
	struct error err = ERROR_INIT;

	assert_int_equal(settings_load_file(*state, "/nonexistent/conf", &err),
			 -ENOENT);
	assert_string_equal(err.message, "Cannot read '/nonexistent/conf': "
					 "No such file or directory");
}

static void every_row_has_a_help_text_and_no_twin(void **state)
{
	size_t i, j;

	(void)state;
	for (i = 0; i < settings_table_count; i++) {
		assert_non_null(settings_table[i].help);
		for (j = 0; j < i; j++)
			assert_false(strcmp(settings_table[i].key,
					    settings_table[j].key) == 0 &&
				     strcmp(settings_table[i].section,
					    settings_table[j].section) == 0);
	}
}

#define with_fixture(test) \
	cmocka_unit_test_setup_teardown(test, fixture_begin, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(without_a_file_there_are_defaults),
		with_fixture(a_file_gives_values_of_every_type),
		with_fixture(mistakes_are_named_with_their_line),
		with_fixture(what_the_ini_reader_would_cut_is_refused),
		with_fixture(the_command_line_wins_whatever_the_order),
		with_fixture(assignments_are_checked_like_lines),
		with_fixture(
			every_amount_is_taken_up_to_its_bounds_and_not_beyond),
		with_fixture(open_sections_have_instances),
		with_fixture(
			an_open_section_without_a_name_is_its_default_instance),
		with_fixture(the_number_of_instances_has_a_limit),
		with_fixture(defaults_of_a_mode_are_weaker_than_the_file),
		with_fixture(a_missing_file_is_an_error),
		cmocka_unit_test(every_row_has_a_help_text_and_no_twin),
	};

	return RUN_TESTS(tests);
}
