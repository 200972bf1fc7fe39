#ifndef CUPOLA_CLI_HOST_H
#define CUPOLA_CLI_HOST_H

/*
 * What this host has and lacks, as far as can be told without a daemon and
 * without starting a VM; doctor_probe.c starts one. Each finding is a sentence,
 * with a remedy where there is something to do.
 */

#include <stdbool.h>
#include <stddef.h>

/** enum host_level - How bad a finding is */
enum host_level {
	HOST_GOOD,
	HOST_DEGRADED, /* works, but slower or less safely than it could */
	HOST_BAD,      /* no VM can run, or not safely, before this is mended */

	HOST_LEVEL_COUNT,
};

enum { HOST_TEXT_MAX = 1024 };

/**
 * struct host_finding - One thing that was looked at
 * @what:	A word: "kvm", "vsock", "image"
 * @level:	How it is
 * @text:	A sentence without a full stop
 * @remedy:	What to do, or ""
 */
struct host_finding {
	const char *what;
	enum host_level level;
	char text[HOST_TEXT_MAX];
	char remedy[HOST_TEXT_MAX];
};

/** host_fn - Gets one finding, valid during the call */
typedef void (*host_fn)(const struct host_finding *finding, void *userdata);

/** host_level_name() - "good", "degraded", "bad" */
const char *host_level_name(enum host_level level);

/**
 * host_check() - Look at everything but images
 * @state:	Directory whose free space matters
 * @user:	Who makes VMs there, if root has started it
 */
void host_check(const char *state, const char *user, host_fn fn,
		void *userdata);

/** struct host_image - An image found */
struct host_image {
	const char *name;
	const char *digest;
	const char *built_at;
	long long size;
	const char *directory; /* where it was found */
};

/**
 * host_images() - Look where the daemon looks for images
 * @state:	The daemon's directory, of which "images" is one place
 * @each:	Gets one image, valid during the call. Of two with one name in
 *		different places the daemon takes the first
 *
 * Return: how many there are
 */
size_t host_images(const char *state,
		   void (*each)(const struct host_image *image, void *userdata),
		   void *userdata);

#endif
