#include <errno.h>
#include <fcntl.h>
#include <libxml/parser.h>
#include <limits.h>
#include <malloc.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "base/log.h"
#include "base/timer.h"
#include "vmd/libvirt_state.h"
#include "vmd/server.h"
#include "vmd/start.h"
#include "vmd/vmd_options.h"

/*
 * cupola-vmd: has the power over virtual machines, and reads nothing that a
 * client of the API or a guest sent.
 *
 * It can be killed at any time. So its end is simple: no VM is touched, and the
 * next one finds all of them again.
 */

#define SAMPLE_USEC (2 * USEC_PER_SEC)

enum {
	CREATES_QUEUE_MAX = 256,
	DESTROYS_QUEUE_MAX = VMD_CALLS_MAX,
	REMOVES_QUEUE_MAX = VMD_CALLS_MAX,
};

struct vmd {
	struct vmd_options options;
	struct host host;
	struct server *server;
	struct timer *sample;
	/* Since memory was last given back: of VMs, the most at a time */
	size_t most;
	sd_event_source *terminate, *interrupt, *children;
	/* Whether the last words were said */
	bool refused;
};

static void on_news(const char *uuid, enum virt_news news, void *userdata)
{
	struct vmd *v = userdata;
	struct machine *m = machine_find_uuid(&v->host, uuid);

	if (m)
		machine_news(m, news);
}

static void on_libvirt_lost(void *userdata)
{
	struct vmd *v = userdata;

	/* Whoever started us starts the next one, which finds all VMs again. */
	(void)log_error(NULL, 0, "The connection to libvirt is lost, exiting");
	(void)sd_event_exit(v->host.event, EXIT_FAILURE);
}

static void on_progress(const char *text, void *userdata)
{
	struct vmd *v = userdata;

	log_info(NULL, "Starting: %s", text);
	server_progress(v->server, text);
}

static void on_ready(const struct vmd_hello *hello, void *userdata)
{
	struct vmd *v = userdata;

	server_ready(v->server, hello);
	(void)sd_notify(0, "READY=1");
	log_info(NULL, "Ready: libvirt %u, QEMU %u, vsock %s, %s",
		 hello->libvirt_version, hello->qemu_version,
		 vmd_vsock_name(hello->vsock), hello->reason);
}

/* Says once, to whoever listens, why vmd does not run. */
static void refuse(struct vmd *v, const struct error *err)
{
	if (v->refused)
		return;
	v->refused = true;
	(void)log_error(NULL, 0, "%s", err->message);
	if (v->server)
		server_refuse(v->server, err->message);
}

static void on_failed(const struct error *err, void *userdata)
{
	struct vmd *v = userdata;

	refuse(v, err);
	(void)sd_event_exit(v->host.event, EXIT_FAILURE);
}

static const struct start_handlers start_handlers = {
	.progress = on_progress,
	.ready = on_ready,
	.failed = on_failed,
};

/*
 * What libvirt needs for a VM are thousands of small pieces. They are free when
 * it has ended, but lie between others, where free() gives nothing back. So it
 * is asked for when half of the VMs are gone, which happens seldom enough for a
 * millisecond.
 */
static void give_memory_back(struct vmd *v, size_t machines)
{
	if (machines > v->most)
		v->most = machines;
	if (machines > v->most / 2 || v->most == 0)
		return;
	(void)malloc_trim(0);
	v->most = machines;
}

static void on_sample(struct timer *timer, void *userdata)
{
	struct vmd *v = userdata;
	struct machine *m;
	size_t count = 0;

	for (m = v->host.machines; m; m = m->next, count++)
		machine_sample(m);
	give_memory_back(v, count);
	timer_set_after(timer, SAMPLE_USEC);
}

static int on_terminate(sd_event_source *source,
			const struct signalfd_siginfo *info, void *userdata)
{
	struct vmd *v = userdata;

	(void)source;
	(void)info;
	log_info(NULL, "Terminated, exiting; VMs that still run go on");
	return sd_event_exit(v->host.event, 0);
}

/* A terminal sends SIGINT to cupolad as well, which still needs us then. */
static int on_interrupt(sd_event_source *source,
			const struct signalfd_siginfo *info, void *userdata)
{
	(void)source;
	(void)info;
	(void)userdata;
	return 0;
}

/* These are reaped by their machine, which wants to know how they ended. */
static bool is_held(pid_t pid, void *userdata)
{
	struct vmd *v = userdata;
	struct machine *m;

	for (m = v->host.machines; m; m = m->next)
		if (m->qemu_fd >= 0 && m->record.qemu_pid == pid)
			return true;
	return false;
}

static int on_children(sd_event_source *source,
		       const struct signalfd_siginfo *info, void *userdata)
{
	(void)source;
	(void)info;
	child_reap_orphans(is_held, userdata);
	return 0;
}

static int on_reload(struct settings **ret_settings, struct error *err,
		     void *userdata)
{
	struct vmd *v = userdata;

	return vmd_options_settings(&v->options, ret_settings, err);
}

/* What of our caller's environment is for us. */
static const char *const kept_variables[] = {
	"CUPOLA_IMAGES", "JOURNAL_STREAM", "LISTEN_FDS", "LISTEN_PID",
	"NOTIFY_SOCKET", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS",
#ifdef ENABLE_FAILPOINTS
	"CUPOLA_FAILPOINT",
#endif
};

enum {
	KEPT_VARIABLES = sizeof(kept_variables) / sizeof(kept_variables[0]),
};

/*
 * libvirt and QEMU get nothing of it that could move their files or load
 * something into them.
 */
static int clean_environment(const char *state)
{
	char *values[KEPT_VARIABLES], outputs[sizeof("4:file:") + PATH_MAX];
	size_t i;
	int r = 0;

	for (i = 0; i < KEPT_VARIABLES; i++) {
		const char *value = getenv(kept_variables[i]);

		values[i] = value ? strdup(value) : NULL;
	}
	(void)clearenv();
	for (i = 0; i < KEPT_VARIABLES; i++) {
		if (values[i])
			r |= setenv(kept_variables[i], values[i], 1);
		free(values[i]);
	}
	r |= setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	r |= setenv("LC_ALL", "C.UTF-8", 1);
	r |= setenv("HOME", state, 1);
	/* Errors that matter reach our own log; it has many that do not. */
	(void)snprintf(outputs, sizeof(outputs), "4:file:%s/libvirt.log",
		       state);
	r |= setenv("LIBVIRT_LOG_OUTPUTS", outputs, 1);
	return r < 0 ? -ENOMEM : 0;
}

/*
 * libvirt has a thread for each domain, and malloc() would give many of them a
 * heap of their own, most of which stays unused. None allocates so much that it
 * had to wait for another.
 */
static void share_one_heap(void)
{
	(void)mallopt(M_ARENA_MAX, 1);
}

static int stage_process(struct vmd *v, struct error *err)
{
	int r;

	if (geteuid() == 0)
		return error_set(err, ERR_FORBIDDEN,
				 "cupola-vmd does not run as root: libvirt "
				 "would read a hijacked QEMU's answers with "
				 "root's power. Start it as user cupola");
	(void)umask(0077);
	share_one_heap();
	/* QEMU's parent is to be us: see machine_end.c. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return error_set_errno(err, -errno, "Cannot become a reaper");
	r = clean_environment(v->options.state);
	if (r < 0)
		return error_set_errno(err, r, "Cannot set the environment");
	xmlInitParser();
	return 0;
}

static int stage_loop(struct vmd *v, struct error *err)
{
	struct host *host = &v->host;
	int r;

	r = sd_event_new(&host->event);
	if (r >= 0)
		r = clock_new(&host->clock);
	if (r >= 0)
		r = event_add_signal(host->event, SIGTERM, on_terminate, v,
				     "SIGTERM", &v->terminate);
	if (r >= 0)
		r = event_add_signal(host->event, SIGINT, on_interrupt, v,
				     "SIGINT", &v->interrupt);
	if (r >= 0)
		r = event_add_signal(host->event, SIGCHLD, on_children, v,
				     "SIGCHLD", &v->children);
	if (r >= 0)
		r = timer_new(host->event, host->clock, "sample", on_sample, v,
			      &v->sample);
	if (r < 0)
		return error_set_errno(err, r, "Cannot make the event loop");
	timer_set_after(v->sample, SAMPLE_USEC);
	/* If systemd wants to hear from us: before its words are cleared away. */
	(void)sd_event_set_watchdog(host->event, true);
	return 0;
}

static int stage_settings(struct vmd *v, struct error *err)
{
	int r;

	r = vmd_options_settings(&v->options, &v->host.settings, err);
	if (r < 0)
		return r;
	log_set_level_name(settings_string(v->host.settings, "log", "level"));
	return 0;
}

static int listen_to_systemd(struct vmd *v, struct error *err)
{
	const struct passwd *client;
	int r;

	if (sd_listen_fds(1) != 1 ||
	    sd_is_socket(SD_LISTEN_FDS_START, AF_UNIX, SOCK_SEQPACKET, 1) <= 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "cupola-vmd needs --socket-fd, or one "
				 "listening SOCK_SEQPACKET socket of systemd");
	client = getpwnam(v->options.client);
	if (!client)
		return error_set(err, ERR_BAD_REQUEST,
				 "there is no user '%s', who was to be served",
				 v->options.client);
	r = server_listen(v->server, SD_LISTEN_FDS_START, client->pw_uid);
	if (r < 0)
		return error_set_errno(err, r, "Cannot listen");
	return 0;
}

static int stage_socket(struct vmd *v, struct error *err)
{
	int fd = v->options.socket_fd, r;

	r = server_new(&v->host, on_reload, v, &v->server);
	if (r < 0)
		return error_set_errno(err, r, "Cannot serve");
	if (fd < 0)
		return listen_to_systemd(v, err);
	if (sd_is_socket(fd, AF_UNIX, SOCK_SEQPACKET, 0) <= 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "descriptor %d is no SOCK_SEQPACKET socket",
				 fd);
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	r = server_serve(v->server, fd);
	if (r < 0)
		return error_set_errno(err, r, "Cannot serve");
	return 0;
}

static int stage_host(struct vmd *v, struct error *err)
{
	return host_prepare(&v->host, err);
}

static int stage_libvirt(struct vmd *v, struct error *err)
{
	static const struct virt_handlers handlers = {
		.news = on_news,
		.lost = on_libvirt_lost,
	};
	struct host *host = &v->host;
	unsigned threads = (unsigned)settings_uint(host->settings,
						   "hypervisor", "workers");
	_cleanup_free_ char *root = NULL;
	int r;

	if (asprintf(&root, "%s/libvirt", host->state) < 0) {
		root = NULL;
		return error_set_errno(err, -ENOMEM, "Cannot start libvirt");
	}
	r = virt_new(host->event, host->uri, host->embedded ? root : NULL,
		     &handlers, v, &host->virt);
	if (r >= 0)
		r = worker_new(host->event, "vmd-create", threads,
			       CREATES_QUEUE_MAX, &host->creates);
	if (r >= 0)
		r = worker_new(host->event, "vmd-destroy", threads,
			       DESTROYS_QUEUE_MAX, &host->destroys);
	if (r >= 0)
		r = worker_new(host->event, "vmd-remove", 1,
			       REMOVES_QUEUE_MAX, &host->removes);
	if (r < 0)
		return error_set_errno(err, r, "Cannot start libvirt");
	return 0;
}

static int stage_start(struct vmd *v, struct error *err)
{
	int r;

	r = start_begin(&v->host, &start_handlers, v, &server_watch,
			v->server);
	if (r < 0)
		return error_set_errno(err, r, "Cannot start");
	return 0;
}

static int (*const stages[])(struct vmd *v, struct error *err) = {
	stage_loop,
	stage_settings,
	stage_socket,		/* from here on a refusal is heard */
	stage_process,
	stage_host,
	stage_libvirt,
	stage_start,
};

static int run(struct vmd *v)
{
	struct error err = ERROR_INIT;
	size_t i;
	int r;

	for (i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		r = stages[i](v, &err);
		if (r < 0) {
			refuse(v, &err);
			return EXIT_FAILURE;
		}
	}
	r = sd_event_loop(v->host.event);
	return r < 0 ? EXIT_FAILURE : r;
}

/* From here on no thread of libvirt's can start another process. */
static void end_questions(const struct host *host)
{
	const struct rlimit none = { 0, 0 };

	if (!host->embedded)
		return;
	(void)setrlimit(RLIMIT_NPROC, &none);
	libvirt_state_end_questions(host->state);
}

/*
 * A job that is out would be waited for, and libvirt may hang: then the process
 * just ends, as if it had been killed.
 */
static void end(struct vmd *v, int status)
{
	struct host *host = &v->host;

	server_free(take_ptr(v->server));
	if ((host->creates && worker_pending(host->creates) > 0) ||
	    (host->destroys && worker_pending(host->destroys) > 0) ||
	    (host->removes && worker_pending(host->removes) > 0)) {
		end_questions(host);
		_exit(status);
	}
	while (host->machines)
		machine_free(host->machines);
	host_done(host);
	timer_free(v->sample);
	sd_event_source_disable_unref(v->terminate);
	sd_event_source_disable_unref(v->interrupt);
	sd_event_source_disable_unref(v->children);
	settings_free(host->settings);
	clock_free(host->clock);
	sd_event_unref(host->event);
}

int main(int argc, char **argv)
{
	static struct vmd v;
	struct error err = ERROR_INIT;
	int status;

	log_init("cupola-vmd");
	if (vmd_options_parse(argc, argv, &v.options, &err) < 0) {
		fprintf(stderr, "cupola-vmd: %s\n", err.message);
		return 2;
	}
	if (v.options.help) {
		vmd_options_print_help();
		return 0;
	}
	if (v.options.version) {
		printf("cupola-vmd %s\n", PACKAGE_VERSION);
		return 0;
	}
	host_init(&v.host);
	v.host.state = v.options.state;
	status = run(&v);
	end(&v, status);
	return status;
}
