/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_PRESSURE_H
#define CORE_PRESSURE_H

/* How hard pressed the host is, as Linux measures it (PSI). */

struct core;

/**
 * pressure_parse() - Read the text of a file in /proc/pressure
 *
 * Return: hundredths of the last ten seconds in which some task waited; -1 if
 * the text is another one
 */
int pressure_parse(const char *text);

/**
 * pressure_cpu() - How much of the last ten seconds some task waited for a CPU
 *
 * Return: hundredths; -1 if the kernel does not say
 */
int pressure_cpu(const struct core *core);

#endif
