#ifndef CUPOLA_CLI_KEYBOARD_H
#define CUPOLA_CLI_KEYBOARD_H

/*
 * Keys while a screen is shown: one by one, and not echoed into it. Ctrl-C and
 * Ctrl-Z do what they do elsewhere.
 */

#include <stdbool.h>
#include <termios.h>

/**
 * struct keyboard - Standard input, while it is ours
 * @on:		There is a terminal, and this program is in front of it
 * @before:	How it was
 */
struct keyboard {
	bool on;
	struct termios before;
};

/** keyboard_begin() - Take the terminal; without one, nothing happens */
void keyboard_begin(struct keyboard *keyboard);

/** keyboard_take() - Return: the key that was pressed, or 0 */
char keyboard_take(struct keyboard *keyboard);

/** keyboard_end() - Leave the terminal as it was */
void keyboard_end(struct keyboard *keyboard);

#endif
