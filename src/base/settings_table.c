#include "base/settings.h"

/*
 * Every setting there is, of both programs. Each has a paragraph in
 * cupolad.conf(5), where tests/check-manual looks for it.
 *
 * Minima and maxima: bytes for strings and sizes, milliseconds for seconds,
 * thousandths for numbers.
 */

/* clang-format off */
#define SECONDS(n) ((uint64_t)(n) * 1000)
#define HOURS(n) SECONDS((n) * 3600)
#define DAYS(n) HOURS((n) * 24)
#define KIB(n) ((uint64_t)(n) << 10)
#define MIB(n) ((uint64_t)(n) << 20)
#define GIB(n) ((uint64_t)(n) << 30)
#define TIB(n) ((uint64_t)(n) << 40)
#define STRING(section, key, fallback, max, help)                              \
	{ section, key, SETTING_STRING, fallback, 0, max, NULL, help }
#define CHOICE(section, key, fallback, choices, help)                          \
	{ section, key, SETTING_CHOICE, fallback, 0, 0, choices, help }
#define BOOL(section, key, fallback, help)                                     \
	{ section, key, SETTING_BOOL, fallback, 0, 0, NULL, help }
#define UINT(section, key, fallback, min, max, help)                           \
	{ section, key, SETTING_UINT, fallback, min, max, NULL, help }
#define TIME(section, key, fallback, min, max, help)                           \
	{ section, key, SETTING_SECONDS, fallback, min, max, NULL, help }
#define SIZE(section, key, fallback, min, max, help)                           \
	{ section, key, SETTING_SIZE, fallback, min, max, NULL, help }
#define NUMBER(section, key, fallback, min, max, help)                         \
	{ section, key, SETTING_NUMBER, fallback, min, max, NULL, help }
/* clang-format on */

const struct setting settings_table[] = {
	CHOICE("log", "level", "info", "error warning notice info debug",
	       "least important kind of log entry that is written"),

	STRING("listen", "http", "127.0.0.1:8080", 256,
	       "address and port of the API; port 0 is any free one"),
	STRING("listen", "socket", "/run/cupola/cupola.sock", 107,
	       "Unix socket of API and administration"),
	SIZE("listen", "max_json", "32M", MIB(1), GIB(1),
	     "largest JSON body of the calls that take large ones"),
	STRING("listen", "tls_cert", "", 4096,
	       "certificate of TCP listeners, in PEM; empty: no TLS"),
	STRING("listen", "tls_key", "", 4096, "its key, in PEM"),
	STRING("listen", "cors_origins", "", 4096,
	       "origins whose web pages may read answers, or *"),
	STRING("listen", "vsock_allow", "", 1024,
	       "context ids of VMs that are served on sockets of AF_VSOCK"),
	UINT("listen", "connections", "1024", 16, 32768,
	     "connections at a time"),
	UINT("listen", "connections_per_client", "512", 1, 32768,
	     "connections from one address at a time"),
	SIZE("listen", "json_memory", "64M", MIB(8), GIB(64),
	     "memory for large JSON bodies of all clients together"),

	BOOL("host", "allow_emulation", "no",
	     "run VMs without KVM, which gives no security promise"),
	NUMBER("host", "memory_commit", "1.0", 50, 4000,
	       "how much of a VM's memory admission counts"),
	SIZE("host", "memory", "0", 0, TIB(64),
	     "memory for VMs; 0 is what the host has, less a reserve"),
	SIZE("host", "memory_reserve", "256M", 0, TIB(64),
	     "free memory of the host below which no VM is started"),
	SIZE("host", "disk_reserve", "1G", 0, TIB(64),
	     "free disk space below which no VM is started"),
	UINT("host", "refill_pressure", "60", 0, 100,
	     "per cent of waiting for CPUs beyond which no VM is kept ready"),

	STRING("hypervisor", "uri", "", 1024,
	       "libvirt connection; empty is libvirt's driver in cupola-vmd"),
	STRING("hypervisor", "socket", "/run/cupola/vmd.sock", 107,
	       "where cupola-vmd listens; not used in development mode"),
	CHOICE("hypervisor", "accel", "auto", "auto kvm qemu",
	       "accelerator; auto boots the image under KVM to find out"),
	CHOICE("hypervisor", "vsock", "auto", "auto kernel user",
	       "vsock backend; auto takes the kernel's where it exists"),
	CHOICE("hypervisor", "qemu_del_features", "auto", "auto yes no",
	       "leave out the slow listing of CPU features at each start"),
	TIME("hypervisor", "boot_timeout", "60", SECONDS(1), SECONDS(600),
	     "how long a VM may take until its guest answers"),
	TIME("hypervisor", "kvm_probe_timeout", "20", SECONDS(1), SECONDS(600),
	     "how long the image may take to boot when KVM is tried"),
	TIME("hypervisor", "orphan_timeout", "10m", SECONDS(10), HOURS(24),
	     "how long VMs live on without cupolad"),
	UINT("hypervisor", "workers", "4", 1, 16,
	     "threads that create and destroy VMs"),

	STRING("pool.*", "image", "python", 63, "name of the image, or NAME@DIGITS of its digest"),
	UINT("pool.*", "vcpus", "1", 1, 64, "virtual CPUs of a VM"),
	SIZE("pool.*", "memory", "1G", MIB(128), TIB(1), "memory of a VM"),
	SIZE("pool.*", "disk", "4G", MIB(64), TIB(16),
	     "scratch disk of a VM, sparse"),
	UINT("pool.*", "ready", "1", 0, 256, "VMs that are kept ready"),
	UINT("pool.*", "min", "1", 0, 256,
	     "VMs that are kept ready even while the host is busy"),
	TIME("pool.*", "max_age", "6h", SECONDS(60), HOURS(12),
	     "how long a VM is kept ready before it is replaced"),
	TIME("pool.*", "refill_pause", "0", 0, HOURS(1),
	     "least time between two VMs that are started to be ready"),
	UINT("pool.*", "max", "16", 1, 65536, "VMs at a time"),
	SIZE("pool.*", "max_artifact", "64M", KIB(1), TIB(1),
	     "largest file that is taken out of a VM"),
	STRING("pool.*", "wheelhouse", "", 4095,
	       "disk of wheels for pip, made by images/wheelhouse"),

	STRING("model.*", "url", "", 1024,
	       "base address of the model's server, as in https://host/v1"),
	STRING("model.*", "name", "", 64, "what clients call the model"),
	STRING("model.*", "upstream_name", "", 256,
	       "what its server calls it, if that is something else"),
	STRING("model.*", "key_file", "", 4096,
	       "file that holds the key; without '/' a systemd credential"),
	STRING("model.*", "ca_file", "", 4096,
	       "certificates that its server is verified with, in PEM"),
	CHOICE("model.*", "protocol", "chat", "chat responses",
	       "what its server speaks"),
	CHOICE("model.*", "limit_field", "max_completion_tokens",
	       "max_completion_tokens max_tokens",
	       "how a limit of tokens is told to it in protocol chat"),
	UINT("model.*", "max_output_tokens", "0", 0, 10000000,
	     "tokens of an answer if the client sets no limit; 0 is none"),
	TIME("model.*", "connect_timeout", "10", SECONDS(1), SECONDS(300),
	     "how long connecting to its server may take"),
	TIME("model.*", "idle_timeout", "180", SECONDS(1), HOURS(1),
	     "how long its server may be silent while it answers"),
	TIME("model.*", "timeout", "600", SECONDS(1), HOURS(24),
	     "how long an answer may take, all repetitions included"),
	UINT("model.*", "retries", "2", 0, 10,
	     "how often is repeated what failed before an answer began"),
	UINT("model.*", "calls", "256", 1, 10000, "calls at a time"),

	UINT("turn", "max", "256", 1, 10000,
	     "responses of all tenants that are under way at a time"),
	UINT("turn", "max_per_tenant", "128", 1, 10000,
	     "responses of one tenant that are under way at a time"),
	UINT("turn", "rounds", "32", 1, 1000,
	     "how often a model is asked for one response"),
	TIME("turn", "wait", "300", SECONDS(1), HOURS(24),
	     "how long a response waits for an earlier one of its conversation"),
	SIZE("turn", "context", "16M", KIB(64), GIB(1),
	     "what a model is told in one round, in its items"),
	SIZE("turn", "result", "20K", KIB(1), MIB(4),
	     "what a model is told of the output of one execution"),
	SIZE("turn", "output", "4M", KIB(64), MIB(64),
	     "what a model may say for one response"),

	TIME("session", "idle", "1800", SECONDS(1), HOURS(24),
	     "idle limit of sessions of projects, toolboxes and MCP"),
	TIME("session", "idle_pools", "300", SECONDS(1), HOURS(24),
	     "idle limit of dynamic sessions"),
	TIME("session", "hard", "3600", SECONDS(1), HOURS(24),
	     "longest life of a session"),
	TIME("session", "warning", "300", 0, HOURS(1),
	     "how long before its end a session is warned of; 0 is never"),
	TIME("session", "drain", "30", 0, HOURS(1),
	     "how long executions may go on when the daemon is ended"),
	UINT("session", "queue", "32", 0, 4096,
	     "creates that wait for room in a pool at a time"),
	TIME("session", "queue_wait", "10", SECONDS(1), SECONDS(300),
	     "how long a create waits for room"),
	UINT("session", "max_per_tenant", "64", 1, 65536,
	     "sessions of one tenant at a time"),

	UINT("tenant", "executions", "256", 1, 100000,
	     "executions of one tenant that run or wait at a time"),
	UINT("tenant", "requests", "512", 1, 100000,
	     "requests of one tenant under way at a time"),
	UINT("tenant", "requests_per_minute", "60000", 0, 100000000,
	     "requests of one tenant; 0 is no limit"),
	UINT("tenant", "session_hours", "0", 0, 1000000,
	     "session hours of one tenant per day; 0 is no limit"),

	TIME("exec", "timeout", "120", SECONDS(1), HOURS(24),
	     "time limit of an execution that asks for none"),
	TIME("exec", "max_timeout", "300", SECONDS(1), HOURS(24),
	     "longest time limit that an execution may ask for"),

	TIME("store", "retention", "24h", SECONDS(1), DAYS(3650),
	     "how long files and records outlive their session"),
	TIME("store", "executions", "24h", SECONDS(1), DAYS(3650),
	     "how long records of executions are kept"),
	TIME("store", "sessions", "7d", SECONDS(1), DAYS(3650),
	     "how long it is known why a session ended"),
	TIME("store", "talks", "30d", SECONDS(1), DAYS(3650),
	     "how long conversations and responses outlive their last change"),
	TIME("store", "usage", "90d", DAYS(1), DAYS(3650),
	     "how long the usage ledger is kept entry by entry"),
	SIZE("store", "max_file", "512M", KIB(1), TIB(1),
	     "largest file that may be uploaded"),
	SIZE("store", "quota", "10G", KIB(1), TIB(1024),
	     "bytes that one tenant may keep"),

	BOOL("files", "strict_types", "no",
	     "take only the types of files that the hosted service takes"),

	BOOL("test", "clock", "no",
	     "let an admin call move time forward; development mode only"),
	TIME("test", "minute_seconds", "60", 10, SECONDS(60),
	     "length of a minute of expires_after; development mode only"),
};

const size_t settings_table_count =
	sizeof(settings_table) / sizeof(settings_table[0]);
