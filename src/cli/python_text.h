#ifndef CUPOLA_CLI_PYTHON_TEXT_H
#define CUPOLA_CLI_PYTHON_TEXT_H

#include <stdbool.h>

/**
 * python_text_complete() - Whether typed lines are a statement to be run
 * @text:	All lines so far, each ended by a newline
 *
 * As Python's own prompt has it: an open bracket, an open string and a
 * backslash at the end go on, and a block ends with an empty line. This reads
 * brackets, strings and comments and no grammar: what it takes for complete and
 * is not, Python refuses.
 */
bool python_text_complete(const char *text);

#endif
