/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a model once, for test_upstream.py: settings come as arguments, the
 * round on stdin; what is told goes to stdout, a JSON object a line.
 *
 *	ask [--cancel N] [--times N] SECTION.KEY=VALUE...
 *
 * --cancel frees the call from inside its Nth event, --times asks so often at
 * once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/log.h"
#include "base/settings.h"
#include "turn/upstream.h"

enum { INPUT_MAX = 64 << 20, ITEMS_MAX = 4096, ASKED_MAX = 256 };

struct asker;

/** struct asked - One of the calls */
struct asked {
	struct asker *asker;
	struct upstream_call *call;
	unsigned events;
};

struct asker {
	sd_event *event;
	struct upstream *upstream;
	unsigned cancel; /* at which event; 0: never */
	unsigned times;
	unsigned under_way;
	struct asked asked[ASKED_MAX];
};

static void die(const char *what, const struct error *err)
{
	fprintf(stderr, "ask: %s: %s\n", what, err ? err->message : "");
	exit(EXIT_FAILURE);
}

static void print(struct buf *b)
{
	puts(buf_str(b));
	fflush(stdout);
	buf_done(b);
}

static void settle(struct asked *a)
{
	if (--a->asker->under_way == 0)
		(void)sd_event_exit(a->asker->event, 0);
}

static void count(struct asked *a)
{
	if (++a->events != a->asker->cancel)
		return;
	upstream_call_free(a->call);
	a->call = NULL;
	puts("{\"cancelled\":true}");
	settle(a);
}

static void print_text(struct asked *a, const char *kind, const char *data,
		       size_t size)
{
	struct buf b = BUF_INIT(INPUT_MAX);
	struct json_writer w = JSON_WRITER_INIT(&b);

	json_write_object(&w, NULL);
	json_write_bytes(&w, kind, data, size);
	json_write_close(&w);
	if (json_write_end(&w) < 0)
		die("Out of memory", NULL);
	print(&b);
	count(a);
}

static void on_text(void *userdata, const char *data, size_t size)
{
	print_text(userdata, "text", data, size);
}

static void on_refusal(void *userdata, const char *data, size_t size)
{
	print_text(userdata, "refusal", data, size);
}

static void on_reasoning(void *userdata, const char *data, size_t size)
{
	print_text(userdata, "reasoning", data, size);
}

static void on_encrypted(void *userdata, const char *data, size_t size)
{
	print_text(userdata, "encrypted", data, size);
}

static void on_call(void *userdata, unsigned index, const char *call_id,
		    const char *name)
{
	struct buf b = BUF_INIT(INPUT_MAX);
	struct json_writer w = JSON_WRITER_INIT(&b);

	json_write_object(&w, NULL);
	json_write_uint(&w, "call", index);
	json_write_string(&w, "call_id", call_id);
	json_write_string(&w, "name", name);
	json_write_close(&w);
	if (json_write_end(&w) < 0)
		die("Out of memory", NULL);
	print(&b);
	count(userdata);
}

static void on_arguments(void *userdata, unsigned index, const char *data,
			 size_t size)
{
	struct buf b = BUF_INIT(INPUT_MAX);
	struct json_writer w = JSON_WRITER_INIT(&b);

	json_write_object(&w, NULL);
	json_write_uint(&w, "of", index);
	json_write_bytes(&w, "arguments", data, size);
	json_write_close(&w);
	if (json_write_end(&w) < 0)
		die("Out of memory", NULL);
	print(&b);
	count(userdata);
}

static void write_error(struct json_writer *w, const struct error *err)
{
	json_write_object(w, "error");
	json_write_string(w, "code", error_code_name(err->code));
	json_write_string(w, "message", err->message);
	json_write_string(w, "reason", err->reason);
	json_write_string(w, "param", err->param);
	json_write_uint(w, "retry_after", err->retry_after_sec);
	json_write_close(w);
}

static void on_end(void *userdata, const struct upstream_end *end)
{
	static const char *const names[] = { "stop", "length", "filter",
					     "failed" };
	struct asked *a = userdata;
	struct buf b = BUF_INIT(INPUT_MAX);
	struct json_writer w = JSON_WRITER_INIT(&b);

	json_write_object(&w, NULL);
	json_write_string(&w, "end", names[end->finish]);
	json_write_uint(&w, "input", end->usage.input_tokens);
	json_write_uint(&w, "output", end->usage.output_tokens);
	json_write_uint(&w, "thought", end->usage.reasoning_tokens);
	if (end->error)
		write_error(&w, end->error);
	json_write_close(&w);
	if (json_write_end(&w) < 0)
		die("Out of memory", NULL);
	print(&b);
	upstream_call_free(a->call);
	a->call = NULL;
	settle(a);
}

static const struct upstream_events events = {
	.text = on_text,
	.refusal = on_refusal,
	.reasoning = on_reasoning,
	.encrypted = on_encrypted,
	.call = on_call,
	.arguments = on_arguments,
	.end = on_end,
};

/* ------------------------------------------------------------- the round */

static char *text_of(const struct json_object *value)
{
	struct buf b = BUF_INIT(INPUT_MAX);
	struct json_writer w = JSON_WRITER_INIT(&b);

	if (!value)
		return NULL;
	json_write_value(&w, NULL, value);
	if (json_write_end(&w) < 0)
		die("Out of memory", NULL);
	return buf_take(&b, NULL);
}

static struct json_object *read_input(void)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(INPUT_MAX);
	struct json_object *value;
	struct error err = ERROR_INIT;

	while (buf_read(&text, STDIN_FILENO, 65536) > 0)
		;
	if (json_parse(buf_str(&text), text.length, &value, &err) < 0)
		die("stdin", &err);
	return value;
}

static void begin(struct asker *asker, const struct upstream_round *round)
{
	struct error err = ERROR_INIT;
	unsigned i;

	for (i = 0; i < asker->times; i++) {
		asker->asked[i].asker = asker;
		if (upstream_ask(asker->upstream, round, &events,
				 &asker->asked[i], &asker->asked[i].call,
				 &err) < 0) {
			const struct upstream_end end = {
				.finish = UPSTREAM_FAILED,
				.error = &err,
			};

			asker->under_way++;
			on_end(&asker->asked[i], &end);
			err = ERROR_INIT;
			continue;
		}
		asker->under_way++;
	}
}

static void ask(struct asker *asker, const struct json_object *input)
{
	const struct json_object *items = json_member(input, "items");
	_cleanup_free_ char *tools = text_of(json_member(input, "tools"));
	_cleanup_free_ char *choice = text_of(json_member(input, "tool_choice"));
	_cleanup_free_ char *options = text_of(json_member(input, "options"));
	static struct upstream_item list[ITEMS_MAX];
	static char *texts[ITEMS_MAX];
	struct upstream_round round = {
		.model = json_string_of(json_member(input, "model")).data,
		.instructions = json_string_of(
			json_member(input, "instructions")).data,
		.trace = json_string_of(json_member(input, "trace")).data,
		.items = list,
		.item_count = json_array_size(items),
		.tools = tools,
		.tool_choice = choice,
		.options = options,
		.encrypted = json_is_true(json_member(input, "encrypted")),
	};
	size_t i;

	if (round.item_count > ITEMS_MAX)
		die("too many items", NULL);
	for (i = 0; i < round.item_count; i++) {
		texts[i] = text_of(json_array_at(items, i));
		list[i].json = texts[i];
		list[i].size = strlen(texts[i]);
	}
	begin(asker, &round);
	for (i = 0; i < round.item_count; i++)
		free(texts[i]);
}

static void set(struct settings *s, struct asker *asker, int argc, char **argv)
{
	struct error err = ERROR_INIT;
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--cancel") == 0 && i + 1 < argc)
			asker->cancel = (unsigned)atoi(argv[++i]);
		else if (strcmp(argv[i], "--times") == 0 && i + 1 < argc)
			asker->times = (unsigned)atoi(argv[++i]);
		else if (settings_set(s, argv[i], &err) < 0)
			die(argv[i], &err);
	}
	if (asker->times > ASKED_MAX)
		die("--times is too large", NULL);
}

static int print_figure(void *userdata, const char *name, const char *labels,
			double value)
{
	(void)userdata;
	return printf("{\"figure\":\"%s\",\"value\":%g,\"of\":%zu}\n", name,
		      value, strlen(labels));
}

static void on_figure(void *userdata, const struct family *family,
		      const char *suffix, const char *labels, double value)
{
	char name[128];

	(void)snprintf(name, sizeof(name), "%s%s", family->name, suffix);
	(void)print_figure(userdata, name, labels, value);
}

int main(int argc, char **argv)
{
	static struct asker asker = { .times = 1 };
	_cleanup_(settings_freep) struct settings *settings = NULL;
	_cleanup_(json_freep) struct json_object *input = NULL;
	struct upstream_config config = { 0 };
	struct error err = ERROR_INIT;

	log_init("ask");
	if (settings_new(settings_table, settings_table_count, &settings) < 0 ||
	    clock_new(&config.clock) < 0 || sd_event_new(&asker.event) < 0)
		die("Out of memory", NULL);
	set(settings, &asker, argc, argv);
	input = read_input();
	config.event = asker.event;
	config.settings = settings;
	if (upstream_new(&config, &asker.upstream, &err) < 0)
		die("settings", &err);
	ask(&asker, input);
	if (asker.under_way > 0)
		(void)sd_event_loop(asker.event);
	if (getenv("ASK_FIGURES"))
		upstream_metrics(asker.upstream, on_figure, NULL);
	upstream_free(asker.upstream);
	sd_event_unref(asker.event);
	clock_free(config.clock);
	return EXIT_SUCCESS;
}
