/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_API_FIXTURE_H
#define UNIT_API_FIXTURE_H

/*
 * The whole of src/api above a fake core, in this process: clients are raw
 * sockets, and the loop runs only while one of them waits.
 */

#include "test.h"

#include "api/api.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/settings.h"
#include "fake_core.h"
#include "fake_turns.h"

#define AUTH "Authorization: Bearer " FAKE_KEY "\r\n"
#define HOST "Host: x\r\n"
/* A create of a container, as far as its length. */
#define POST "POST /v1/containers HTTP/1.1\r\n" HOST AUTH \
	     "Content-Type: application/json\r\n"

struct fixture {
	sd_event *event;
	struct clock *clock;
	struct settings *settings;
	struct core *core;
	struct turns *turns;
	struct api *api;
	char dir[64];
	char socket[96];
};

int fixture_setup(void **state);

/** fixture_setup_with() - The same, with a setting as in "section.key=value" */
int fixture_setup_with(void **state, const char *setting);

int fixture_teardown(void **state);

/** struct answer - What a client got */
struct answer {
	struct buf raw;		/* all bytes, NUL-terminated */
	int status;		/* 0: none */
	const char *body;
	size_t length;
	bool closed;		/* by the server */
};

void answer_done(struct answer *a);

/** client_connect() - A client over TCP */
int client_connect(struct fixture *fx);

/** client_connect_unix() - A client over the Unix socket */
int client_connect_unix(struct fixture *fx);

/** client_send() - Send all, letting the server run; false if it closed */
bool client_send(struct fixture *fx, int fd, const void *data, size_t size);

/** client_read() - Wait for one complete answer, or the end */
struct answer client_read(struct fixture *fx, int fd);

/** client_read_until() - Wait until the bytes got hold @text; false at the end */
bool client_read_until(struct fixture *fx, int fd, struct buf *got,
		       const char *text);

/** ask() - One request over a connection of its own */
struct answer ask(struct fixture *fx, const char *request);
struct answer ask_bytes(struct fixture *fx, const void *data, size_t size);

/** answer_header() - Value of a header field in @out; "" if it lacks */
const char *answer_header(const struct answer *a, const char *name);

/** run_loop() - Let the server do what it has to do */
void run_loop(struct fixture *fx);

/** _answer_ - For a local answer */
#define _answer_ _cleanup_(answer_done)

/** check_error() - Whether an answer is the error's envelope, with this code */
void check_error(const struct answer *a, int status, const char *code);

/** expect_error() - Ask, and check_error() what comes */
void expect_error(struct fixture *fx, const char *request, int status,
		  const char *code);

#endif
