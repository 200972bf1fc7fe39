#!/usr/bin/python3
"""What bash, zsh and fish complete, in those shells themselves."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time

import tap
from ctl_fixture import BUILD, CONTAINER, WAIT, run

CONTAINERS = [dict(CONTAINER, id="cntr_1a", name="first"),
              dict(CONTAINER, id="cntr_2b", name="second; $(touch evil)")]


def daemon(fixture):
    """One that has something of each kind."""
    def page(data):
        return lambda h: h.send({"object": "list", "data": data,
                                 "has_more": False})
    fixture.special.update({
        r"GET /admin/v1/sessions\?limit.*": page(CONTAINERS),
        r"GET /admin/v1/sessions\?all.*": page(
            CONTAINERS + [dict(CONTAINER, id="cntr_3c")]),
        r"GET /admin/v1/artifacts.*": page([{"id": "cfile_1", "path": "/x"}]),
        "GET /admin/v1/top": lambda h: h.send(
            {"data": [{"vm": "vm_1", "state": "ready"}]}),
        "GET /admin/v1/keys": lambda h: h.send(
            {"keys": [{"id": "key_1", "name": "ci"}]}),
        "GET /admin/v1/tenants": lambda h: h.send(
            {"tenants": [{"id": "acme", "state": "active"},
                         {"id": "$(touch evil)", "state": "active"}]}),
        "GET /admin/v1/pools": lambda h: h.send(
            {"pools": [{"name": "default", "image": "python"}]}),
        "GET /admin/v1/models": lambda h: h.send(
            {"models": [{"id": "big", "url": "http://x"}]}),
    })


def environment(fixture):
    home = str(fixture.dir)
    return fixture.env(PATH=f"{BUILD.resolve()}:{os.environ['PATH']}",
                       HOME=home, ZDOTDIR=home, XDG_CONFIG_HOME=home,
                       XDG_DATA_HOME=home, TERM="xterm")


def need(shell):
    if not shutil.which(shell):
        raise tap.Skip(f"{shell} is not installed")


def script(fx, shell):
    return fx.write(f"completion.{shell}", fx.ctl("completion", shell).stdout)


def by_bash(fx, *words):
    program = (f'source {script(fx, "bash")}; COMP_WORDS=("$@"); '
               'COMP_CWORD=$(($# - 1)); _cupolactl; '
               'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", program, "bash", *words], text=True,
                          capture_output=True, check=True, timeout=WAIT,
                          cwd=fx.dir, env=environment(fx))
    return list(filter(None, done.stdout.split("\n")))


def by_fish(fx, line):
    program = f"source {script(fx, 'fish')}; complete -C '{line}'"
    done = subprocess.run(["fish", "--no-config", "-c", program], text=True,
                          capture_output=True, check=True, timeout=WAIT,
                          cwd=fx.dir, env=environment(fx))
    assert done.stderr == "", done.stderr
    return [option.split("\t")[0] for option in done.stdout.splitlines()]


def by_zsh(fx, line):
    """What the line is after Tab, at a terminal, since zsh completes nowhere else."""
    functions = fx.dir / "functions"
    functions.mkdir(exist_ok=True)
    (functions / "_cupolactl").write_text(fx.ctl("completion", "zsh").stdout)
    fx.write(".zshrc", f"fpath=({functions} $fpath)\n"
             "autoload -Uz compinit && compinit -u -D\n"
             "PS1='ready> '\nsetopt no_beep\nLISTMAX=1000\n")
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(fx.dir)
        os.execvpe("zsh", ["zsh", "-i"], environment(fx))
    seen = b""

    def until(pattern, seconds=WAIT):
        nonlocal seen
        end = time.monotonic() + seconds
        while not re.search(pattern, seen) and time.monotonic() < end:
            if select.select([master], [], [], 0.2)[0]:
                seen += os.read(master, 65536)
        return re.search(pattern, seen)

    try:
        assert until(rb"ready> "), seen
        # What Tab shows comes at once or not at all; Ctrl-U takes the line back.
        os.write(master, line.encode() + b"\t")
        until(rb"never", 3)
        os.write(master, b"\x15echo over\n")
        assert until(rb"over\r\n"), seen
    finally:
        os.write(master, b"\x15exit\n")
        os.close(master)
        os.waitpid(pid, 0)
    return seen.decode(errors="replace")


def bash_completes_what_the_daemon_has(fx):
    daemon(fx)
    for words, names in (
            (("inspect", "cntr_"), ["cntr_1a", "cntr_2b", "cntr_3c"]),
            (("console", "vm"), ["vm_1"]),
            (("exec", "cntr_2"), ["cntr_2b"]),
            (("kill", "cntr_1a", "vm"), ["vm_1"]),
            (("keys", "revoke", "k"), ["key_1"]),
            (("tenants", "show", "a"), ["acme"]),
            (("artifacts", "get", ""), ["cfile_1"]),
            (("pools", "set", "d"), ["default"]),
            (("model", "test", "b"), ["big"]),
            (("files", "ls", "cntr_1"), ["cntr_1a"])):
        got = by_bash(fx, "cupolactl", *words)
        assert got == names, (words, got)


def bash_completes_what_an_option_takes(fx):
    daemon(fx)
    for words, values in (
            (("top", "--sort", ""), ["cpu", "memory", "disk", "age", "idle"]),
            (("top", "-s", "m"), ["memory"]),
            (("usage", "--by", "o"), ["origin"]),
            (("run", "-m", "1"), ["1g", "16g"]),
            (("keys", "create", "--scope", "m"), ["metrics"]),
            (("--tenant", "a"), ["acme"]),
            (("keys", "list", "--tenant", "a"), ["acme"]),
            (("run", "--file", ""), [])):
        got = by_bash(fx, "cupolactl", *words)
        assert got == values, (words, got)


def bash_offers_options_where_a_dash_was_typed(fx):
    daemon(fx)
    assert by_bash(fx, "cupolactl", "keys", "") == ["create", "list", "revoke"]
    assert by_bash(fx, "cupolactl", "help", "un") == ["undrain"]
    assert "--version" in by_bash(fx, "cupolactl", "--")
    commands = by_bash(fx, "cupolactl", "")
    assert "ps" in commands and not any(c.startswith("-") for c in commands)
    got = by_bash(fx, "cupolactl", "kill", "-")
    assert "--json" in got and all(g.startswith("-") for g in got), got


def bash_asks_the_daemon_that_is_meant(fx):
    daemon(fx)
    socket = str(fx.socket)
    for words in (("--socket", socket, "inspect"), ("inspect", "--socket", socket),
                  ("inspect", f"--socket={socket}")):
        env = dict(environment(fx), CUPOLA_SOCKET="/nonexistent")
        done = subprocess.run(
            ["cupolactl", "completion", "names", "vms", "--", *words],
            env=env, capture_output=True, text=True, check=True, timeout=WAIT)
        assert done.stdout == "vm_1\tready\n", (words, done)


def a_daemon_that_is_away_has_no_names(fx):
    done = fx.ctl("completion", "names", "containers tenants nonsense", "--",
                  "--socket", "/nonexistent", "inspect")
    assert done.stdout == done.stderr == ""
    assert by_bash(fx, "cupolactl", "inspect", "") != ["cntr_1a"]


def nothing_that_is_called_something_is_carried_out(fx):
    daemon(fx)
    got = by_bash(fx, "cupolactl", "tenants", "show", "$")
    assert got == ["\\$\\(touch\\ evil\\)"], got
    for shell, ask in (("fish", by_fish), ("zsh", by_zsh)):
        if shutil.which(shell):
            ask(fx, "cupolactl tenants show ")
            ask(fx, "cupolactl inspect ")
    assert not (fx.dir / "evil").exists()


def fish_completes_in_fish(fx):
    need("fish")
    daemon(fx)
    assert by_fish(fx, "cupolactl und") == ["undrain"]
    assert "--file" in by_fish(fx, "cupolactl run --fi")
    assert by_fish(fx, "cupolactl keys re") == ["revoke"]
    assert by_fish(fx, "cupolactl inspect cntr_") == \
        ["cntr_1a", "cntr_2b", "cntr_3c"]
    assert by_fish(fx, "cupolactl keys revoke k") == ["key_1"]
    assert by_fish(fx, "cupolactl pools set d") == ["default"]
    assert by_fish(fx, "cupolactl tenants show ac") == ["acme"]
    assert "cntr_1a" not in by_fish(fx, "cupolactl keys revoke ")
    assert by_fish(fx, "cupolactl top --sort m") == ["memory"]
    assert by_fish(fx, "cupolactl keys list --tenant a") == ["acme"]
    assert by_fish(fx, "cupolactl help und") == ["undrain"]


def zsh_completes_in_zsh(fx):
    need("zsh")
    daemon(fx)
    assert "cupolactl undrain" in by_zsh(fx, "cupolactl und")
    assert "--timeout" in by_zsh(fx, "cupolactl exec --tim")
    assert "keys revoke" in by_zsh(fx, "cupolactl keys rev")
    assert "inspect cntr_2b" in by_zsh(fx, "cupolactl inspect cntr_2")
    assert "revoke key_1" in by_zsh(fx, "cupolactl keys revoke k")
    assert "--sort memory" in by_zsh(fx, "cupolactl top --sort m")
    assert "--tenant acme" in by_zsh(fx, "cupolactl keys list --tenant a")
    assert "help undrain" in by_zsh(fx, "cupolactl help und")
    listed = by_zsh(fx, "cupolactl inspect cntr_")
    assert "cntr_1a  first" in listed and "cntr_3c" in listed, listed


if __name__ == "__main__":
    run(sys.modules[__name__])
