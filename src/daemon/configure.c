#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/api.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/sanitizer.h"
#include "base/settings.h"
#include "daemon/configure.h"
#include "daemon/daemon.h"
#include "daemon/dev.h"
#include "daemon/user.h"
#include "daemon/vmd_process.h"
#include "turn/upstream.h"

#define DEFAULT_CONFIG SYSCONFDIR "/cupola/cupolad.conf"
#define DEFAULT_STATE LOCALSTATEDIR "/lib/cupola/daemon"

#define LOCK_FILE "cupolad.lock"

/* Clients, files under way, one link and some transfers per VM. */
#define DESCRIPTORS_WANTED 65536

/* What development mode means where nothing else is said. */
static const char *const dev_defaults[] = {
	"listen.http=127.0.0.1:0",
	"host.allow_emulation=yes",
	"host.memory_commit=0.3",
	/* Emulated, on a machine that may be compiling at the same time. */
	"hypervisor.boot_timeout=180",
	"pool.*.max=64",
	"session.drain=0",
};

/* Settings that only a test may want. */
static const char *const dev_only[] = { "clock", "minute_seconds" };

static int set_dev_defaults(struct settings *s, struct error *err)
{
	size_t i;
	int r = 0;

	for (i = 0; i < sizeof(dev_defaults) / sizeof(dev_defaults[0]); i++) {
		r = settings_set_default(s, dev_defaults[i]);
		if (r < 0)
			return error_set_errno(err, r, "Cannot set a default");
	}
	return 0;
}

/* The file that was named must be there; the default one may be. */
static int load_file(const struct daemon *d, struct settings *s,
		     struct error *err)
{
	if (d->options.config)
		return settings_load_file(s, d->options.config, err);
	if (d->development || access(DEFAULT_CONFIG, F_OK) < 0)
		return 0;
	return settings_load_file(s, DEFAULT_CONFIG, err);
}

static int check_dev_only(const struct daemon *d, const struct settings *s,
			  struct error *err)
{
	size_t i;

	if (d->development)
		return 0;
	for (i = 0; i < sizeof(dev_only) / sizeof(dev_only[0]); i++)
		if (settings_is_set(s, "test", dev_only[i]))
			return error_set(err, ERR_BAD_REQUEST,
					 "Setting test.%s is for development "
					 "mode only (--dev)",
					 dev_only[i]);
	return 0;
}

static int read_settings(const struct daemon *d, struct settings **ret,
			 struct error *err)
{
	_cleanup_(settings_freep) struct settings *s = NULL;
	size_t i;
	int r;

	r = settings_new(settings_table, settings_table_count, &s);
	if (r < 0)
		return error_set_errno(err, r, "Cannot prepare settings");
	if (d->development)
		r = set_dev_defaults(s, err);
	if (r >= 0)
		r = load_file(d, s, err);
	for (i = 0; i < d->options.set.count && r >= 0; i++) {
		r = settings_set(s, d->options.set.items[i], err);
		if (r < 0)
			r = error_wrap(err, r, "--set %s", d->options.set.items[i]);
	}
	if (r >= 0)
		r = check_dev_only(d, s, err);
	if (r >= 0)
		r = api_check_settings(s, err);
	if (r >= 0)
		r = upstream_check_settings(s, err);
	if (r < 0)
		return r;
	log_set_level_name(settings_string(s, "log", "level"));
	*ret = take_ptr(s);
	return 0;
}

int configure_settings(struct daemon *d, struct error *err)
{
	d->development = d->options.dev != NULL;
	return read_settings(d, &d->settings, err);
}

/* Where that user has not been made yet, files are looked at as root's. */
static int become_reader(struct error *err)
{
	const struct passwd *user =
		geteuid() == 0 ? getpwnam(DEV_USER) : NULL;
	int r = user ? user_become(user) : 0;

	return r < 0 ? error_set_errno(err, r, "Cannot become user '%s'",
				       DEV_USER)
		     : 0;
}

int configure_check(struct daemon *d, struct error *err)
{
	int r = become_reader(err);

	if (r >= 0)
		r = api_check_files(d->settings, err);
	if (r >= 0)
		r = upstream_check_files(d->settings, err);
	return r;
}

/* What others hold on to stays as it is: only the level has been taken over. */
int configure_reload(const struct daemon *d, struct error *err)
{
	_cleanup_(settings_freep) struct settings *s = NULL;

	return read_settings(d, &s, err);
}

/* The socket's path is the first to burst; cupola-vmd checks its own. */
static int check_length(const char *dir, struct error *err)
{
	size_t length = strlen(dir) + strlen("/cupola.sock");

	if (length <= LIMIT_SOCKET_PATH)
		return 0;
	return error_set(err, ERR_BAD_REQUEST,
			 "'%s' is too long for the sockets in it: choose a "
			 "directory that is %zu bytes shorter, or more",
			 dir, length - LIMIT_SOCKET_PATH);
}

static int find_directory(struct daemon *d, struct error *err)
{
	const char *given = getenv("STATE_DIRECTORY");

	if (d->development)
		return dev_directory(d->options.dev, &d->dir, err);
	d->dir = strdup(given && *given ? given : DEFAULT_STATE);
	return d->dir ? 0 : error_set_errno(err, -ENOMEM, "Cannot start");
}

int configure_directory(struct daemon *d, struct error *err)
{
	int r = find_directory(d, err);

	if (r >= 0)
		r = check_length(d->dir, err);
	return r;
}

static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
	    limit.rlim_cur >= DESCRIPTORS_WANTED)
		return;
	limit.rlim_cur = limit.rlim_max < DESCRIPTORS_WANTED ?
				 limit.rlim_max :
				 DESCRIPTORS_WANTED;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Memory holds keys and nonces: nobody may read it, and no dump is made. */
static void forbid_dumps(void)
{
	const struct rlimit none = { 0, 0 };

	(void)setrlimit(RLIMIT_CORE, &none);
#if !WITH_ADDRESS_SANITIZER /* LeakSanitizer traces its own process */
	(void)prctl(PR_SET_DUMPABLE, 0);
#endif
}

int configure_user(struct daemon *d, struct error *err)
{
	int r = 0;

	/* State is nobody else's business; sockets set their own mode. */
	(void)umask(077);
	raise_descriptors();
	if (d->development) {
		d->vmd_binary = vmd_process_open(err);
		if (d->vmd_binary < 0)
			return d->vmd_binary;
		r = dev_become_user(d->dir, err);
	} else if (geteuid() == 0) {
		r = error_set(err, ERR_BAD_REQUEST,
			      "cupolad does not run as root: use its unit, or "
			      "--dev DIR");
	}
	forbid_dumps();
	return r;
}

int configure_lock(struct daemon *d, struct error *err)
{
	pid_t holder = 0;

	d->dir_fd = open(d->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->dir_fd < 0)
		return error_set_errno(err, -errno,
				       "Cannot use the directory '%s'", d->dir);
	d->lock = fs_lock(d->dir_fd, LOCK_FILE, &holder);
	if (d->lock == -EBUSY)
		return error_set(err, ERR_CONFLICT,
				 "Another cupolad, process %d, uses '%s': end "
				 "it first, or choose another directory",
				 (int)holder, d->dir);
	if (d->lock < 0)
		return error_set_errno(
			err, d->lock, "Cannot lock '%s/" LOCK_FILE "'", d->dir);
	return 0;
}
