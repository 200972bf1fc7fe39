#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "vmd/machine.h"

/*
 * A non-maskable interrupt, for a guest that answers nothing any more: its
 * kernel is told to panic on one, so the console then shows where it hung, and
 * pvpanic says that it is over.
 */

struct nmi_job {
	struct job job;
	struct virt *virt;
	char vm_id[VMD_ID_MAX];		/* the machine may be freed by then */
	char uuid[sizeof(((struct record *)0)->uuid)];
	struct error err;
	int r;
};

static void run_nmi(struct job *job)
{
	struct nmi_job *n = JOB_OWNER(job, struct nmi_job, job);

	n->r = virt_nmi(n->virt, n->uuid, &n->err);
}

static void done_nmi(struct job *job)
{
	struct nmi_job *n = JOB_OWNER(job, struct nmi_job, job);
	const struct log_scope scope = { .vm_name = n->vm_id };

	if (n->r < 0)
		(void)log_warning(&scope, 0, "%s", n->err.message);
	free(n);
}

int machine_nmi(struct machine *m)
{
	struct nmi_job *n;
	int r;

	if (m->state != VMD_STATE_RUNNING)
		return -ENOENT;
	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	n->job.run = run_nmi;
	n->job.done = done_nmi;
	n->virt = m->host->virt;
	strcpy(n->vm_id, m->record.vm_id);
	strcpy(n->uuid, m->record.uuid);
	r = worker_submit(m->host->destroys, &n->job);
	if (r < 0)
		free(n);
	return r;
}
