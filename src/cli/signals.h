#ifndef CUPOLA_CLI_SIGNALS_H
#define CUPOLA_CLI_SIGNALS_H

/*
 * SIGINT, SIGTERM and SIGHUP as something to read: none of them ends the program
 * in the middle of anything, and none is missed.
 */

/**
 * signals_open() - Take them over, and ignore SIGPIPE
 *
 * Return: a file descriptor that can be read when one came, or a negative errno
 */
int signals_open(void);

/** signals_take() - Return: the number of one that came, or 0 */
int signals_take(int signals);

/**
 * signals_await() - Wait until @fd can be read, or one came
 * @msec:	Not longer than that; -1: for ever
 *
 * A signal goes first, also one from before.
 *
 * Return: 0, or its number
 */
int signals_await(int signals, int fd, int msec);

#endif
