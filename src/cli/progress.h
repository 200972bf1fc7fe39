#ifndef CUPOLA_CLI_PROGRESS_H
#define CUPOLA_CLI_PROGRESS_H

/*
 * One line on standard error that says what is being waited for. It exists
 * only where standard error is a terminal, appears after half a second, and
 * is wiped before anything else is written.
 *
 * There is one terminal, so there is one line: its state is this module's.
 */

#include <stdint.h>

/**
 * progress_begin() - Say what is waited for from now on
 * @what:	"Waiting for the VM"; must live until progress_end()
 */
void progress_begin(const char *what);

/**
 * progress_update() - Show that it goes on; call it as often as you like
 * @done:	Bytes moved so far
 * @total:	Bytes in all, or 0 where nothing is counted
 */
void progress_update(uint64_t done, uint64_t total);

/** progress_wipe() - Make room for other output; the line may come back */
void progress_wipe(void);

/** progress_end() - It is over */
void progress_end(void);

#endif
