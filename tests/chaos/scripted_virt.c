/* SPDX-License-Identifier: Apache-2.0 */
#include "vmd/virt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "vmd/backend.h"
#include "vmd/child.h"

/*
 * Takes the place of libvirt and of the vsock daemon in a cupola-vmd that is
 * real otherwise: what libvirt calls a domain is a process of scripted_guest,
 * which outlives us as a QEMU does.
 *
 * As libvirt's driver, it notes what runs in a file of its own, after it has
 * started it and before it says so: ROOT/domains/UUID, with name and pid. It
 * reports nothing by itself, as if every event were lost.
 */

enum {
	/* How long a program may take until it listens */
	START_MSEC = 10000,
};

#define VSOCK_ARGUMENT "vsock"

struct virt {
	char state[PATH_MAX / 2]; /* vmd's directory */
	char domains[PATH_MAX / 2 + 32];
};

struct domain {
	char name[VMD_ID_MAX];
	int pid;
	unsigned long long start;
};

const char *virt_news_name(enum virt_news news)
{
	(void)news;
	return "scripted";
}

int virt_new(sd_event *event, const char *uri, const char *root,
	     const struct virt_handlers *handlers, void *userdata,
	     struct virt **ret_virt)
{
	struct virt *virt = calloc(1, sizeof(*virt));

	(void)event;
	(void)uri;
	(void)handlers;
	(void)userdata;
	if (!virt || !root)
		abort();
	(void)snprintf(virt->domains, sizeof(virt->domains), "%s/domains",
		       root);
	(void)snprintf(virt->state, sizeof(virt->state), "%.*s",
		       (int)(strrchr(root, '/') - root), root);
	*ret_virt = virt;
	return fs_mkdir_p(virt->domains, 0700);
}

void virt_free(struct virt *virt)
{
	free(virt);
}

void virt_freep(struct virt **virt)
{
	virt_free(*virt);
}

int virt_open(struct virt *virt, struct error *err)
{
	(void)virt;
	(void)err;
	return 0;
}

int virt_warm(struct virt *virt, const char *emulator, struct error *err)
{
	(void)virt;
	(void)emulator;
	(void)err;
	return 0;
}

void virt_get_versions(struct virt *virt, struct virt_versions *ret_versions)
{
	(void)virt;
	*ret_versions = (struct virt_versions){ 9000000, 7002000 };
}

/* ----------------------------------------------------------------- domains */

static int domain_read(struct virt *virt, const char *uuid, struct domain *ret)
{
	_cleanup_(fclosep) FILE *f = NULL;
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", virt->domains, uuid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	/* As wide as name[], less its NUL. */
	if (fscanf(f, "%47s %d %llu", ret->name, &ret->pid, &ret->start) != 3)
		return -EIO;
	return 0;
}

static int domain_write(struct virt *virt, const char *uuid, const char *name,
			pid_t pid)
{
	char text[128];
	int n;
	_cleanup_close_ int fd = fs_open_dir(AT_FDCWD, virt->domains);

	if (fd < 0)
		return fd;
	n = snprintf(text, sizeof(text), "%s %d %llu\n", name, pid,
		     (unsigned long long)child_start_time(pid));
	return fs_write_file_atomic(fd, uuid, text, (size_t)n, 0600);
}

static void domain_forget(struct virt *virt, const char *uuid)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", virt->domains, uuid);
	(void)unlink(path);
}

static bool domain_runs(const struct domain *d)
{
	_cleanup_close_ int fd = child_find(d->pid, d->start);

	return fd >= 0 && child_is_alive(fd);
}

int virt_list(struct virt *virt, const char *installation,
	      struct virt_domain **ret_domains, struct error *err)
{
	_cleanup_(closedirp) DIR *dir = opendir(virt->domains);
	struct virt_domain *domains = NULL;
	struct dirent *entry;
	struct domain d;
	int count = 0;

	(void)installation;
	(void)err;
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		/* What was half written when we were killed goes as well. */
		if (strlen(entry->d_name) != VIRT_UUID_SIZE - 1 ||
		    domain_read(virt, entry->d_name, &d) < 0 ||
		    !domain_runs(&d)) {
			domain_forget(virt, entry->d_name);
			continue;
		}
		domains = realloc(domains,
				  (size_t)(count + 1) * sizeof(*domains));
		if (!domains)
			abort();
		domains[count] = (struct virt_domain){ .paused = false };
		strcpy(domains[count].vm_id, d.name);
		strcpy(domains[count++].uuid, entry->d_name);
	}
	*ret_domains = domains;
	return count;
}

/* The program lies beside ours, and closes its output when it listens. */
static int start_program(const char *const arguments[2], pid_t *ret_pid)
{
	_cleanup_close_ int pidfd = -1, out = -1, in = -1;
	char program[PATH_MAX];
	char *argv[] = { program, (char *)arguments[0], (char *)arguments[1],
			 NULL };
	struct pollfd ready;
	int ends[2];
	ssize_t n;

	n = readlink("/proc/self/exe", program, sizeof(program) - 32);
	if (n < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	in = ends[0];
	out = ends[1];
	program[n] = '\0';
	strcpy(strrchr(program, '/') + 1, "scripted_guest");
	pidfd = child_spawn(argv, out, ret_pid);
	if (pidfd < 0)
		return pidfd;
	close_fd(&out);
	ready = (struct pollfd){ .fd = in, .events = POLLIN };
	if (poll(&ready, 1, START_MSEC) != 1) {
		(void)child_kill(pidfd, SIGKILL);
		return -ETIMEDOUT;
	}
	return take_fd(pidfd);
}

int virt_create(struct virt *virt, const char *xml, const char *name,
		pid_t *ret_pid, int *ret_pidfd, struct error *err)
{
	const char *at = strstr(xml, "<uuid>");
	char directory[PATH_MAX], uuid[VIRT_UUID_SIZE];
	const char *arguments[] = { directory, uuid };
	pid_t pid;
	int fd, r;

	(void)snprintf(uuid, sizeof(uuid), "%s", at + strlen("<uuid>"));
	(void)snprintf(directory, sizeof(directory), "%s/vm/%s", virt->state,
		       name);
	fd = start_program(arguments, &pid);
	if (fd < 0)
		return error_set_errno(err, fd, "scripted start failed");
	r = domain_write(virt, uuid, name, pid);
	if (r < 0) {
		/* As libvirt: what it cannot note does not run. */
		(void)child_kill(fd, SIGKILL);
		(void)close(fd);
		return error_set_errno(err, r, "scripted start failed");
	}
	*ret_pid = pid;
	*ret_pidfd = fd;
	return 0;
}

int virt_hold(struct virt *virt, const char *name, pid_t *ret_pid,
	      int *ret_pidfd)
{
	_cleanup_(closedirp) DIR *dir = opendir(virt->domains);
	struct dirent *entry;
	struct domain d;

	while (dir && (entry = readdir(dir))) {
		if (domain_read(virt, entry->d_name, &d) < 0 ||
		    strcmp(d.name, name) != 0)
			continue;
		*ret_pidfd = child_find(d.pid, d.start);
		*ret_pid = d.pid;
		return *ret_pidfd < 0 ? *ret_pidfd : 0;
	}
	return -ESRCH;
}

/* Returns, as libvirt, when the process is dead and reaped. */
int virt_destroy(struct virt *virt, const char *uuid, struct error *err)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct domain d;
	int i;

	if (domain_read(virt, uuid, &d) < 0)
		return 0;
	for (i = 0; i < START_MSEC && child_start_time(d.pid) == d.start; i++) {
		if (!domain_runs(&d))
			break;
		(void)kill(d.pid, SIGKILL);
		(void)nanosleep(&nap, NULL);
	}
	if (i == START_MSEC)
		return error_set(err, ERR_HYPERVISOR, "scripted end failed");
	domain_forget(virt, uuid);
	return 0;
}

int virt_nmi(struct virt *virt, const char *uuid, struct error *err)
{
	(void)virt;
	(void)uuid;
	return error_set(err, ERR_HYPERVISOR, "a scripted guest has no NMI");
}

/* ----------------------------------------------------------- vsock daemon */

const char *backend_program(void)
{
	return "scripted_guest";
}

int backend_start(const char *directory, const char *vm_id, uint32_t cid,
		  struct backend *ret_backend, struct error *err)
{
	const char *arguments[] = { VSOCK_ARGUMENT, vm_id };
	int fd;

	(void)directory;
	(void)cid;
	fd = start_program(arguments, &ret_backend->pid);
	if (fd < 0)
		return error_set_errno(err, fd, "scripted start failed");
	ret_backend->pidfd = fd;
	return 0;
}
