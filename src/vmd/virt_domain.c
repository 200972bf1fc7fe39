#include <errno.h>
#include <libvirt/libvirt-qemu.h>
#include <libvirt/virterror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "vmd/domain_xml.h"
#include "vmd/virt_private.h"

/* Whether a domain is ours; one that ends meanwhile is not. */
static bool describe(virDomainPtr domain, const char *installation,
		     struct virt_domain *ret_domain)
{
	_cleanup_free_ char *mark = NULL;
	int state = VIR_DOMAIN_NOSTATE;

	mark = virDomainGetMetadata(domain, VIR_DOMAIN_METADATA_ELEMENT,
				    DOMAIN_XML_NAMESPACE, 0);
	if (!mark ||
	    !domain_xml_is_ours(mark, installation, ret_domain->vm_id) ||
	    virDomainGetUUIDString(domain, ret_domain->uuid) < 0 ||
	    virDomainGetState(domain, &state, NULL, 0) < 0) {
		virResetLastError();
		return false;
	}
	ret_domain->paused = state == VIR_DOMAIN_PAUSED;
	return true;
}

int virt_list(struct virt *virt, const char *installation,
	      struct virt_domain **ret_domains, struct error *err)
{
	virDomainPtr *domains = NULL;
	struct virt_domain *ours;
	int count, i, found = 0;

	count = virConnectListAllDomains(virt->destroys, &domains,
					 VIR_CONNECT_LIST_DOMAINS_ACTIVE);
	if (count < 0)
		return virt_error(err, "libvirt cannot list its domains");
	ours = calloc((size_t)count + 1, sizeof(*ours));
	for (i = 0; i < count; i++) {
		if (ours && describe(domains[i], installation, &ours[found]))
			found++;
		(void)virDomainFree(domains[i]);
	}
	free(domains);
	if (!ours)
		return error_set_errno(err, -ENOMEM, "Cannot list domains");
	*ret_domains = ours;
	return found;
}

/*
 * QEMU may have ended by now: as a child of ours it is then a zombie, so the pid
 * is still its own, since nobody else reaps it.
 */
int virt_hold(struct virt *virt, const char *name, pid_t *ret_pid,
	      int *ret_pidfd)
{
	_cleanup_(fclosep) FILE *f = NULL;
	_cleanup_free_ char *path = NULL;
	int pid = 0, pidfd;

	if (asprintf(&path, "%s/%s.pid", virt->pid_directory, name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	f = fopen(path, "re");
	if (!f)
		return -errno;
	if (fscanf(f, "%d", &pid) != 1 || pid <= 1)
		return -EIO;
	pidfd = pidfd_open(pid, 0);
	if (pidfd < 0)
		return -errno;
	*ret_pid = pid;
	*ret_pidfd = pidfd;
	return 0;
}

/*
 * What one VM may ask of the host's disk, so that its neighbours and the
 * daemon's database get theirs. Each limit is a good part of what one SATA SSD
 * does, and an NVMe drive has room for several VMs that do nothing else: an
 * artifact of 64 MiB takes a quarter of a second, and an import that reads ten
 * thousand small files is not held up.
 */
enum {
	DISK_BYTES_PER_SEC = 256 << 20,
	DISK_OPERATIONS_PER_SEC = 20000,
};

/* Return: 0, also if this is no QEMU, or negative errno */
static int limit_disk(virDomainPtr domain, const char *alias)
{
	_cleanup_free_ char *answer = NULL;
	char command[320];
	int code;

	(void)snprintf(command, sizeof(command),
		       "{\"execute\":\"block_set_io_throttle\",\"arguments\":"
		       "{\"id\":\"%s\",\"bps\":%d,\"bps_rd\":0,\"bps_wr\":0,"
		       "\"iops\":%d,\"iops_rd\":0,\"iops_wr\":0}}",
		       alias, DISK_BYTES_PER_SEC, DISK_OPERATIONS_PER_SEC);
	if (virDomainQemuMonitorCommand(domain, command, &answer, 0) < 0) {
		code = virGetLastErrorCode();
		virResetLastError();
		return code == VIR_ERR_NO_SUPPORT ? 0 : -EREMOTEIO;
	}
	return strstr(answer, "\"error\"") ? -EREMOTEIO : 0;
}

/*
 * By QEMU's own command: for <iotune> libvirt 9.0 looks for the disk where it
 * would be behind a PCI device, which QEMU refuses for virtio-mmio. The names
 * are those that libvirt gives the first two disks.
 */
static int limit_disks(virDomainPtr domain)
{
	int r = limit_disk(domain, "virtio-disk0");

	return r < 0 ? r : limit_disk(domain, "virtio-disk1");
}

/* What a VM that was started still needs. */
static int complete(struct virt *virt, virDomainPtr domain, const char *name,
		    pid_t *ret_pid, int *ret_pidfd, struct error *err)
{
	int r = 0;

	if (virt->pid_directory)
		r = virt_hold(virt, name, ret_pid, ret_pidfd);
	if (r < 0) {
		(void)error_set(err, ERR_HYPERVISOR,
				"the VM ended as soon as it was started");
		return log_error(NULL, r, "Cannot hold the QEMU of '%s'", name);
	}
	r = limit_disks(domain);
	if (r < 0) {
		close_fd(ret_pidfd);
		(void)error_set(err, ERR_HYPERVISOR,
				"the VM's disks could not be limited");
		(void)log_error(NULL, r, "Cannot limit the disks of '%s'",
				name);
	}
	return r;
}

int virt_create(struct virt *virt, const char *xml, const char *name,
		pid_t *ret_pid, int *ret_pidfd, struct error *err)
{
	virDomainPtr domain;
	pid_t pid = 0;
	int r, pidfd = -1;

	domain = virDomainCreateXML(virt->creates, xml, 0);
	if (!domain)
		return virt_error(err, "libvirt could not start the VM");
	r = complete(virt, domain, name, &pid, &pidfd, err);
	if (r < 0) {
		(void)virDomainDestroy(domain);
		virResetLastError();
	}
	(void)virDomainFree(domain);
	if (r < 0)
		return r;
	*ret_pid = pid;
	*ret_pidfd = pidfd;
	return 0;
}

int virt_destroy(struct virt *virt, const char *uuid, struct error *err)
{
	virDomainPtr domain;
	virErrorPtr error;
	int r = 0;

	domain = virDomainLookupByUUIDString(virt->destroys, uuid);
	if (!domain || virDomainDestroy(domain) < 0) {
		error = virGetLastError();
		/* Not running is what was asked for. */
		if (!error || (error->code != VIR_ERR_NO_DOMAIN &&
			       error->code != VIR_ERR_OPERATION_INVALID))
			r = virt_error(err, "libvirt could not end the VM");
		virResetLastError();
	}
	if (domain)
		(void)virDomainFree(domain);
	return r;
}

int virt_nmi(struct virt *virt, const char *uuid, struct error *err)
{
	virDomainPtr domain;
	int r = 0;

	domain = virDomainLookupByUUIDString(virt->destroys, uuid);
	if (!domain || virDomainInjectNMI(domain, 0) < 0)
		r = virt_error(err, "libvirt could not interrupt the VM");
	if (domain)
		(void)virDomainFree(domain);
	return r;
}
