#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/args.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/text.h"
#include "cli/views.h"

static int print_console(struct cli *cli, const struct json_object *answer)
{
	const struct json_string text =
		json_string_of(json_member(answer, "text"));
	int64_t omitted = view_int(answer, "omitted_bytes");

	if (!text.data)
		return cli_fail(cli, CLI_BROKEN,
				"The daemon's answer has no console in it");
	if (omitted > 0)
		cli_note("%" PRId64 " bytes before these are not kept any more",
			 omitted);
	if (text.length == 0) {
		cli_note("Nothing was ever written to this console");
		return 0;
	}
	(void)text_write_output(stdout, text.data, text.length,
				isatty(STDOUT_FILENO));
	if (text.data[text.length - 1] != '\n')
		(void)putchar('\n');
	text_end_colours();
	return 0;
}

int cmd_console(struct cli *cli, int argc, char **argv)
{
	_cleanup_(json_freep) struct json_object *answer = NULL;
	_cleanup_free_ char *path = NULL;
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, NULL, 1, 1, &args);
	if (r < 0 || args.help)
		return r;
	path = calls_path("/admin/v1/sessions/", args.items[0], "/console",
			  NULL);
	r = calls_get_json(cli, path, &answer);
	if (r < 0)
		return r;
	return cli->json ? calls_print_json(cli, answer) :
			   print_console(cli, answer);
}
