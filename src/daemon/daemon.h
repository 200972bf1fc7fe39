#ifndef CUPOLA_DAEMON_DAEMON_H
#define CUPOLA_DAEMON_DAEMON_H

/*
 * The daemon as a whole: what it is made of, in the order of its start.
 *
 * main() runs the stages of daemon_stages() one after the other. Each takes
 * what the ones before it made; daemon_free() ends everything, however far the
 * start came. From then on the loop runs, and lifecycle.h says how it ends.
 */

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "daemon/options.h"

struct api;
struct blobs;
struct clock;
struct core;
struct settings;
struct store;
struct timer;
struct turns;
struct vmd_client;
struct vmd_process;

/**
 * enum daemon_phase - Where the daemon is in its life
 *
 * It only moves forward.
 *
 *    STARTING - The loop runs, cupola-vmd is not ready yet
 *        Leaves by: core being ready, to RUNNING; a failure or a signal, to
 *        STOPPING
 *
 *    RUNNING - READY was told to systemd
 *        Leaves by: a signal, to STOPPING
 *
 *    STOPPING - Core comes to rest, then clients, then cupola-vmd
 *        Timer: the end of patience, which ends the loop
 */
enum daemon_phase {
	DAEMON_STARTING,
	DAEMON_RUNNING,
	DAEMON_STOPPING,
};

enum { DAEMON_SIGNAL_COUNT = 4 };

/* Of the store, in the directory of state and in a backup. */
#define DAEMON_DATABASE "db.sqlite"
#define DAEMON_BLOBS "blobs"

/* The directory's path is known to be much shorter. */
#define DAEMON_PATH_SIZE 4096

/**
 * struct daemon - All of it
 * @options:	Command line
 * @dir:	Directory of all state
 * @development: --dev
 * @lock:	Held as long as the daemon lives
 * @dir_fd:	@dir, for the files written there
 * @vmd_binary:	What development mode starts, opened before the change of user
 * @clock:	Of sessions and dates; an admin call may move it in tests
 * @kernel_clock: Of guests, processes and our own patience: never moved
 * @vmd_greeted: cupola-vmd was ready once: what fails now is mended by starting
 *		it again, and no longer ends the daemon
 * @vmd_starts: How often it ended without a word before it was ready
 * @core_ready:	Core has taken stock
 * @announced:	Others can find address and key
 * @hand_over:	The end leaves VMs running
 * @step:	Which step of the end comes next
 * @next_step:	Takes it
 * @patience:	Goes on when a step of the end takes too long
 * @reconnect:	Packaged: next attempt to reach cupola-vmd
 * @announce_done: See announce_begin()
 * @failure:	Why the daemon ends, for main() to say last
 */
struct daemon {
	struct options options;
	char *dir;
	bool development;
	int lock;
	int dir_fd;
	int vmd_binary;
	struct settings *settings;
	struct clock *clock;
	struct clock *kernel_clock;
	sd_event *event;
	struct blobs *blobs;
	struct store *store;
	struct vmd_client *vmd;
	struct vmd_process *vmd_process;
	struct core *core;
	struct turns *turns;
	struct api *api;

	enum daemon_phase phase;
	bool vmd_greeted;
	unsigned vmd_starts;
	bool core_ready;
	bool announced;
	bool hand_over;
	unsigned step;
	sd_event_source *next_step;
	struct timer *patience;
	struct timer *reconnect;
	sd_event_source *signals[DAEMON_SIGNAL_COUNT];
	void (*announce_done)(struct daemon *d, const struct error *err);
	struct error failure;
};

/** struct daemon_stage - One step of the start */
struct daemon_stage {
	const char *name;
	int (*run)(struct daemon *d, struct error *err);
};

/** daemon_stages() - All steps in order, ended by one without a name */
const struct daemon_stage *daemon_stages(void);

/** daemon_path() - The path of what lies in the directory of state */
void daemon_path(const struct daemon *d, const char *name,
		 char ret_path[DAEMON_PATH_SIZE]);

/** daemon_init() - Nothing has begun */
void daemon_init(struct daemon *d);

/** daemon_done() - End everything that was begun, in reverse */
void daemon_done(struct daemon *d);

#endif
