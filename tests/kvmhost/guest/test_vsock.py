"""The daemon's socket of AF_VSOCK: for the virtual machines that are named."""

import pathlib
import shutil

import host
from host import ctl, run, systemctl

PORT = 8080
RUNTIME = 42
OTHER = 43
SANDBOX = 0x10000 + 5000	# of the numbers that sandboxes have

BOOT = pathlib.Path("/var/lib/libvirt/boot")
DOMAIN = """
<domain type='kvm'>
  <name>client{cid}</name>
  <memory unit='MiB'>256</memory>
  <vcpu>1</vcpu>
  <os>
    <type arch='x86_64' machine='microvm'>hvm</type>
    <kernel>{boot}/vmlinux</kernel>
    <initrd>{boot}/initrd</initrd>
    <cmdline>console=ttyS0 quiet panic=-1 {ask}</cmdline>
  </os>
  <features><acpi/></features>
  <cpu mode='host-passthrough' check='none'/>
  <on_reboot>destroy</on_reboot>
  <devices>
    <controller type='usb' model='none'/>
    <serial type='file'><source path='{log}'/></serial>
    <memballoon model='none'/>
    <vsock model='virtio'>
      <cid auto='no' address='{cid}'/>
      <address type='virtio-mmio'/>
    </vsock>
  </devices>
</domain>
"""


class Client:
    """A VM that is none of ours, which asks the daemon once."""

    def __init__(self, cid, path, key="none"):
        self.name = f"client{cid}"
        self.log = pathlib.Path(f"/var/log/libvirt/qemu/{self.name}.console")
        xml = pathlib.Path(f"/run/{self.name}.xml")
        xml.write_text(DOMAIN.format(
            cid=cid, boot=BOOT, log=self.log,
            ask=f"ask_port={PORT} ask_path={path} ask_key={key}"))
        virsh("create", str(xml))

    def said(self):
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return [line.strip().removeprefix("client: ")
                for line in text.splitlines() if line.startswith("client: ")]

    def answer(self):
        try:
            host.until(self.said, f"{self.name} to be answered")
            return self.said()
        finally:
            virsh("destroy", self.name)


def virsh(*argv):
    return run("virsh", "-c", "qemu:///system", *argv)


def prepare():
    BOOT.mkdir(exist_ok=True)
    image = host.IMAGES / "python-minimal"
    shutil.copy(image / "vmlinux", BOOT)
    # Of two archives in an initrd the later one's files stay.
    (BOOT / "initrd").write_bytes((image / "initrd").read_bytes()
                                  + pathlib.Path("/job/client.cpio").read_bytes())


def test_a_socket_of_vsock_is_opened_by_its_unit():
    prepare()
    config = pathlib.Path("/etc/cupola/cupolad.conf")
    config.write_text(config.read_text()
                      + f"\n[listen]\nvsock_allow = {RUNTIME}\n")
    drop_in = pathlib.Path("/etc/systemd/system/cupolad.socket.d/vsock.conf")
    drop_in.parent.mkdir()
    drop_in.write_text(f"[Socket]\nListenStream=vsock::{PORT}\n")
    systemctl("daemon-reload")
    systemctl("stop", "cupolad.socket")
    systemctl("restart", "cupolad")
    host.await_ready()
    listening = host.property_of("cupolad.socket", "Listen")
    assert f"vsock::{PORT}" in listening, listening


def test_a_vm_that_is_named_is_served_and_no_other():
    key = ctl("keys", "create", "--tenant", "default").stdout.strip()
    clients = {"runtime": Client(RUNTIME, "/v1/containers", key),
               "other": Client(OTHER, "/v1/containers", key),
               "sandbox": Client(SANDBOX, "/v1/containers", key)}
    answers = {who: client.answer() for who, client in clients.items()}
    assert answers == {"runtime": ["answer HTTP/1.1 200 OK"],
                       "other": ["closed without an answer"],
                       "sandbox": ["closed without an answer"]}, answers


def test_a_vm_that_is_named_needs_a_key_as_well():
    answer = Client(RUNTIME, "/v1/containers").answer()
    assert answer == ["answer HTTP/1.1 401 Unauthorized"], answer


def test_code_in_a_sandbox_cannot_even_ask():
    one = host.Session("asker")
    said = one.output("import socket\n"
                      "try:\n"
                      "    socket.socket(socket.AF_VSOCK).connect("
                      f"(2, {PORT}))\n"
                      "except OSError as e:\n"
                      "    print(type(e).__name__, e.errno)")
    assert said.split()[0] in ("OSError", "PermissionError"), said
    one.delete()
