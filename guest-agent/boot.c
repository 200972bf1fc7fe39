/* SPDX-License-Identifier: Apache-2.0 */
#include "boot.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <unistd.h>

#include "report.h"
#include "stage.h"

/* Not every step is one of the trace's. */
#define NO_STAGE WIRE_STAGE_COUNT

static const struct {
	const char *name;
	int (*step)(struct boot *b);
	bool needed;
	enum wire_stage stage;
} steps[] = {
	{ "mount /proc, /sys and /dev", boot_mount_basics, true, NO_STAGE },
	{ "load modules", boot_load_modules, true, WIRE_STAGE_MODULES },
	{ "find the disks", boot_find_disks, true, NO_STAGE },
	{ "take the nonce", boot_take_nonce, true, WIRE_STAGE_NONCE },
	{ "mount the root disk", boot_mount_root, true, NO_STAGE },
	{ "mount the scratch disk", boot_mount_scratch, true, NO_STAGE },
	{ "mount the overlay", boot_mount_overlay, true, NO_STAGE },
	{ "mount what is below it", boot_mount_rest, true, NO_STAGE },
	{ "mount the disk of wheels", boot_mount_wheels, false, NO_STAGE },
	{ "make devices", boot_make_devices, true, NO_STAGE },
	{ "open files", boot_open_files, true, NO_STAGE },
	{ "write sysctls", boot_write_sysctls, false, NO_STAGE },
	{ "raise the loopback device", boot_raise_loopback, false, NO_STAGE },
	{ "enter the new root", boot_enter_root, true, WIRE_STAGE_ROOT },
};

void boot_or_die(struct boot *ret)
{
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int r = steps[i].step(ret);

		if (r < 0)
			report_error(r, "cannot %s", steps[i].name);
		if (r < 0 && steps[i].needed) {
			(void)reboot(RB_POWER_OFF);
			abort();
		}
		if (steps[i].stage != NO_STAGE)
			stage_reached(steps[i].stage);
	}
}
