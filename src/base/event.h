#ifndef CUPOLA_BASE_EVENT_H
#define CUPOLA_BASE_EVENT_H

/*
 * sd-event sources with their description set, so that none is without.
 *
 * sd_event_unrefp, sd_event_source_unrefp and sd_event_source_disable_unrefp,
 * for _cleanup_(), come with sd-event.h.
 */

#include <systemd/sd-event.h>

/**
 * event_add_io() - Watch a descriptor
 * @event:	Loop
 * @fd:		Descriptor; stays the caller's and must outlive the source
 * @events:	EPOLLIN and so on
 * @fn:		Callback
 * @userdata:	For @fn
 * @description:	For the debugging of loops
 * @ret_source:	The source; the caller's to unref
 *
 * Return: 0 or a negative errno
 */
int event_add_io(sd_event *event, int fd, uint32_t events,
		 sd_event_io_handler_t fn, void *userdata,
		 const char *description, sd_event_source **ret_source);

/**
 * event_set_nonblocking() - Have a descriptor of somebody else's never wait
 *
 * Return: 0 or a negative errno
 */
int event_set_nonblocking(int fd);

/**
 * event_add_defer() - Call something once in the next round of the loop
 *
 * The source comes disabled: sd_event_source_set_enabled(SD_EVENT_ONESHOT)
 * arms it, each time anew. Parameters and Return: as event_add_io().
 */
int event_add_defer(sd_event *event, sd_event_handler_t fn, void *userdata,
		    const char *description, sd_event_source **ret_source);

/**
 * event_add_signal() - Have a signal delivered to the loop
 *
 * Blocks the signal in the calling thread first; threads started afterwards
 * inherit that. Parameters and Return: as event_add_io().
 */
int event_add_signal(sd_event *event, int signo, sd_event_signal_handler_t fn,
		     void *userdata, const char *description,
		     sd_event_source **ret_source);

#endif
