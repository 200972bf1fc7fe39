/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_AGENT_H
#define GUEST_AGENT_H

/*
 * The agent without the machine around it: what main.c sets up in a VM, and
 * what the tests set up on any host, over a Unix socket.
 */

#include <stdint.h>

#include "wire/wire.h"

/**
 * agent_init() - Start the loop and the zygote
 * @data:	The data directory
 * @incoming:	A directory beside it
 * @runner:	runner.py
 * @preimport:	The zygote's list
 * @data_path:	The data directory's name for user code; kept
 *
 * All descriptors become the agent's. Return: 0 or -errno
 */
int agent_init(int data, int incoming, int runner, int preimport,
	       char *data_path);

/**
 * agent_serve() - Serve for ever
 * @listener:	Listening socket
 * @nonce:	For the proof; copied and wiped
 *
 * Return: -errno
 */
int agent_serve(int listener, uint8_t nonce[static WIRE_NONCE_SIZE]);

#endif
