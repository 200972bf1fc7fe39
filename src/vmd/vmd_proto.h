#ifndef VMD_PROTO_H
#define VMD_PROTO_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * What cupolad and cupola-vmd say to each other.
 *
 * The socket is SOCK_SEQPACKET and local, so one packet is one message, byte
 * order is the machine's, and each message is one of the structs below, whole:
 * a packet of any other size ends the connection. Nothing is parsed; a string
 * is a NUL-terminated array, checked for its NUL on arrival.
 *
 * Requests go from cupolad to vmd and carry a serial that cupolad chose, never
 * zero. Each gets exactly one answer with that serial, but for CANCEL, which
 * has none of its own, and LIST, which gets one ITEM per VM and then its
 * answer. Events have serial zero. Descriptors travel by SCM_RIGHTS, one with
 * each answer to DIAL, CONSOLE and MANIFEST, none elsewhere.
 *
 * vmd speaks first: any number of PROGRESS, then HELLO, or REFUSED and the end.
 * It answers no request before HELLO. A later HELLO tells another pool table.
 */

/* Both ends come from one build; this catches a half-done upgrade. */
#define VMD_VERSION 1

/* The guest's port. Below 1024: user code in the guest cannot bind it. */
#define VMD_GUEST_PORT 1023

#define VMD_ID_MAX 48		/* "vm_" and up to 44 characters, and NUL */
#define VMD_NAME_MAX 64		/* pool and image names, with NUL */
#define VMD_DIGEST_MAX 80	/* "sha256:" and 64 hex digits, with NUL */
#define VMD_PIN_DIGITS 12	/* of these in a directory's name and in a pin */
#define VMD_MESSAGE_MAX 256	/* a sentence, as in struct error */
#define VMD_URI_MAX 256
#define VMD_NONCE_SIZE 32
#define VMD_POOLS_MAX 16
#define VMD_CONSOLE_SIZE (64 * 1024)

/* The memory tiers of the API, in MiB: derived pools, so to speak */
#define VMD_MEMORY_TIERS { 1024, 4096, 16384, 65536 }

/* Requests that wait for an answer, at most; more are refused by the client */
#define VMD_CALLS_MAX 4096

/* A figure that nobody measured */
#define VMD_UNKNOWN UINT64_MAX

enum vmd_type {
	/* Requests, with the answer's body in brackets */
	VMD_CREATE = 1,		/* struct vmd_create [struct vmd_created] */
	VMD_DESTROY,		/* struct vmd_name [none]: sent when it is gone */
	VMD_DEADLINE,		/* struct vmd_deadline [none] */
	VMD_DIAL,		/* struct vmd_dial [struct vmd_dialled + fd] */
	VMD_CANCEL,		/* struct vmd_cancel: ends a DIAL early */
	VMD_LIST,		/* nothing [none], after any number of ITEM */
	VMD_INSPECT,		/* struct vmd_name [struct vmd_details] */
	VMD_CONSOLE,		/* struct vmd_name [struct vmd_console + fd] */
	VMD_PROBE,		/* struct vmd_probe [struct vmd_probed] */
	VMD_RELOAD,		/* nothing [none], after a HELLO */
	VMD_NMI,		/* struct vmd_name [none]: sent at once */
	VMD_MANIFEST,		/* struct vmd_pool_at [fd]: of the pool's image */

	/* From vmd */
	VMD_ANSWER = 64,	/* struct vmd_answer, then the call's own body */
	VMD_ITEM,		/* struct vmd_vm, with the serial of its LIST */
	VMD_PROGRESS,		/* struct vmd_sentence: what start-up is doing */
	VMD_HELLO,		/* struct vmd_hello */
	VMD_REFUSED,		/* struct vmd_sentence: why it will not start */
	VMD_GONE,		/* struct vmd_gone */
};

/**
 * enum vmd_state - Where a VM is, as vmd sees it
 * @VMD_STATE_CREATING:	libvirt is making it
 * @VMD_STATE_RUNNING:	Its QEMU runs
 * @VMD_STATE_STOPPING:	It is being ended, however long that takes
 * @VMD_STATE_GONE:	Its process is dead and all its parts are removed; kept,
 *			in a bounded number, for its console and its reason
 */
enum vmd_state {
	VMD_STATE_CREATING,
	VMD_STATE_RUNNING,
	VMD_STATE_STOPPING,
	VMD_STATE_GONE,

	VMD_STATE_COUNT,
};

/**
 * enum vmd_reason - Why a VM is gone
 * @VMD_REASON_NONE:		It is not
 * @VMD_REASON_SHUTDOWN:	The guest powered itself off or rebooted
 * @VMD_REASON_PANICKED:	The guest's Linux panicked (pvpanic)
 * @VMD_REASON_CRASHED:		QEMU died by itself
 * @VMD_REASON_BACKEND:		Its vsock daemon died, and vmd ended the VM
 * @VMD_REASON_STORAGE_FULL:	The host's disk was full, and vmd ended the VM
 * @VMD_REASON_DESTROYED:	A DESTROY request
 * @VMD_REASON_DEADLINE:	vmd ended it at its hard deadline
 * @VMD_REASON_ABANDONED:	vmd ended it since no cupolad was connected
 * @VMD_REASON_EXTERNAL:	Somebody else destroyed the domain
 * @VMD_REASON_FAILED:		It never ran: CREATE's answer says why. No GONE
 *				event is sent for it
 */
enum vmd_reason {
	VMD_REASON_NONE,
	VMD_REASON_SHUTDOWN,
	VMD_REASON_PANICKED,
	VMD_REASON_CRASHED,
	VMD_REASON_BACKEND,
	VMD_REASON_STORAGE_FULL,
	VMD_REASON_DESTROYED,
	VMD_REASON_DEADLINE,
	VMD_REASON_ABANDONED,
	VMD_REASON_EXTERNAL,
	VMD_REASON_FAILED,

	VMD_REASON_COUNT,
};

enum vmd_accelerator {
	VMD_ACCELERATOR_NONE,	/* neither KVM nor permission to emulate */
	VMD_ACCELERATOR_KVM,
	VMD_ACCELERATOR_TCG,	/* libvirt's type "qemu" */

	VMD_ACCELERATOR_COUNT,
};

enum vmd_vsock {
	VMD_VSOCK_NONE,		/* neither /dev/vhost-vsock nor the daemon */
	VMD_VSOCK_KERNEL,	/* vhost-vsock */
	VMD_VSOCK_USER,		/* one vhost-device-vsock per VM */

	VMD_VSOCK_COUNT,
};

/**
 * struct vmd_header - What every message starts with
 * @type:	enum vmd_type
 * @size:	Bytes of the whole message: says the same as the packet's length
 * @serial:	The request this belongs to, or zero
 */
struct vmd_header {
	uint32_t type;
	uint32_t size;
	uint64_t serial;
};
static_assert(sizeof(struct vmd_header) == 16, "vmd_header has padding");

/**
 * struct vmd_create - The VM to make
 * @generation:		Of the pool table in the last HELLO; another is refused
 *			with -ESTALE
 * @pool:		Index in that table
 * @vm_id:		"vm_…", new
 * @cid:		Guest's CID, at least 0x10000; -EADDRINUSE if taken
 * @memory_mib:		More memory than the pool gives, for a container that asked
 *			for it: one of VMD_MEMORY_TIERS, else -EINVAL. 0: the
 *			pool's
 * @deadline_usec:	CLOCK_BOOTTIME at which vmd ends the VM by itself
 * @nonce:		Secret of this VM: goes to its scratch disk only
 */
struct vmd_create {
	uint32_t generation;
	uint32_t pool;
	char vm_id[VMD_ID_MAX];
	uint32_t cid;
	uint32_t memory_mib;
	uint64_t deadline_usec;
	uint8_t nonce[VMD_NONCE_SIZE];
};
static_assert(sizeof(struct vmd_create) == 104, "vmd_create has padding");

struct vmd_name {
	char vm_id[VMD_ID_MAX];
};

/**
 * struct vmd_deadline - Another hard deadline for a VM that has one
 *
 * A pool VM is created with a deadline of its own; its session's counts from
 * the assignment.
 */
struct vmd_deadline {
	char vm_id[VMD_ID_MAX];
	uint64_t deadline_usec;
};

/**
 * struct vmd_dial - Connect to the guest's port VMD_GUEST_PORT
 * @deadline_usec:	CLOCK_BOOTTIME until which a refused connection is tried
 *			again; then the answer is -ETIMEDOUT
 */
struct vmd_dial {
	char vm_id[VMD_ID_MAX];
	uint64_t deadline_usec;
};

struct vmd_cancel {
	uint64_t serial;
};

/** struct vmd_pool_at - A pool of the table of that generation */
struct vmd_pool_at {
	uint32_t generation;
	uint32_t pool;
};

/**
 * struct vmd_answer - Start of every answer; the call's own body follows
 * @result:	0 or negative errno. The body is there in both cases
 * @code:	enum error_code
 * @message:	Sentence for a struct error, empty on success
 */
struct vmd_answer {
	int32_t result;
	uint32_t code;
	char message[VMD_MESSAGE_MAX];
};
static_assert(sizeof(struct vmd_answer) == 264, "vmd_answer has padding");

/**
 * struct vmd_created - A VM that runs now, and what making it took
 * @pid:		Its QEMU
 * @backend_pid:	Its vhost-device-vsock, or 0
 * @queued_usec:	Waited for a free worker
 * @disk_usec:		Making the scratch disk
 * @backend_usec:	Starting the vsock daemon until its socket was there
 * @libvirt_usec:	virDomainCreateXML until QEMU's process was there
 * @qemu_usec:		From then until it ran the guest: QEMU's own start, and
 *			what libvirt asks of it. Linux tells when a process
 *			began to a hundredth of a second only, so these two
 *			are that coarse; their sum is not
 */
struct vmd_created {
	int32_t pid;
	int32_t backend_pid;
	uint64_t queued_usec;
	uint64_t disk_usec;
	uint64_t backend_usec;
	uint64_t libvirt_usec;
	uint64_t qemu_usec;
};
static_assert(sizeof(struct vmd_created) == 48, "vmd_created has padding");

struct vmd_dialled {
	uint32_t attempts;
	uint32_t reserved;
	uint64_t usec;
};

/* Which parts of a VM are there right now; an audit wants all or none. */
#define VMD_PART_DOMAIN		(1u << 0)
#define VMD_PART_PROCESS	(1u << 1)
#define VMD_PART_BACKEND	(1u << 2)
#define VMD_PART_DIRECTORY	(1u << 3)
#define VMD_PART_DISK		(1u << 4)

/**
 * struct vmd_vm - A VM in a list
 * @vm_id:		Its id
 * @pool:		Pool's name
 * @cid:		Its CID
 * @state:		enum vmd_state
 * @reason:		enum vmd_reason; known from STOPPING on
 * @parts:		VMD_PART_*
 * @pid:		QEMU's, or 0
 * @backend_pid:	vsock daemon's, or 0
 * @accelerator:	enum vmd_accelerator
 * @vsock:		enum vmd_vsock
 * @created_usec:	CLOCK_REALTIME
 * @deadline_usec:	CLOCK_BOOTTIME
 * @cpu_usec:		CPU time of QEMU so far, or VMD_UNKNOWN
 */
struct vmd_vm {
	char vm_id[VMD_ID_MAX];
	char pool[VMD_NAME_MAX];
	uint32_t cid;
	uint32_t state;
	uint32_t reason;
	uint32_t parts;
	int32_t pid;
	int32_t backend_pid;
	uint32_t accelerator;
	uint32_t vsock;
	uint64_t created_usec;
	uint64_t deadline_usec;
	uint64_t cpu_usec;
};
static_assert(sizeof(struct vmd_vm) == 168, "vmd_vm has padding");

/**
 * struct vmd_details - A VM, looked at closely
 * @vm:			As in a list
 * @image:		Name of its image
 * @digest:		Digest of its image
 * @memory_mib:		Of the guest
 * @vcpus:		Of the guest
 * @disk_bytes:		Size of the scratch disk as the guest sees it
 * @disk_used_bytes:	What it takes on the host, or VMD_UNKNOWN
 * @rss_bytes:		QEMU's resident memory, or VMD_UNKNOWN
 */
struct vmd_details {
	struct vmd_vm vm;
	char image[VMD_NAME_MAX];
	char digest[VMD_DIGEST_MAX];
	uint32_t memory_mib;
	uint32_t vcpus;
	uint64_t disk_bytes;
	uint64_t disk_used_bytes;
	uint64_t rss_bytes;
};
static_assert(sizeof(struct vmd_details) == 344, "vmd_details has padding");

/**
 * struct vmd_console - What a guest wrote to its console
 * @length:	Bytes in the memfd that comes along: the newest ones, raw, from
 *		the guest, so hostile; at most VMD_CONSOLE_SIZE
 * @total:	Bytes the guest wrote since vmd listens; what is more than
 *		@length was overwritten
 */
struct vmd_console {
	uint64_t length;
	uint64_t total;
};

/**
 * struct vmd_probe - Boot a pool's image to see whether and how fast
 * @generation:	As in struct vmd_pool_at
 * @pool:	Likewise
 * @accelerator: enum vmd_accelerator, not NONE: to boot it under
 * @reserved:	Zero
 */
struct vmd_probe {
	uint32_t generation;
	uint32_t pool;
	uint32_t accelerator;
	uint32_t reserved;
};

/**
 * struct vmd_probed - What booting an image showed
 * @booted:		1: the guest answered, 0: it did not
 * @reserved:		Zero
 * @create_usec:	Until QEMU ran; 0 if it did not
 * @boot_usec:		From then until the guest answered; 0 if it did not
 * @echo_usec:		Connecting once more, until it answered; 0 likewise
 * @reason:		What was seen, in words
 */
struct vmd_probed {
	uint32_t booted;
	uint32_t reserved;
	uint64_t create_usec;
	uint64_t boot_usec;
	uint64_t echo_usec;
	char reason[VMD_MESSAGE_MAX];
};
static_assert(sizeof(struct vmd_probed) == 288, "vmd_probed has padding");

struct vmd_sentence {
	char text[VMD_MESSAGE_MAX];
};

/**
 * struct vmd_pool - A pool as vmd can serve it
 * @name:		From the settings
 * @image:		Image's name
 * @digest:		Image's digest, empty if @problem is not
 * @problem:		Why no VM can be made, in a sentence, or empty
 * @accelerator:	enum vmd_accelerator
 * @vcpus:		Per VM
 * @memory_mib:		Per VM
 * @reserved:		Zero
 * @disk_bytes:		Per VM
 */
struct vmd_pool {
	char name[VMD_NAME_MAX];
	char image[VMD_NAME_MAX];
	char digest[VMD_DIGEST_MAX];
	char problem[VMD_MESSAGE_MAX];
	uint32_t accelerator;
	uint32_t vcpus;
	uint32_t memory_mib;
	uint32_t reserved;
	uint64_t disk_bytes;
};
static_assert(sizeof(struct vmd_pool) == 488, "vmd_pool has padding");

/**
 * struct vmd_hello - What vmd is and can do
 * @version:		VMD_VERSION
 * @generation:		Of @pools; CREATE repeats it
 * @pid:		vmd's own
 * @accelerator:	enum vmd_accelerator of the first pool without problem
 * @vsock:		enum vmd_vsock
 * @libvirt_version:	As libvirt counts: major * 1000000 + minor * 1000 + release
 * @qemu_version:	Likewise
 * @orphans:		Left-overs that this start removed
 * @open_usec:		Start-up: opening libvirt
 * @warm_usec:		Start-up: libvirt's capability cache
 * @probe_usec:		Start-up: booting under KVM; 0 if it was remembered
 * @uri:		libvirt's
 * @reason:		Why this accelerator, in words
 * @pool_count:		Of @pools
 * @reserved:		Zero
 * @pools:		The pool table
 */
struct vmd_hello {
	uint32_t version;
	uint32_t generation;
	int32_t pid;
	uint32_t accelerator;
	uint32_t vsock;
	uint32_t libvirt_version;
	uint32_t qemu_version;
	uint32_t orphans;
	uint64_t open_usec;
	uint64_t warm_usec;
	uint64_t probe_usec;
	char uri[VMD_URI_MAX];
	char reason[VMD_MESSAGE_MAX];
	uint32_t pool_count;
	uint32_t reserved;
	struct vmd_pool pools[VMD_POOLS_MAX];
};
static_assert(sizeof(struct vmd_hello) == 576 + VMD_POOLS_MAX * 488,
	      "vmd_hello has padding");

/**
 * struct vmd_gone - A VM's process is dead and its parts are removed
 * @vm_id:		Which
 * @reason:		enum vmd_reason
 * @wait_status:	As waitid() had it: QEMU's exit status or signal; 0 if
 *			QEMU was not vmd's child
 * @cpu_usec:		CPU time of QEMU
 * @cpu_exact:		1: from rusage; 0: last sample before it died, or
 *			@cpu_usec is VMD_UNKNOWN
 * @reserved:		Zero
 */
struct vmd_gone {
	char vm_id[VMD_ID_MAX];
	uint32_t reason;
	int32_t wait_status;
	uint64_t cpu_usec;
	uint32_t cpu_exact;
	uint32_t reserved;
};
static_assert(sizeof(struct vmd_gone) == 72, "vmd_gone has padding");

/** vmd_is_string() - Whether an array that came in has its NUL */
static inline bool vmd_is_string(const char *s, size_t size)
{
	return memchr(s, '\0', size) != NULL;
}

/* Room for any message */
#define VMD_PACKET_MAX (sizeof(struct vmd_header) +			\
			sizeof(struct vmd_answer) + sizeof(struct vmd_hello))

#endif
