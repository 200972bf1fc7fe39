#ifndef VMD_START_H
#define VMD_START_H

#include "vmd/host.h"
#include "vmd/machine.h"

/*
 * What comes between the directories and HELLO: libvirt is opened and warmed,
 * the VMs of an earlier vmd are found again, what is left of others is removed,
 * and the accelerators are decided.
 */

/** struct start_handlers - How the owner follows the start */
struct start_handlers {
	void (*progress)(const char *text, void *userdata);
	void (*ready)(const struct vmd_hello *hello, void *userdata);
	void (*failed)(const struct error *err, void *userdata);
};

/**
 * start_begin() - Start, in the background
 * @host:	Prepared, with libvirt's object and workers
 * @handlers:	Called from the loop; must stay. Either ready() or failed() is
 *		the last
 * @watch:	For machines that are found again
 * @watch_userdata:	Likewise
 * @userdata:	For @handlers
 *
 * Return: 0 or negative errno
 */
int start_begin(struct host *host, const struct start_handlers *handlers,
		void *userdata, const struct machine_watch *watch,
		void *watch_userdata);

#endif
