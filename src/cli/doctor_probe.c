#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/doctor.h"
#include "cli/text.h"
#include "cli/views.h"

/*
 * Proof instead of signs: /dev/kvm may be there and boot nothing, and the parts
 * of vsock may all be there and not fit together. The daemon boots its image
 * under each accelerator, and says how long each stage took.
 */

enum { BODY_MAX = 64 };

/*
 * What a healthy host is far below, in milliseconds. Creating costs as much under
 * either; how long booting takes emulated says nothing.
 */
#define CREATE_SLOW 2000.0
#define BOOT_SLOW 5000.0
#define ECHO_SLOW 50.0
#define ECHO_SLOW_EMULATED 500.0

static const struct accelerator {
	const char *name;
	const char *words;
} accelerators[] = {
	{ "kvm", "KVM" },
	{ "qemu", "Emulation" },
};

static double msec_of(const struct json_object *probed, const char *stage)
{
	return json_number_of(json_member(probed, stage));
}

/* The first stage that is slow says where to look. */
static void judge_speed(const struct json_object *probed, bool kvm,
			struct host_finding *f)
{
	const char *remedy = NULL;

	if (msec_of(probed, "create_ms") > CREATE_SLOW)
		remedy = "making it is slow: see the stages in the log, and "
			 "libvirt's capabilities above";
	else if (kvm && msec_of(probed, "boot_ms") > BOOT_SLOW)
		remedy = "booting is slow: see whether the CPUs are busy, and "
			 "that the image was built by this version";
	else if (msec_of(probed, "echo_ms") >
		 (kvm ? ECHO_SLOW : ECHO_SLOW_EMULATED))
		remedy = "vsock is slow: see whether the CPUs are busy";
	if (!remedy)
		return;
	f->level = HOST_DEGRADED;
	snprintf(f->remedy, sizeof(f->remedy), "%s", remedy);
}

static void judge(const struct json_object *probed,
		  const struct accelerator *a, bool used,
		  struct host_finding *f)
{
	bool kvm = strcmp(a->name, "kvm") == 0;

	if (!view_bool(probed, "booted")) {
		/* What is not used may fail. */
		f->level = used ? HOST_BAD : HOST_DEGRADED;
		snprintf(f->text, sizeof(f->text), "%s",
			 view_string(probed, "reason"));
		snprintf(f->remedy, sizeof(f->remedy),
			 "%s", kvm ? "see what QEMU says in the log; a host that "
				     "is a guest itself may have a KVM that "
				     "runs no stock kernel" :
				     "see what QEMU says in the log");
		return;
	}
	f->level = HOST_GOOD;
	snprintf(f->text, sizeof(f->text),
		 "%s boots '%.100s': made in %.0f ms, booted in %.0f ms, vsock "
		 "answers in %.1f ms",
		 a->words, view_string(probed, "pool"),
		 msec_of(probed, "create_ms"), msec_of(probed, "boot_ms"),
		 msec_of(probed, "echo_ms"));
	judge_speed(probed, kvm, f);
}

static int probe(struct doctor *d, const struct accelerator *a, bool used)
{
	_cleanup_(json_freep) struct json_object *probed = NULL;
	struct host_finding f = { .what = "probe" };
	char body[BODY_MAX];
	const struct client_request request = {
		.method = "POST",
		.path = "/admin/v1/probe",
		.json = body,
		.progress = "Booting a VM to see how fast",
	};
	struct client *client;
	int r = cli_client(d->cli, &client);

	snprintf(body, sizeof(body), "{\"accelerator\":\"%s\"}", a->name);
	if (r >= 0)
		r = client_call_json(client, &request, &probed);
	if (r == -CLI_INTERRUPTED)
		return r;
	if (r < 0) {
		/* A host that is full, or that may not emulate, is not ill. */
		f.level = r == -CLI_BUSY || r == -CLI_REFUSED ? HOST_DEGRADED :
								HOST_BAD;
		snprintf(f.text, sizeof(f.text), "%s was not tried: %.900s",
			 a->words, d->cli->message);
		snprintf(f.remedy, sizeof(f.remedy), "%s",
			 r == -CLI_BUSY ? "try again when there is room" : "");
		cli_forgive(d->cli);
	} else {
		judge(probed, a, used, &f);
	}
	doctor_take(&f, d);
	return 0;
}

/* Here, and not forbidden. */
static bool is_available(const struct accelerator *a,
			 const struct json_object *status)
{
	if (strcmp(a->name, "kvm") == 0)
		return access("/dev/kvm", F_OK) == 0;
	return view_bool(status, "emulation_allowed");
}

int doctor_probe(struct doctor *d, const struct json_object *status)
{
	const char *used = view_string(json_member(status, "hypervisor"),
				       "accelerator");
	size_t i;
	int r = 0;

	for (i = 0; i < sizeof(accelerators) / sizeof(accelerators[0]); i++) {
		const struct accelerator *a = &accelerators[i];
		bool is_used = strcmp(used, a->name) == 0;

		if (is_used || is_available(a, status))
			r = probe(d, a, is_used);
		if (r < 0)
			return r;
	}
	return 0;
}
