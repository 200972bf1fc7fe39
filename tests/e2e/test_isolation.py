"""What code in a guest can reach: nothing."""

from cupola import processes_with


def test_there_is_no_network_device_route_or_name_service(box):
    done = box.run("""
import os, socket
print([n for n in os.listdir('/sys/class/net') if n != 'lo'])
print(open('/proc/net/route').read().count('\\n'))
try:
    socket.create_connection(('198.51.100.1', 80), timeout=5)
except OSError as e:
    print(type(e).__name__)
try:
    socket.getaddrinfo('example.org', 80)
except OSError as e:
    print(type(e).__name__)
""")
    lines = done["stdout"].splitlines()
    assert lines[0] == "[]"
    assert int(lines[1]) <= 1
    assert lines[3] == "gaierror"


def test_the_domain_has_no_network_device(daemon, box):
    box.run("1")
    for _, argv in processes_with(str(daemon.dir)):
        if "qemu-system" not in argv[0]:
            continue
        words = " ".join(argv)
        assert "virtio-net" not in words and "-netdev" not in words
        assert "-nic" not in argv or "none" in argv


def test_user_code_is_not_root_and_cannot_reach_the_agent(box):
    done = box.run("""
import os, signal, socket
print(os.getuid() != 0, os.getgid() != 0)
for attempt in (lambda: os.kill(1, signal.SIGKILL),
                lambda: open('/proc/1/mem', 'rb').read(1),
                lambda: open('/dev/vda', 'rb').read(1),
                lambda: os.listdir('/proc/1/fd'),
                lambda: open('/usr/bin/python3', 'ab'),
                lambda: open('/proc/sysrq-trigger', 'w').write('c'),
                lambda: socket.socket(40, socket.SOCK_STREAM),
                lambda: os.unshare(os.CLONE_NEWUSER),
                lambda: os.setuid(0)):
    try:
        attempt()
        print('reached')
    except OSError as e:
        print(type(e).__name__)
""")
    lines = done["stdout"].splitlines()
    assert lines[0] == "True True", done
    assert "reached" not in lines[1:], done
    assert len(lines) == 10


def test_the_nonce_is_gone_before_python_starts(box):
    """The last block of the scratch disk is unreadable and wiped anyway."""
    done = box.run("""
import os
found = []
for name in os.listdir('/dev'):
    if name.startswith('vd'):
        found.append((name, os.access('/dev/' + name, os.R_OK)))
print(found)
""")
    assert "True" not in done["stdout"], done


def test_the_real_limits_are_seen(box):
    done = box.run("import os\nprint(os.cpu_count())\n"
                   "print(os.sysconf('SC_PHYS_PAGES') * "
                   "os.sysconf('SC_PAGE_SIZE') >> 20)")
    cpus, mib = map(int, done["stdout"].split())
    assert 1 <= cpus <= 4
    assert mib <= 512
