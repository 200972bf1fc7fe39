/* SPDX-License-Identifier: Apache-2.0 */
#include "core/end_reason.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "vmd/vmd_proto.h"

enum { WHEN_SIZE = 32 };

static const struct {
	const char *name;
	const char *sentence;
} reasons[] = {
	[END_NONE] = { "", "it has not ended" },
	[END_IDLE_TIMEOUT] = { "idle_timeout",
			       "nothing was asked of it for its idle limit" },
	[END_HARD_LIMIT] = { "hard_limit",
			     "it reached the longest time that a session may last" },
	[END_VM_CRASHED] = { "vm_crashed",
			     "its virtual machine ended unexpectedly" },
	[END_GUEST_PANIC] = { "guest_panic", "its operating system crashed" },
	[END_GUEST_SHUTDOWN] = { "guest_shutdown",
				 "its operating system shut down" },
	[END_GUEST_PROTOCOL_ERROR] = { "guest_protocol_error",
				       "its virtual machine sent something that makes no sense" },
	[END_GUEST_UNRESPONSIVE] = { "guest_unresponsive",
				     "its virtual machine stopped answering" },
	[END_BOOT_FAILED] = { "boot_failed",
			      "its virtual machine did not start" },
	[END_HOST_STORAGE_FULL] = { "host_storage_full",
				    "the host ran out of disk space" },
	[END_HOST_RESTART] = { "host_restart", "the host was restarted" },
	[END_DESTROYED_EXTERNALLY] = { "destroyed_externally",
				       "its virtual machine was ended from outside" },
	[END_DRAINED] = { "drained", "the service was taken out of use" },
	[END_BUDGET] = { "budget", "its budget was used up" },
	[END_IMAGE_REMOVED] = { "image_removed", "its image was removed" },
	[END_OPERATOR] = { "operator", "the operator ended it" },
	[END_CONVERSATION_DELETED] = { "conversation_deleted",
				       "its conversation was deleted" },
	[END_DELETED] = { "deleted", "it was deleted" },
};
static_assert(sizeof(reasons) / sizeof(reasons[0]) == END_REASON_COUNT,
	      "reasons[] doesn't match enum end_reason");

/* What a VM's end that nobody here asked for is called. */
static const enum end_reason of_vmd[] = {
	[VMD_REASON_NONE] = END_VM_CRASHED,
	[VMD_REASON_SHUTDOWN] = END_GUEST_SHUTDOWN,
	[VMD_REASON_PANICKED] = END_GUEST_PANIC,
	[VMD_REASON_CRASHED] = END_VM_CRASHED,
	[VMD_REASON_BACKEND] = END_VM_CRASHED,
	[VMD_REASON_STORAGE_FULL] = END_HOST_STORAGE_FULL,
	[VMD_REASON_DESTROYED] = END_DESTROYED_EXTERNALLY,
	[VMD_REASON_DEADLINE] = END_HARD_LIMIT,
	[VMD_REASON_ABANDONED] = END_HOST_RESTART,
	[VMD_REASON_EXTERNAL] = END_DESTROYED_EXTERNALLY,
	[VMD_REASON_FAILED] = END_BOOT_FAILED,
};
static_assert(sizeof(of_vmd) / sizeof(of_vmd[0]) == VMD_REASON_COUNT,
	      "of_vmd[] doesn't match enum vmd_reason");

const char *end_reason_name(enum end_reason reason)
{
	return reasons[reason].name;
}

const char *end_reason_sentence(enum end_reason reason)
{
	return reasons[reason].sentence;
}

static const char *when_ended(usec_t ended_usec, char ret[WHEN_SIZE])
{
	time_t sec = (time_t)(ended_usec / USEC_PER_SEC);
	struct tm tm;

	if (ended_usec == 0 || !gmtime_r(&sec, &tm) ||
	    strftime(ret, WHEN_SIZE, "at %Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		strcpy(ret, "just now");
	return ret;
}

int end_reason_tell(const char *id, enum end_reason reason, usec_t ended_usec,
		    struct error *err)
{
	char when[WHEN_SIZE];
	int r;

	r = error_set(err, ERR_NOT_FOUND,
		      "Container '%s' expired %s: %s (%s). "
		      "Create a new one; its files can still be downloaded",
		      id, when_ended(ended_usec, when),
		      end_reason_sentence(reason), end_reason_name(reason));
	error_set_reason(err, "container_expired");
	return r;
}

int end_reason_tell_named(const char *id, const char *name,
			  enum end_reason reason, usec_t ended_usec,
			  struct error *err)
{
	char when[WHEN_SIZE];

	return error_set(err, ERR_NOT_FOUND,
			 "Session '%s' expired %s: %s (%s). The next execution "
			 "or upload begins a new one; its files are those of "
			 "container '%s'",
			 name, when_ended(ended_usec, when),
			 end_reason_sentence(reason), end_reason_name(reason),
			 id);
}

enum end_reason end_reason_parse(const char *name)
{
	size_t i;

	for (i = 0; name && i < END_REASON_COUNT; i++)
		if (strcmp(reasons[i].name, name) == 0)
			return (enum end_reason)i;
	return END_NONE;
}

enum end_reason end_reason_of_vmd(uint32_t vmd_reason)
{
	if (vmd_reason >= VMD_REASON_COUNT)
		return END_VM_CRASHED;
	return of_vmd[vmd_reason];
}
