#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/progress.h"
#include "cli/text.h"

static const struct cli_command commands[] = {
	{ "run", "SCRIPT [--file FILE]... [--out DIR] [--timeout SECONDS]", "",
	  "Run a script in a container of its own and bring its files back",
	  cmd_run, NULL },
	{ "exec", "CONTAINER [-c CODE | FILE | -] [--out DIR]", "",
	  "Run code in a container, which keeps its state", cmd_exec,
	  "containers" },
	{ "shell", "[CONTAINER]", "",
	  "Type Python into a container, line by line", cmd_shell,
	  "containers" },
	{ "ps", "[--all] [--watch]", "", "List containers", cmd_ps, NULL },
	{ "top", "[--sort WHAT]", "",
	  "Show what each VM takes of the host, again and again", cmd_top, NULL },
	{ "inspect", "ID", "", "Show all that is known of a container or VM",
	  cmd_inspect,
	  "ended vms" },
	{ "logs", "[ID] [--follow] [--lines N] [--since TIME]", "",
	  "Show the journal, of all or of one container, VM or execution",
	  cmd_logs,
	  "ended vms" },
	{ "console", "ID", "",
	  "Show the end of a guest's console, also after its death",
	  cmd_console,
	  "ended vms" },
	{ "kill", "ID...", "", "End containers' sessions", cmd_kill,
	  "containers vms" },
	{ "nmi", "ID", "", "Make a guest that hangs panic, to see where it hung",
	  cmd_nmi,
	  "containers vms" },
	{ "files", "[ls | get | put | rm] [CONTAINER] [FILE]...",
	  "ls get put rm", "List, fetch, send and remove files", cmd_files,
	  "containers" },
	{ "keys", "[list | create | revoke KEY]", "create list revoke",
	  "Manage API keys", cmd_keys,
	  "keys" },
	{ "tenants",
	  "[list | create | show | set | delete] [NAME] [LIMIT=VALUE]...",
	  "create list show set delete",
	  "Manage tenants and what they may have", cmd_tenants,
	  "tenants" },
	{ "artifacts", "[list | get | rm] [ID]...", "list get rm",
	  "List, fetch and remove files of all tenants' containers",
	  cmd_artifacts,
	  "artifacts" },
	{ "usage", "[--since DAY] [--by WHAT] [--csv] [--watch]", "",
	  "Show what tenants used", cmd_usage, NULL },
	{ "model", "[list | test] [NAME]", "list test",
	  "List the models, or see whether they answer and call tools",
	  cmd_model,
	  "models" },
	{ "drain", "[--now | --deadline SECONDS | --undo | --status] [--wait]",
	  "", "Take the daemon out of use, session by session", cmd_drain, NULL },
	{ "undrain", "", "", "Take new sessions again", cmd_undrain, NULL },
	{ "events", "[--follow]", "",
	  "Show what happens to sessions as it happens", cmd_events, NULL },
	{ "backup", "FILE", "", "Copy the daemon's database while it runs",
	  cmd_backup, NULL },
	{ "pools", "[list | set POOL --ready N]", "list set",
	  "Show the pools, or change how many VMs one keeps ready", cmd_pools,
	  "pools" },
	{ "images", "[build | verify | export | import | rm | prune | diff ...]",
	  "build verify export import rm prune diff",
	  "List the images that this host has, or look after them", cmd_images,
	  "images" },
	{ "doctor", "[--quick]", "",
	  "Prove what this host can do, and say what it lacks", cmd_doctor, NULL },
	{ "audit", "[--fix]", "",
	  "Compare the books with what really runs, and mend them", cmd_audit, NULL },
	{ "completion", "bash | zsh | fish", "bash zsh fish",
	  "Print what makes a shell complete these commands", cmd_completion, NULL },
	{ "version", "", "", "Print the version", cmd_version, NULL },
	{ "help", "[COMMAND]", "", "Explain a command", cmd_help, "commands" },
	{ .name = NULL },
};

const struct cli_command *cli_commands(void)
{
	return commands;
}

const struct cli_command *cli_command_find(const char *name)
{
	const struct cli_command *c;

	for (c = commands; name && c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

int cli_fail(struct cli *cli, enum cli_exit status, const char *fmt, ...)
{
	va_list ap;

	if (!cli->message[0]) {
		va_start(ap, fmt);
		vsnprintf(cli->message, sizeof(cli->message), fmt, ap);
		va_end(ap);
	}
	return -(int)status;
}

void cli_forgive(struct cli *cli)
{
	cli->message[0] = '\0';
}

static void say(const char *text)
{
	_cleanup_free_ char *safe = text_escape(text);

	progress_wipe();
	fprintf(stderr, "cupolactl: %s\n", safe ? safe : "out of memory");
}

void cli_note(const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	say(text ? text : "out of memory");
}

int cli_state(struct cli *cli, char **ret_state)
{
	_cleanup_free_ char *socket = strdup(cli->socket);
	char *state = socket ? strdup(dirname(socket)) : NULL;

	if (!state)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	*ret_state = state;
	return 0;
}

int cli_client(struct cli *cli, struct client **ret_client)
{
	int r = 0;

	if (!cli->client)
		r = client_new(cli, &cli->client);
	*ret_client = cli->client;
	return r;
}
