#ifndef VMD_ACCELERATOR_H
#define VMD_ACCELERATOR_H

#include <stdbool.h>

#include "vmd/host.h"

/*
 * KVM or TCG, for each pool.
 *
 * That /dev/kvm can be opened says little: on hosts that are paravirtual guests
 * themselves it may be there and still run no stock kernel. So "auto" boots the
 * pool's image under KVM, once per boot of the host and image, and remembers
 * what came of it in STATE/accelerator.
 */

/**
 * struct accelerator_summary - What was found out
 * @probe_usec:	What booting took; 0 if all was known
 * @reason:	Why the first pool has the accelerator it has, in words
 */
struct accelerator_summary {
	usec_t probe_usec;
	char reason[VMD_MESSAGE_MAX];
};

/**
 * accelerator_decide() - Decide for all pools of a table
 * @pools:	Its pools get their accelerator, or a problem; must stay until
 *		@done
 * @done:	Called from the loop, also if nothing had to be booted
 *
 * Return: 0 or -ENOMEM
 */
int accelerator_decide(struct host *host, struct pools *pools,
		       void (*done)(const struct accelerator_summary *summary,
				    void *userdata),
		       void *userdata);

/** accelerator_remember() - What came of booting an image under KVM */
void accelerator_remember(struct host *host, const char *digest, bool booted,
			  const char *reason);

#endif
