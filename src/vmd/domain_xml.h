#ifndef VMD_DOMAIN_XML_H
#define VMD_DOMAIN_XML_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "vmd/vmd_proto.h"

/*
 * The domain XML of a VM, and the mark in it by which a domain is known as
 * ours. Pure: strings in, string out.
 */

/* Namespace of our element in <metadata>. */
#define DOMAIN_XML_NAMESPACE "urn:cupola:vm:1"

/**
 * struct domain_spec - All that differs between two VMs
 * @vm_id:		Name of the domain, and part of its mark
 * @uuid:		Of the domain, as text
 * @installation:	Whose domain it is: the other part of the mark
 * @accelerator:	KVM or TCG
 * @vsock:		KERNEL or USER
 * @emulator:		Path of QEMU
 * @vcpus:		Virtual CPUs
 * @memory_mib:		Memory
 * @cid:		For VSOCK_KERNEL
 * @kernel:		Path
 * @initrd:		Path
 * @cmdline:		Of the kernel
 * @root:		Path of the root file system, never written to
 * @scratch:		Path of the scratch disk
 * @wheelhouse:		Path of the disk of wheels, never written to; may be
 *			NULL
 * @console:		Path of the socket that QEMU makes for the console
 * @vhost:		For VSOCK_USER: path of the daemon's vhost-user socket
 * @privileged:		Whether libvirt is root's: QEMU then runs as @uid and
 *			@gid, and in a cgroup that bounds what it takes
 * @bulk_properties:	Have libvirt ask QEMU for all CPU properties at once,
 *			see domain_xml.c
 */
struct domain_spec {
	const char *vm_id;
	const char *uuid;
	const char *installation;
	enum vmd_accelerator accelerator;
	enum vmd_vsock vsock;
	const char *emulator;
	uint32_t vcpus;
	uint32_t memory_mib;
	uint32_t cid;
	const char *kernel;
	const char *initrd;
	const char *cmdline;
	const char *root;
	const char *scratch;
	const char *wheelhouse;
	const char *console;
	const char *vhost;
	bool privileged;
	uid_t uid;
	gid_t gid;
	bool bulk_properties;
};

/**
 * domain_xml_write() - Describe a VM to libvirt
 * @ret_xml:	The text, for free()
 *
 * Return: 0 or -ENOMEM
 */
int domain_xml_write(const struct domain_spec *spec, char **ret_xml);

/**
 * domain_xml_is_ours() - Whether a mark says that a VM is ours
 * @mark:		Our element, as virDomainGetMetadata() gives it
 * @installation:	Who we are
 * @ret_vm_id:		Whose domain it is
 *
 * Return: false also for what is no good XML
 */
bool domain_xml_is_ours(const char *mark, const char *installation,
			char ret_vm_id[VMD_ID_MAX]);

#endif
