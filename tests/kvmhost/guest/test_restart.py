"""What survives which restart."""

import os
import signal
import time

import host
from host import REBOOT, systemctl


def session():
    return host.Session(ident=host.state["session"])


def begin():
    one = host.Session("survivor")
    one.output("x = 41")
    host.state["session"] = one.id
    host.state["qemus"] = host.qemus()


def lives():
    host.await_ready()
    assert session().output("x += 1; print(x > 41)") == "True\n"
    assert host.qemus() == host.state["qemus"]
    assert host.differences() == []


def test_a_restart_of_the_daemon_keeps_a_session():
    begin()
    before = host.main_pid("cupolad")
    began = time.monotonic()
    systemctl("restart", "cupolad")
    host.figure("seconds of the restart", time.monotonic() - began)
    assert host.main_pid("cupolad") != before
    lives()


def test_a_running_execution_goes_on_through_it():
    started = session().execute("import time; time.sleep(20); print('through')",
                                background=True)
    systemctl("restart", "cupolad")
    host.await_ready()
    path = f"/v1/containers/{session().id}/executions/{started['id']}"

    def done():
        execution = host.api("GET", path)
        return execution["status"] not in ("queued", "running") and execution
    ended = host.until(done, "the execution to end")
    assert (ended["status"], ended["stdout"]) == ("ok", "through\n"), ended


def test_a_restart_of_the_hypervisor_process_keeps_it():
    systemctl("restart", "cupola-vmd")
    lives()


def test_a_restart_of_libvirt_keeps_it():
    systemctl("restart", "libvirtd")
    host.until(lambda: host.is_active("cupola-vmd.service"),
               "cupola-vmd to come back")
    lives()
    one = host.Session("after")
    assert one.output("print(2)") == "2\n"
    one.delete()
    host.until(lambda: host.qemus() == host.state["qemus"], "its end")


def test_a_restart_of_everything_keeps_it():
    systemctl("restart", "libvirtd", "cupola-vmd", "cupolad")
    lives()


def test_a_daemon_that_hangs_is_ended_by_the_watchdog_which_keeps_it():
    before = host.main_pid("cupolad")
    os.kill(before, signal.SIGSTOP)
    host.until(lambda: host.main_pid("cupolad") not in (0, before),
               "the watchdog")
    assert "watchdog" in host.run("journalctl", "-q", "--no-pager", "-u",
                                  "cupolad", "-g", "atchdog").stdout.lower()
    lives()


def test_an_upgrade_keeps_it():
    host.run("sh", "-c", "dpkg -i /job/cupola_*.deb")
    lives()


def test_a_reload_drops_no_connection():
    connection = host.Connection(60)
    connection.request("GET", "/healthz")
    connection.getresponse().read()
    systemctl("reload", "cupolad")
    connection.request("GET", "/healthz")
    assert connection.getresponse().status == 200
    connection.close()


def test_stop_drains():
    one = session()
    one.execute("import time; time.sleep(5)\n"
                "open('/mnt/data/last.txt', 'w').write('kept')",
                background=True)
    systemctl("stop", "cupolad.socket", "cupolad.service")
    host.until(lambda: not host.qemus(), "all VMs to end")
    systemctl("start", "cupolad.socket", "cupolad.service")
    host.await_ready()
    check_drained(one)


def check_drained(one):
    info = one.info()
    assert info["session"]["ended"]["reason"] == "drained", info
    files = host.api("GET", f"/v1/containers/{one.id}/files")["data"]
    assert [f["path"] for f in files] == ["/mnt/data/last.txt"], files


def test_before_the_host_restarts_a_session_has_work():
    begin()
    session().execute("import time; time.sleep(3)\n"
                      "open('/mnt/data/last.txt', 'w').write('kept')",
                      background=True)
    return REBOOT


def test_a_restart_of_the_host_drains():
    host.await_ready()
    check_drained(session())
    assert not host.qemus() and host.differences() == []
    one = host.Session("fresh")
    assert one.output("print(3)") == "3\n"
    one.delete()
