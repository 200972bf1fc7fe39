#include <poll.h>
#include <unistd.h>

#include "cli/keyboard.h"

/* In the background a change of the terminal would stop us. */
static bool is_in_front(void)
{
	return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void keyboard_begin(struct keyboard *k)
{
	struct termios ours;

	k->on = is_in_front() && tcgetattr(STDIN_FILENO, &k->before) == 0;
	if (!k->on)
		return;
	ours = k->before;
	ours.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	k->on = tcsetattr(STDIN_FILENO, TCSANOW, &ours) == 0;
}

char keyboard_take(struct keyboard *k)
{
	struct pollfd wait = { .fd = STDIN_FILENO, .events = POLLIN };
	char key;

	if (!k->on || poll(&wait, 1, 0) <= 0)
		return 0;
	if (read(STDIN_FILENO, &key, 1) == 1)
		return key;
	keyboard_end(k); /* it is gone, and would be ready for ever */
	return 0;
}

void keyboard_end(struct keyboard *k)
{
	if (k->on)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &k->before);
	k->on = false;
}
