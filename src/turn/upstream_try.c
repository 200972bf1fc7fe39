/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One try: a request, and what its answer means.
 *
 * All that decides where a request may go is in go_nowhere_else().
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "turn/upstream_call.h"

enum {
	BYTES_MAX = 128 << 20, /* of one answer, as it is sent */
	OBJECT_MAX = 16 << 20, /* of one that is no stream */
};

static int add_header(struct curl_slist **list, const char *text)
{
	struct curl_slist *longer = curl_slist_append(*list, text);

	if (!longer)
		return -ENOMEM;
	*list = longer;
	return 0;
}

static int add_value(struct curl_slist **list, const char *name,
		     const char *value)
{
	_cleanup_(buf_done) struct buf line = BUF_INIT(64 << 10);
	int r = buf_printf(&line, "%s%s", name, value);

	if (r >= 0)
		r = add_header(list, buf_str(&line));
	if (line.length > 0)
		explicit_bzero(line.data, line.length);
	return r;
}

struct curl_slist *upstream_try_headers(const char *key, const char *trace)
{
	struct curl_slist *list = NULL;
	int r = add_header(&list, "Content-Type: application/json");

	if (r >= 0)
		r = add_header(&list, "Accept: text/event-stream");
	/* A body is sent at once: waiting for a 100 would cost a second. */
	if (r >= 0)
		r = add_header(&list, "Expect:");
	if (r >= 0 && key)
		r = add_value(&list, "Authorization: Bearer ", key);
	if (r >= 0 && trace)
		r = add_value(&list, "traceparent: ", trace);
	if (r >= 0)
		return list;
	curl_slist_free_all(list);
	return NULL;
}

/* The host of the settings and no other: it is no way into other networks. */
static int go_nowhere_else(CURL *easy, const struct upstream_target *target)
{
	if (curl_easy_setopt(easy, CURLOPT_URL, target->url) ||
	    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") ||
	    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) ||
	    curl_easy_setopt(easy, CURLOPT_PROXY, "") ||
	    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*") ||
	    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) ||
	    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) ||
	    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L))
		return -ENOMEM;
	if (target->ca_file &&
	    curl_easy_setopt(easy, CURLOPT_CAINFO, target->ca_file))
		return -ENOMEM;
	return 0;
}

static int set_request(CURL *easy, const struct upstream_call *call)
{
	long connect_msec = (long)(call->target->connect_timeout_usec /
				   USEC_PER_MSEC);

	if (curl_easy_setopt(easy, CURLOPT_POST, 1L) ||
	    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
			     (curl_off_t)call->body.length) ||
	    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body.data) ||
	    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, call->headers) ||
	    curl_easy_setopt(easy, CURLOPT_USERAGENT,
			     "cupola/" PACKAGE_VERSION) ||
	    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
			     (long)CURL_HTTP_VERSION_1_1) ||
	    curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L) ||
	    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) ||
	    /* A look-up that hangs is left behind, not waited for. */
	    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) ||
	    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_msec))
		return -ENOMEM;
	return 0;
}

int upstream_try_begin(struct upstream_call *call)
{
	struct upstream_transfer *t = &call->transfer;
	int r;

	*t = (struct upstream_transfer){
		.easy = curl_easy_init(),
		.arrived = upstream_call_arrived,
		.ended = upstream_call_transferred,
		.userdata = call,
	};
	call->text = BUF_INIT(OBJECT_MAX);
	call->bytes = 0;
	call->status = 0;
	r = t->easy ? upstream_reader_init(&call->reader, call->target,
					   call->key, &call->answer)
		    : -ENOMEM;
	if (r >= 0)
		r = go_nowhere_else(t->easy, call->target);
	if (r >= 0)
		r = set_request(t->easy, call);
	if (r >= 0)
		r = upstream_transfer_start(call->upstream->transfers, t);
	return r;
}

void upstream_try_end(struct upstream_call *call)
{
	upstream_transfer_stop(&call->transfer);
	curl_easy_cleanup(call->transfer.easy);
	call->transfer.easy = NULL;
	upstream_reader_done(&call->reader);
	buf_done(&call->text);
}

/* ------------------------------------------------------- its answer */

static bool is_good(const struct upstream_call *call)
{
	return call->status >= 200 && call->status < 300;
}

static const char *media_type(const struct upstream_call *call)
{
	const char *type = NULL;

	(void)curl_easy_getinfo(call->transfer.easy, CURLINFO_CONTENT_TYPE,
				&type);
	return type ? type : "text/event-stream";
}

static bool is_media(const char *type, const char *wanted)
{
	size_t length = strlen(wanted);

	return strncasecmp(type, wanted, length) == 0 &&
	       strchr("; \t", type[length]);
}

static int blame(struct upstream_failure *ret, bool transient,
		 const char *message)
{
	*ret = (struct upstream_failure){ .transient = transient };
	return error_set(&ret->error, ERR_UPSTREAM, "%s", message);
}

static int read_head(struct upstream_call *call, struct upstream_failure *ret)
{
	const char *type = media_type(call);

	(void)curl_easy_getinfo(call->transfer.easy, CURLINFO_RESPONSE_CODE,
				&call->status);
	call->streams = is_good(call) && is_media(type, "text/event-stream");
	if (!is_good(call) || call->streams ||
	    is_media(type, "application/json"))
		return 0;
	return blame(ret, false,
		     "The model's server answered with something that is "
		     "neither a stream of events nor JSON");
}

/* Of an error's body the first part is enough. */
static int keep(struct upstream_call *call, const struct buf *bytes,
		struct upstream_failure *ret)
{
	size_t size = bytes->length;
	int r;

	if (!is_good(call) &&
	    size > UPSTREAM_ERROR_BODY_MAX - call->text.length)
		size = UPSTREAM_ERROR_BODY_MAX - call->text.length;
	r = buf_add(&call->text, bytes->data, size);
	if (r == -EMSGSIZE)
		return blame(ret, false, "The model's server answered with too "
					 "much");
	if (r < 0)
		return error_set_errno(&ret->error, r, "Cannot read a model's "
				       "answer");
	return 0;
}

int upstream_try_take(struct upstream_call *call, struct upstream_failure *ret)
{
	/* Taken away: what is told of them may end the transfer. */
	_cleanup_(buf_done) struct buf bytes = call->transfer.bytes;
	int r = 0;

	call->transfer.bytes = BUF_INIT(bytes.max);
	call->bytes += bytes.length;
	if (call->status == 0)
		r = read_head(call, ret);
	if (r >= 0 && call->bytes > BYTES_MAX)
		r = blame(ret, false, "The model's server answered with too "
				      "much");
	if (r >= 0 && !call->streams) {
		r = keep(call, &bytes, ret);
	} else if (r >= 0) {
		r = upstream_reader_feed(&call->reader, bytes.data,
					 bytes.length);
		if (r < 0)
			*ret = call->reader.failure;
	}
	return r;
}

static unsigned retry_after(const struct upstream_call *call)
{
	curl_off_t sec = 0;

	/* In seconds, whether it was a number or a date. */
	(void)curl_easy_getinfo(call->transfer.easy, CURLINFO_RETRY_AFTER,
				&sec);
	if (sec < 0)
		return 0;
	return sec > 86400 ? 86400 : (unsigned)sec;
}

static int judge_transfer(const struct upstream_call *call, CURLcode result,
			  struct upstream_failure *ret)
{
	bool slow = result == CURLE_OPERATION_TIMEDOUT;

	if (result == CURLE_WRITE_ERROR &&
	    call->transfer.head > UPSTREAM_HEAD_MAX)
		return error_set(&ret->error, ERR_UPSTREAM,
				 "The model's server answered with a head of "
				 "more than %d bytes", UPSTREAM_HEAD_MAX);
	/* Of a line that it finds too long libcurl says the same as of too little
	 * memory: which of them it was nobody can tell. */
	if (result == CURLE_OUT_OF_MEMORY && call->transfer.head > 0 &&
	    call->status == 0)
		return error_set(&ret->error, ERR_CAPACITY,
				 "The head of the model's answer has a line "
				 "that is too long, or there is no memory for "
				 "it");
	/* What it is written to here is memory, and refuses for lack of it. */
	if (result == CURLE_OUT_OF_MEMORY || result == CURLE_WRITE_ERROR)
		return error_set_errno(&ret->error, -ENOMEM,
				       "Cannot hear a model's answer");
	*ret = (struct upstream_failure){
		.transient = result != CURLE_PEER_FAILED_VERIFICATION &&
			     result != CURLE_SSL_CACERT_BADFILE,
	};
	return error_set(&ret->error, slow ? ERR_UPSTREAM_TIMEOUT
					   : ERR_UPSTREAM,
			 "Cannot %s the model's server: %s",
			 call->status ? "read on from" : "reach",
			 curl_easy_strerror(result));
}

int upstream_try_judge(struct upstream_call *call, CURLcode result,
		       struct upstream_failure *ret)
{
	int r = 0;

	/* What follows the last word does not matter. */
	if (result != CURLE_OK && !call->answer.finished)
		return judge_transfer(call, result, ret);
	if (call->status == 0)
		r = read_head(call, ret);
	if (r < 0)
		return r;
	if (!is_good(call)) {
		upstream_error_of_status(call->status, buf_str(&call->text),
					 call->text.length, retry_after(call),
					 call->key, ret);
		return -EIO;
	}
	if (!call->streams)
		r = upstream_reader_object(&call->reader, call->text.data,
					   call->text.length);
	if (r >= 0)
		r = upstream_reader_end(&call->reader);
	if (r < 0)
		*ret = call->reader.failure;
	return r;
}
