#ifndef CUPOLA_BASE_BUF_H
#define CUPOLA_BASE_BUF_H

/*
 * A growing buffer with a ceiling.
 *
 * All memory whose size somebody outside picks is one of these. It takes in
 * everything that is asked or nothing, refuses to grow past its maximum, and
 * gives bytes back from the front, so that it serves as a queue, too. Behind
 * the last byte there is always a NUL that is not counted: buf_str() is cheap.
 *
 * Readers use data and length directly; only the functions here write them.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct buf - Bytes
 * @data:	The first byte; NULL as long as nothing was ever added
 * @length:	How many there are
 * @max:	How many there may be at most
 * @head:	Private: bytes already given back before @data
 * @capacity:	Private: what is allocated, counted from @data - @head
 * @starved:	Private: something is missing that there was no memory for
 */
struct buf {
	uint8_t *data;
	size_t length;
	size_t max;
	size_t head;
	size_t capacity;
	bool starved;
};

#define BUF_INIT(max_bytes) ((struct buf){ .max = (max_bytes) })

/** buf_done() - Release the memory; the buffer is empty and may be used again */
void buf_done(struct buf *b);

/** buf_clear() - Forget the bytes and keep the memory */
void buf_clear(struct buf *b);

/**
 * buf_check() - Whether there was memory for all that was appended
 *
 * For whoever appends many pieces, or lets the maximum cut them off, and looks
 * at no result. It is told until the buffer is cleared or done.
 *
 * Return: 0 or -ENOMEM
 */
int buf_check(const struct buf *b);

/**
 * buf_add() - Append bytes
 * @b:		Buffer
 * @data:	Bytes; may be NULL if @size is 0
 * @size:	How many
 *
 * Return: 0; -EMSGSIZE if that would pass the maximum, -ENOMEM; nothing is
 * appended then
 */
int buf_add(struct buf *b, const void *data, size_t size);

/** buf_add_byte() - Append one byte; Return: as buf_add() */
int buf_add_byte(struct buf *b, uint8_t byte);

/** buf_add_str() - Append a string without its NUL; Return: as buf_add() */
int buf_add_str(struct buf *b, const char *s);

/** buf_printf() - Append formatted text; Return: as buf_add() */
int buf_printf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** buf_vprintf() - Append formatted text; Return: as buf_add() */
int buf_vprintf(struct buf *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/**
 * buf_reserve() - Get room to write into, as for read()
 * @b:		Buffer
 * @size:	Bytes wanted
 * @ret_room:	Where to write; valid until the buffer is used again
 *
 * What was really written is then told by buf_commit().
 *
 * Return: as buf_add()
 */
int buf_reserve(struct buf *b, size_t size, void **ret_room);

/** buf_commit() - Count @size bytes written to what buf_reserve() gave */
void buf_commit(struct buf *b, size_t size);

/** buf_consume() - Drop @size bytes from the front; at most b->length */
void buf_consume(struct buf *b, size_t size);

/** buf_truncate() - Keep only the first @length bytes; at most b->length */
void buf_truncate(struct buf *b, size_t length);

/** buf_room() - How many bytes may still be added */
static inline size_t buf_room(const struct buf *b)
{
	return b->max - b->length;
}

/**
 * buf_str() - The bytes as a string
 * @b:		Buffer
 *
 * A NUL among the bytes ends the string early: use it on text of our own.
 *
 * Return: a string that is valid until the buffer is used again, never NULL
 */
const char *buf_str(const struct buf *b);

/**
 * buf_take() - Hand the memory over
 * @b:		Buffer, empty afterwards
 * @ret_length:	How many bytes there are, not counting the NUL behind them;
 *		may be NULL
 *
 * Return: memory for free(), NUL-terminated; NULL on -ENOMEM, and the buffer
 * is as it was
 */
char *buf_take(struct buf *b, size_t *ret_length);

/**
 * buf_read() - Append what one read() gives
 * @b:		Buffer
 * @fd:		Where from; may be non-blocking
 * @size:	Bytes to ask for at most; less if the maximum is near
 *
 * Return: how many bytes came, 0 at the end of file; -EMSGSIZE if the buffer is
 * full, -ENOMEM, or what read() said, -EAGAIN included
 */
ssize_t buf_read(struct buf *b, int fd, size_t size);

/**
 * buf_write() - Give one write() the bytes, and drop those it took
 * @b:		Buffer
 * @fd:		Where to; may be non-blocking. Sockets get no SIGPIPE
 *
 * Return: how many bytes went, or what write() said, -EAGAIN included
 */
ssize_t buf_write(struct buf *b, int fd);

#endif
