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
#include "cli/doctor.h"
#include "cli/host_checks.h"
#include "cli/text.h"
#include "cli/views.h"

/*
 * Three sources: this host, seen from here; the daemon, if one answers, which
 * alone knows the accelerator it settled for, and why; and VMs that it boots to
 * prove it.
 */

#define PACKAGED_STATE "/var/lib/cupola"

/* Whom VMs are made by. */
#define PACKAGED_USER "cupola-vmd"
#define OWN_USER "cupola"

static const char *colour_of(enum host_level level)
{
	if (level == HOST_GOOD)
		return "\033[32m";
	return level == HOST_DEGRADED ? "\033[33m" : "\033[31m";
}

static void print_finding(const struct cli *cli, const struct host_finding *f)
{
	_cleanup_free_ char *text = text_escape(f->text);
	_cleanup_free_ char *remedy = text_escape(f->remedy);

	printf("%s%-8s%s  %-12s  %s\n", cli->colour ? colour_of(f->level) : "",
	       host_level_name(f->level), cli->colour ? "\033[0m" : "", f->what,
	       text ? text : "");
	if (remedy && remedy[0])
		printf("%24sto do: %s\n", "", remedy);
}

void doctor_take(const struct host_finding *f, void *doctor)
{
	struct doctor *d = doctor;

	if (f->level == HOST_BAD)
		d->bad = true;
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
	doctor_take(&f, userdata);
}

static void check_images(struct doctor *d, const char *state)
{
	struct host_finding none = {
		.what = "image",
		.level = HOST_BAD,
		.text = "No image found",
		.remedy = "images/build python",
	};

	if (host_images(state, take_image, d) == 0)
		doctor_take(&none, d);
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
	if (strcmp(which, "kvm") != 0) {
		f.level = HOST_DEGRADED;
		snprintf(f.remedy, sizeof(f.remedy),
			 "use a host whose KVM boots the image, for code of "
			 "people whom one does not trust");
	}
	doctor_take(&f, d);
}

static void take_pool(struct doctor *d, const struct json_object *pool)
{
	struct host_finding f = { .what = "pool", .level = HOST_GOOD };
	const char *problem = view_string(pool, "problem");

	snprintf(f.text, sizeof(f.text), "%s, image %s%s%s",
		 view_string(pool, "name"), view_string(pool, "image"),
		 problem[0] ? ": " : "", problem);
	if (problem[0]) {
		f.level = HOST_BAD;
		snprintf(f.remedy, sizeof(f.remedy),
			 "build its image or name another one, then reload the "
			 "daemon");
	}
	doctor_take(&f, d);
}

static void check_process(struct doctor *d, long long pid)
{
	const struct host_view v = { .root = "" };
	struct host_finding f = { .what = "process" };

	host_check_process(&v, pid, &f);
	doctor_take(&f, d);
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
	doctor_take(&f, d);
	check_accelerator(d, hypervisor);
	check_process(d, view_int(hypervisor, "pid"));
}

static void take_problem(struct doctor *d, const struct json_object *problem)
{
	struct host_finding f = { .what = "daemon", .level = HOST_BAD };
	const char *text = json_string_of(problem).data;

	snprintf(f.text, sizeof(f.text), "It is not ready: %s",
		 text ? text : "");
	snprintf(f.remedy, sizeof(f.remedy), "see cupolactl logs");
	doctor_take(&f, d);
}

static void check_daemon(struct doctor *d, const struct json_object *status)
{
	struct host_finding f = { .what = "daemon", .level = HOST_GOOD };
	const struct json_object *pools = json_member(status, "pools");
	const struct json_object *problems = json_member(status, "problems");
	char vms[TEXT_SHORT_MAX];
	size_t i;

	snprintf(f.text, sizeof(f.text), "Answers at %s with %s",
		 d->cli->socket,
		 text_count(view_int(status, "vms"), "VM", vms));
	doctor_take(&f, d);
	for (i = 0; i < json_array_size(problems); i++)
		take_problem(d, json_array_at(problems, i));
	check_hypervisor(d, json_member(status, "hypervisor"));
	for (i = 0; i < json_array_size(pools); i++)
		take_pool(d, json_array_at(pools, i));
}

/* A host may be fine without a daemon that runs: that is no lack. */
static int ask_daemon(struct doctor *d, bool quick)
{
	_cleanup_(json_freep) struct json_object *status = NULL;
	struct host_finding f = { .what = "daemon", .level = HOST_DEGRADED };

	if (calls_get_json(d->cli, "/admin/v1/status", &status) >= 0) {
		check_daemon(d, status);
		return quick ? 0 : doctor_probe(d, status);
	}
	snprintf(f.text, sizeof(f.text), "%s", d->cli->message);
	snprintf(f.remedy, sizeof(f.remedy), "%s",
		 d->cli->url ? "ask on the daemon's own host, without --url" :
			       "start it: without it no VM can be booted as a "
			       "proof");
	cli_forgive(d->cli);
	doctor_take(&f, d);
	return 0;
}

static int examine(struct cli *cli, const char *state, const char *user,
		   bool quick)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(CLIENT_ANSWER_MAX);
	struct json_writer w = JSON_WRITER_INIT(&text);
	struct doctor d = { .cli = cli, .writer = &w };
	int r;

	json_write_object(&w, NULL);
	json_write_array(&w, "findings");
	host_check(state, user, doctor_take, &d);
	check_images(&d, state);
	r = ask_daemon(&d, quick);
	if (r < 0)
		return r;
	json_write_close(&w);
	json_write_close(&w);
	if (json_write_end(&w) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	if (cli->json)
		puts(buf_str(&text));
	return d.bad ? CLI_NEGATIVE : CLI_OK;
}

int cmd_doctor(struct cli *cli, int argc, char **argv)
{
	_cleanup_free_ char *state = NULL;
	bool quick = false;
	const struct args_option options[] = {
		{ "quick", 'q', NULL, "boot no VM as a proof", .flag = &quick },
		{ .name = NULL },
	};
	struct args args;
	bool packaged;
	int r;

	r = args_parse(cli, argc, argv, options, 0, 0, &args);
	if (r < 0 || args.help)
		return r;
	r = cli_state(cli, &state);
	if (r < 0)
		return r;
	/* A packaged daemon has its socket in one place and its state in
	 * another. */
	packaged = strncmp(state, "/run/", strlen("/run/")) == 0;
	return examine(cli, packaged ? PACKAGED_STATE : state,
		       packaged ? PACKAGED_USER : OWN_USER, quick);
}
