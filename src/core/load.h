/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_LOAD_H
#define CORE_LOAD_H

struct core;
struct store_container;

/** core_load() - Make the objects of all that was not over */
int core_load(struct core *core);

/** core_load_start() - End what cannot go on; needs the loop */
void core_load_start(struct core *core);

/**
 * core_load_lost() - End a session whose row nobody has taken up
 *
 * Return: 0 or negative errno
 */
int core_load_lost(struct core *core, const struct store_container *row);

#endif
