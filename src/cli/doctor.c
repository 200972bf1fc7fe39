#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_write.h"
#include "cli/args.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/host.h"
#include "cli/text.h"
#include "cli/views.h"

/*
 * Two sources: this host, seen from here, and the daemon, if one answers. Only
 * the daemon knows which accelerator it settled for, and why.
 */

struct doctor {
	struct cli *cli;
	struct json_writer *writer;
	bool lacks;
};

static const char *colour_of(enum host_level level)
{
	if (level == HOST_GOOD)
		return "\033[32m";
	return level == HOST_NOTE ? "\033[33m" : "\033[31m";
}

static void print_finding(const struct cli *cli, const struct host_finding *f)
{
	_cleanup_free_ char *text = text_escape(f->text);
	_cleanup_free_ char *remedy = text_escape(f->remedy);

	printf("%s%-5s%s  %-11s  %s\n", cli->colour ? colour_of(f->level) : "",
	       host_level_name(f->level), cli->colour ? "\033[0m" : "", f->what,
	       text ? text : "");
	if (remedy && remedy[0])
		printf("%20sto do: %s\n", "", remedy);
}

static void take_finding(const struct host_finding *f, void *userdata)
{
	struct doctor *d = userdata;

	if (f->level == HOST_LACKS)
		d->lacks = true;
	if (!d->cli->json)
		print_finding(d->cli, f);
	json_write_object(d->writer, NULL);
	json_write_string(d->writer, "what", f->what);
	json_write_string(d->writer, "level", host_level_name(f->level));
	json_write_string(d->writer, "text", f->text);
	json_write_string(d->writer, "remedy", f->remedy);
	json_write_close(d->writer);
}

static void take_image(const struct host_image *image, void *userdata)
{
	struct host_finding f = { .what = "image", .level = HOST_GOOD };

	snprintf(f.text, sizeof(f.text), "%s, %s, in %s", image->name,
		 image->digest, image->directory);
	take_finding(&f, userdata);
}

static void check_images(struct doctor *d, const char *state)
{
	struct host_finding none = {
		.what = "image",
		.level = HOST_LACKS,
		.text = "No image found",
		.remedy = "images/build python",
	};

	if (host_images(state, take_image, d) == 0)
		take_finding(&none, d);
}

/* libvirt counts versions as major * 1000000 + minor * 1000 + release. */
static const char *version_text(const struct json_object *hypervisor,
				const char *key, char *room)
{
	long long v = view_int(hypervisor, key);

	snprintf(room, TEXT_SHORT_MAX, "%lld.%lld.%lld", v / 1000000,
		 v / 1000 % 1000, v % 1000);
	return room;
}

static void check_accelerator(struct doctor *d,
			      const struct json_object *hypervisor)
{
	const char *which = view_string(hypervisor, "accelerator");
	const char *why = view_string(hypervisor, "accelerator_reason");
	struct host_finding f = { .what = "accelerator", .level = HOST_GOOD };
	const char *words = which;

	/* "qemu" is libvirt's word for a domain without KVM. */
	if (strcmp(which, "qemu") == 0)
		words = "emulation (TCG), which is slow and promises no "
			"isolation";
	snprintf(f.text, sizeof(f.text), "The daemon uses %s%s%s", words,
		 why[0] ? ": " : "", why);
	if (strcmp(which, "kvm") != 0)
		f.level = HOST_NOTE;
	take_finding(&f, d);
}

static void take_pool(struct doctor *d, const struct json_object *pool)
{
	struct host_finding f = { .what = "pool", .level = HOST_GOOD };
	const char *problem = view_string(pool, "problem");

	snprintf(f.text, sizeof(f.text), "%s, image %s%s%s",
		 view_string(pool, "name"), view_string(pool, "image"),
		 problem[0] ? ": " : "", problem);
	if (problem[0])
		f.level = HOST_LACKS;
	take_finding(&f, d);
}

static void check_hypervisor(struct doctor *d,
			     const struct json_object *hypervisor)
{
	char libvirt[TEXT_SHORT_MAX], qemu[TEXT_SHORT_MAX];
	struct host_finding f = { .what = "hypervisor", .level = HOST_GOOD };

	/* While cupola-vmd is starting there is nothing to tell. */
	if (json_kind_of(hypervisor) != JSON_OBJECT)
		return;
	snprintf(f.text, sizeof(f.text),
		 "libvirt %s, QEMU %s, vsock backend '%s', at %s",
		 version_text(hypervisor, "libvirt_version", libvirt),
		 version_text(hypervisor, "qemu_version", qemu),
		 view_string(hypervisor, "vsock"),
		 view_string(hypervisor, "uri"));
	take_finding(&f, d);
	check_accelerator(d, hypervisor);
}

static void take_problem(struct doctor *d, const struct json_object *problem)
{
	struct host_finding f = { .what = "daemon", .level = HOST_LACKS };
	const char *text = json_string_of(problem).data;

	snprintf(f.text, sizeof(f.text), "It is not ready: %s",
		 text ? text : "");
	take_finding(&f, d);
}

static void check_daemon(struct doctor *d, const struct json_object *status)
{
	struct host_finding f = { .what = "daemon", .level = HOST_GOOD };
	const struct json_object *pools = json_member(status, "pools");
	const struct json_object *problems = json_member(status, "problems");
	long long vms = view_int(status, "vms");
	size_t i;

	snprintf(f.text, sizeof(f.text), "Answers at %s with %lld VM%s",
		 d->cli->socket, vms, vms == 1 ? "" : "s");
	take_finding(&f, d);
	for (i = 0; i < json_array_size(problems); i++)
		take_problem(d, json_array_at(problems, i));
	check_hypervisor(d, json_member(status, "hypervisor"));
	for (i = 0; i < json_array_size(pools); i++)
		take_pool(d, json_array_at(pools, i));
}

/* A host may be fine without a daemon that runs: that is no lack. */
static void ask_daemon(struct doctor *d)
{
	_cleanup_(json_freep) struct json_object *status = NULL;
	struct host_finding f = { .what = "daemon", .level = HOST_NOTE };

	if (calls_get_json(d->cli, "/admin/v1/status", &status) >= 0) {
		check_daemon(d, status);
		return;
	}
	snprintf(f.text, sizeof(f.text), "%s", d->cli->message);
	cli_forgive(d->cli);
	take_finding(&f, d);
}

static int examine(struct cli *cli, const char *state)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(CLIENT_ANSWER_MAX);
	struct json_writer w = JSON_WRITER_INIT(&text);
	struct doctor d = { .cli = cli, .writer = &w };

	json_write_object(&w, NULL);
	json_write_array(&w, "findings");
	host_check(state, take_finding, &d);
	check_images(&d, state);
	ask_daemon(&d);
	json_write_close(&w);
	json_write_close(&w);
	if (json_write_end(&w) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	if (cli->json)
		puts(buf_str(&text));
	return d.lacks ? CLI_NEGATIVE : CLI_OK;
}

int cmd_doctor(struct cli *cli, int argc, char **argv)
{
	_cleanup_free_ char *state = NULL;
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, NULL, 0, 0, &args);
	if (r < 0 || args.help)
		return r;
	r = cli_state(cli, &state);
	return r < 0 ? r : examine(cli, state);
}
