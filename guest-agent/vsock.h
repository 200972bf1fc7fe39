/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_VSOCK_H
#define GUEST_VSOCK_H

/*
 * Bytes given to one send() on a vsock connection.
 *
 * Linux makes a packet of each send(), and one above 32 KiB of several fragments
 * (seen with 6.12.118). vhost-device-vsock 0.3.0 takes only packets of one: it
 * drops the others without a word, and the stream has a hole.
 */
#define VSOCK_SEND_MAX (28u * 1024)

#endif
