#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/hex.h"
#include "base/id.h"
#include "base/log.h"
#include "vmd/backend.h"
#include "vmd/host.h"
#include "vmd/libvirt_state.h"
#include "vmd/vm_user.h"

#define HOST_LOCK_WAIT_USEC (5 * USEC_PER_SEC)
#define HOST_LOCK_LOOK_USEC (20 * USEC_PER_MSEC)

/*
 * What libvirt's embedded driver reads before anything else. QEMU's log goes to
 * a file without a virtlogd; there is nothing that security drivers, namespaces
 * or cgroups could add without privileges; and QEMU's memory is never dumped.
 */
static const char qemu_conf[] =
	"stdio_handler = \"file\"\n"
	"security_driver = \"none\"\n"
	"max_core = 0\n"
	"namespaces = [ ]\n"
	"cgroup_controllers = [ ]\n";

/* What goes into libvirt's URI, into QEMU's options and into XML unescaped. */
static const char plain_characters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";

static int check_state_path(const char *state, struct error *err)
{
	if (state[0] != '/' ||
	    state[strspn(state, plain_characters)] != '\0')
		return error_set(err, ERR_BAD_REQUEST,
				 "the state directory must be an absolute path "
				 "of letters, digits and '/._-' only");
	if (strlen(state) > HOST_STATE_MAX)
		return error_set(err, ERR_BAD_REQUEST,
				 "the state directory's path has %zu bytes, "
				 "but sockets below it allow for only %d: "
				 "choose a shorter one", strlen(state),
				 HOST_STATE_MAX);
	return 0;
}

/* The last one may still be on its way out. */
static int lock_state(struct host *host, struct error *err)
{
	usec_t until = usec_add(clock_boot(host->clock), HOST_LOCK_WAIT_USEC);
	pid_t holder = 0;
	int fd;

	for (;;) {
		fd = fs_lock(host->state_fd, "vmd.lock", &holder);
		if (fd != -EBUSY || clock_boot(host->clock) >= until)
			break;
		(void)usleep(HOST_LOCK_LOOK_USEC);
	}
	if (fd == -EBUSY)
		return error_set(err, ERR_CONFLICT,
				 "another cupola-vmd (pid %d) uses this state "
				 "directory", holder);
	if (fd < 0)
		return error_set_errno(err, fd, "Cannot lock the state "
						"directory");
	host->lock_fd = fd;
	return 0;
}

static int open_below(struct host *host, const char *name, int *ret_fd,
		      struct error *err)
{
	int fd, r = 0;

	if (mkdirat(host->state_fd, name, 0700) < 0 && errno != EEXIST)
		r = -errno;
	if (r >= 0) {
		fd = fs_open_dir(host->state_fd, name);
		if (fd < 0)
			r = fd;
		else
			*ret_fd = fd;
	}
	if (r < 0)
		return error_set_errno(err, r,
				       "Cannot use '%s' in the state directory",
				       name);
	return 0;
}

static int open_directories(struct host *host, struct error *err)
{
	int r;

	r = fs_mkdir_p(host->state, 0700);
	if (r < 0)
		return error_set_errno(err, r,
				       "Cannot make the state directory");
	host->state_fd = fs_open_dir(AT_FDCWD, host->state);
	if (host->state_fd < 0)
		return error_set_errno(err, host->state_fd,
				       "Cannot open the state directory");
	r = lock_state(host, err);
	if (r >= 0)
		r = open_below(host, "vm", &host->vm_fd, err);
	if (r >= 0)
		r = open_below(host, "templates", &host->template_fd, err);
	if (r >= 0)
		r = open_below(host, "accelerator", &host->accelerator_fd,
			       err);
	return r;
}

static int read_installation(struct host *host)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(INSTALLATION_SIZE - 1);
	int r;

	r = fs_read_file(host->state_fd, "installation", &text);
	if (r < 0)
		return r;
	if (text.length != INSTALLATION_SIZE - 1 ||
	    strspn(buf_str(&text), "0123456789abcdef") != text.length)
		return -EINVAL;
	strcpy(host->installation, buf_str(&text));
	return 0;
}

static int make_installation(struct host *host)
{
	uint8_t random[(INSTALLATION_SIZE - 1) / 2];
	int r;

	r = random_bytes(random, sizeof(random));
	if (r < 0)
		return r;
	hex_encode(random, sizeof(random), host->installation);
	return fs_write_file_atomic(host->state_fd, "installation",
				    host->installation, INSTALLATION_SIZE - 1,
				    0600);
}

static int find_installation(struct host *host, struct error *err)
{
	int r;

	r = read_installation(host);
	if (r == -ENOENT)
		r = make_installation(host);
	if (r < 0)
		return error_set_errno(err, r, "Cannot tell which domains are "
					       "ours ('installation' in the "
					       "state directory)");
	return 0;
}

/*
 * libvirt keeps what runs below ROOT/run, which elsewhere is emptied by a
 * reboot. Here nobody does that, and libvirt would take the pids in it for those
 * of its QEMUs, and kill whoever has them now.
 */
static int forget_last_boot(struct host *host, int root_fd)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(CLOCK_BOOT_ID_SIZE);
	int r;

	r = fs_read_file(root_fd, "boot-id", &text);
	if (r < 0 && r != -ENOENT)
		return r;
	if (strcmp(buf_str(&text), host->boot_id) == 0)
		return 0;
	r = fs_remove_tree(root_fd, "run");
	if (r < 0)
		return r;
	return fs_write_file_atomic(root_fd, "boot-id", host->boot_id,
				    strlen(host->boot_id), 0600);
}

static int prepare_embedded(struct host *host, struct error *err)
{
	_cleanup_close_ int root_fd = -1, etc_fd = -1;
	int r;

	r = open_below(host, "libvirt", &root_fd, err);
	if (r < 0)
		return r;
	r = forget_last_boot(host, root_fd);
	if (r >= 0) {
		libvirt_state_end_questions(host->state);
		r = libvirt_state_prune(root_fd);
	}
	if (r >= 0 && mkdirat(root_fd, "etc", 0700) < 0 && errno != EEXIST)
		r = -errno;
	if (r >= 0) {
		etc_fd = fs_open_dir(root_fd, "etc");
		r = etc_fd;
	}
	if (r >= 0)
		r = fs_write_file_atomic(etc_fd, "qemu.conf", qemu_conf,
					 sizeof(qemu_conf) - 1, 0600);
	if (r < 0)
		return error_set_errno(err, r,
				       "Cannot prepare libvirt's directory");
	return 0;
}

/*
 * QEMU's users have to pass, and getgrnam() is not for the workers. The mode is
 * set here, not when the directory is made: our umask is in the way.
 */
static int open_to_qemu(struct host *host, struct error *err)
{
	const struct group *kvm = getgrnam("kvm");

	host->kvm_group = kvm ? kvm->gr_gid : (gid_t)-1;
	if (fchmod(host->state_fd, VM_USER_PASSAGE) < 0 ||
	    fchmod(host->vm_fd, VM_USER_PASSAGE) < 0)
		return error_set_errno(err, -errno,
				       "Cannot let QEMU pass through the state "
				       "directory");
	return 0;
}

static int choose_uri(struct host *host, struct error *err)
{
	const char *uri = settings_string(host->settings, "hypervisor", "uri");

	host->embedded = *uri == '\0';
	if (host->embedded) {
		(void)snprintf(host->uri, sizeof(host->uri),
			       "qemu:///embed?root=%s/libvirt", host->state);
		return prepare_embedded(host, err);
	}
	/* "qemu:///embed" by hand would be an embedded driver unprepared. */
	if (strlen(uri) >= sizeof(host->uri) ||
	    strncmp(uri, "qemu:///embed", 13) == 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "hypervisor.uri must be empty, for the driver "
				 "in cupola-vmd, or name a libvirt daemon");
	strcpy(host->uri, uri);
	host->privileged = virt_uri_is_privileged(uri);
	return host->privileged ? open_to_qemu(host, err) : 0;
}

/* Why neither backend is there, or not the one that is wanted. */
static const char *vsock_missing(const struct host *host, const char *wanted)
{
	if (host->privileged && strcmp(wanted, "user") == 0)
		return "hypervisor.vsock = user needs libvirt's driver in "
		       "cupola-vmd, that is an empty hypervisor.uri";
	if (host->privileged || strcmp(wanted, "kernel") == 0)
		return "/dev/vhost-vsock cannot be opened: load the module "
		       "vhost_vsock and join the group kvm";
	return "guests cannot be reached: install vhost-device-vsock, or load "
	       "the module vhost_vsock";
}

/*
 * A vsock daemon of ours shares the memory of its VM and a socket with QEMU. It
 * does not where QEMU has a user of its own and AppArmor around it; and a host
 * with a libvirt of root's has the kernel's vsock.
 */
static int choose_vsock(struct host *host, struct error *err)
{
	const char *wanted = settings_string(host->settings, "hypervisor",
					     "vsock");
	/* Asked of the device; opening an AF_VSOCK socket could load modules. */
	bool kernel = access("/dev/vhost-vsock", R_OK | W_OK) == 0;
	bool user = !host->privileged && backend_program() != NULL;

	if (kernel && strcmp(wanted, "user") != 0)
		host->vsock = VMD_VSOCK_KERNEL;
	else if (user && strcmp(wanted, "kernel") != 0)
		host->vsock = VMD_VSOCK_USER;
	else
		return error_set(err, ERR_HYPERVISOR, "%s",
				 vsock_missing(host, wanted));
	return 0;
}

static int check_programs(struct error *err)
{
	if (access(QEMU_PATH, X_OK) < 0)
		return error_set(err, ERR_HYPERVISOR,
				 "QEMU is missing: install qemu-system-x86");
	return 0;
}

void host_init(struct host *host)
{
	*host = (struct host){
		.state_fd = -1,
		.vm_fd = -1,
		.template_fd = -1,
		.accelerator_fd = -1,
		.lock_fd = -1,
		.tsc_start = tsc_sample(),
	};
}

int host_prepare(struct host *host, struct error *err)
{
	int r;

	r = check_state_path(host->state, err);
	if (r >= 0)
		r = check_programs(err);
	if (r >= 0)
		r = open_directories(host, err);
	if (r < 0)
		return r;
	r = clock_boot_id(host->boot_id);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read the boot id");
	r = find_installation(host, err);
	if (r >= 0)
		r = choose_uri(host, err);
	if (r >= 0)
		r = choose_vsock(host, err);
	if (r >= 0)
		r = pools_load(host->settings, host->state, &host->pools, err);
	return r;
}

void host_done(struct host *host)
{
	worker_free(take_ptr(host->creates));
	worker_free(take_ptr(host->destroys));
	worker_free(take_ptr(host->removes));
	virt_free(take_ptr(host->virt));
	host->gc = sd_event_source_disable_unref(host->gc);
	pools_free(take_ptr(host->pools));
	close_fd(&host->vm_fd);
	close_fd(&host->template_fd);
	close_fd(&host->accelerator_fd);
	close_fd(&host->state_fd);
	/*
	 * Not the lock: libvirt's embedded driver keeps its own until the
	 * process ends, and whoever gets ours must be able to get that, too.
	 */
}

int host_remove_vm(const struct host *host, const char *vm_id)
{
	char log[sizeof("libvirt/log/qemu/.log") + VMD_ID_MAX];

	/* libvirt keeps the log of each domain that there ever was. */
	(void)snprintf(log, sizeof(log), "libvirt/log/qemu/%s.log", vm_id);
	if (host->embedded && unlinkat(host->state_fd, log, 0) < 0 &&
	    errno != ENOENT)
		return -errno;
	return fs_remove_tree(host->vm_fd, vm_id);
}

char *host_path(const struct host *host, const char *vm_id, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/vm/%s%s%s", host->state, vm_id,
		     name ? "/" : "", name ? name : "") < 0)
		return NULL;
	return path;
}
