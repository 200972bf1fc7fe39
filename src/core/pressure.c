/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pressure.h"

#include <stdio.h>

#include "core/host_room.h"

enum {
	PRESSURE_FILE_MAX = 512,
};

int pressure_parse(const char *text)
{
	int hundredths;

	/* The first line's first figure: "some avg10=1.23 avg60=..." */
	if (sscanf(text, "some avg10=%d", &hundredths) != 1 || hundredths < 0)
		return -1;
	return hundredths;
}

int pressure_cpu(const struct core *core)
{
	char text[PRESSURE_FILE_MAX];

	if (host_room_read(core, "pressure/cpu", text, sizeof(text)) < 0)
		return -1;
	return pressure_parse(text);
}
