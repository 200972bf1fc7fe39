#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/keyboard.h"
#include "cli/text.h"
#include "cli/watch.h"

/*
 * A look is gathered before it is shown: a screen that is wiped first and then
 * filled while the daemon thinks would flicker, and one that a failure left half
 * drawn would lie.
 */

/* Another screen, no cursor, and what is too wide is cut by the terminal. */
#define SCREEN_BEGIN "\033[?1049h\033[?25l\033[?7l"
#define SCREEN_END "\033[?7h\033[?25h\033[?1049l"
#define SCREEN_HOME "\033[H"
#define LINE_REST "\033[K"
#define SCREEN_REST "\033[J"

/* A day: more milliseconds than fit could be asked for. */
#define INTERVAL_MAX 86400.0

enum { ROWS_WITHOUT_TERMINAL = 24, MSEC_PER_SEC = 1000 };

enum { WATCH_LEFT = 1 }; /* a person has seen enough */

/**
 * struct show - A watch under way
 * @text:	What was seen last; NULL: nothing yet
 * @lost:	The daemon did not answer the last time
 */
struct show {
	struct cli *cli;
	bool screen;
	char *text;
	bool lost;
	double interval;
	struct keyboard keyboard;
};

static double watch_interval(const struct watch *w)
{
	return w->interval > 0 ? fmin(w->interval, INTERVAL_MAX) :
				 WATCH_INTERVAL;
}

int watch_pause(struct cli *cli, const struct watch *w)
{
	struct client *client;
	int r = cli_client(cli, &client);

	if (r < 0)
		return r;
	return client_pause(client,
			    (unsigned)(watch_interval(w) * MSEC_PER_SEC));
}

/*
 * In the GNU C library stdout is a variable that may be set, and all that writes
 * to it looks there: so no command needs to know where its words go.
 */
static int look_into(struct cli *cli, char **ret_text,
		     int (*look)(struct cli *cli, void *userdata),
		     void *userdata)
{
	_cleanup_free_ char *text = NULL;
	FILE *out = stdout;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	int r;

	if (!memory)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	stdout = memory;
	r = look(cli, userdata);
	stdout = out;
	if (fclose(memory) == EOF && r >= 0)
		r = cli_fail(cli, CLI_LOCAL, "Out of memory");
	if (r >= 0)
		*ret_text = take_ptr(text);
	return r;
}

static size_t terminal_rows(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0)
		return ROWS_WITHOUT_TERMINAL;
	return size.ws_row;
}

static void print_head(const struct show *s)
{
	time_t now = time(NULL);
	char at[16] = "";
	struct tm tm;

	if (localtime_r(&now, &tm))
		(void)strftime(at, sizeof(at), "%H:%M:%S", &tm);
	printf(SCREEN_HOME "cupolactl %s, every %g s, %s" LINE_REST "\n",
	       s->cli->command, s->interval, at);
	if (s->lost) {
		_cleanup_free_ char *why = text_escape(s->cli->message);

		printf("%s" LINE_REST "\n", why ? why : "");
	}
}

static void print_screen(const struct show *s)
{
	const char *line = s->text ? s->text : "";
	size_t left = terminal_rows();

	print_head(s);
	left -= left > 0;
	left -= s->lost && left > 0;
	/* The last row stays empty: a newline there would scroll. */
	for (; *line && left > 1; left--) {
		size_t length = strcspn(line, "\n");

		printf("%.*s" LINE_REST "\n", (int)length, line);
		line += length + (line[length] == '\n');
	}
	(void)fputs(SCREEN_REST, stdout);
}

/* One after the other: for programs, and for reading later. */
static void print_stream(const struct show *s, bool first)
{
	if (!first && !s->cli->json)
		(void)putchar('\n');
	(void)fputs(s->text, stdout);
}

/* What may be otherwise in a moment. */
static bool may_pass(int r)
{
	return r == -CLI_UNREACHABLE || r == -CLI_BUSY || r == -CLI_BROKEN;
}

static int show_look(struct show *s,
		     int (*look)(struct cli *cli, void *userdata),
		     void *userdata)
{
	bool first = !s->text, was_lost = s->lost;
	char *text = NULL;
	int r = look_into(s->cli, &text, look, userdata);

	if (r < 0 && (first || !may_pass(r)))
		return r;
	s->lost = r < 0;
	if (!s->lost) {
		free(s->text);
		s->text = text;
	}
	if (s->screen)
		print_screen(s);
	else if (!s->lost)
		print_stream(s, first);
	else if (!was_lost)
		cli_note("%s", s->cli->message);
	if (s->lost)
		cli_forgive(s->cli);
	if (fflush(stdout) == EOF)
		return cli_fail(s->cli, CLI_LOCAL,
				"Cannot write the output: %m");
	return 0;
}

/* Return: 0, WATCH_LEFT, or minus an exit status */
static int show_pause(struct show *s, const struct watch *w)
{
	struct client *client;
	int r = cli_client(s->cli, &client);

	if (r < 0 || !s->keyboard.on)
		return r < 0 ? r : watch_pause(s->cli, w);
	if (client_await(client, STDIN_FILENO,
			 (int)(s->interval * MSEC_PER_SEC)) > 0)
		return cli_fail(s->cli, CLI_INTERRUPTED, "Interrupted");
	return keyboard_take(&s->keyboard) == 'q' ? WATCH_LEFT : 0;
}

/* Signals are the client's before the terminal is ours: it is given back. */
static int screen_begin(struct show *s)
{
	struct client *client;
	int r = cli_client(s->cli, &client);

	if (r < 0 || !s->screen)
		return r;
	keyboard_begin(&s->keyboard);
	(void)fputs(SCREEN_BEGIN, stdout);
	return 0;
}

static void screen_end(struct show *s)
{
	if (!s->screen)
		return;
	(void)fputs(SCREEN_END, stdout);
	keyboard_end(&s->keyboard);
}

int watch_run(struct cli *cli, const struct watch *w,
	      int (*look)(struct cli *cli, void *userdata), void *userdata)
{
	struct show s = {
		.cli = cli,
		.screen = cli->terminal && !cli->json,
		.interval = watch_interval(w),
	};
	int r;

	if (!w->on)
		return look(cli, userdata);
	r = screen_begin(&s);
	if (r < 0)
		return r;
	do {
		r = show_look(&s, look, userdata);
		if (r >= 0)
			r = show_pause(&s, w);
	} while (r == 0);
	screen_end(&s);
	free(s.text);
	return r == WATCH_LEFT ? 0 : r;
}
