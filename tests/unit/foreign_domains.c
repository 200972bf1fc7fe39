/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <fcntl.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/log.h"
#include "vmd/backend.h"
#include "vmd/child.h"
#include "vmd/domain_xml.h"
#include "vmd/virt.h"

/*
 * A whole cupola-vmd on a libvirt that has domains of others: libvirt's test
 * driver, whose domains live in the process, so they are made when vmd connects
 * and counted when it closes. The driver knows no microvm and no QEMU; what vmd
 * creates becomes a domain that it knows, with the same name, UUID and mark, and
 * the vsock daemon a process that does nothing.
 */

#define DRIVER "test:///default"

/* The first is one of ours that was forgotten, which is to be ended. */
#define OURS "vm_0000000000000000000000"

/**
 * struct foreign - A domain that vmd must not touch
 * @name:	As ours, or nearly
 * @mark:	Its metadata; %s stands for our installation
 */
static const struct foreign {
	const char *name;
	const char *mark;
} foreign[] = {
	{ "vm_1111111111111111111111", "" },
	{ OURS "-copy", "" },
	{ "cupola", "" },
	{ "vm_2222222222222222222222",
	  "<c:vm xmlns:c='" DOMAIN_XML_NAMESPACE "' installation='another'"
	  " id='vm_2222222222222222222222'/>" },
	{ "vm_3333333333333333333333",
	  "<c:vm xmlns:c='" DOMAIN_XML_NAMESPACE "' installation='%sx'"
	  " id='vm_3333333333333333333333'/>" },
	{ "vm_4444444444444444444444",
	  "<c:vm xmlns:c='" DOMAIN_XML_NAMESPACE "/2' installation='%s'"
	  " id='vm_4444444444444444444444'/>" },
	{ "vm_5555555555555555555555",
	  "<c:vm xmlns:c='" DOMAIN_XML_NAMESPACE "' installation='%s'"
	  " id='../..'/>" },
};

enum { FOREIGN_COUNT = sizeof(foreign) / sizeof(foreign[0]), TEXT_MAX = 1024 };

static virConnectPtr conn;

int __real_virt_open(struct virt *virt, struct error *err);
void __real_virt_free(struct virt *virt);
virDomainPtr __real_virDomainCreateXML(virConnectPtr connection,
				       const char *xml, unsigned int flags);
int __wrap_virt_open(struct virt *virt, struct error *err);
int __wrap_virt_warm(struct virt *virt, const char *emulator,
		     struct error *err);
void __wrap_virt_free(struct virt *virt);
virDomainPtr __wrap_virDomainCreateXML(virConnectPtr connection,
				       const char *xml, unsigned int flags);

/* --- domains of others --- */

static void give_up(const char *what)
{
	const virError *error = virGetLastError();

	log_error(NULL, 0, "%s: %s", what, error ? error->message : "");
	abort();
}

static void read_installation(char *ret, size_t size)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(64);
	char path[TEXT_MAX];

	/* The directory of state is home in development mode. */
	(void)snprintf(path, sizeof(path), "%s/installation", getenv("HOME"));
	if (fs_read_file(AT_FDCWD, path, &text) < 0)
		give_up(path);
	(void)snprintf(ret, size, "%.*s", (int)strcspn(buf_str(&text), "\n"),
		       buf_str(&text));
}

static void make_domain(const char *name, const char *mark)
{
	char xml[2 * TEXT_MAX];
	virDomainPtr domain;

	(void)snprintf(xml, sizeof(xml),
		       "<domain type='test'><name>%s</name><metadata>%s"
		       "</metadata><memory>8192</memory><os><type>hvm</type>"
		       "</os></domain>",
		       name, mark);
	domain = __real_virDomainCreateXML(conn, xml, 0);
	if (!domain)
		give_up(name);
	(void)virDomainFree(domain);
}

/* The mark with the installation in the place of its "%s". */
static void write_mark(const char *mark, const char *installation,
		       char ret[TEXT_MAX])
{
	const char *at = strstr(mark, "%s");
	int before = at ? (int)(at - mark) : (int)strlen(mark);

	(void)snprintf(ret, TEXT_MAX, "%.*s%s%s", before, mark,
		       at ? installation : "", at ? at + 2 : "");
}

int __wrap_virt_open(struct virt *virt, struct error *err)
{
	char installation[64], mark[TEXT_MAX];
	int i, r = __real_virt_open(virt, err);

	if (r < 0)
		return r;
	conn = virConnectOpen(DRIVER);
	if (!conn)
		give_up(DRIVER);
	read_installation(installation, sizeof(installation));
	for (i = 0; i < FOREIGN_COUNT; i++) {
		write_mark(foreign[i].mark, installation, mark);
		make_domain(foreign[i].name, mark);
	}
	write_mark("<c:vm xmlns:c='" DOMAIN_XML_NAMESPACE "' installation='%s'"
		   " id='" OURS "'/>",
		   installation, mark);
	make_domain(OURS, mark);
	return 0;
}

static bool runs(const char *name)
{
	virDomainPtr domain = virDomainLookupByName(conn, name);
	bool active = domain && virDomainIsActive(domain) == 1;

	if (domain)
		(void)virDomainFree(domain);
	return active;
}

/* The driver's own domain "test" is one more. */
static void count_domains(void)
{
	int i, count = virConnectNumOfDomains(conn), alive = 0;

	for (i = 0; i < FOREIGN_COUNT; i++)
		alive += runs(foreign[i].name);
	log_info(NULL,
		 "At the end %d of %d foreign domains run, ours %s, %d "
		 "others",
		 alive, FOREIGN_COUNT, runs(OURS) ? "runs" : "does not",
		 count - alive - runs("test"));
}

void __wrap_virt_free(struct virt *virt)
{
	if (conn) {
		count_domains();
		(void)virConnectClose(take_ptr(conn));
	}
	__real_virt_free(virt);
}

/* --- what this driver lacks --- */

int __wrap_virt_warm(struct virt *virt, const char *emulator, struct error *err)
{
	(void)virt;
	(void)emulator;
	(void)err;
	return 0;
}

/* From one opening tag through what ends it. */
static void cut(const char *xml, const char *begin, const char *end, char *ret,
		size_t size)
{
	const char *from = strstr(xml, begin);
	const char *to = from ? strstr(from, end) : NULL;

	assert(to);
	(void)snprintf(ret, size, "%.*s", (int)(to - from + strlen(end)), from);
}

virDomainPtr __wrap_virDomainCreateXML(virConnectPtr connection,
				       const char *xml, unsigned int flags)
{
	char name[128], uuid[128], metadata[512], text[TEXT_MAX];

	cut(xml, "<name>", "</name>", name, sizeof(name));
	cut(xml, "<uuid>", "</uuid>", uuid, sizeof(uuid));
	cut(xml, "<metadata>", "</metadata>", metadata, sizeof(metadata));
	(void)snprintf(text, sizeof(text),
		       "<domain type='test'>%s%s%s<memory>8192</memory>"
		       "<os><type>hvm</type></os></domain>",
		       name, uuid, metadata);
	return __real_virDomainCreateXML(connection, text, flags);
}

const char *backend_program(void)
{
	return "/usr/bin/tail";
}

/* Ends with us, if nobody ends it before. */
int backend_start(const char *directory, const char *vm_id, uint32_t cid,
		  struct backend *ret_backend, struct error *err)
{
	char parent[32];
	char *argv[] = { (char *)backend_program(), parent, (char *)"-f",
			 (char *)"/dev/null", NULL };

	(void)directory;
	(void)vm_id;
	(void)cid;
	(void)snprintf(parent, sizeof(parent), "--pid=%d", (int)getpid());
	ret_backend->pidfd =
		child_spawn(argv, STDERR_FILENO, &ret_backend->pid);
	if (ret_backend->pidfd < 0)
		return error_set_errno(err, ret_backend->pidfd,
				       "Cannot start a process");
	return 0;
}
