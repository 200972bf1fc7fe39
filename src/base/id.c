#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/id.h"

static const char hex_digits[] = "0123456789abcdef";

/* Letters and digits carry almost 6 bits, so 22 of them carry 130. */
static const char alphanumeric[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "abcdefghijklmnopqrstuvwxyz";

/* Hexadecimal digits of the second, until 2106. */
enum { TIME_DIGITS = 8 };

/* @timed: Begins with the second it was made in, before its random digits. */
static const struct {
	const char *prefix;
	const char *alphabet;
	size_t length;
	bool timed;
} kinds[] = {
	[ID_FILE] = { "file-", alphanumeric, 24, false },
	[ID_UPLOAD] = { "upload_", hex_digits, 32, false },
	[ID_PART] = { "part_", hex_digits, 32, false },
	[ID_CONTAINER] = { "cntr_", hex_digits, 48, true },
	[ID_CONTAINER_FILE] = { "cfile_", hex_digits, 32, false },
	[ID_EXEC] = { "exec_", hex_digits, 32, false },
	[ID_VM] = { "vm_", alphanumeric, 22, false },
	[ID_REQUEST] = { "req_", hex_digits, 32, false },
	[ID_TOOLBOX] = { "tbx_", hex_digits, 32, false },
	[ID_TOOLBOX_VERSION] = { "tbxv_", hex_digits, 32, false },
	[ID_AGENT] = { "agt_", hex_digits, 32, false },
	[ID_AGENT_VERSION] = { "agtv_", hex_digits, 32, false },
	[ID_MCP_SESSION] = { "mcp_", alphanumeric, 44, false },
	[ID_TENANT] = { "tnt_", hex_digits, 32, false },
	[ID_RESPONSE] = { "resp_", hex_digits, 48, true },
	[ID_CONVERSATION] = { "conv_", hex_digits, 48, true },
	[ID_MESSAGE] = { "msg_", hex_digits, 48, true },
	[ID_CODE_CALL] = { "ci_", hex_digits, 48, true },
	[ID_FUNCTION_CALL] = { "fc_", hex_digits, 48, true },
	[ID_FUNCTION_OUTPUT] = { "fco_", hex_digits, 48, true },
	[ID_REASONING] = { "rs_", hex_digits, 48, true },
	[ID_KEY] = { "key_", hex_digits, 32, false },
	[ID_KEY_SECRET] = { "ck-", alphanumeric, 44, false },
};
_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == ID_KIND_COUNT,
	       "kinds[] doesn't match enum id_kind");

int random_bytes(void *ret_data, size_t size)
{
	char *at = ret_data;
	ssize_t n;

	while (size > 0) {
		n = getrandom(at, size, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

/*
 * A byte is used only below the largest multiple of the alphabet's size:
 * otherwise its first letters would come up more often.
 */
static int random_letters(const char *alphabet, char *ret, size_t length)
{
	const size_t letters = strlen(alphabet);
	const size_t fair = 256 - 256 % letters;
	unsigned char bytes[ID_SIZE];
	size_t done = 0, i;
	int r;

	while (done < length) {
		r = random_bytes(bytes, sizeof(bytes));
		if (r < 0)
			return r;
		for (i = 0; i < sizeof(bytes) && done < length; i++)
			if (bytes[i] < fair)
				ret[done++] = alphabet[bytes[i] % letters];
	}
	ret[length] = '\0';
	return 0;
}

int id_new(enum id_kind kind, char ret_id[ID_SIZE])
{
	const size_t prefix = strlen(kinds[kind].prefix);
	size_t timed = 0;
	char id[ID_SIZE];
	int r;

	assert(prefix + kinds[kind].length < sizeof(id));
	memcpy(id, kinds[kind].prefix, prefix);
	if (kinds[kind].timed) {
		timed = TIME_DIGITS;
		(void)snprintf(id + prefix, TIME_DIGITS + 1, "%08x",
			       (unsigned)time(NULL));
	}
	r = random_letters(kinds[kind].alphabet, id + prefix + timed,
			   kinds[kind].length - timed);
	if (r < 0)
		return r;
	memcpy(ret_id, id, sizeof(id));
	return 0;
}

bool id_is(enum id_kind kind, const char *id)
{
	const size_t prefix = strlen(kinds[kind].prefix);

	if (strncmp(id, kinds[kind].prefix, prefix) != 0)
		return false;
	return strspn(id + prefix, kinds[kind].alphabet) ==
		       kinds[kind].length &&
	       id[prefix + kinds[kind].length] == '\0';
}

const char *id_prefix(enum id_kind kind)
{
	return kinds[kind].prefix;
}
