#include "test.h"

#include <poll.h>
#include <pthread.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "base/worker.h"
#include "vmd/domain_xml.h"
#include "vmd/virt.h"

/*
 * libvirt through its test driver, which has domains without QEMU: calls on a
 * worker, news on the loop. The driver knows no microvm, so the XML is its own,
 * with our mark.
 */

#define UUID "01234567-89ab-4cde-8f01-23456789abcd"

static const char xml[] =
	"<domain type='test'><name>vm_a</name><uuid>" UUID "</uuid>"
	"<metadata><c:vm xmlns:c='" DOMAIN_XML_NAMESPACE "' "
	"installation='me' id='vm_a'/></metadata>"
	"<memory>8192</memory><os><type>hvm</type></os></domain>";

struct call {
	struct job job;
	struct virt *virt;
	pthread_t ran_on;
	int created, count, foreign, destroyed, again;
	struct virt_domain found;
	struct error err;
	bool done;
};

struct heard {
	pthread_t loop;
	unsigned stopped;
};

static void on_news(const char *uuid, enum virt_news news, void *userdata)
{
	struct heard *heard = userdata;

	assert_true(pthread_equal(pthread_self(), heard->loop));
	if (strcmp(uuid, UUID) == 0 && news == VIRT_STOPPED_DESTROYED)
		heard->stopped++;
}

static void on_lost(void *userdata)
{
	(void)userdata;
	fail();
}

static void run(struct job *job)
{
	struct call *c = JOB_OWNER(job, struct call, job);
	struct virt_domain *domains = NULL;
	int pidfd = -1;
	pid_t pid = -1;

	c->ran_on = pthread_self();
	if (virt_open(c->virt, &c->err) < 0)
		return;
	c->created = virt_create(c->virt, xml, "vm_a", &pid, &pidfd, &c->err);
	c->foreign = virt_list(c->virt, "somebody else", &domains, &c->err);
	free(take_ptr(domains));
	c->count = virt_list(c->virt, "me", &domains, &c->err);
	if (c->count == 1)
		c->found = domains[0];
	free(domains);
	c->destroyed = virt_destroy(c->virt, UUID, &c->err);
	c->again = virt_destroy(c->virt, UUID, &c->err);
}

static void done(struct job *job)
{
	JOB_OWNER(job, struct call, job)->done = true;
}

static void a_domain_is_created_listed_and_destroyed_on_a_worker(void **state)
{
	static const struct virt_handlers handlers = {
		.news = on_news,
		.lost = on_lost,
	};
	struct heard heard = { .loop = pthread_self() };
	struct call c = { .job = { .run = run, .done = done },
			  .created = -1, .count = -1, .foreign = -1,
			  .destroyed = -1, .again = -1 };
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	struct worker *worker = NULL;
	int i;

	(void)state;
	assert_int_equal(sd_event_new(&event), 0);
	assert_int_equal(virt_new(event, "test:///default", NULL, &handlers,
				  &heard, &c.virt), 0);
	assert_int_equal(worker_new(event, "test", 1, 4, &worker), 0);
	assert_int_equal(worker_submit(worker, &c.job), 0);
	for (i = 0; i < 500 && !(c.done && heard.stopped); i++)
		assert_true(sd_event_run(event, 10000) >= 0);

	assert_string_equal(c.err.message, "");
	assert_false(pthread_equal(c.ran_on, heard.loop));
	assert_int_equal(c.created, 0);
	assert_int_equal(c.foreign, 0);
	assert_int_equal(c.count, 1);
	assert_string_equal(c.found.vm_id, "vm_a");
	assert_string_equal(c.found.uuid, UUID);
	assert_false(c.found.paused);
	assert_int_equal(c.destroyed, 0);
	/* What is not there is destroyed. */
	assert_int_equal(c.again, 0);
	assert_int_equal(heard.stopped, 1);
	worker_free(worker);
	virt_free(c.virt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_domain_is_created_listed_and_destroyed_on_a_worker),
	};

	return RUN_TESTS(tests);
}
