#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "base/event.h"

int event_add_io(sd_event *event, int fd, uint32_t events,
		 sd_event_io_handler_t fn, void *userdata,
		 const char *description, sd_event_source **ret_source)
{
	sd_event_source *source;
	int r;

	r = sd_event_add_io(event, &source, fd, events, fn, userdata);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(source, description);
	*ret_source = source;
	return 0;
}

int event_set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

int event_add_defer(sd_event *event, sd_event_handler_t fn, void *userdata,
		    const char *description, sd_event_source **ret_source)
{
	sd_event_source *source;
	int r;

	r = sd_event_add_defer(event, &source, fn, userdata);
	if (r < 0)
		return r;
	(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	(void)sd_event_source_set_description(source, description);
	*ret_source = source;
	return 0;
}

int event_add_signal(sd_event *event, int signo, sd_event_signal_handler_t fn,
		     void *userdata, const char *description,
		     sd_event_source **ret_source)
{
	sd_event_source *source;
	sigset_t set;
	int r;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, signo);
	r = pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (r > 0)
		return -r;
	r = sd_event_add_signal(event, &source, signo, fn, userdata);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(source, description);
	*ret_source = source;
	return 0;
}
