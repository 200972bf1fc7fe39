/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_MCP_CLIENT_H
#define UNIT_MCP_CLIENT_H

/* A client of MCP for tests: it sends what it is told to, valid or not. */

#include "api_fixture.h"

#include "base/cleanup.h"
#include "base/json.h"

#define MODERN                                                                 \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"              \
	"\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}"

/** struct said - What came back, read */
struct said {
	struct answer answer;
	struct json_object *json; /* NULL: no JSON */
};

void said_done(struct said *said);
#define _said_ _cleanup_(said_done)

/**
 * mcp_write() - A POST
 * @fields:	Further header fields, each with its line end
 */
void mcp_write(struct buf *b, const char *path, const char *fields,
	       const char *message);

/** mcp_post() - Send one and read its answer */
struct said mcp_post(struct fixture *fx, const char *path, const char *fields,
		     const char *message);

/** mcp_say() - The same on /mcp */
struct said mcp_say(struct fixture *fx, const char *fields,
		    const char *message);

/** mcp_start() - Send a call that runs code, until it runs; Return: its socket */
int mcp_start(struct fixture *fx, const char *path, const char *fields,
	      const char *message);

/** mcp_finish() - Read its answer, and close */
struct said mcp_finish(struct fixture *fx, int fd);

/** mcp_run() - A call that runs code, which prints @out and ends */
struct said mcp_run(struct fixture *fx, const char *path, const char *fields,
		    const char *message, const char *out,
		    enum exec_status status);

/** mcp_begin() - Open a session; @ret is a header field with its id */
void mcp_begin(struct fixture *fx, const char *path, char ret[160]);

/** mcp_code() - Of the error that came back, 0 if it is none */
int64_t mcp_code(const struct said *said);

/** mcp_member() - A member of the result */
struct json_object *mcp_member(const struct said *said, const char *name);

/** mcp_text() - The first text of a tool's result */
const char *mcp_text(const struct said *said);

/** mcp_fails() - Send, and look at status and code of the failure */
void mcp_fails(struct fixture *fx, const char *fields, const char *message,
	       int status, int64_t code);

#endif
