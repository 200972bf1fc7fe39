/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_TESTS_HOSTILE_H
#define CUPOLA_TESTS_HOSTILE_H

/* A session whose guest is about to misbehave, and what must come of it. */

#include "core_fixture.h"

struct session {
	struct scripted_guest *g;
	char c[ID_SIZE];
	char e[ID_SIZE];
};

/** hostile_running() - Start, with a session in which an execution runs */
struct session hostile_running(struct fixture *fx);

/** hostile_another() - One more */
struct session hostile_another(struct fixture *fx);

/** hostile_is_unharmed() - The execution of @s still runs and ends well */
void hostile_is_unharmed(struct fixture *fx, struct session *s);

/**
 * hostile_ends() - Its session, and nothing but it, ends for this reason
 *
 * The execution is session_lost, the VM is gone, and a new session works.
 */
void hostile_ends(struct fixture *fx, const struct session *s,
		  const char *reason);

/** hostile_frame() - Say a frame with a payload of any bytes */
void hostile_frame(struct scripted_guest *g, enum wire_type type, uint32_t call,
		   const void *payload, size_t size);

/** hostile_frame_begin() - Say that it begins, and a byte of it */
void hostile_frame_begin(struct scripted_guest *g, enum wire_type type,
			 uint32_t call, size_t size);

/** hostile_memory() - Bytes that this process has allocated */
size_t hostile_memory(void);

/** hostile_descriptors() - How many are open */
unsigned hostile_descriptors(void);

#endif
