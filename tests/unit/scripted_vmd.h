/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_TESTS_SCRIPTED_VMD_H
#define CUPOLA_TESTS_SCRIPTED_VMD_H

/*
 * A hypervisor process without a hypervisor: the other end of a vmd client's
 * socket, in the test's own loop. A VM is a scripted guest; it does at once
 * what it is asked, unless the test says otherwise.
 */

#include <systemd/sd-event.h>

#include "scripted_guest.h"
#include "vmd/vmd_proto.h"

#define SCRIPTED_VMS_MAX 32

struct vmd_link;

struct scripted_vm {
	struct scripted_guest *guest;
	struct vmd_create create;
	uint32_t state; /* enum vmd_state */
	uint32_t reason;
	uint32_t lost_parts; /* VMD_PART_* that are not there as long as it runs */
	uint64_t held_create; /* serial to be answered; 0: none */
	uint64_t destroy;
};

struct scripted_vmd {
	sd_event *event;
	struct vmd_link *link;
	struct vmd_hello hello;
	struct scripted_vm *vms;
	size_t count, room;

	/* How it behaves */
	const char *manifest; /* of any pool's image; NULL: cannot be read */
	const char *console; /* of any VM that was; NULL: it is not kept */
	uint64_t console_lost; /* bytes before that */
	void (*made)(struct scripted_vmd *v, struct scripted_vm *vm);
	bool hold_creates; /* until vmd_answer_creates() */
	bool hold_destroys;
	bool hold_lists; /* at their end, until vmd_answer_list() */
	int fail_destroy;
	unsigned taken_cids; /* so many creates find theirs taken */
	int fail_create;     /* with this errno */
	int fail_probe;      /* likewise */
	bool refuse_dials;   /* -ETIMEDOUT at once */
	unsigned dials_max;  /* the same for all after so many; 0: none */
	bool mute_guests;    /* new guests say nothing */

	uint64_t held_list;
	unsigned creates, destroys, dials, lists, deadlines;
};

/** vmd_script_init() - @room: how many VMs it may be asked for in all */
void vmd_script_init(struct scripted_vmd *v, sd_event *event, size_t room);
void vmd_script_done(struct scripted_vmd *v);

/** vmd_script_connect() - Be connected and say HELLO; Return: the client's end */
int vmd_script_connect(struct scripted_vmd *v);

/** vmd_script_serve() - The same on a socket whose other end a client has */
void vmd_script_serve(struct scripted_vmd *v, int fd);

/** vmd_script_drop() - The process is killed; its VMs stay */
void vmd_script_drop(struct scripted_vmd *v);

/** vmd_answer_creates() - Those that were held */
void vmd_answer_creates(struct scripted_vmd *v);

/** vmd_answer_list() - The one that was held */
void vmd_answer_list(struct scripted_vmd *v);

/** vmd_vm_gone() - A VM ends by itself */
void vmd_vm_gone(struct scripted_vmd *v, struct scripted_vm *vm,
		 uint32_t reason);

/** vmd_vm() - The @i-th VM that was made; vmd_running(): how many live */
struct scripted_vm *vmd_vm(struct scripted_vmd *v, size_t i);
size_t vmd_running(const struct scripted_vmd *v);

#endif
