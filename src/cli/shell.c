#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/args.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/execute.h"
#include "cli/python_text.h"
#include "cli/views.h"

/*
 * A prompt in a session: each statement is one execution, so Ctrl-C while it
 * runs interrupts the code, and at the prompt it drops what was typed. Lines are
 * edited by libedit, whose licence goes with ours; GNU readline's would not.
 *
 * While a line is edited Ctrl-C is a key. Where libedit does not have the
 * terminal yet, and where the code ended before the key was seen, it is a
 * SIGINT, which the client holds. The prompt takes it as the key, or else it
 * would end the next statement.
 */

enum {
	HISTORY_LINES = 1000,
	CTRL_C = 3,
};

struct shell {
	struct cli *cli;
	EditLine *line;
	History *history;
	char *history_file; /* NULL: kept nowhere */
	struct buf code;
	struct client *client;
	bool cancelled;
	bool ended;  /* by a signal */
	bool failed; /* the last statement */
};

static char *prompt(EditLine *line)
{
	struct shell *s = NULL;

	(void)el_get(line, EL_CLIENTDATA, &s);
	return (char *)(s && s->code.length > 0 ? "... " : ">>> ");
}

/* Return: 1, 0 at the end, -1 with errno */
static int read_byte(struct shell *s, char *ret)
{
	int signal_number = client_await(s->client, STDIN_FILENO, -1);
	ssize_t r;

	if (signal_number == SIGINT) {
		*ret = CTRL_C;
		return 1;
	}
	s->ended = signal_number != 0;
	if (s->ended)
		return 0;
	do
		r = read(STDIN_FILENO, ret, 1);
	while (r < 0 && errno == EINTR);
	return (int)r;
}

/* Ctrl-C is a new line, too, so that the next prompt has one of its own. */
static int read_key(EditLine *line, wchar_t *ret)
{
	mbstate_t state = { 0 };
	struct shell *s = NULL;
	size_t n;
	char byte;
	int r;

	(void)el_get(line, EL_CLIENTDATA, &s);
	do {
		r = read_byte(s, &byte);
		if (r <= 0)
			return r;
		n = mbrtowc(ret, &byte, 1, &state);
		if (n == (size_t)-1)
			state = (mbstate_t){ 0 };
	} while (n == (size_t)-1 || n == (size_t)-2);
	if (*ret != CTRL_C)
		return 1;
	s->cancelled = true;
	*ret = L'\n';
	return 1;
}

static void shell_done(struct shell *s)
{
	HistEvent ignored;

	if (s->history && s->history_file)
		(void)history(s->history, &ignored, H_SAVE, s->history_file);
	if (s->line)
		el_end(s->line);
	if (s->history)
		history_end(s->history);
	free(s->history_file);
	buf_done(&s->code);
}

/* Code may have secrets in it: the file is its owner's alone. */
static void history_begin(struct shell *s)
{
	const char *home = getenv("HOME");
	HistEvent ignored;
	int fd;

	(void)history(s->history, &ignored, H_SETSIZE, HISTORY_LINES);
	(void)history(s->history, &ignored, H_SETUNIQUE, 1);
	if (!home || asprintf(&s->history_file, "%s/.cupolactl_history", home) <
			     0) {
		s->history_file = NULL;
		return;
	}
	fd = open(s->history_file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
		  0600);
	if (fd < 0) {
		free(take_ptr(s->history_file));
		return;
	}
	close_fd(&fd);
	(void)history(s->history, &ignored, H_LOAD, s->history_file);
}

static int shell_init(struct shell *s)
{
	int r = cli_client(s->cli, &s->client);

	if (r < 0)
		return r;
	s->history = history_init();
	s->line = el_init("cupolactl", stdin, stdout, stderr);
	if (!s->history || !s->line)
		return cli_fail(s->cli, CLI_LOCAL,
				"The terminal cannot be used to edit lines");
	history_begin(s);
	(void)el_set(s->line, EL_CLIENTDATA, s);
	(void)el_set(s->line, EL_PROMPT, prompt);
	(void)el_set(s->line, EL_EDITOR, "emacs");
	(void)el_set(s->line, EL_HIST, history, s->history);
	(void)el_set(s->line, EL_SETTY, "-d", "-isig", NULL);
	(void)el_set(s->line, EL_GETCFN, read_key);
	/* libedit drops a tab; code that is pasted may be indented by them. */
	(void)el_set(s->line, EL_BIND, "^I", "ed-insert", NULL);
	(void)el_source(s->line, NULL);
	return 0;
}

/* What the person can do something about is said, and the prompt comes back. */
static int run_statement(struct shell *s, const char *container)
{
	const struct execute_options o = { .container = container,
					   .code = &s->code,
					   .interrupt = true };
	int r = execute_run(s->cli, &o);

	s->failed = r != CLI_OK;
	if (r == CLI_LOST || r == -CLI_UNREACHABLE || r == -CLI_REFUSED)
		return r;
	if (r < 0) {
		cli_note("%s", s->cli->message);
		cli_forgive(s->cli);
	}
	return 0;
}

/* As at Python's own prompt; as code they would end nothing here. */
static bool is_goodbye(const char *text)
{
	static const char *const words[] = { "exit\n", "quit\n", "exit()\n",
					     "quit()\n" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], text) == 0)
			return true;
	return false;
}

static int take_line(struct shell *s, const char *text, const char *container)
{
	HistEvent ignored;
	int r = 0;

	if (s->cancelled) {
		s->cancelled = false;
		buf_clear(&s->code);
		return 0;
	}
	if (text[strspn(text, " \t\n")])
		(void)history(s->history, &ignored, H_ENTER, text);
	if (buf_add_str(&s->code, text) < 0) {
		cli_note("A statement has 512 KiB at most");
		buf_clear(&s->code);
		return 0;
	}
	if (!python_text_complete(buf_str(&s->code)))
		return 0;
	if (buf_str(&s->code)[strspn(buf_str(&s->code), " \t\n")])
		r = run_statement(s, container);
	buf_clear(&s->code);
	return r;
}

static int converse(struct shell *s, const char *container)
{
	const char *text;
	int count = 0, r = 0;

	while (r == 0) {
		text = el_gets(s->line, &count);
		if (s->ended)
			return cli_fail(s->cli, CLI_INTERRUPTED, "Interrupted");
		if (!text || count <= 0) /* Ctrl-D */
			break;
		if (s->code.length == 0 && is_goodbye(text))
			return 0;
		r = take_line(s, text, container);
	}
	if (r == 0)
		(void)putchar('\n');
	return r;
}

static int make_container(struct cli *cli, struct json_object **ret)
{
	static const struct client_request request = {
		.method = "POST",
		.path = "/v1/containers",
		.json = "{\"name\":\"cupolactl shell\"}",
		.unbroken = true,
	};
	struct client *client;
	int r = cli_client(cli, &client);

	return r < 0 ? r : client_call_json(client, &request, ret);
}

static int shell_run(struct cli *cli, const char *container, bool removed)
{
	struct shell s = { .cli = cli, .code = BUF_INIT(EXECUTE_CODE_MAX) };
	int r = shell_init(&s);

	if (r >= 0) {
		cli_note("Python in %s%s; Ctrl-D leaves it", container,
			 removed ? ", which is removed with its files" : "");
		r = converse(&s, container);
	}
	if (r == 0 && s.failed)
		r = CLI_NEGATIVE;
	shell_done(&s);
	return r;
}

int cmd_shell(struct cli *cli, int argc, char **argv)
{
	_cleanup_(json_freep) struct json_object *made = NULL;
	_cleanup_free_ char *path = NULL;
	const char *container;
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, NULL, 0, 1, &args);
	if (r < 0 || args.help)
		return r;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || cli->json)
		return cli_fail(cli, CLI_USAGE,
				"A shell is for a person at a terminal; for "
				"programs there is cupolactl exec");
	if (args.count > 0)
		return shell_run(cli, args.items[0], false);
	r = make_container(cli, &made);
	if (r < 0)
		return r;
	container = view_string(made, "id");
	r = shell_run(cli, container, true);
	path = calls_path("/v1/containers/", container, NULL);
	(void)calls_delete(cli, path, true);
	return r;
}
