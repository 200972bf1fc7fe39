#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/address.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/client_error.h"
#include "cli/progress.h"
#include "cli/signals.h"

/*
 * One call at a time runs on a curl multi handle: not for concurrency, but
 * because curl_multi_poll() also watches the signalfd. So Ctrl-C ends a call
 * in the middle of anything, and is never missed between two calls.
 */

#define CONNECT_TIMEOUT_SEC 10L
#define UNBROKEN_TIMEOUT_SEC 30L
#define POLL_MSEC 250 /* how often the progress line moves */

struct client {
	struct cli *cli;
	CURLM *multi;
	int signals;
	char *base; /* "http://127.0.0.1:8080", or for the socket */
	struct curl_slist *headers;      /* of every call */
	struct curl_slist *json_headers; /* of one with a JSON body */
};

/* A call while it runs. */
struct call {
	struct client *client;
	const struct client_request *request;
	CURL *easy;
	curl_mime *mime;
	FILE *upload;
	struct buf *body;
	struct buf refusal; /* the body of an answer that is no 2xx */
	int failed;         /* what the sink or the gathering returned */
	char curl_message[CURL_ERROR_SIZE];
};

static int out_of_memory(struct cli *cli)
{
	return cli_fail(cli, CLI_LOCAL, "Out of memory");
}

static int check_signals(struct client *c)
{
	if (signals_take(c->signals) > 0)
		return cli_fail(c->cli, CLI_INTERRUPTED, "Interrupted");
	return 0;
}

static int add_header(struct curl_slist **list, const char *name,
		      const char *value)
{
	struct curl_slist *longer;
	char *line;

	if (asprintf(&line, "%s: %s", name, value) < 0)
		return -ENOMEM;
	longer = curl_slist_append(*list, line);
	/* It may hold the key. */
	explicit_bzero(line, strlen(line));
	free(line);
	if (!longer)
		return -ENOMEM;
	*list = longer;
	return 0;
}

static int add_identity(struct client *c, struct curl_slist **list)
{
	const struct cli *cli = c->cli;
	char bearer[600];
	int r = 0;

	if (cli->api_key) {
		snprintf(bearer, sizeof(bearer), "Bearer %s", cli->api_key);
		r = add_header(list, "Authorization", bearer);
		explicit_bzero(bearer, sizeof(bearer));
	}
	if (r == 0 && cli->tenant)
		r = add_header(list, "Cupola-Tenant", cli->tenant);
	return r;
}

static int standing_headers(struct client *c)
{
	if (add_identity(c, &c->headers) < 0 ||
	    add_identity(c, &c->json_headers) < 0)
		return -ENOMEM;
	return add_header(&c->json_headers, "Content-Type", "application/json");
}

int client_new(struct cli *cli, struct client **ret_client)
{
	_cleanup_(client_freep) struct client *c = calloc(1, sizeof(*c));

	if (!c)
		return out_of_memory(cli);
	if (cli->url && cli->tenant)
		return cli_fail(cli, CLI_USAGE,
				"--tenant is for the Unix socket; with --url "
				"the key says whose it is");
	c->cli = cli;
	c->signals = -1;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
		return out_of_memory(cli);
	c->multi = curl_multi_init();
	c->base = address_base(cli->url ? cli->url : "http://cupola");
	if (!c->multi || !c->base || standing_headers(c) < 0)
		return out_of_memory(cli);
	c->signals = signals_open();
	if (c->signals < 0)
		return cli_fail(cli, CLI_LOCAL, "Cannot watch signals: %s",
				strerror(-c->signals));
	*ret_client = take_ptr(c);
	return 0;
}

void client_free(struct client *c)
{
	if (!c)
		return;
	curl_multi_cleanup(c->multi);
	curl_slist_free_all(c->headers);
	curl_slist_free_all(c->json_headers);
	close_fd(&c->signals);
	free(c->base);
	free(c);
}

static bool call_is_good(const struct call *call)
{
	long status = 0;

	curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	return status >= 200 && status < 300;
}

/* libcurl may have a megabyte for a slow terminal before it looks at signals. */
static int feed_sink(struct call *call, const char *data, size_t length)
{
	const struct client_request *q = call->request;
	int r = q->sink(data, length, q->userdata);

	return r != 0 || q->unbroken ? r : check_signals(call->client);
}

static size_t on_answer(char *data, size_t size, size_t count, void *userdata)
{
	struct call *call = userdata;
	size_t length = size * count;
	struct buf *to = call->body;

	if (!call_is_good(call))
		to = &call->refusal;
	else if (call->request->sink)
		call->failed = feed_sink(call, data, length);
	if (to == &call->refusal || (!call->request->sink && to)) {
		if (buf_add(to, data, length) < 0)
			call->failed = cli_fail(call->client->cli, CLI_BROKEN,
						"The answer is too large");
	}
	/* Anything but the length ends the transfer. */
	return call->failed == 0 ? length : 0;
}

static int on_progress(void *userdata, curl_off_t down_total, curl_off_t down,
		       curl_off_t up_total, curl_off_t up)
{
	const struct call *call = userdata;

	if (!call->request->progress)
		return 0;
	if (up_total > 0 && up < up_total)
		progress_update((uint64_t)up, (uint64_t)up_total);
	else if (down_total > 0 && down < down_total)
		progress_update((uint64_t)down, (uint64_t)down_total);
	else
		progress_update(0, 0);
	return 0;
}

static size_t on_read(char *room, size_t size, size_t count, void *userdata)
{
	FILE *upload = userdata;
	size_t got = fread(room, 1, size * count, upload);

	return got == 0 && ferror(upload) ? CURL_READFUNC_ABORT : got;
}

static int on_seek(void *userdata, curl_off_t offset, int origin)
{
	return fseeko(userdata, offset, origin) == 0 ? CURL_SEEKFUNC_OK :
						       CURL_SEEKFUNC_CANTSEEK;
}

static int open_upload(struct call *call)
{
	const char *path = call->request->upload;
	struct cli *cli = call->client->cli;
	struct stat st;

	call->upload = fopen(path, "rbe");
	if (!call->upload || fstat(fileno(call->upload), &st) < 0)
		return cli_fail(cli, CLI_LOCAL, "Cannot read '%s': %s", path,
				strerror(errno));
	if (S_ISDIR(st.st_mode))
		return cli_fail(cli, CLI_LOCAL, "Cannot read '%s': %s", path,
				strerror(EISDIR));
	/* What has no size beforehand (a pipe) goes out in chunks. */
	return S_ISREG(st.st_mode) ? 1 : 0;
}

static int add_part(struct call *call, const char *name, const char *value)
{
	curl_mimepart *part = curl_mime_addpart(call->mime);

	if (!part || curl_mime_name(part, name) != CURLE_OK ||
	    curl_mime_data(part, value, CURL_ZERO_TERMINATED) != CURLE_OK)
		return out_of_memory(call->client->cli);
	return 0;
}

static int add_file(struct call *call)
{
	const struct client_request *q = call->request;
	curl_mimepart *part;
	struct stat st;
	curl_off_t size = -1;
	int r;

	r = open_upload(call);
	if (r < 0)
		return r;
	if (r > 0 && fstat(fileno(call->upload), &st) == 0)
		size = st.st_size;
	part = curl_mime_addpart(call->mime);
	if (!part || curl_mime_name(part, "file") != CURLE_OK ||
	    curl_mime_filename(part, q->upload_name) != CURLE_OK ||
	    curl_mime_type(part, "application/octet-stream") != CURLE_OK ||
	    curl_mime_data_cb(part, size, on_read, on_seek, NULL,
			      call->upload) != CURLE_OK)
		return out_of_memory(call->client->cli);
	return 0;
}

static int set_upload(struct call *call)
{
	int r = 0;

	call->mime = curl_mime_init(call->easy);
	if (!call->mime)
		return out_of_memory(call->client->cli);
	/* Fields first: the daemon knows what for before the bytes come. */
	if (call->request->purpose)
		r = add_part(call, "purpose", call->request->purpose);
	if (r == 0)
		r = add_file(call);
	if (r == 0)
		curl_easy_setopt(call->easy, CURLOPT_MIMEPOST, call->mime);
	return r;
}

static void set_json(struct call *call)
{
	curl_easy_setopt(call->easy, CURLOPT_POSTFIELDS, call->request->json);
	curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER,
			 call->client->json_headers);
}

static void set_address(struct call *call, const char *url)
{
	const struct cli *cli = call->client->cli;

	curl_easy_setopt(call->easy, CURLOPT_URL, url);
	curl_easy_setopt(call->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	/* A daemon does not redirect; whoever does is none. */
	curl_easy_setopt(call->easy, CURLOPT_FOLLOWLOCATION, 0L);
	if (cli->url)
		return;
	curl_easy_setopt(call->easy, CURLOPT_UNIX_SOCKET_PATH, cli->socket);
	curl_easy_setopt(call->easy, CURLOPT_PROXY, "");
}

static void set_callbacks(struct call *call)
{
	CURL *easy = call->easy;

	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->curl_message);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_answer);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
	curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(easy, CURLOPT_XFERINFODATA, call);
	curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_SEC);
	if (call->request->unbroken)
		curl_easy_setopt(easy, CURLOPT_TIMEOUT, UNBROKEN_TIMEOUT_SEC);
}

static int call_prepare(struct call *call)
{
	struct client *c = call->client;
	_cleanup_free_ char *url = NULL;

	call->easy = curl_easy_init();
	if (!call->easy ||
	    asprintf(&url, "%s%s", c->base, call->request->path) < 0)
		return out_of_memory(c->cli);
	set_address(call, url);
	set_callbacks(call);
	curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, c->headers);
	if (call->request->json)
		set_json(call);
	if (strcmp(call->request->method, "GET") != 0)
		curl_easy_setopt(call->easy, CURLOPT_CUSTOMREQUEST,
				 call->request->method);
	return call->request->upload ? set_upload(call) : 0;
}

/* Whether the call is over, and if so how. */
static bool call_ended(struct call *call, CURLcode *ret_code)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(call->client->multi, &left))) {
		if (message->msg != CURLMSG_DONE)
			continue;
		*ret_code = message->data.result;
		return true;
	}
	return false;
}

static int call_wait(struct call *call, CURLcode *ret_code)
{
	struct client *c = call->client;
	struct curl_waitfd extra = { .fd = c->signals,
				     .events = CURL_WAIT_POLLIN };
	unsigned watched = call->request->unbroken ? 0 : 1;
	int running;

	for (;;) {
		if (curl_multi_perform(c->multi, &running) != CURLM_OK)
			return out_of_memory(c->cli);
		if (call_ended(call, ret_code))
			return 0;
		if (watched && check_signals(c) < 0)
			return -CLI_INTERRUPTED;
		if (curl_multi_poll(c->multi, &extra, watched, POLL_MSEC,
				    NULL) != CURLM_OK)
			return out_of_memory(c->cli);
	}
}

static int transport_failed(struct call *call, CURLcode code)
{
	struct cli *cli = call->client->cli;
	const char *why = call->curl_message[0] ? call->curl_message :
						  curl_easy_strerror(code);
	long cause = 0;

	if (call->failed)
		return call->failed;
	if (call->upload && ferror(call->upload))
		return cli_fail(cli, CLI_LOCAL, "Cannot read '%s'",
				call->request->upload);
	if (code != CURLE_COULDNT_CONNECT)
		return cli_fail(cli, CLI_UNREACHABLE,
				"The connection to the daemon failed: %s", why);
	if (cli->url)
		return cli_fail(cli, CLI_UNREACHABLE,
				"No daemon answers at '%s': %s", cli->url, why);
	(void)curl_easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &cause);
	if (cause == EACCES)
		return cli_fail(cli, CLI_UNREACHABLE,
				"You may not open '%s': be root, or a member "
				"of the group cupola-admin or cupola-view",
				cli->socket);
	return cli_fail(cli, CLI_UNREACHABLE,
			"No daemon answers at '%s': start cupolad, or name its "
			"socket with --socket or CUPOLA_SOCKET",
			cli->socket);
}

static int call_run(struct call *call)
{
	struct client *c = call->client;
	CURLcode code = CURLE_OK;
	long status = 0;
	int r;

	r = call_prepare(call);
	if (r < 0)
		return r;
	if (curl_multi_add_handle(c->multi, call->easy) != CURLM_OK)
		return out_of_memory(c->cli);
	r = call_wait(call, &code);
	curl_multi_remove_handle(c->multi, call->easy);
	if (r < 0)
		return r;
	if (code != CURLE_OK && call->refusal.length == 0)
		return transport_failed(call, code);
	if (call_is_good(call))
		return 0;
	curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	return client_refused(c->cli, status, &call->refusal);
}

int client_call(struct client *c, const struct client_request *request,
		struct buf *body)
{
	struct call call = { .client = c,
			     .request = request,
			     .body = body,
			     .refusal = BUF_INIT(CLIENT_ANSWER_MAX) };
	int r;

	if (c->cli->url && address_is_operators(request->path))
		return cli_fail(c->cli, CLI_USAGE,
				"What operators ask is answered on the "
				"daemon's Unix socket only, not with --url");
	if (request->progress)
		progress_begin(request->progress);
	r = call_run(&call);
	if (request->progress)
		progress_end();
	curl_easy_cleanup(call.easy);
	curl_mime_free(call.mime);
	if (call.upload)
		(void)fclose(call.upload);
	buf_done(&call.refusal);
	return r;
}

int client_call_json(struct client *c, const struct client_request *request,
		     struct json_object **ret_answer)
{
	_cleanup_(buf_done) struct buf body = BUF_INIT(CLIENT_ANSWER_MAX);
	struct error err = ERROR_INIT;
	int r = client_call(c, request, &body);

	if (r < 0 || !ret_answer)
		return r;
	if (json_parse(buf_str(&body), body.length, ret_answer, &err) < 0)
		return cli_fail(c->cli, CLI_BROKEN,
				"The daemon's answer cannot be read: %s",
				err.message);
	return 0;
}

int client_pause(struct client *c, unsigned msec)
{
	struct pollfd wait = { .fd = c->signals, .events = POLLIN };

	(void)poll(&wait, 1, (int)msec);
	return check_signals(c);
}

int client_await(struct client *c, int fd, int msec)
{
	return signals_await(c->signals, fd, msec);
}
