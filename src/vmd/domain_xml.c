#include <assert.h>
#include <errno.h>
#include <libxml/parser.h>
#include <libxml/xmlwriter.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "vmd/domain_xml.h"

/*
 * What a VM of ours is made of, and what it is not.
 *
 * There is no network device, no PCI, no USB, no shared file system and no
 * channel for an agent of libvirt's: the machine type is microvm, and all it
 * has is two disks, a source of random bytes, a serial console, pvpanic, and
 * vsock. Each virtio device gets its virtio-mmio address written out, since
 * libvirt would look for a PCI bus otherwise.
 *
 * Errors are sticky: the writer's first failure makes domain_xml_write() fail,
 * whatever follows.
 */

#define QEMU_NAMESPACE "http://libvirt.org/schemas/domain/qemu/1.0"

struct xml {
	xmlTextWriterPtr writer;
	bool failed;
};

static void xml_note(struct xml *x, int r)
{
	if (r < 0)
		x->failed = true;
}

static void xml_open(struct xml *x, const char *name)
{
	xml_note(x, xmlTextWriterStartElement(x->writer, BAD_CAST name));
}

static void xml_close(struct xml *x)
{
	xml_note(x, xmlTextWriterEndElement(x->writer));
}

static void xml_attribute(struct xml *x, const char *name, const char *value)
{
	xml_note(x, xmlTextWriterWriteAttribute(x->writer, BAD_CAST name,
						BAD_CAST value));
}

/* An element with text only. */
static void xml_text(struct xml *x, const char *name, const char *text)
{
	xml_note(x, xmlTextWriterWriteElement(x->writer, BAD_CAST name,
					      BAD_CAST text));
}

static void xml_number(struct xml *x, const char *name, uint64_t number)
{
	xml_note(x, xmlTextWriterWriteFormatElement(
			    x->writer, BAD_CAST name, "%llu",
			    (unsigned long long)number));
}

/* An element with attributes only: pairs of name and value, NULL at the end. */
static void xml_empty(struct xml *x, const char *name, ...)
	__attribute__((sentinel));
static void xml_empty(struct xml *x, const char *name, ...)
{
	const char *attribute;
	va_list ap;

	xml_open(x, name);
	va_start(ap, name);
	while ((attribute = va_arg(ap, const char *)))
		xml_attribute(x, attribute, va_arg(ap, const char *));
	va_end(ap);
	xml_close(x);
}

static void write_mark(struct xml *x, const struct domain_spec *spec)
{
	xml_open(x, "metadata");
	xml_empty(x, "cupola:vm", "xmlns:cupola", DOMAIN_XML_NAMESPACE,
		  "installation", spec->installation, "id", spec->vm_id, NULL);
	xml_close(x);
}

static void write_memory(struct xml *x, const struct domain_spec *spec)
{
	xml_open(x, "memory");
	xml_attribute(x, "unit", "MiB");
	/* The guest's memory is its secret: nothing of it in a core dump. */
	xml_attribute(x, "dumpCore", "off");
	xml_note(x, xmlTextWriterWriteFormatString(x->writer, "%u",
						   spec->memory_mib));
	xml_close(x);

	xml_open(x, "memoryBacking");
	/* Merged pages let one VM find out what another one has in memory. */
	xml_empty(x, "nosharepages", NULL);
	if (spec->vsock == VMD_VSOCK_USER) {
		/* The vsock daemon reads and writes the guest's rings. */
		xml_empty(x, "source", "type", "memfd", NULL);
		xml_empty(x, "access", "mode", "shared", NULL);
	}
	xml_close(x);
}

/*
 * A QEMU that a guest has taken over must not take the host's memory or all of
 * its CPUs. Beside the guest's memory it has its own heap, page tables of KVM's,
 * and what it has read of kernel and initrd; its page cache counts as well, and
 * is given back under pressure. A virtual CPU is one thread, which cannot take
 * more than one CPU, and all other threads together get one. Without privileges
 * libvirt has no cgroups and refuses the elements.
 */
#define OVERHEAD_MIB 256
#define CPU_PERIOD_USEC 100000

static void write_limits(struct xml *x, const struct domain_spec *spec)
{
	if (!spec->privileged)
		return;
	xml_open(x, "memtune");
	xml_open(x, "hard_limit");
	xml_attribute(x, "unit", "MiB");
	xml_note(x, xmlTextWriterWriteFormatString(
			    x->writer, "%u", spec->memory_mib + OVERHEAD_MIB));
	xml_close(x);
	xml_close(x);
	xml_open(x, "cputune");
	xml_number(x, "emulator_period", CPU_PERIOD_USEC);
	xml_number(x, "emulator_quota", CPU_PERIOD_USEC);
	xml_close(x);
}

static void write_boot(struct xml *x, const struct domain_spec *spec)
{
	xml_open(x, "os");
	xml_open(x, "type");
	xml_attribute(x, "arch", "x86_64");
	xml_attribute(x, "machine", "microvm");
	xml_note(x, xmlTextWriterWriteString(x->writer, BAD_CAST "hvm"));
	xml_close(x);
	xml_text(x, "kernel", spec->kernel);
	xml_text(x, "initrd", spec->initrd);
	xml_text(x, "cmdline", spec->cmdline);
	xml_close(x);
}

/*
 * "maximum" is QEMU's -cpu max: all that TCG can emulate, less what it emulates
 * wrongly. With AVX, which is new in QEMU 7.2, numpy's code ends in a general
 * protection fault; and code for a plainer processor is emulated faster anyway.
 */
static void write_emulated_cpu(struct xml *x)
{
	static const char *const without[] = { "avx", "avx2", "fma", "f16c" };
	size_t i;

	xml_open(x, "cpu");
	xml_attribute(x, "mode", "maximum");
	xml_attribute(x, "check", "none");
	for (i = 0; i < sizeof(without) / sizeof(without[0]); i++)
		xml_empty(x, "feature", "policy", "disable", "name",
			  without[i], NULL);
	xml_close(x);
}

static void write_machine(struct xml *x, const struct domain_spec *spec)
{
	xml_open(x, "features");
	/* Without ACPI there would be no pvpanic and no clean power-off. */
	xml_empty(x, "acpi", NULL);
	xml_close(x);
	if (spec->accelerator == VMD_ACCELERATOR_KVM)
		xml_empty(x, "cpu", "mode", "host-passthrough",
			  "check", "none", NULL);
	else
		write_emulated_cpu(x);
	xml_empty(x, "clock", "offset", "utc", NULL);
	xml_text(x, "on_poweroff", "destroy");
	/* A VM is never used again, not even by itself. */
	xml_text(x, "on_reboot", "destroy");
	xml_text(x, "on_crash", "destroy");
}

/*
 * The error policies are chosen on purpose. When the host's disk is full, QEMU
 * stops the VM ("enospace"), which vmd sees and ends it with that reason: with
 * "report" the guest would see failed writes below its own file system, and
 * user code would get the blame. All other errors are the guest's to see:
 * QEMU's default would stop the VM for them as well, and for ever.
 */
static void write_disk_driver(struct xml *x, bool scratch)
{
	xml_open(x, "driver");
	xml_attribute(x, "name", "qemu");
	xml_attribute(x, "type", "raw");
	if (scratch) {
		/*
		 * The disk does not outlive the VM, so nothing on it need ever
		 * reach the platter: flushes are free. What the guest trims is
		 * given back to the host.
		 */
		xml_attribute(x, "cache", "unsafe");
		xml_attribute(x, "discard", "unmap");
	} else {
		/* One copy in the host's page cache serves all VMs. */
		xml_attribute(x, "cache", "writeback");
	}
	xml_attribute(x, "error_policy", "enospace");
	xml_attribute(x, "rerror_policy", "report");
	xml_close(x);
}

static void write_disk(struct xml *x, const char *path, const char *device,
		       bool scratch)
{
	xml_open(x, "disk");
	xml_attribute(x, "type", "file");
	xml_attribute(x, "device", "disk");
	write_disk_driver(x, scratch);
	xml_empty(x, "source", "file", path, NULL);
	xml_empty(x, "target", "dev", device, "bus", "virtio", NULL);
	if (!scratch)
		xml_empty(x, "readonly", NULL);
	xml_empty(x, "address", "type", "virtio-mmio", NULL);
	xml_close(x);
}

static void write_console(struct xml *x, const struct domain_spec *spec)
{
	/* QEMU listens, so that another vmd can connect after this one. */
	xml_open(x, "serial");
	xml_attribute(x, "type", "unix");
	xml_empty(x, "source", "mode", "bind", "path", spec->console, NULL);
	xml_empty(x, "target", "port", "0", NULL);
	xml_close(x);
}

static void write_vsock(struct xml *x, const struct domain_spec *spec)
{
	char cid[16];

	(void)snprintf(cid, sizeof(cid), "%u", spec->cid);
	xml_open(x, "vsock");
	xml_attribute(x, "model", "virtio");
	xml_empty(x, "cid", "auto", "no", "address", cid, NULL);
	xml_empty(x, "address", "type", "virtio-mmio", NULL);
	xml_close(x);
}

static void write_devices(struct xml *x, const struct domain_spec *spec)
{
	xml_open(x, "devices");
	xml_text(x, "emulator", spec->emulator);
	write_disk(x, spec->root, "vda", false);
	write_disk(x, spec->scratch, "vdb", true);
	if (spec->wheelhouse)
		write_disk(x, spec->wheelhouse, "vdc", false);
	xml_empty(x, "controller", "type", "usb", "model", "none", NULL);
	write_console(x, spec);
	xml_empty(x, "memballoon", "model", "none", NULL);
	xml_open(x, "rng");
	xml_attribute(x, "model", "virtio");
	xml_open(x, "backend");
	xml_attribute(x, "model", "random");
	xml_note(x, xmlTextWriterWriteString(x->writer,
					     BAD_CAST "/dev/urandom"));
	xml_close(x);
	xml_empty(x, "address", "type", "virtio-mmio", NULL);
	xml_close(x);
	xml_empty(x, "panic", "model", "isa", NULL);
	if (spec->vsock == VMD_VSOCK_KERNEL)
		write_vsock(x, spec);
	xml_close(x);
}

/*
 * libvirt's security drivers would give the shared image to QEMU's user at
 * every create, and an escaped QEMU could then rewrite it for everybody. So the
 * label is ours, and nothing is relabelled. An unprivileged libvirt has no such
 * driver, refuses the element, and has no other user to give anything to.
 */
static void write_label(struct xml *x, const struct domain_spec *spec)
{
	char label[32];

	if (!spec->privileged)
		return;
	(void)snprintf(label, sizeof(label), "+%u:+%u", spec->uid, spec->gid);
	xml_open(x, "seclabel");
	xml_attribute(x, "type", "static");
	xml_attribute(x, "model", "dac");
	xml_attribute(x, "relabel", "no");
	xml_text(x, "label", label);
	xml_close(x);
}

/* libvirt has no words for a vhost-user vsock device. */
static void write_vhost_user(struct xml *x, const struct domain_spec *spec)
{
	char chardev[256];

	assert(strlen(spec->vhost) < sizeof(chardev) - 32);
	(void)snprintf(chardev, sizeof(chardev), "socket,id=vsock,path=%s",
		       spec->vhost);
	xml_open(x, "qemu:commandline");
	xml_empty(x, "qemu:arg", "value", "-chardev", NULL);
	xml_empty(x, "qemu:arg", "value", chardev, NULL);
	xml_empty(x, "qemu:arg", "value", "-device", NULL);
	xml_empty(x, "qemu:arg", "value",
		  "vhost-user-vsock-device,chardev=vsock", NULL);
	xml_close(x);
}

/*
 * At each start libvirt asks QEMU which CPU features it could not have, by one
 * "qom-get" per property, 300 to 400 of them: about 100 of 150 ms. Told that
 * this QEMU lacks "cpu-unavailable-features", libvirt 9.0 asks for all of them
 * in one go instead. We do not read the outcome, with neither of the two.
 */
static void write_bulk_properties(struct xml *x)
{
	xml_open(x, "qemu:capabilities");
	xml_empty(x, "qemu:del", "capability", "cpu-unavailable-features",
		  NULL);
	xml_close(x);
}

static void write_domain(struct xml *x, const struct domain_spec *spec)
{
	xml_note(x, xmlTextWriterSetIndent(x->writer, 1));
	xml_note(x, xmlTextWriterSetIndentString(x->writer, BAD_CAST "  "));
	xml_open(x, "domain");
	xml_attribute(x, "type", spec->accelerator == VMD_ACCELERATOR_KVM ?
					 "kvm" : "qemu");
	xml_attribute(x, "xmlns:qemu", QEMU_NAMESPACE);
	xml_text(x, "name", spec->vm_id);
	xml_text(x, "uuid", spec->uuid);
	write_mark(x, spec);
	write_memory(x, spec);
	xml_number(x, "vcpu", spec->vcpus);
	write_limits(x, spec);
	write_boot(x, spec);
	write_machine(x, spec);
	write_devices(x, spec);
	write_label(x, spec);
	if (spec->vsock == VMD_VSOCK_USER)
		write_vhost_user(x, spec);
	if (spec->bulk_properties)
		write_bulk_properties(x);
	xml_close(x);
}

int domain_xml_write(const struct domain_spec *spec, char **ret_xml)
{
	struct xml x = {};
	char *text = NULL;
	xmlBufferPtr buffer;

	assert(spec->accelerator != VMD_ACCELERATOR_NONE);
	assert(spec->vsock != VMD_VSOCK_NONE);
	buffer = xmlBufferCreate();
	if (!buffer)
		return -ENOMEM;
	x.writer = xmlNewTextWriterMemory(buffer, 0);
	if (x.writer) {
		write_domain(&x, spec);
		xmlFreeTextWriter(x.writer);
		if (!x.failed)
			text = strdup((const char *)xmlBufferContent(buffer));
	}
	xmlBufferFree(buffer);
	if (!text)
		return -ENOMEM;
	*ret_xml = text;
	return 0;
}

static bool attribute_is(xmlNodePtr node, const char *name, const char *value)
{
	xmlChar *found = xmlGetNoNsProp(node, BAD_CAST name);
	bool same = found && strcmp((const char *)found, value) == 0;

	xmlFree(found);
	return same;
}

static bool copy_id(xmlNodePtr node, char ret_vm_id[VMD_ID_MAX])
{
	xmlChar *id = xmlGetNoNsProp(node, BAD_CAST "id");
	/* It names a directory, too: no other form is one that we gave. */
	bool good = id && id_is(ID_VM, (const char *)id);

	if (good)
		strcpy(ret_vm_id, (const char *)id);
	xmlFree(id);
	return good;
}

bool domain_xml_is_ours(const char *mark, const char *installation,
			char ret_vm_id[VMD_ID_MAX])
{
	bool ours = false;
	xmlNodePtr node;
	xmlDocPtr doc;

	doc = xmlReadMemory(mark, (int)strlen(mark), "mark", NULL,
			    XML_PARSE_NONET | XML_PARSE_NOERROR |
				    XML_PARSE_NOWARNING);
	if (!doc)
		return false;
	node = xmlDocGetRootElement(doc);
	if (node && strcmp((const char *)node->name, "vm") == 0 &&
	    attribute_is(node, "installation", installation))
		ours = copy_id(node, ret_vm_id);
	xmlFreeDoc(doc);
	return ours;
}
