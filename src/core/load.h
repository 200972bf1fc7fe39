/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_LOAD_H
#define CORE_LOAD_H

struct core;

/** core_load() - Make the objects of all that was not over */
int core_load(struct core *core);

/** core_load_start() - End what cannot go on; needs the loop */
void core_load_start(struct core *core);

#endif
