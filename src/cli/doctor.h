#ifndef CUPOLA_CLI_DOCTOR_H
#define CUPOLA_CLI_DOCTOR_H

/* What the parts of the doctor share. */

#include <stdbool.h>

#include "cli/host.h"

struct cli;
struct json_object;
struct json_writer;

/**
 * struct doctor - An examination
 * @bad:	A finding is
 */
struct doctor {
	struct cli *cli;
	struct json_writer *writer;
	bool bad;
};

/** doctor_take() - Tell a finding; a host_fn whose userdata is the doctor */
void doctor_take(const struct host_finding *finding, void *doctor);

/**
 * doctor_probe() - Boot a VM under each accelerator that there is
 * @status:	What the daemon says of itself
 *
 * Return: 0, or minus CLI_INTERRUPTED
 */
int doctor_probe(struct doctor *d, const struct json_object *status);

#endif
