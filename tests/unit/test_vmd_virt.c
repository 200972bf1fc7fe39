#include "test.h"

#include <errno.h>
#include <libvirt/libvirt-qemu.h>
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
 * with our mark. What QEMU would be told by its own commands is written down
 * here, and answered as a test wants it.
 */

#define UUID "01234567-89ab-4cde-8f01-23456789abcd"
#define VM_A "vm_aaaaaaaaaaaaaaaaaaaaaa"
#define VM_B "vm_bbbbbbbbbbbbbbbbbbbbbb"

static const char xml[] =
	"<domain type='test'><name>" VM_A "</name><uuid>" UUID "</uuid>"
	"<metadata><c:vm xmlns:c='" DOMAIN_XML_NAMESPACE "' "
	"installation='me' id='" VM_A "'/></metadata>"
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

/* libvirt has one event loop in a process, so all tests share one. */
struct fixture {
	sd_event *event;
	struct virt *virt;
	struct heard heard;
};

enum { COMMANDS_MAX = 4 };

/* QEMU's monitor: what was said, and the answer to each, NULL for none. */
static struct {
	bool scripted;
	const char *answers[COMMANDS_MAX];
	char *commands[COMMANDS_MAX];
	size_t count;
} monitor;

int __real_virDomainQemuMonitorCommand(virDomainPtr domain, const char *command,
				       char **result, unsigned int flags);
int __wrap_virDomainQemuMonitorCommand(virDomainPtr domain, const char *command,
				       char **result, unsigned int flags);

int __wrap_virDomainQemuMonitorCommand(virDomainPtr domain, const char *command,
				       char **result, unsigned int flags)
{
	const char *answer;

	if (!monitor.scripted)
		return __real_virDomainQemuMonitorCommand(domain, command,
							  result, flags);
	assert_true(monitor.count < COMMANDS_MAX);
	answer = monitor.answers[monitor.count];
	monitor.commands[monitor.count++] = strdup(command);
	/* For libvirt's own error, of whatever kind. */
	if (!answer)
		return __real_virDomainQemuMonitorCommand(NULL, command, result,
							  flags);
	*result = strdup(answer);
	return 0;
}

static void script_monitor(const char *first, const char *second)
{
	monitor.scripted = true;
	monitor.answers[0] = first;
	monitor.answers[1] = second;
}

static int forget_monitor(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < monitor.count; i++)
		free(monitor.commands[i]);
	memset(&monitor, 0, sizeof(monitor));
	return 0;
}

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
	c->created = virt_create(c->virt, xml, VM_A, &pid, &pidfd, &c->err);
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

static int setup(void **state)
{
	static const struct virt_handlers handlers = {
		.news = on_news,
		.lost = on_lost,
	};
	static struct fixture fx;
	struct error err = ERROR_INIT;

	fx.heard.loop = pthread_self();
	*state = &fx;
	if (sd_event_new(&fx.event) < 0 ||
	    virt_new(fx.event, "test:///default", NULL, &handlers, &fx.heard,
		     &fx.virt) < 0)
		return -1;
	return virt_open(fx.virt, &err);
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	virt_free(fx->virt);
	sd_event_unref(fx->event);
	return 0;
}

static void a_domain_is_created_listed_and_destroyed_on_a_worker(void **state)
{
	struct fixture *fx = *state;
	struct call c = { .job = { .run = run, .done = done },
			  .virt = fx->virt,
			  .created = -1,
			  .count = -1,
			  .foreign = -1,
			  .destroyed = -1,
			  .again = -1 };
	struct worker *worker = NULL;
	int i;

	assert_int_equal(worker_new(fx->event, "test", 1, 4, &worker), 0);
	assert_int_equal(worker_submit(worker, &c.job), 0);
	for (i = 0; i < 500 && !(c.done && fx->heard.stopped); i++)
		assert_true(sd_event_run(fx->event, 10000) >= 0);

	assert_string_equal(c.err.message, "");
	assert_false(pthread_equal(c.ran_on, fx->heard.loop));
	assert_int_equal(c.created, 0);
	assert_int_equal(c.foreign, 0);
	assert_int_equal(c.count, 1);
	assert_string_equal(c.found.vm_id, VM_A);
	assert_string_equal(c.found.uuid, UUID);
	assert_false(c.found.paused);
	assert_int_equal(c.destroyed, 0);
	/* What is not there is destroyed. */
	assert_int_equal(c.again, 0);
	assert_int_equal(fx->heard.stopped, 1);
	worker_free(worker);
}

static int create(struct fixture *fx, struct error *err)
{
	pid_t pid = -1;
	int pidfd = -1;

	return virt_create(fx->virt, xml, VM_A, &pid, &pidfd, err);
}

static int count_domains(struct fixture *fx)
{
	_cleanup_free_ struct virt_domain *domains = NULL;
	struct error err = ERROR_INIT;

	return virt_list(fx->virt, "me", &domains, &err);
}

#define UUID_PLAIN "11111111-89ab-4cde-8f01-23456789abcd"
#define UUID_THEIRS "22222222-89ab-4cde-8f01-23456789abcd"

#define DOMAIN(name, uuid, metadata)                                           \
	"<domain type='test'><name>" name "</name><uuid>" uuid "</uuid>"       \
	"<metadata>" metadata "</metadata><memory>8192</memory>"               \
	"<os><type>hvm</type></os></domain>"

static void make_foreign(virConnectPtr conn, const char *text)
{
	virDomainPtr domain = virDomainCreateXML(conn, text, 0);

	assert_non_null(domain);
	virDomainFree(domain);
}

static void end_foreign(virConnectPtr conn, const char *uuid)
{
	virDomainPtr domain = virDomainLookupByUUIDString(conn, uuid);

	assert_non_null(domain);
	assert_int_equal(virDomainIsActive(domain), 1);
	assert_int_equal(virDomainDestroy(domain), 0);
	virDomainFree(domain);
}

/*
 * The driver's own domain "test" is one more. vmd ends only what is listed, and
 * what it has made; that it ends no other is seen by their running on.
 */
static void domains_of_others_are_not_listed_and_run_on(void **state)
{
	virConnectPtr conn = virConnectOpen("test:///default");
	struct fixture *fx = *state;
	struct error err = ERROR_INIT;

	assert_non_null(conn);
	script_monitor("{\"return\":{}}", "{\"return\":{}}");
	make_foreign(conn, DOMAIN(VM_A "_copy", UUID_PLAIN, ""));
	make_foreign(conn, DOMAIN(VM_B, UUID_THEIRS,
				  "<c:vm xmlns:c='" DOMAIN_XML_NAMESPACE "' "
				  "installation='not me' id='" VM_B "'/>"));
	assert_int_equal(count_domains(fx), 0);
	assert_int_equal(create(fx, &err), 0);
	assert_int_equal(count_domains(fx), 1);
	assert_int_equal(virt_destroy(fx->virt, UUID, &err), 0);
	assert_int_equal(count_domains(fx), 0);
	end_foreign(conn, UUID_PLAIN);
	end_foreign(conn, UUID_THEIRS);
	virConnectClose(conn);
}

static void both_disks_are_limited(void **state)
{
	static const char *const disks[] = { "virtio-disk0", "virtio-disk1" };
	char wanted[400];
	struct fixture *fx = *state;
	struct error err = ERROR_INIT;
	size_t i;

	script_monitor("{\"return\":{},\"id\":\"libvirt-7\"}",
		       "{\"return\":{},\"id\":\"libvirt-8\"}");
	assert_int_equal(create(fx, &err), 0);
	assert_int_equal(monitor.count, 2);
	for (i = 0; i < 2; i++) {
		(void)snprintf(wanted, sizeof(wanted),
			       "{\"execute\":\"block_set_io_throttle\","
			       "\"arguments\":{\"id\":\"%s\","
			       "\"bps\":268435456,\"bps_rd\":0,\"bps_wr\":0,"
			       "\"iops\":20000,\"iops_rd\":0,\"iops_wr\":0}}",
			       disks[i]);
		assert_string_equal(monitor.commands[i], wanted);
	}
	assert_int_equal(virt_destroy(fx->virt, UUID, &err), 0);
}

static void a_vm_that_cannot_be_limited_does_not_run(void **state)
{
	static const char accepted[] = "{\"return\":{}}";
	static const char refused[] =
		"{\"id\":\"libvirt-7\",\"error\":{\"class\":\"GenericError\","
		"\"desc\":\"Device 'virtio-disk0' not found\"}}";
	static const char *const scripts[][2] = {
		{ refused, accepted },
		{ accepted, refused },
		{ NULL, accepted },
		{ accepted, NULL },
	};
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		struct error err = ERROR_INIT;

		script_monitor(scripts[i][0], scripts[i][1]);
		assert_int_equal(create(fx, &err), -EREMOTEIO);
		assert_int_equal(err.code, ERR_HYPERVISOR);
		assert_string_equal(err.message,
				    "the VM's disks could not be limited");
		assert_int_equal(count_domains(fx), 0);
		(void)forget_monitor(NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_domain_is_created_listed_and_destroyed_on_a_worker),
		cmocka_unit_test_teardown(
			domains_of_others_are_not_listed_and_run_on,
			forget_monitor),
		cmocka_unit_test_teardown(both_disks_are_limited,
					  forget_monitor),
		cmocka_unit_test_teardown(
			a_vm_that_cannot_be_limited_does_not_run,
			forget_monitor),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
