/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_TESTS_JOURNAL_H
#define CUPOLA_TESTS_JOURNAL_H

/*
 * What would have gone to the journal. To be linked with
 * -Wl,--wrap=journal_send.
 */

#include <stdbool.h>
#include <stddef.h>

/** journal_begin() - Stderr is the journal from now on, and that is empty */
void journal_begin(void);

/** journal_end() - Stderr is stderr again */
void journal_end(void);

/**
 * journal_find() - The last entry that has a field, a field a line
 * @field:	As in "AUDIT=execution"; with all of its value
 *
 * Return: NULL if there is none; stays until the next look
 */
const char *journal_find(const char *field);

/** journal_count() - How many entries have it */
size_t journal_count(const char *field);

/** journal_has() - Whether what journal_find() gave has that field, too */
bool journal_has(const char *entry, const char *field);

#endif
