#ifndef CUPOLA_CLI_CLI_H
#define CUPOLA_CLI_CLI_H

/*
 * What cupolactl's commands share: the options that come before all of them,
 * how they fail, and where they say what.
 *
 * Standard output carries what was asked for and nothing else: the code's own
 * output, a table, or with --json one JSON document. Notes, progress and
 * failures go to standard error.
 *
 * How functions of src/cli fail: they return 0 or more when they worked, and
 * when they did not, what cli_fail() returned: minus the exit status. The
 * sentence stays in struct cli, and main() prints it, once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct args_option;
struct client;
struct json_object;

/**
 * enum cli_exit - The exit statuses, as the manual page lists them
 */
enum cli_exit {
	CLI_OK = 0,
	CLI_NEGATIVE = 1,      /* it worked, and the answer is no: the code
				 * failed, something lacks, audit differs */
	CLI_USAGE = 2,         /* the command line is wrong */
	CLI_UNREACHABLE = 3,   /* no daemon answers */
	CLI_REFUSED = 4,       /* the daemon refuses: unknown id, bad value */
	CLI_BUSY = 5,          /* a limit or no capacity; try again later */
	CLI_BROKEN = 6,        /* the daemon failed, or makes no sense */
	CLI_LOCAL = 7,         /* a file of this machine */
	CLI_LOST = 8,          /* the session ended before the code did */
	CLI_INTERRUPTED = 130, /* Ctrl-C, SIGTERM or SIGHUP */
};

enum { CLI_MESSAGE_MAX = 1024 };

/**
 * struct cli - One run of cupolactl
 * @socket:	Path of the daemon's Unix socket
 * @url:	Address to use instead of it, or NULL
 * @api_key:	From CUPOLA_API_KEY, or NULL
 * @tenant:	Tenant to act for on the Unix socket, or NULL
 * @json:	Answer in JSON
 * @terminal:	Standard output is a terminal whose cursor can be moved
 * @colour:	And wants colours
 * @command:	The command's name, for messages
 * @client:	Made at first use by cli_client()
 * @told:	Set where a command is not to run but to tell its options:
 *		args_parse() calls it and says that there is nothing to do
 * @message:	Why the command failed
 */
struct cli {
	const char *socket;
	const char *url;
	const char *api_key;
	const char *tenant;
	bool json;
	bool terminal;
	bool colour;
	const char *command;
	struct client *client;
	void (*told)(const struct args_option *options,
		     const struct args_option *shared, void *userdata);
	void *told_userdata;
	char message[CLI_MESSAGE_MAX];
};

/**
 * cli_fail() - Say why the command cannot do what it should
 * @cli:	The run; an earlier sentence stays
 * @status:	Exit status, not CLI_OK
 * @fmt:	A sentence without full stop and newline
 *
 * Return: minus @status
 */
int cli_fail(struct cli *cli, enum cli_exit status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** cli_forgive() - Forget the sentence: what failed is tried again */
void cli_forgive(struct cli *cli);

/**
 * cli_note() - Tell the person something on standard error
 *
 * Control characters in it are made visible: notes name other people's files.
 */
void cli_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * cli_client() - The connection to the daemon
 * @ret_client:	Borrowed; lives as long as the run
 *
 * Return: 0, or minus an exit status
 */
int cli_client(struct cli *cli, struct client **ret_client);

/**
 * cli_state() - The directory that the daemon's socket is in
 * @ret_state:	The caller's to free
 *
 * In development mode it is the daemon's directory of state; no daemon needs to
 * run.
 *
 * Return: 0, or minus an exit status
 */
int cli_state(struct cli *cli, char **ret_state);

/**
 * struct cli_command - One subcommand
 * @name:	What is typed
 * @synopsis:	Its arguments, for the usage line
 * @words:	What its first argument may be, separated by blanks, where it is
 *		one of few; else ""
 * @summary:	What it does, in half a line
 * @run:	Does it. @argv[0] is the name
 * @names:	What its arguments name, behind one of @words if there are any:
 *		kinds of completion_names.c, separated by blanks; NULL: none
 */
struct cli_command {
	const char *name;
	const char *synopsis;
	const char *words;
	const char *summary;
	int (*run)(struct cli *cli, int argc, char **argv);
	const char *names;
};

/** cli_commands() - All of them, ended by one without a name */
const struct cli_command *cli_commands(void);

/** cli_command_find() - By name; NULL if there is none */
const struct cli_command *cli_command_find(const char *name);

int cmd_artifacts(struct cli *cli, int argc, char **argv);
int cmd_backup(struct cli *cli, int argc, char **argv);
int cmd_tenants(struct cli *cli, int argc, char **argv);
int cmd_usage(struct cli *cli, int argc, char **argv);
int cmd_audit(struct cli *cli, int argc, char **argv);
int cmd_completion(struct cli *cli, int argc, char **argv);
int cmd_console(struct cli *cli, int argc, char **argv);
int cmd_doctor(struct cli *cli, int argc, char **argv);
int cmd_drain(struct cli *cli, int argc, char **argv);

/** drain_remind() - Say that the host is out of use, if so */
int drain_remind(struct cli *cli, FILE *to);

int cmd_events(struct cli *cli, int argc, char **argv);
int cmd_exec(struct cli *cli, int argc, char **argv);
int cmd_files(struct cli *cli, int argc, char **argv);
int cmd_help(struct cli *cli, int argc, char **argv);
int cmd_model(struct cli *cli, int argc, char **argv);
int cmd_images(struct cli *cli, int argc, char **argv);
int cmd_inspect(struct cli *cli, int argc, char **argv);
int cmd_keys(struct cli *cli, int argc, char **argv);
int cmd_kill(struct cli *cli, int argc, char **argv);
int cmd_logs(struct cli *cli, int argc, char **argv);
int cmd_nmi(struct cli *cli, int argc, char **argv);
int cmd_pools(struct cli *cli, int argc, char **argv);
int cmd_ps(struct cli *cli, int argc, char **argv);
int cmd_run(struct cli *cli, int argc, char **argv);
int cmd_shell(struct cli *cli, int argc, char **argv);
int cmd_top(struct cli *cli, int argc, char **argv);
int cmd_undrain(struct cli *cli, int argc, char **argv);
int cmd_version(struct cli *cli, int argc, char **argv);

#endif
