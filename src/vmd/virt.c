#include <assert.h>
#include <errno.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "base/log.h"
#include "vmd/virt_private.h"

/*
 * Three kinds of threads meet here. Workers make the calls. libvirt's event
 * loop has a thread of its own, which calls on_lifecycle() and only queues what
 * it hears. The loop of vmd takes it from the queue. The queue's lock is the
 * only one, and nothing is called while it is held.
 */

enum {
	/* More than that and vmd's loop stands still: the oldest must go. */
	NEWS_MAX = 4096,
};

struct item {
	struct item *next;
	bool lost;
	enum virt_news news;
	char uuid[VIRT_UUID_SIZE];
};

static const char *const news_names[] = {
	[VIRT_GUEST_SHUTDOWN]		= "guest shut down",
	[VIRT_GUEST_PANICKED]		= "guest panicked",
	[VIRT_HOST_SHUTDOWN]		= "QEMU was told to end",
	[VIRT_PAUSED]			= "paused",
	[VIRT_PAUSED_STORAGE]		= "paused by a full disk",
	[VIRT_STOPPED_DESTROYED]	= "destroyed",
	[VIRT_STOPPED]			= "stopped",
};
static_assert(sizeof(news_names) / sizeof(news_names[0]) == VIRT_NEWS_COUNT,
	      "news_names[] doesn't match enum virt_news");

const char *virt_news_name(enum virt_news news)
{
	return news_names[news];
}

static void virt_queue(struct virt *virt, struct item *item)
{
	const uint64_t one = 1;
	struct item *dropped = NULL;

	pthread_mutex_lock(&virt->lock);
	if (virt->count >= NEWS_MAX) {
		dropped = virt->first;
		virt->first = dropped->next;
		virt->count--;
	}
	item->next = NULL;
	if (virt->first)
		virt->last->next = item;
	else
		virt->first = item;
	virt->last = item;
	virt->count++;
	pthread_mutex_unlock(&virt->lock);
	free(dropped);
	/* Fails only when the counter is full, and then the loop is told. */
	(void)!write(virt->news_fd, &one, sizeof(one));
}

/* libvirt's events, and which of them mean something here. */
static const struct {
	int event;
	int detail;		/* -1: any, so the last of its event */
	enum virt_news news;
} lifecycle[] = {
	{ VIR_DOMAIN_EVENT_SUSPENDED, VIR_DOMAIN_EVENT_SUSPENDED_IOERROR,
	  VIRT_PAUSED_STORAGE },
	{ VIR_DOMAIN_EVENT_SUSPENDED, -1, VIRT_PAUSED },
	{ VIR_DOMAIN_EVENT_SHUTDOWN, VIR_DOMAIN_EVENT_SHUTDOWN_HOST,
	  VIRT_HOST_SHUTDOWN },
	{ VIR_DOMAIN_EVENT_SHUTDOWN, -1, VIRT_GUEST_SHUTDOWN },
	{ VIR_DOMAIN_EVENT_CRASHED, VIR_DOMAIN_EVENT_CRASHED_PANICKED,
	  VIRT_GUEST_PANICKED },
	{ VIR_DOMAIN_EVENT_STOPPED, VIR_DOMAIN_EVENT_STOPPED_DESTROYED,
	  VIRT_STOPPED_DESTROYED },
	{ VIR_DOMAIN_EVENT_STOPPED, -1, VIRT_STOPPED },
};

static int on_lifecycle(virConnectPtr conn, virDomainPtr domain, int event,
			int detail, void *opaque)
{
	struct virt *virt = opaque;
	struct item *item;
	size_t i;

	(void)conn;
	for (i = 0; i < sizeof(lifecycle) / sizeof(lifecycle[0]); i++)
		if (lifecycle[i].event == event &&
		    (lifecycle[i].detail == detail || lifecycle[i].detail < 0))
			break;
	if (i == sizeof(lifecycle) / sizeof(lifecycle[0]))
		return 0;
	item = calloc(1, sizeof(*item));
	/* Without memory the news is lost; the process's end is seen anyway. */
	if (!item || virDomainGetUUIDString(domain, item->uuid) < 0) {
		free(item);
		return 0;
	}
	item->news = lifecycle[i].news;
	virt_queue(virt, item);
	return 0;
}

static void on_close(virConnectPtr conn, int reason, void *opaque)
{
	struct item *item;

	(void)conn;
	/* We closed it ourselves. */
	if (reason == VIR_CONNECT_CLOSE_REASON_CLIENT)
		return;
	item = calloc(1, sizeof(*item));
	if (!item)
		abort();
	item->lost = true;
	virt_queue(opaque, item);
}

static int on_news(sd_event_source *source, int fd, uint32_t revents,
		   void *userdata)
{
	struct virt *virt = userdata;
	struct item *item, *next;
	uint64_t count;

	(void)source;
	(void)revents;
	(void)!read(fd, &count, sizeof(count));
	pthread_mutex_lock(&virt->lock);
	next = virt->first;
	virt->first = NULL;
	virt->last = NULL;
	virt->count = 0;
	pthread_mutex_unlock(&virt->lock);

	while ((item = next)) {
		next = item->next;
		if (item->lost)
			virt->handlers.lost(virt->userdata);
		else
			virt->handlers.news(item->uuid, item->news,
					    virt->userdata);
		free(item);
	}
	return 0;
}

static void *event_thread(void *userdata)
{
	(void)userdata;
	(void)pthread_setname_np(pthread_self(), "libvirt-events");
	for (;;)
		if (virEventRunDefaultImpl() < 0)
			abort();
	return NULL;
}

/* Errors are asked for where they occur; libvirt need not print them as well. */
static void on_virt_error(void *opaque, virErrorPtr error)
{
	(void)opaque;
	(void)error;
}

static int start_events(void)
{
	sigset_t all, before;
	pthread_t thread;
	int r;

	virSetErrorFunc(NULL, on_virt_error);
	if (virEventRegisterDefaultImpl() < 0 || virInitialize() < 0)
		return -EIO;
	(void)sigfillset(&all);
	r = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (r == 0) {
		r = pthread_create(&thread, NULL, event_thread, NULL);
		(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	if (r == 0)
		r = pthread_detach(thread);
	return -r;
}

static int find_pid_directory(struct virt *virt, const char *root)
{
	if (root)
		return asprintf(&virt->pid_directory, "%s/run/qemu", root) < 0 ?
			       -ENOMEM : 0;
	if (virt_uri_is_privileged(virt->uri)) {
		virt->pid_directory = strdup("/run/libvirt/qemu");
		return virt->pid_directory ? 0 : -ENOMEM;
	}
	return 0;
}

int virt_new(sd_event *event, const char *uri, const char *root,
	     const struct virt_handlers *handlers, void *userdata,
	     struct virt **ret_virt)
{
	_cleanup_(virt_freep) struct virt *virt = NULL;
	int r;

	virt = calloc(1, sizeof(*virt));
	if (!virt)
		return -ENOMEM;
	(void)pthread_mutex_init(&virt->lock, NULL);
	virt->news_fd = -1;
	virt->callback = -1;
	virt->handlers = *handlers;
	virt->userdata = userdata;
	virt->uri = strdup(uri);
	if (!virt->uri)
		return -ENOMEM;
	r = find_pid_directory(virt, root);
	if (r < 0)
		return r;
	virt->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (virt->news_fd < 0)
		return -errno;
	r = event_add_io(event, virt->news_fd, EPOLLIN, on_news, virt,
			 "libvirt-news", &virt->source);
	if (r < 0)
		return r;
	r = start_events();
	if (r < 0)
		return r;
	*ret_virt = take_ptr(virt);
	return 0;
}

static void close_connection(virConnectPtr connection)
{
	if (!connection)
		return;
	(void)virConnectUnregisterCloseCallback(connection, on_close);
	(void)virConnectClose(connection);
}

void virt_free(struct virt *virt)
{
	struct item *item;

	if (!virt)
		return;
	if (virt->callback >= 0)
		(void)virConnectDomainEventDeregisterAny(virt->destroys,
							 virt->callback);
	close_connection(virt->creates);
	close_connection(virt->destroys);
	sd_event_source_disable_unref(virt->source);
	close_fd(&virt->news_fd);
	while ((item = virt->first)) {
		virt->first = item->next;
		free(item);
	}
	(void)pthread_mutex_destroy(&virt->lock);
	free(virt->pid_directory);
	free(virt->uri);
	free(virt);
}

void virt_freep(struct virt **virt)
{
	virt_free(*virt);
}

int virt_error(struct error *err, const char *what)
{
	virErrorPtr error = virGetLastError();
	int r = -EREMOTEIO;

	if (error && error->code == VIR_ERR_SYSTEM_ERROR && error->int1 > 0)
		r = -error->int1;
	else if (error && error->code == VIR_ERR_DOM_EXIST)
		r = -EEXIST;
	(void)log_error(NULL, 0, "%s: %s", what,
			error && error->message ? error->message :
						  "no reason given");
	(void)error_set(err, r == -ENOSPC ? ERR_STORAGE_FULL :
			     r == -ENOMEM ? ERR_CAPACITY : ERR_HYPERVISOR,
			"%s", what);
	virResetLastError();
	return r;
}

static int connect_one(struct virt *virt, virConnectPtr *ret_connection,
		       struct error *err)
{
	virConnectPtr connection = virConnectOpen(virt->uri);

	if (!connection)
		return virt_error(err, "libvirt cannot be opened: see the log, "
				       "and whether its QEMU driver "
				       "(libvirt-daemon-driver-qemu) is there");
	*ret_connection = connection;
	/* Drivers within the process have nothing that could be lost. */
	if (virConnectRegisterCloseCallback(connection, on_close, virt,
					    NULL) < 0)
		virResetLastError();
	return 0;
}

int virt_open(struct virt *virt, struct error *err)
{
	int r = 0;

	if (!virt->creates)
		r = connect_one(virt, &virt->creates, err);
	if (r >= 0 && !virt->destroys)
		r = connect_one(virt, &virt->destroys, err);
	if (r < 0)
		return r;
	virt->callback = virConnectDomainEventRegisterAny(
		virt->destroys, NULL, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
		VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle), virt, NULL);
	if (virt->callback < 0)
		return virt_error(err, "libvirt reports no events");
	return 0;
}

int virt_warm(struct virt *virt, const char *emulator, struct error *err)
{
	_cleanup_free_ char *answer = NULL;

	/* Asked about TCG, libvirt looks at KVM on the way. */
	answer = virConnectGetDomainCapabilities(virt->creates, emulator,
						 "x86_64", "microvm", "qemu",
						 0);
	if (!answer)
		return virt_error(err, "QEMU has no machine type 'microvm', "
				       "or cannot be asked");
	return 0;
}

void virt_get_versions(struct virt *virt, struct virt_versions *ret_versions)
{
	unsigned long libvirt = 0, qemu = 0;

	if (virConnectGetLibVersion(virt->creates, &libvirt) < 0 ||
	    virConnectGetVersion(virt->creates, &qemu) < 0)
		virResetLastError();
	ret_versions->libvirt = (uint32_t)libvirt;
	ret_versions->qemu = (uint32_t)qemu;
}
