/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A plugin of QEMU's that counts the guest's instructions.
 *
 * The count is written into a file that is mapped, where bench/run reads it
 * whenever it likes. Debian ships neither QEMU's plugins nor their header; what
 * is needed of the interface (version 1) is declared here.
 */

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_info_t;
typedef uint64_t qemu_plugin_id_t;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

void qemu_plugin_register_vcpu_tb_trans_cb(
	qemu_plugin_id_t id,
	void (*translated)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb,
					      enum qemu_plugin_op op,
					      void *number, uint64_t value);

EXPORT int qemu_plugin_version = 1;

static uint64_t *count;

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(
		tb, QEMU_PLUGIN_INLINE_ADD_U64, count,
		qemu_plugin_tb_n_insns(tb));
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info,
			       int argc, char **argv)
{
	static const char option[] = "count=";
	int fd;

	(void)info;
	if (argc != 1 || strncmp(argv[0], option, strlen(option)) != 0)
		return -1;
	fd = open(argv[0] + strlen(option), O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -1;
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	(void)close(fd);
	if (count == MAP_FAILED)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
	return 0;
}
