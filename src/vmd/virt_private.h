#ifndef VMD_VIRT_PRIVATE_H
#define VMD_VIRT_PRIVATE_H

#include <libvirt/libvirt.h>
#include <pthread.h>

#include "vmd/virt.h"

/* What virt.c (connections, events) and virt_domain.c (domains) share. */

struct item;

struct virt {
	char *uri;
	char *pid_directory;	/* where the driver keeps pid files, or NULL */
	struct virt_handlers handlers;
	void *userdata;
	virConnectPtr creates;
	virConnectPtr destroys;	/* events come in here, too */
	int callback;
	sd_event_source *source;
	int news_fd;
	pthread_mutex_t lock;
	struct item *first, *last;
	size_t count;
};

/**
 * virt_error() - Log what libvirt said, and say what it means
 * @what:	For the client: libvirt's own words name paths and sockets of
 *		the host
 *
 * Return: a negative errno: libvirt's if it gave one, -EEXIST for a domain that
 * exists, else -EREMOTEIO
 */
int virt_error(struct error *err, const char *what);

#endif
