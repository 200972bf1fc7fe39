/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual machine that has nothing but a client: asks the host at the other
 * end of its vsock for what the kernel's command line names, and prints the first
 * line of the answer on the console.
 *
 *	ask_port=8080 ask_path=/v1/containers ask_key=...
 *
 * It is the /init of an initrd that has the kernel modules of an image, which the
 * agent would load. The kernel hands what it does not know of its command line to
 * the environment of init.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

enum { TRIES = 300 };

static void load_modules(void)
{
	char name[128], path[160];
	FILE *order = fopen("/modules/order", "re");
	int fd;

	while (order && fscanf(order, "%127s", name) == 1) {
		(void)snprintf(path, sizeof(path), "/modules/%s", name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || syscall(SYS_finit_module, fd, "", 0) < 0)
			printf("client: %s: %s\n", name, strerror(errno));
		if (fd >= 0)
			(void)close(fd);
	}
	if (order)
		(void)fclose(order);
}

/* The device may take a moment to be found. */
static int dial(unsigned port)
{
	const struct sockaddr_vm host = {
		.svm_family = AF_VSOCK,
		.svm_cid = VMADDR_CID_HOST,
		.svm_port = port,
	};
	const struct timespec delay = { .tv_nsec = 100000000 };
	int fd, i;

	for (i = 0; i < TRIES; i++) {
		fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd >= 0 && connect(fd, (const struct sockaddr *)&host,
				       sizeof(host)) == 0)
			return fd;
		if (fd >= 0)
			(void)close(fd);
		(void)nanosleep(&delay, NULL);
	}
	return -errno;
}

/* What came until the end of the first line, as a string. */
static ssize_t ask(int fd, char *line, size_t size)
{
	size_t used = 0;
	ssize_t n;

	if (dprintf(fd,
		    "GET %s HTTP/1.1\r\nHost: host\r\nAuthorization: Bearer %s\r\n"
		    "Connection: close\r\n\r\n",
		    getenv("ask_path"), getenv("ask_key")) < 0)
		return 0;
	do {
		n = read(fd, line + used, size - 1 - used);
		if (n <= 0)
			break;
		used += (size_t)n;
		line[used] = '\0';
	} while (!strchr(line, '\r') && used < size - 1);
	return (ssize_t)used;
}

int main(void)
{
	char line[256] = "";
	int fd;

	setlinebuf(stdout);
	load_modules();
	fd = dial((unsigned)atoi(getenv("ask_port")));
	if (fd < 0)
		printf("client: no connection: %s\n", strerror(-fd));
	else if (ask(fd, line, sizeof(line)) > 0)
		printf("client: answer %.*s\n", (int)strcspn(line, "\r"), line);
	else
		printf("client: closed without an answer\n");
	/* Whoever started this machine ends it. */
	for (;;)
		(void)pause();
}
