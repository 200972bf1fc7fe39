#ifndef VMD_H
#define VMD_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "vmd/vmd_proto.h"

struct error;

/*
 * cupolad's side of cupola-vmd: calls that return at once and are answered by
 * a callback on the event loop.
 *
 * Every call that was accepted (returned 0) gets its callback exactly once,
 * never from within the call itself: with the answer, or with -ECONNRESET when
 * the connection is lost or vmd_client_free() is called. A callback may make
 * further calls, and may not free the client.
 *
 * A client outlives the connections it uses: vmd may be killed and started
 * again, and its VMs live on. What was asked on the old connection is then
 * unknown, so after each ready() the caller lists the VMs and compares.
 *
 * Result and error come together: @r is 0 or negative errno, and @err is set
 * when @r is negative. Bodies that @r makes meaningless are NULL then.
 */

struct vmd_client;

/**
 * struct vmd_handlers - What the owner of a client wants to hear
 * @ready:	vmd said HELLO: it can be asked. Again after each attach
 * @changed:	The pool table is another one; called before the callback of
 *		the reload that caused it. May be NULL
 * @progress:	What a starting vmd is doing, in words. May be NULL
 * @vm_gone:	A VM's process is dead and all its parts are removed. Comes
 *		before the answer to a destroy
 * @lost:	The connection is gone, after every pending call was answered.
 *		@why is vmd's own sentence if it refused to start, else NULL.
 *		The client waits for vmd_client_attach()
 */
struct vmd_handlers {
	void (*ready)(const struct vmd_hello *hello, void *userdata);
	void (*changed)(const struct vmd_hello *hello, void *userdata);
	void (*progress)(const char *text, void *userdata);
	void (*vm_gone)(const struct vmd_gone *gone, void *userdata);
	void (*lost)(const char *why, void *userdata);
};

/**
 * vmd_client_new() - A client without connection
 * @event:	Loop on which everything happens; a reference is taken
 * @handlers:	Copied
 * @userdata:	For the handlers
 * @ret_client:	Where the client goes
 *
 * Return: 0 or negative errno
 */
int vmd_client_new(sd_event *event, const struct vmd_handlers *handlers,
		   void *userdata, struct vmd_client **ret_client);

/**
 * vmd_client_free() - End a client
 * @client:	May be NULL
 *
 * Pending calls are answered with -ECONNRESET; no handler is called.
 */
void vmd_client_free(struct vmd_client *client);

/**
 * vmd_client_attach() - Use a connection
 * @client:	One that has none, or whose old one is given up hereby (pending
 *		calls are answered; lost() is not called)
 * @fd:		Connected SOCK_SEQPACKET socket; taken over if this succeeds
 *
 * Return: 0 or negative errno
 */
int vmd_client_attach(struct vmd_client *client, int fd);

/**
 * vmd_client_hello() - What the connected vmd is
 *
 * Return: valid until the client is lost, attached or reloaded; NULL before
 * ready() and after lost()
 */
const struct vmd_hello *vmd_client_hello(const struct vmd_client *client);

/*
 * The calls. Each returns 0 or negative errno: -ENOTCONN without a vmd that
 * is ready, -EAGAIN with VMD_CALLS_MAX calls unanswered, -EINVAL for an
 * argument that fits no message, -ENOMEM. The callback is then not called.
 */

/**
 * vmd_client_create() - Make a VM and start it
 *
 * When it fails, nothing of the VM is left, and no vm_gone() follows.
 */
int vmd_client_create(struct vmd_client *client, const struct vmd_create *vm,
		      void (*done)(int r, const struct vmd_created *created,
				   const struct error *err, void *userdata),
		      void *userdata);

/**
 * vmd_client_destroy() - End a VM
 *
 * The callback comes when the VM is gone, which may take as long as the host
 * makes it take: vmd never gives up. A VM that is gone already is 0; one that
 * vmd does not know is -ENOENT. A VM being created is ended once it can be,
 * and its create fails with -ECANCELED.
 */
int vmd_client_destroy(struct vmd_client *client, const char *vm_id,
		       void (*done)(int r, const struct error *err,
				    void *userdata),
		       void *userdata);

/**
 * vmd_client_set_deadline() - Move a VM's hard deadline
 * @deadline_usec:	CLOCK_BOOTTIME
 */
int vmd_client_set_deadline(struct vmd_client *client, const char *vm_id,
			    uint64_t deadline_usec,
			    void (*done)(int r, const struct error *err,
					 void *userdata),
			    void *userdata);

/**
 * vmd_client_dial() - Connect to the guest of a VM
 * @deadline_usec:	CLOCK_BOOTTIME until which to try
 * @done:		@fd is the connected stream, non-blocking and CLOEXEC,
 *			and the callback's to close; -1 if @r is negative:
 *			-ETIMEDOUT, -ENOENT (the VM is gone), -ECANCELED.
 *			No byte of the guest has been read
 * @ret_call:		For vmd_client_cancel_dial(), never 0; may be NULL
 */
int vmd_client_dial(struct vmd_client *client, const char *vm_id,
		    uint64_t deadline_usec,
		    void (*done)(int r, int fd, const struct error *err,
				 void *userdata),
		    void *userdata, uint64_t *ret_call);

/**
 * vmd_client_cancel_dial() - Want a dial no more
 * @call:	What vmd_client_dial() gave; one that ended already is ignored
 *
 * The callback does not come any more: from here on @userdata may be freed. A
 * descriptor that was on its way is closed.
 */
void vmd_client_cancel_dial(struct vmd_client *client, uint64_t call);

/**
 * vmd_client_list() - All VMs that vmd knows, those gone lately included
 * @item:	Called once per VM, before @done
 */
int vmd_client_list(struct vmd_client *client,
		    void (*item)(const struct vmd_vm *vm, void *userdata),
		    void (*done)(int r, const struct error *err,
				 void *userdata),
		    void *userdata);

/**
 * vmd_client_inspect() - Look at one VM closely
 */
int vmd_client_inspect(struct vmd_client *client, const char *vm_id,
		       void (*done)(int r, const struct vmd_details *details,
				    const struct error *err, void *userdata),
		       void *userdata);

/**
 * vmd_client_console() - The end of what a VM wrote to its console
 * @done:	@data has @length bytes from the guest: hostile, unterminated,
 *		valid during the callback; @total counts what it ever wrote
 */
int vmd_client_console(struct vmd_client *client, const char *vm_id,
		       void (*done)(int r, const void *data, uint64_t length,
				    uint64_t total, const struct error *err,
				    void *userdata),
		       void *userdata);

/**
 * vmd_client_nmi() - Make a VM's kernel panic, to see on its console where it
 * hung
 * @done:	The interrupt is on its way. vm_gone() tells what came of it
 */
int vmd_client_nmi(struct vmd_client *client, const char *vm_id,
		   void (*done)(int r, const struct error *err,
				void *userdata),
		   void *userdata);

/**
 * vmd_client_probe() - Boot a pool's image to see whether and how fast it boots
 * @pool:	Index in the pool table
 * @accelerator: Under which, whatever the pool has
 *
 * Takes up to the probe's deadline (seconds). One at a time: -EBUSY. That KVM
 * boots an image now, or does not any more, counts from the next start or reload
 * on.
 */
int vmd_client_probe(struct vmd_client *client, uint32_t pool,
		     enum vmd_accelerator accelerator,
		     void (*done)(int r, const struct vmd_probed *probed,
				  const struct error *err, void *userdata),
		     void *userdata);

/**
 * vmd_client_manifest() - What a pool's image is made of, as it was built
 * @pool:	Index in the pool table
 * @done:	@fd is the manifest, a regular file open for reading, and the
 *		callback's to close; -1 if @r is negative
 */
int vmd_client_manifest(struct vmd_client *client, uint32_t pool,
			void (*done)(int r, int fd, const struct error *err,
				     void *userdata),
			void *userdata);

/**
 * vmd_client_reload() - Read settings and images anew
 *
 * VMs that exist keep what they were made with. If the settings are bad the
 * old table stays, and the error says why.
 */
int vmd_client_reload(struct vmd_client *client,
		      void (*done)(int r, const struct error *err,
				   void *userdata),
		      void *userdata);

/* Words for people and for logs: never NULL, "unknown" out of range */
const char *vmd_state_name(uint32_t state);
const char *vmd_reason_name(uint32_t reason);
const char *vmd_accelerator_name(uint32_t accelerator);
const char *vmd_vsock_name(uint32_t vsock);

#endif
