#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/execute.h"

static int get_code(struct cli *cli, const char *given, const struct args *args,
		    struct buf *code)
{
	if (given && args->count > 1)
		return cli_fail(cli, CLI_USAGE,
				"Code comes by -c or from a file, not both");
	if (!given)
		return execute_read_code(
			cli, args->count > 1 ? args->items[1] : "-", code);
	if (!given[0] || buf_add_str(code, given) < 0)
		return cli_fail(cli, CLI_USAGE,
				"The code of -c is empty or over 512 KiB");
	return 0;
}

int cmd_exec(struct cli *cli, int argc, char **argv)
{
	_cleanup_(buf_done) struct buf code = BUF_INIT(EXECUTE_CODE_MAX);
	struct execute_options o = { .code = &code, .interrupt = true };
	const char *given = NULL;
	const struct args_option options[] = {
		{ "code", 'c', "CODE", "run this, not a file",
		  .string = &given },
		{ "timeout", 't', "SECONDS", "end it after so long (120)",
		  .seconds = &o.timeout_s },
		{ "out", 'o', "DIR", "save the files it makes here",
		  .string = &o.out },
		{ "force", 0, NULL, "replace files that exist",
		  .flag = &o.force },
		{ .name = NULL },
	};
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, options, 1, 2, &args);
	if (r < 0 || args.help)
		return r;
	o.container = args.items[0];
	r = get_code(cli, given, &args, &code);
	if (r >= 0 && o.out)
		r = execute_make_directory(cli, o.out);
	return r < 0 ? r : execute_run(cli, &o);
}
