#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/event.h"
#include "vmd/console.h"

enum {
	CONSOLE_READ_SIZE = 4096,
	/* At most so many reads per CONSOLE_WINDOW_USEC: 400 KiB a second */
	CONSOLE_READS = 10,
	/* Reads after QEMU's end, for what is left in the socket */
	CONSOLE_LAST_READS = 64,
};

#define CONSOLE_WINDOW_USEC (100 * USEC_PER_MSEC)

void console_await(struct console *console, const char *text,
		   void (*heard)(void *userdata), void *userdata)
{
	console->awaited = text;
	console->matched = 0;
	console->heard = heard;
	console->userdata = userdata;
}

/* Since the text's first byte comes only once, a mismatch begins anew. */
static void listen_for(struct console *console, const uint8_t *bytes,
		       size_t size)
{
	const char *text = console->awaited;
	size_t i;

	for (i = 0; text && i < size; i++) {
		if (bytes[i] != (uint8_t)text[console->matched])
			console->matched = 0;
		if (bytes[i] == (uint8_t)text[console->matched])
			console->matched++;
		if (text[console->matched] != '\0')
			continue;
		console->awaited = NULL;
		console->heard(console->userdata);
		return;
	}
}

int console_add(struct console *console, const void *data, size_t size)
{
	const uint8_t *bytes = data;
	size_t at, part;

	if (!console->ring) {
		console->ring = malloc(VMD_CONSOLE_SIZE);
		if (!console->ring)
			return -ENOMEM;
	}
	listen_for(console, bytes, size);
	while (size > 0) {
		at = console->total % VMD_CONSOLE_SIZE;
		part = VMD_CONSOLE_SIZE - at;
		if (part > size)
			part = size;
		memcpy(console->ring + at, bytes, part);
		console->total += part;
		bytes += part;
		size -= part;
	}
	return 0;
}

/* Returns bytes read, 0 if there are none now, negative at the end. */
static ssize_t read_some(struct console *console)
{
	uint8_t data[CONSOLE_READ_SIZE];
	ssize_t n;
	int r;

	n = read(console->fd, data, sizeof(data));
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0)
		return -ECONNRESET;
	r = console_add(console, data, (size_t)n);
	return r < 0 ? r : n;
}

static void hang_up(struct console *console)
{
	console->source = sd_event_source_disable_unref(console->source);
	close_fd(&console->fd);
}

static int on_console(sd_event_source *source, int fd, uint32_t revents,
		      void *userdata)
{
	struct console *console = userdata;

	(void)source;
	(void)fd;
	(void)revents;
	if (read_some(console) < 0)
		hang_up(console);
	return 0;
}

int console_connect(struct console *console, sd_event *event,
		    const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = -1;
	int r;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	r = event_add_io(event, fd, EPOLLIN, on_console, console,
			 "vm-console", &console->source);
	if (r < 0)
		return r;
	/* Everything else comes first. */
	(void)sd_event_source_set_priority(console->source,
					   SD_EVENT_PRIORITY_IDLE);
	/* Without the limit, a flood would cost vmd's time, and works as well. */
	(void)sd_event_source_set_ratelimit(console->source,
					    CONSOLE_WINDOW_USEC, CONSOLE_READS);
	console->fd = take_fd(fd);
	return 0;
}

void console_disconnect(struct console *console)
{
	int i;

	if (console->fd < 0)
		return;
	for (i = 0; i < CONSOLE_LAST_READS; i++)
		if (read_some(console) <= 0)
			break;
	hang_up(console);
}

void console_done(struct console *console)
{
	hang_up(console);
	free(console->ring);
	*console = CONSOLE_INIT;
}

static int write_all(int fd, const uint8_t *data, size_t size)
{
	ssize_t n;

	while (size > 0) {
		n = write(fd, data, size);
		if (n < 0)
			return -errno;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Oldest byte first. */
static int write_ring(int fd, const struct console *console, size_t length)
{
	size_t start = (console->total - length) % VMD_CONSOLE_SIZE;
	size_t first = VMD_CONSOLE_SIZE - start;
	int r;

	if (first > length)
		first = length;
	r = write_all(fd, console->ring + start, first);
	if (r < 0)
		return r;
	return write_all(fd, console->ring, length - first);
}

int console_export(const struct console *console,
		   struct vmd_console *ret_info)
{
	uint64_t length = console->total < VMD_CONSOLE_SIZE ?
				  console->total : VMD_CONSOLE_SIZE;
	_cleanup_close_ int fd = -1;
	int r;

	fd = memfd_create("cupola-console", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (length > 0) {
		r = write_ring(fd, console, length);
		if (r < 0)
			return r;
	}
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW |
					   F_SEAL_WRITE) < 0)
		return -errno;
	ret_info->length = length;
	ret_info->total = console->total;
	return take_fd(fd);
}

void console_log_tail(const struct console *console,
		      const struct log_scope *scope)
{
	uint64_t length = console->total < CONSOLE_TAIL ? console->total :
							  CONSOLE_TAIL;
	struct log_quota quota = {};
	uint8_t tail[CONSOLE_TAIL];
	uint64_t i;

	if (length == 0) {
		log_info(scope, "The console is empty");
		return;
	}
	for (i = 0; i < length; i++)
		tail[i] = console->ring[(console->total - length + i) %
					VMD_CONSOLE_SIZE];
	log_data(scope, &quota, "cupola-console", tail, length);
}
