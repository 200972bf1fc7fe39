/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_MCP_H
#define API_MCP_H

/*
 * The Model Context Protocol over streamable HTTP.
 *
 * One POST carries one JSON-RPC message. Two eras of the protocol are spoken,
 * and each request says by itself which one it is of:
 *
 *   modern	2026-07-28: params._meta names the version. Nothing is kept from
 *		one request to the next.
 *   legacy	2025-11-25 and older: all else. Begins with "initialize", which
 *		opens a session (mcp_session.h); calls without one work, too.
 *
 *	mcp.c		the endpoints, and what a request must be like
 *	mcp_message.c	JSON-RPC
 *	mcp_methods.c	the methods that core has no part in
 *	mcp_reply.c	results and errors, as JSON or as a stream of events
 *	mcp_tools.c	which tools there are, and their calls
 *	mcp_container.c	which container a call is about
 *	mcp_run.c	running code
 *	mcp_outcome.c	what running code came to
 *	mcp_files.c	the tools for files
 *	mcp_resources.c	files as resources
 *	mcp_session.c	sessions of the legacy era
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "api/mcp_message.h"
#include "api/mcp_session.h"
#include "api/toolbox_offer.h"
#include "base/error.h"
#include "base/id.h"
#include "base/json.h"
#include "base/json_write.h"
#include "core/core.h"

struct request;
struct mcp_tool;

/** enum mcp_place - Which of our endpoints */
enum mcp_place {
	MCP_SERVER,	/* /mcp */
	MCP_POOL,	/* a pool of dynamic sessions */
	MCP_TOOLBOX,	/* a version of a toolbox */

	MCP_PLACE_COUNT,
};

/* Revisions, newest first. They are dates, so they compare as strings. */
extern const char *const mcp_versions[];
#define MCP_VERSION_MODERN "2026-07-28"
#define MCP_VERSION_NEWEST_LEGACY "2025-11-25"
/* Of who does not say: older ones had no field for it. */
#define MCP_VERSION_ASSUMED "2025-03-26"
/* The first one that has links to resources. */
#define MCP_VERSION_LINKS "2025-06-18"

/* What we are called. */
#define MCP_SERVER_NAME "cupola"

/* Of a container that no session keeps, in minutes. */
enum { MCP_LOOSE_IDLE_MINUTES = 5 };

/* A tool's time unless progress is told: clients give up at 60 s. */
#define MCP_TOOL_USEC (50 * USEC_PER_SEC)

/**
 * struct mcp_fault - An answer that is a JSON-RPC error
 * @code:	enum rpc_code; 0: there is none
 * @status:	Of HTTP
 * @requested:	With RPC_VERSION_UNSUPPORTED: which version it was; borrowed
 */
struct mcp_fault {
	int code;
	unsigned status;
	char message[ERROR_MESSAGE_MAX];
	const char *requested;
};

/**
 * struct mcp_call - What a POST of one message needs until it is answered
 * @bound_to:	What a session at this endpoint is bound to
 * @pool:	Whose VMs its containers are; NULL: the default
 * @definition:	Of the toolbox version; what @offer borrows from
 * @version:	Of the protocol; one of mcp_versions
 * @session:	NULL: none, or it ended meanwhile
 * @tool:	The one called; @index: which entry of @offer it is
 * @arguments:	NULL: none
 * @streaming:	The answer is a stream, and has begun
 * @tick:	Tells of progress now and then
 * @heard:	The end of the last output
 * @exec:	The execution under way for it; "" if there is none
 * @over:	It ended, or nobody waits for it
 * @cancelled:	The client has said that it no longer wants it
 * @keeps:	The container that is being made is the session's
 * @proceed:	What to do in the container, once that is known
 */
struct mcp_call {
	struct request *req;
	enum mcp_place place;
	char bound_to[MCP_BOUND_SIZE];
	const char *pool;
	struct json_object *definition;
	struct toolbox_offer offer;

	struct mcp_message message;
	bool modern;
	const char *version;
	struct mcp_fault fault;

	LIST_ENTRY(mcp_call) in_session;
	struct mcp_session *session;

	const struct mcp_tool *tool;
	size_t index;
	struct json_object *arguments;
	bool keeps;
	int (*proceed)(struct mcp_call *call, struct error *err);

	bool streaming;
	sd_event_source *tick;
	char heard[256];
	double progress;

	char exec[ID_SIZE];
	bool over;
	bool cancelled;

	struct exec_spec spec;	/* borrowed from @arguments and @code */
	struct buf code;	/* source that is not in the request as it is */
	struct core_upload *upload;
	struct buf bytes;	/* of an upload */
	size_t sent;		/* of @bytes */
};

/* ------------------------------------------------------------- mcp_methods.c */

/**
 * mcp_dispatch() - Carry a request's method out
 *
 * Return: as a handler; with @call->fault.code set, the answer is that
 */
int mcp_dispatch(struct mcp_call *call, struct error *err);

/* --------------------------------------------------------------- mcp_reply.c */

/** mcp_fault() - Have a JSON-RPC error answered; Return: -EBADMSG */
int mcp_fault(struct mcp_call *call, unsigned status, int code,
	      const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/** mcp_reply_fault() - Answer with it */
int mcp_reply_fault(struct mcp_call *call, struct error *err);

/** mcp_result() - Begin a result; its members are written next */
struct json_writer *mcp_result(struct mcp_call *call);

/** mcp_result_cacheable() - Say, in the modern era, how long it stays true */
void mcp_result_cacheable(struct mcp_call *call, struct json_writer *w,
			  bool is_public);

/** mcp_reply() - Answer with the result; in a stream it is the end of it */
int mcp_reply(struct mcp_call *call, struct error *err);

/** mcp_stream_begin() - Answer with a stream, if this call should have one */
int mcp_stream_begin(struct mcp_call *call, struct error *err);

/**
 * mcp_settle() - A step that followed a callback of core has come to @r
 *
 * As a handler's result: ROUTE_PENDING, an answer that was made, or @err. The
 * call may be gone afterwards.
 */
void mcp_settle(struct mcp_call *call, int r, const struct error *err);

/** mcp_tool_failed() - Answer with a tool's error, for the model to read */
int mcp_tool_failed(struct mcp_call *call, struct error *err);

/* --------------------------------------------------------------- mcp_tools.c */

int mcp_tools_list(struct mcp_call *call, struct error *err);
int mcp_tools_call(struct mcp_call *call, struct error *err);

/** mcp_argument_error() - A wrong argument, as a tool's error */
int mcp_argument_error(struct error *err, const char *name, const char *what);

/* ----------------------------------------------------------- mcp_container.c */

/**
 * mcp_container_open() - Find or make the container that a tool's call is about
 * @id:		Named by the client; NULL: the session's, or a fresh one
 * @proceed:	Called with its id in the request's container
 *
 * Return: as a handler
 */
int mcp_container_open(struct mcp_call *call, const char *id,
		       int (*proceed)(struct mcp_call *call, struct error *err),
		       struct error *err);

/**
 * mcp_container_find() - The same, but none is made
 *
 * Return: 1 with its id in the request's container, 0 if there is none yet
 */
int mcp_container_find(struct mcp_call *call, const char *id,
		       struct error *err);

/** mcp_container_fresh() - The same with a new one, whatever there is */
int mcp_container_fresh(struct mcp_call *call,
			int (*proceed)(struct mcp_call *call,
				       struct error *err),
			struct error *err);

/**
 * mcp_container_may_use() - Whether the caller may name this container
 *
 * With a key for containers, any of the tenant; with another one, what was made
 * with it by MCP. All else is answered as what does not exist.
 */
int mcp_container_may_use(struct request *req, const char *id,
			  struct error *err);

/* ----------------------------------------------------------------- mcp_run.c */

int mcp_run_python(struct mcp_call *call, struct error *err);
int mcp_launch_environment(struct mcp_call *call, struct error *err);
int mcp_run_environment_python(struct mcp_call *call, struct error *err);
int mcp_run_environment_shell(struct mcp_call *call, struct error *err);

/** mcp_cancel() - The client no longer wants this call */
void mcp_cancel(struct mcp_call *call);

/** mcp_call_gone() - Nobody waits for it: end what it has started */
void mcp_call_gone(struct mcp_call *call);

/* ------------------------------------------------------------- mcp_outcome.c */

/** mcp_outcome() - Answer with what an execution came to */
int mcp_outcome(struct mcp_call *call, const struct exec_view *exec,
		struct error *err);

/* --------------------------------------------------------------- mcp_files.c */

int mcp_upload_file(struct mcp_call *call, struct error *err);
int mcp_list_files(struct mcp_call *call, struct error *err);
int mcp_read_file(struct mcp_call *call, struct error *err);

/* What is said of a file, in results. */
void mcp_write_file(struct mcp_call *call, struct json_writer *w,
		    const char *key, const struct cfile_view *file);

/** mcp_file_url() - Where a file can be fetched; appended */
int mcp_file_url(struct mcp_call *call, const struct cfile_view *file,
		 struct buf *b);

/** mcp_write_text() - The content that repeats a result's structure as text */
void mcp_write_text(struct json_writer *w, const struct buf *text);

/* ----------------------------------------------------------- mcp_resources.c */

int mcp_resources_list(struct mcp_call *call, struct error *err);
int mcp_resources_read(struct mcp_call *call, struct error *err);

#endif
