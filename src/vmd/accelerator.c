#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/event.h"
#include "base/fs.h"
#include "base/log.h"
#include "vmd/accelerator.h"
#include "vmd/vm_probe.h"
#include "vmd/vmd.h"

enum {
	ANSWER_FILE_MAX = 1024,
};

struct accelerator {
	struct host *host;
	struct pools *pools;
	uint32_t index;			/* the pool that is being decided */
	sd_event_source *next;
	usec_t began;
	struct accelerator_summary summary;
	void (*done)(const struct accelerator_summary *summary,
		     void *userdata);
	void *userdata;
};

/* The file of an answer is named after the image's digest, without "sha256:". */
static const char *file_name(const char *digest)
{
	return digest + 7;
}

/* "BOOT-ID kvm|qemu REASON" */
static int recall(struct host *host, const struct image *image,
		  enum vmd_accelerator *ret_accelerator,
		  char ret_reason[VMD_MESSAGE_MAX])
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(ANSWER_FILE_MAX);
	size_t length = strlen(host->boot_id);
	const char *s;
	int r;

	r = fs_read_file(host->accelerator_fd, file_name(image->digest), &text);
	if (r < 0)
		return r;
	s = buf_str(&text);
	if (strncmp(s, host->boot_id, length) != 0)
		return -ESTALE;
	s += length;
	if (strncmp(s, " kvm ", 5) == 0)
		*ret_accelerator = VMD_ACCELERATOR_KVM;
	else if (strncmp(s, " qemu ", 6) == 0)
		*ret_accelerator = VMD_ACCELERATOR_TCG;
	else
		return -EINVAL;
	(void)snprintf(ret_reason, VMD_MESSAGE_MAX, "%s",
		       strchr(s + 1, ' ') + 1);
	return 0;
}

void accelerator_remember(struct host *host, const char *digest, bool booted,
			  const char *reason)
{
	enum vmd_accelerator accelerator =
		booted ? VMD_ACCELERATOR_KVM : VMD_ACCELERATOR_TCG;
	char text[ANSWER_FILE_MAX];
	int n, r;

	n = snprintf(text, sizeof(text), "%s %s %s", host->boot_id,
		     vmd_accelerator_name(accelerator), reason);
	r = fs_write_file_atomic(host->accelerator_fd, file_name(digest), text,
				 (size_t)n, 0600);
	if (r < 0)
		(void)log_warning(NULL, r, "The next start will have to try "
					   "KVM again, ignoring");
}

static void look_at_next(struct accelerator *a, const char *reason)
{
	if (a->summary.reason[0] == '\0')
		(void)snprintf(a->summary.reason, sizeof(a->summary.reason),
			       "%s", reason);
	a->index++;
	(void)sd_event_source_set_enabled(a->next, SD_EVENT_ONESHOT);
}

/* Finishes one pool and has the next one looked at, from the loop. */
static void decide(struct accelerator *a, bool kvm, const char *reason)
{
	struct pool *pool = &a->pools->pool[a->index];

	if (kvm)
		pool->accelerator = VMD_ACCELERATOR_KVM;
	else if (settings_bool(a->host->settings, "host", "allow_emulation"))
		pool->accelerator = VMD_ACCELERATOR_TCG;
	else
		(void)snprintf(pool->problem, sizeof(pool->problem),
			       "%.150s, and emulation is not allowed "
			       "(host.allow_emulation)", reason);
	look_at_next(a, reason);
}

/* Who says kvm gets nothing else, not even where emulation is allowed. */
static void decide_kvm(struct accelerator *a, const char *missing)
{
	struct pool *pool = &a->pools->pool[a->index];

	if (!missing) {
		decide(a, true, "the settings say kvm");
		return;
	}
	(void)snprintf(pool->problem, sizeof(pool->problem),
		       "%s, and the settings say kvm (hypervisor.accel)",
		       missing);
	look_at_next(a, missing);
}

/* Return: NULL if it can be opened */
static const char *kvm_missing(void)
{
	if (access("/dev/kvm", R_OK | W_OK) == 0)
		return NULL;
	return errno == ENOENT ? "this host has no /dev/kvm" :
				 "/dev/kvm may not be opened (group kvm)";
}

static void on_probed(const struct vmd_probed *probed, void *userdata)
{
	struct accelerator *a = userdata;
	const struct image *image = &a->pools->pool[a->index].image;

	a->summary.probe_usec = usec_add(
		a->summary.probe_usec,
		usec_sub(clock_boot(a->host->clock), a->began));
	accelerator_remember(a->host, image->digest, probed->booted,
			     probed->reason);
	log_info(NULL, "Image '%s' under KVM: %s", image->name,
		 probed->reason);
	decide(a, probed->booted, probed->reason);
}

static void try_kvm(struct accelerator *a)
{
	const struct pool *pool = &a->pools->pool[a->index];
	int r;

	a->began = clock_boot(a->host->clock);
	r = vm_probe_start(a->host, pool, VMD_ACCELERATOR_KVM, on_probed, a);
	if (r < 0) {
		(void)log_error(NULL, r, "Cannot try whether KVM works");
		decide(a, false, "it could not be tried whether KVM works");
	}
}

/* What is known without booting decides; else it is booted. */
static void look_at(struct accelerator *a)
{
	const struct pool *pool = &a->pools->pool[a->index];
	const char *wanted = settings_string(a->host->settings, "hypervisor",
					     "accel");
	enum vmd_accelerator known = VMD_ACCELERATOR_NONE;
	const char *missing = kvm_missing();
	char reason[VMD_MESSAGE_MAX];

	if (strcmp(wanted, "kvm") == 0)
		decide_kvm(a, missing);
	else if (strcmp(wanted, "qemu") == 0)
		decide(a, false, "the settings say qemu");
	else if (missing)
		decide(a, false, missing);
	else if (recall(a->host, &pool->image, &known, reason) >= 0)
		decide(a, known == VMD_ACCELERATOR_KVM, reason);
	else
		try_kvm(a);
}

static void finish(struct accelerator *a)
{
	a->done(&a->summary, a->userdata);
	sd_event_source_disable_unref(a->next);
	free(a);
}

static int on_next(sd_event_source *source, void *userdata)
{
	struct accelerator *a = userdata;

	(void)source;
	while (a->index < a->pools->count &&
	       a->pools->pool[a->index].problem[0])
		a->index++;
	if (a->index == a->pools->count) {
		finish(a);
		return 0;
	}
	look_at(a);
	return 0;
}

int accelerator_decide(struct host *host, struct pools *pools,
		       void (*done)(const struct accelerator_summary *summary,
				    void *userdata),
		       void *userdata)
{
	struct accelerator *a;
	int r;

	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->host = host;
	a->pools = pools;
	a->done = done;
	a->userdata = userdata;
	r = event_add_defer(host->event, on_next, a, "accelerator", &a->next);
	if (r < 0) {
		free(a);
		return r;
	}
	(void)sd_event_source_set_enabled(a->next, SD_EVENT_ONESHOT);
	return 0;
}
