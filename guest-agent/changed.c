/* SPDX-License-Identifier: Apache-2.0 */
#include "changed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "data.h"
#include "wire/message.h"

/* Twice the files, so that probing stays short. A power of two. */
#define SLOT_COUNT (2u * CHANGED_FILES_MAX)
#define LISTING_SIZE 16384
#define SCANS_MAX 2

/*
 * Names that one scan looks at. Links to one file are many names and one entry
 * of the table: without a bound, a million of them would keep the agent from
 * answering for minutes.
 */
#define NAMES_MAX CHANGED_FILES_MAX

/* A slot whose generation is not its table's is empty. */
struct slot {
	struct changed_key key;
	uint64_t generation;
};

struct table {
	uint64_t generation;
	uint32_t used;
	struct slot slots[SLOT_COUNT];
};

static struct table tables[2];
static struct table *known = &tables[0], *next = &tables[1];
static uint64_t generation;	/* 0 is nobody's: all slots begin with it */

/* One directory on the way down; the path up to it has @path_size bytes. */
struct level {
	int fd;
	size_t path_size;
	size_t at, size;	/* in listing */
	uint8_t listing[LISTING_SIZE];
};

/* The data directory itself, and one more for what is found too deep. */
static struct level levels[WIRE_PATH_DEPTH_MAX];

/* The data directory as it was when nothing was in it, or zeros. */
static struct changed_key when_empty;

static struct {
	struct changed_list *list;
	size_t depth;
	char path[WIRE_PATH_MAX + WIRE_PATH_NAME_MAX + 2];
	uint32_t names;
	uint64_t not_looked_at;
	struct changed_key newest;	/* of those touched in this tick */
} scan;

struct dirent64 {
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

static uint64_t tick_nsec(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * Inodes are dense, so their number itself spreads well, and files made
 * together share pages of the table.
 */
static struct slot *table_find(struct table *t, uint64_t inode)
{
	uint32_t i = (uint32_t)inode & (SLOT_COUNT - 1);

	while (t->slots[i].generation == t->generation &&
	       t->slots[i].key.inode != inode)
		i = (i + 1) & (SLOT_COUNT - 1);
	return &t->slots[i];
}

/* Return: whether there was room */
static bool table_put(struct table *t, const struct changed_key *key)
{
	struct slot *s = table_find(t, key->inode);

	if (s->generation != t->generation) {
		if (t->used >= CHANGED_FILES_MAX)
			return false;
		t->used++;
	}
	s->key = *key;
	s->generation = t->generation;
	return true;
}

static bool table_has(struct table *t, const struct changed_key *key)
{
	struct slot *s = table_find(t, key->inode);

	return s->generation == t->generation &&
	       memcmp(&s->key, key, sizeof(*key)) == 0;
}

static void list_add(enum wire_skip skip, uint64_t size, size_t path_size)
{
	struct changed_list *list = scan.list;
	struct message_changed_entry entry = {
		.skip = skip,
		.size = size,
		.name = { .data = (const uint8_t *)scan.path,
			  .size = path_size },
	};
	ssize_t n = -ENOBUFS;

	if (path_size > WIRE_PATH_MAX) {
		entry.name.size = WIRE_PATH_MAX;
		entry.skip = WIRE_SKIP_TOO_LONG;
	}
	if (list->count < WIRE_CHANGED_MAX)
		n = message_changed_add(list->entries + list->size,
					sizeof(list->entries) - list->size,
					&entry);
	if (n < 0) {
		list->unlisted++;
		return;
	}
	list->size += (size_t)n;
	list->count++;
}

struct changed_key changed_key_from(const struct stat *st)
{
	return (struct changed_key){
		.inode = st->st_ino,
		.ctime_nsec = (uint64_t)st->st_ctim.tv_sec * 1000000000u +
			      (uint64_t)st->st_ctim.tv_nsec,
		.size = (uint64_t)st->st_size,
	};
}

static enum wire_skip skip_for(mode_t mode)
{
	if (S_ISREG(mode))
		return WIRE_SKIP_NONE;
	return S_ISLNK(mode) ? WIRE_SKIP_SYMLINK : WIRE_SKIP_SPECIAL;
}

/* Everything but a directory. */
static void look_at(const struct stat *st, size_t path_size)
{
	struct changed_key key = changed_key_from(st);

	if (table_has(known, &key)) {
		(void)table_put(next, &key);
		return;
	}
	if (key.ctime_nsec >= tick_nsec()) {
		if (key.ctime_nsec > scan.newest.ctime_nsec)
			scan.newest = key;
		/* If it is so in the last scan, it is changed in the next. */
		key.ctime_nsec--;
	}
	if (!table_put(next, &key)) {
		scan.not_looked_at++;
		return;
	}
	list_add(skip_for(st->st_mode), key.size, path_size);
}

/* Return: whether @l has an entry left; moves past it */
static bool level_next(struct level *l, const struct dirent64 **ret)
{
	long n;

	if (l->at >= l->size) {
		n = syscall(SYS_getdents64, l->fd, l->listing,
			    sizeof(l->listing));
		if (n <= 0)
			return false;
		l->at = 0;
		l->size = (size_t)n;
	}
	*ret = (const struct dirent64 *)(l->listing + l->at);
	l->at += (*ret)->size;
	return true;
}

static void enter(int fd, size_t path_size)
{
	struct level *l = &levels[scan.depth++];

	l->fd = fd;
	l->at = l->size = 0;
	l->path_size = path_size;
}

static void enter_below(int dir, const char *name, size_t path_size)
{
	int fd;

	if (scan.depth == WIRE_PATH_DEPTH_MAX) {
		list_add(WIRE_SKIP_TOO_DEEP, 0, path_size);
		return;
	}
	if (path_size > WIRE_PATH_MAX) {
		list_add(WIRE_SKIP_TOO_LONG, 0, path_size);
		return;
	}
	fd = data_open_at(dir, name, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return;		/* gone, or replaced by a link meanwhile */
	enter(fd, path_size);
}

static void visit(struct level *l, const struct dirent64 *d)
{
	size_t length = strlen(d->name), path_size = l->path_size;
	struct stat st;

	if (strcmp(d->name, ".") == 0 || strcmp(d->name, "..") == 0)
		return;
	if (scan.names == NAMES_MAX) {
		scan.not_looked_at++;
		return;
	}
	scan.names++;
	if (fstatat(l->fd, d->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;		/* gone meanwhile */
	if (path_size > 0)
		scan.path[path_size++] = '/';
	memcpy(scan.path + path_size, d->name, length + 1);
	path_size += length;
	if (S_ISDIR(st.st_mode))
		enter_below(l->fd, d->name, path_size);
	else
		look_at(&st, path_size);
}

static void scan_once(struct changed_list *list)
{
	const struct dirent64 *d;

	list->count = list->unlisted = 0;
	list->size = 0;
	scan.list = list;
	scan.newest.ctime_nsec = 0;
	scan.names = 0;
	scan.not_looked_at = 0;
	next->generation = ++generation;
	next->used = 0;

	/* Kept open, since to open it takes longer than to find it empty. */
	(void)lseek(data_dir(), 0, SEEK_SET);
	enter(data_dir(), 0);
	while (scan.depth > 0) {
		struct level *l = &levels[scan.depth - 1];

		if (level_next(l, &d)) {
			visit(l, d);
		} else {
			if (--scan.depth > 0)
				(void)close(l->fd);
		}
	}
	if (scan.not_looked_at > 0)
		list_add(WIRE_SKIP_TOO_MANY, scan.not_looked_at, 0);
}

void changed_init(void)
{
	known->generation = ++generation;
}

static bool is_still_empty(const struct changed_key *key)
{
	return when_empty.inode > 0 &&
	       memcmp(key, &when_empty, sizeof(*key)) == 0;
}

/*
 * @key is the directory's from before the last scan. If the tick of its ctime
 * was over then, whatever is made in it later gives it another.
 */
static void note_empty(const struct changed_key *key, uint64_t tick)
{
	if (scan.names == 0 && key->ctime_nsec < tick)
		when_empty = *key;
	else
		when_empty.inode = 0;
}

void changed_scan(struct changed_list *ret)
{
	struct table *old = known;
	struct changed_key key = { 0 };
	uint64_t tick = tick_nsec();
	int i;

	(void)changed_key_of(data_dir(), &key);
	if (is_still_empty(&key)) {
		ret->count = ret->unlisted = 0;
		ret->size = 0;
		return;
	}
	for (i = 0; i < SCANS_MAX; i++) {
		scan_once(ret);
		if (scan.newest.ctime_nsec == 0)
			break;
		changed_settle(&scan.newest);
	}
	known = next;
	next = old;
	note_empty(&key, tick);
}

void changed_note(const struct changed_key *key)
{
	/* If the table is full, the file is merely told as changed. */
	(void)table_put(known, key);
}

int changed_key_of(int fd, struct changed_key *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	*ret = changed_key_from(&st);
	return 0;
}

void changed_settle(const struct changed_key *key)
{
	const struct timespec nap = { .tv_nsec = 500 * 1000 };
	int i;

	/* A clock set back must not hold us: a tick is 10 ms at most. */
	for (i = 0; i < 40 && tick_nsec() <= key->ctime_nsec; i++)
		(void)nanosleep(&nap, NULL);
}

size_t changed_frame_end(const struct changed_list *list, size_t from,
			 size_t room, uint16_t *ret_count)
{
	struct message_changed rest = {
		.count = UINT16_MAX,
		.entries = { .data = list->entries + from,
			     .size = list->size - from },
	};
	struct message_changed_entry entry;
	size_t end = from, at;
	uint16_t count = 0;

	while (end < list->size) {
		(void)message_changed_next(&rest, &entry);
		at = list->size - rest.entries.size;
		if (at - from > room)
			break;
		end = at;
		count++;
	}
	*ret_count = count;
	return end;
}
