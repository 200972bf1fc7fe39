/* SPDX-License-Identifier: Apache-2.0 */
#include "../unit/scripted_guest.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "vmd/backend.h"
#include "vmd/console.h"
#include "vmd/dial.h"
#include "vmd/scratch.h"

/*
 * What takes the place of a VM under load: a scripted guest in a process of its
 * own, which lives as long as nobody kills it.
 *
 *	scripted_guest DIRECTORY UUID	a VM
 *	scripted_guest vsock VM_ID	its vsock daemon, which only lives
 *
 * The source of an execution is a list of words, done one after the other:
 *
 *	count		print how many executions this kernel has begun
 *	say WORD	print it
 *	file NAME SIZE SEED	write a file of SIZE bytes that SEED tells, and
 *			that repeat themselves after PATTERN_PERIOD
 *	late NAME SIZE SEED	the same, but only the last harvest finds it
 *	sleep MSEC	be busy
 *
 * It keeps output and result until RELEASE, and tells them again on ATTACH.
 */

enum {
	WORDS_MAX = 64,
	OUTPUT_MAX = 4096,
	CHANGED_MAX = 8,
	SOURCE_MAX = 8192,
	/* A prime, so that no part of a file lies as another does */
	PATTERN_PERIOD = 1000003,
};

/** struct run - An execution that the daemon has not released */
struct run {
	bool used;
	bool finished;
	uint32_t call;
	unsigned count; /* of executions, this one included */
	char output[OUTPUT_MAX];
	char changed[CHANGED_MAX][128];
	size_t changed_count;
};

struct vm {
	sd_event *event;
	struct scripted_guest *guest;
	struct run runs[WIRE_RETAINED_MAX];
	unsigned begun; /* executions */
	char late[128];
	sd_event_source *sleeping;
	struct run *sleeper;
	char source[SOURCE_MAX];
	char *rest;
	int console;
};

static const struct guest_file *must_have(struct vm *vm, const char *path)
{
	const struct guest_file *f = guest_file(vm->guest, path);

	assert_non_null(f);
	return f;
}

/* ------------------------------------------------------------------ telling */

static struct run *find_run(struct vm *vm, uint32_t call)
{
	size_t i;

	for (i = 0; i < WIRE_RETAINED_MAX; i++)
		if (vm->runs[i].used && vm->runs[i].call == call)
			return &vm->runs[i];
	return NULL;
}

static void tell_output(struct vm *vm, struct run *run, size_t from)
{
	if (vm->guest->control && run->output[from])
		guest_say_output(vm->guest, run->call, WIRE_STDOUT, from,
				 run->output + from);
}

static void tell_end(struct vm *vm, struct run *run)
{
	struct message_done done = {
		.status = WIRE_STATUS_OK,
		.execution_count = run->count,
		.kernel_epoch = 1,
		.wall_usec = 1000,
		.changed = (uint32_t)run->changed_count,
	};
	size_t i;

	done.total[WIRE_STDOUT] = strlen(run->output);
	if (!vm->guest->control)
		return;
	for (i = 0; i < run->changed_count; i++)
		guest_say_changed(vm->guest, run->call, run->changed[i],
				  must_have(vm, run->changed[i])->size,
				  WIRE_SKIP_NONE);
	guest_say_done(vm->guest, run->call, &done);
}

/* ------------------------------------------------------------------ running */

static void print(struct vm *vm, struct run *run, const char *text)
{
	size_t from = strlen(run->output);

	assert_in_range(
		snprintf(run->output + from, OUTPUT_MAX - from, "%s\n", text),
		1, OUTPUT_MAX - from - 1);
	tell_output(vm, run, from);
}

static unsigned long next_number(struct vm *vm)
{
	const char *word = strtok_r(NULL, " \n", &vm->rest);

	assert_non_null(word);
	return strtoul(word, NULL, 10);
}

/* tests/chaos/chaos makes the same bytes. */
static void write_pattern(struct vm *vm, const char *path)
{
	size_t size = next_number(vm), i;
	uint32_t x = (uint32_t)next_number(vm);
	uint8_t *bytes = malloc(size + 1);

	assert_non_null(bytes);
	for (i = 0; i < size && i < PATTERN_PERIOD; i++) {
		x = x * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)(x >> 24);
	}
	for (; i < size; i += PATTERN_PERIOD)
		memcpy(bytes + i, bytes,
		       size - i < PATTERN_PERIOD ? size - i : PATTERN_PERIOD);
	guest_write(vm->guest, path, bytes, size);
	free(bytes);
}

static void do_words(struct vm *vm, struct run *run);

static int on_awake(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct vm *vm = userdata;

	(void)source;
	(void)usec;
	do_words(vm, vm->sleeper);
	return 0;
}

static void sleep_on(struct vm *vm, struct run *run, uint64_t msec)
{
	vm->sleeper = run;
	vm->sleeping = sd_event_source_unref(vm->sleeping);
	assert_true(sd_event_add_time_relative(vm->event, &vm->sleeping,
					       CLOCK_MONOTONIC, msec * 1000, 1,
					       on_awake, vm) >= 0);
}

static void do_file(struct vm *vm, struct run *run, bool late)
{
	const char *name = strtok_r(NULL, " \n", &vm->rest);

	assert_non_null(name);
	if (late) {
		assert_true(strlen(name) < sizeof(vm->late));
		strcpy(vm->late, name);
	} else {
		assert_true(run->changed_count < CHANGED_MAX);
		strcpy(run->changed[run->changed_count++], name);
	}
	write_pattern(vm, name);
}

static void mark_finished(struct vm *vm, struct run *run)
{
	struct scripted_guest *g = vm->guest;
	size_t i;

	run->finished = true;
	for (i = 0; i < g->kept_count; i++)
		if (g->kept[i].call == run->call)
			g->kept[i].finished = true;
	tell_end(vm, run);
}

static void do_words(struct vm *vm, struct run *run)
{
	char number[16];
	const char *word;

	while ((word = strtok_r(NULL, " \n", &vm->rest))) {
		if (strcmp(word, "count") == 0) {
			(void)snprintf(number, sizeof(number), "%u",
				       run->count);
			print(vm, run, number);
		} else if (strcmp(word, "say") == 0) {
			print(vm, run, strtok_r(NULL, " \n", &vm->rest));
		} else if (strcmp(word, "sleep") == 0) {
			sleep_on(vm, run, next_number(vm));
			return;
		} else {
			do_file(vm, run, strcmp(word, "late") == 0);
		}
	}
	mark_finished(vm, run);
}

static void begin(struct vm *vm, uint32_t call)
{
	struct buf *input = &vm->guest->input;
	struct run *run = NULL;
	size_t i;

	for (i = 0; i < WIRE_RETAINED_MAX && !run; i++)
		if (!vm->runs[i].used)
			run = &vm->runs[i];
	assert_non_null(run);
	assert_null(find_run(vm, call));
	assert_true(input->length < sizeof(vm->source) - 2);
	*run = (struct run){ .used = true, .call = call };
	run->count = ++vm->begun;
	/* A first word for strtok_r() to have begun with */
	strcpy(vm->source, "- ");
	memcpy(vm->source + 2, input->data, input->length);
	vm->source[2 + input->length] = '\0';
	(void)strtok_r(vm->source, " \n", &vm->rest);
	do_words(vm, run);
}

/* ------------------------------------------------------------------- hooks */

static void on_heard(struct scripted_guest *g, uint32_t type, uint32_t call,
		     void *userdata)
{
	struct vm *vm = userdata;
	struct run *run = find_run(vm, call);

	if (type == WIRE_INPUT && g->input.length == g->exec.source_size) {
		begin(vm, call);
	} else if (type == WIRE_ATTACH) {
		assert_non_null(run);
		assert_true(g->position[WIRE_STDOUT] <= strlen(run->output));
		tell_output(vm, run, g->position[WIRE_STDOUT]);
		if (run->finished)
			tell_end(vm, run);
	} else if (type == WIRE_RELEASE && run) {
		run->used = false;
	} else if (type == WIRE_QUIESCE) {
		if (vm->late[0])
			guest_say_changed(g, call, vm->late,
					  must_have(vm, vm->late)->size,
					  WIRE_SKIP_NONE);
		guest_say_quiesced(g, vm->late[0] != '\0');
	}
}

/* -------------------------------------------------------------------- host */

static int on_vsock(sd_event_source *source, int fd, uint32_t revents,
		    void *userdata)
{
	static const char answer[] = "OK 1024\n";
	struct vm *vm = userdata;
	int line = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	char c = 0;

	(void)source;
	(void)revents;
	/* vmd has sent its question before it waits. */
	while (line >= 0 && read(line, &c, 1) == 1 && c != '\n')
		;
	if (c != '\n' ||
	    send(line, answer, sizeof(answer) - 1, MSG_NOSIGNAL) < 0 ||
	    fcntl(line, F_SETFL, O_NONBLOCK) < 0) {
		close_fd(&line);
		return 0;
	}
	guest_connect(vm->guest, line);
	return 0;
}

static int on_console(sd_event_source *source, int fd, uint32_t revents,
		      void *userdata)
{
	static const char line[] = GUEST_LISTENS "\r\n";
	struct vm *vm = userdata;

	(void)source;
	(void)revents;
	/* The last one's peer is gone. */
	close_fd(&vm->console);
	vm->console = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (vm->console >= 0)
		(void)send(vm->console, line, sizeof(line) - 1, MSG_NOSIGNAL);
	return 0;
}

static void listen_at(struct vm *vm, const char *directory, const char *name,
		      sd_event_io_handler_t handler)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	assert_in_range(snprintf(address.sun_path, sizeof(address.sun_path),
				 "%s/%s", directory, name),
			1, sizeof(address.sun_path) - 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)),
			 0);
	assert_int_equal(listen(fd, 64), 0);
	assert_true(sd_event_add_io(vm->event, NULL, fd, EPOLLIN, handler,
				    vm) >= 0);
}

/* Read once and wiped, as a guest does before anything else. */
static void read_nonce(const char *directory, uint8_t nonce[WIRE_NONCE_SIZE])
{
	uint8_t block[SCRATCH_NONCE_BLOCK], zeros[SCRATCH_NONCE_BLOCK] = { 0 };
	char path[256];
	struct stat st;
	off_t at;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/" SCRATCH_FILE, directory);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	at = st.st_size - (off_t)sizeof(block);
	assert_int_equal(pread(fd, block, sizeof(block), at), sizeof(block));
	assert_memory_equal(block, SCRATCH_MAGIC, sizeof(SCRATCH_MAGIC));
	memcpy(nonce, block + 12, WIRE_NONCE_SIZE);
	assert_int_equal(pwrite(fd, zeros, sizeof(zeros), at), sizeof(zeros));
	close_fd(&fd);
}

/* Whoever started us waits for this. */
static void say_ready(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	/* What goes wrong from here on is told by the core dump. */
	(void)dup2(null, STDOUT_FILENO);
	(void)dup2(null, STDERR_FILENO);
}

static int run_vm(const char *directory)
{
	struct vm vm = { .console = -1 };
	uint8_t nonce[WIRE_NONCE_SIZE];

	assert_true(sd_event_new(&vm.event) >= 0);
	read_nonce(directory, nonce);
	vm.guest = guest_new(vm.event, directory, nonce);
	vm.guest->heard = on_heard;
	vm.guest->userdata = &vm;
	listen_at(&vm, directory, BACKEND_DIAL_SOCKET, on_vsock);
	listen_at(&vm, directory, CONSOLE_SOCKET, on_console);
	say_ready();
	return sd_event_loop(vm.event);
}

int main(int argc, char **argv)
{
	assert_int_equal(argc, 3);
	(void)signal(SIGPIPE, SIG_IGN);
	if (strcmp(argv[1], "vsock") != 0)
		return run_vm(argv[1]) < 0;
	say_ready();
	for (;;)
		(void)pause();
}
