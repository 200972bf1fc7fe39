#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "vmd/domain_xml.h"

/*
 * The XML that libvirt gets, against files. TEST_REGENERATE=1 rewrites them;
 * the difference is then reviewed like code.
 */

#define XML_MAX (64 << 10)

static struct domain_spec spec_of(enum vmd_accelerator accelerator,
				  enum vmd_vsock vsock)
{
	return (struct domain_spec){
		.vm_id = "vm_0123456789ABCDEFabcdef",
		.uuid = "01234567-89ab-4cde-8f01-23456789abcd",
		.installation = "00112233445566778899aabbccddeeff",
		.accelerator = accelerator,
		.vsock = vsock,
		.emulator = "/usr/bin/qemu-system-x86_64",
		.vcpus = 2,
		.memory_mib = 1024,
		.cid = 0x10001,
		.kernel = "/images/python@0123/vmlinux",
		.initrd = "/images/python@0123/initrd",
		.cmdline = "console=ttyS0 quiet panic=-1",
		.root = "/images/python@0123/root.erofs",
		.scratch = "/state/vm/vm_0123456789ABCDEFabcdef/disk",
		.console = "/state/vm/vm_0123456789ABCDEFabcdef/console",
		.vhost = "/state/vm/vm_0123456789ABCDEFabcdef/vhost",
	};
}

static void compare(const struct domain_spec *spec, const char *name)
{
	_cleanup_(buf_done) struct buf golden = BUF_INIT(XML_MAX);
	_cleanup_free_ char *xml = NULL;
	char relative[128], path[512];

	assert_int_equal(domain_xml_write(spec, &xml), 0);
	(void)snprintf(relative, sizeof(relative),
		       "tests/unit/data/domain-%s.xml", name);
	test_source_path(relative, path, sizeof(path));
	if (getenv("TEST_REGENERATE"))
		assert_int_equal(fs_write_file_atomic(AT_FDCWD, path, xml,
						      strlen(xml), 0644), 0);
	assert_int_equal(fs_read_file(AT_FDCWD, path, &golden), 0);
	assert_string_equal(xml, buf_str(&golden));
}

static void kvm_with_the_kernels_vsock(void **state)
{
	struct domain_spec spec = spec_of(VMD_ACCELERATOR_KVM,
					  VMD_VSOCK_KERNEL);

	(void)state;
	compare(&spec, "kvm-kernel");
}

static void kvm_with_a_vsock_daemon(void **state)
{
	struct domain_spec spec = spec_of(VMD_ACCELERATOR_KVM, VMD_VSOCK_USER);

	(void)state;
	compare(&spec, "kvm-user");
}

static void tcg_with_the_kernels_vsock(void **state)
{
	struct domain_spec spec = spec_of(VMD_ACCELERATOR_TCG,
					  VMD_VSOCK_KERNEL);

	(void)state;
	compare(&spec, "tcg-kernel");
}

static void tcg_with_a_vsock_daemon(void **state)
{
	struct domain_spec spec = spec_of(VMD_ACCELERATOR_TCG, VMD_VSOCK_USER);

	(void)state;
	compare(&spec, "tcg-user");
}

static void a_privileged_libvirt_gets_label_limits_and_shortcut(void **state)
{
	struct domain_spec spec = spec_of(VMD_ACCELERATOR_KVM,
					  VMD_VSOCK_KERNEL);

	(void)state;
	spec.privileged = true;
	spec.uid = 901;
	spec.gid = 902;
	spec.bulk_properties = true;
	compare(&spec, "kvm-kernel-label-bulk");
}

static void a_wheelhouse_is_a_third_disk_that_nobody_writes_to(void **state)
{
	struct domain_spec spec = spec_of(VMD_ACCELERATOR_TCG, VMD_VSOCK_USER);

	(void)state;
	spec.wheelhouse = "/var/lib/cupola/wheels.erofs";
	compare(&spec, "tcg-user-wheelhouse");
}

static void no_domain_has_what_a_guest_must_not_have(void **state)
{
	static const char *const never[] = {
		"<interface", "<filesystem", "<hostdev", "<channel",
		"<graphics", "type='pci'", "org.qemu.guest_agent", "netdev",
	};
	enum vmd_accelerator a;
	enum vmd_vsock v;
	size_t i;

	(void)state;
	for (a = VMD_ACCELERATOR_KVM; a < VMD_ACCELERATOR_COUNT; a++)
		for (v = VMD_VSOCK_KERNEL; v < VMD_VSOCK_COUNT; v++) {
			struct domain_spec spec = spec_of(a, v);
			_cleanup_free_ char *xml = NULL;

			assert_int_equal(domain_xml_write(&spec, &xml), 0);
			for (i = 0; i < sizeof(never) / sizeof(never[0]); i++)
				assert_null(strstr(xml, never[i]));
		}
}

static void text_is_escaped_and_kept(void **state)
{
	struct domain_spec spec = spec_of(VMD_ACCELERATOR_TCG, VMD_VSOCK_USER);
	_cleanup_free_ char *xml = NULL;

	(void)state;
	spec.cmdline = "a=\"1&2\" <b>";
	assert_int_equal(domain_xml_write(&spec, &xml), 0);
	assert_non_null(strstr(xml, "a=&quot;1&amp;2&quot; &lt;b&gt;"));
}

#define MARK(installation, id) \
	"<cupola:vm xmlns:cupola=\"" DOMAIN_XML_NAMESPACE "\" installation=\"" \
	installation "\" id=\"" id "\"/>"

#define VM "vm_0123456789abcdefghijkl"

static void only_our_own_mark_counts(void **state)
{
	char id[VMD_ID_MAX] = "";

	(void)state;
	assert_true(domain_xml_is_ours(MARK("me", VM), "me", id));
	assert_string_equal(id, VM);
	assert_false(domain_xml_is_ours(MARK("you", VM), "me", id));
	assert_false(domain_xml_is_ours(MARK("me", ""), "me", id));
	assert_false(domain_xml_is_ours("<vm installation='me'/>", "me", id));
	assert_false(domain_xml_is_ours(
		"<other installation='me' id='" VM "'/>", "me", id));
	/* What was never an id of ours could lead out of our directory. */
	assert_false(domain_xml_is_ours(MARK("me", ".."), "me", id));
	assert_false(domain_xml_is_ours(MARK("me", "../" VM), "me", id));
	assert_false(domain_xml_is_ours(MARK("me", VM "/.."), "me", id));
	assert_false(domain_xml_is_ours(MARK("me", VM "x"), "me", id));
	assert_false(domain_xml_is_ours("<cut", "me", id));
	assert_false(domain_xml_is_ours("", "me", id));
	assert_false(domain_xml_is_ours(
		MARK("me", "vm_0123456789012345678901234567890123456789012345"),
		"me", id));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kvm_with_the_kernels_vsock),
		cmocka_unit_test(kvm_with_a_vsock_daemon),
		cmocka_unit_test(tcg_with_the_kernels_vsock),
		cmocka_unit_test(tcg_with_a_vsock_daemon),
		cmocka_unit_test(
			a_privileged_libvirt_gets_label_limits_and_shortcut),
		cmocka_unit_test(
			a_wheelhouse_is_a_third_disk_that_nobody_writes_to),
		cmocka_unit_test(no_domain_has_what_a_guest_must_not_have),
		cmocka_unit_test(text_is_escaped_and_kept),
		cmocka_unit_test(only_our_own_mark_counts),
	};

	return RUN_TESTS(tests);
}
