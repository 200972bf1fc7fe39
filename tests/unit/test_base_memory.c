#include "test.h"

#include <errno.h>
#include <systemd/sd-event.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/settings.h"
#include "base/timer.h"
#include "base/worker.h"

/*
 * What base does when memory runs out: each operation is tried with its first
 * allocation failing, then its second, and so on until it succeeds. It must
 * say -ENOMEM (or ERR_INTERNAL) each time, and the leak checker must have
 * nothing to say.
 */

static unsigned allocations, failing;

static bool allocation_fails(void)
{
	return ++allocations == failing;
}

/* The linker sends all of base's calls here (--wrap). */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_reallocarray(void *p, size_t count, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_reallocarray(void *p, size_t count, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);

void *__wrap_malloc(size_t size)
{
	return allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_reallocarray(void *p, size_t count, size_t size)
{
	return allocation_fails() ? NULL : __real_reallocarray(p, count, size);
}

char *__wrap_strdup(const char *s)
{
	return allocation_fails() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t n)
{
	return allocation_fails() ? NULL : __real_strndup(s, n);
}

/* Fails @operation at each of its allocations, of which it has @least. */
static void starve(int (*operation)(void), unsigned least)
{
	unsigned n;
	int r;

	for (n = 1;; n++) {
		allocations = 0;
		failing = n;
		r = operation();
		failing = 0;
		if (allocations < n)
			break;
		assert_true(r == -ENOMEM || r == -EIO);
	}
	assert_int_equal(r, 0);
	assert_in_range(n, least + 1, 10000);
}

static int use_buffer(void)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1000);
	_cleanup_free_ char *text = NULL;
	int r, i;

	for (i = 0; i < 100; i++) {
		size_t before = b.length;

		r = buf_printf(&b, "%d", i);
		if (r < 0) {
			assert_int_equal(b.length, before);
			return r;
		}
	}
	text = buf_take(&b, NULL);
	return text ? 0 : -ENOMEM;
}

static int use_timer(void)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(clock_freep) struct clock *clock = NULL;
	_cleanup_(timer_freep) struct timer *timer = NULL;
	int r;

	assert_true(sd_event_new(&event) >= 0);
	r = clock_new(&clock);
	if (r < 0)
		return r;
	return timer_new(event, clock, "test", NULL, NULL, &timer);
}

static int use_worker(void)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(worker_freep) struct worker *worker = NULL;

	assert_true(sd_event_new(&event) >= 0);
	return worker_new(event, "test", 2, 2, &worker);
}

static int use_json(void)
{
	static const char text[] = "{\"a\":[\"one\",\"two\\n\",1.5],"
				   "\"b\":{\"c\":null}}";
	_cleanup_(json_freep) struct json_object *value = NULL;
	_cleanup_(buf_done) struct buf b = BUF_INIT(1000);
	struct json_writer w = JSON_WRITER_INIT(&b);
	struct error err = ERROR_INIT;
	int r;

	r = json_parse(text, strlen(text), &value, &err);
	if (r < 0) {
		assert_int_equal(err.code, ERR_INTERNAL);
		return r;
	}
	json_write_value(&w, NULL, value);
	return json_write_end(&w);
}

static int use_settings(void)
{
	static const char text[] = "[session]\nidle = 5m\n[pool.big]\n"
				   "memory = 4G\n";
	_cleanup_(settings_freep) struct settings *s = NULL;
	struct error err = ERROR_INIT;
	int r;

	r = settings_new(settings_table, settings_table_count, &s);
	if (r == 0)
		r = settings_load_text(s, "conf", text, strlen(text), &err);
	if (r == 0)
		r = settings_set(s, "pool.big.memory=2G", &err);
	if (r == 0)
		r = settings_set_default(s, "pool.*.max=64");
	assert_true(!error_is_set(&err) || err.code == ERR_INTERNAL);
	return r;
}

static void a_buffer_stays_as_it_was_without_memory(void **state)
{
	(void)state;
	starve(use_buffer, 2);
}

static void timers_and_clocks_can_do_without_memory(void **state)
{
	(void)state;
	starve(use_timer, 2);
}

static void a_worker_can_do_without_memory(void **state)
{
	(void)state;
	starve(use_worker, 1);
}

static void json_can_do_without_memory(void **state)
{
	(void)state;
	starve(use_json, 4);
}

static void settings_can_do_without_memory(void **state)
{
	(void)state;
	starve(use_settings, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_buffer_stays_as_it_was_without_memory),
		cmocka_unit_test(timers_and_clocks_can_do_without_memory),
		cmocka_unit_test(a_worker_can_do_without_memory),
		cmocka_unit_test(json_can_do_without_memory),
		cmocka_unit_test(settings_can_do_without_memory),
	};

	return RUN_TESTS(tests);
}
