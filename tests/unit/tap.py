"""Runs the tests of a program and says how they went, as Automake's driver reads it.

A test is a function. It fails by any exception, and says by Skip what it lacks.
Names on the command line choose some of them.
"""

import os
import pwd
import sys
import traceback


class Skip(Exception):
    """What a test needs is not here."""


def need_own_memory(program):
    """What it takes is measured: ThreadSanitizer keeps notes of each byte, several times its size."""
    if b"__tsan_init" in program.read_bytes():
        raise Skip("its memory is ThreadSanitizer's")


def need_own_calls(program, maps):
    """Its calls are told from libraries': clang puts the sanitizer into the program, and that calls for all of them."""
    if b"__asan_init" in program.read_bytes() and "/libasan.so" not in maps:
        raise Skip("the sanitizer's calls are the program's")


def need_user():
    """As root the daemon becomes a user that has to exist."""
    if os.geteuid() != 0:
        return
    try:
        pwd.getpwnam("cupola")
    except KeyError:
        raise Skip("user cupola is missing") from None


def outcome(test, call):
    """What stands behind "ok", or what went wrong."""
    try:
        call(test)
    except Skip as why:
        return f" # SKIP {why}", None
    except Exception:
        return None, traceback.format_exc()
    return "", None


def run(tests, call=lambda test: test()):
    """Call each of them by @call. Returns the program's status."""
    chosen = [t for t in tests if not sys.argv[1:] or t.__name__ in sys.argv[1:]]
    print(f"1..{len(chosen)}")
    failed = 0
    for number, test in enumerate(chosen, 1):
        good, bad = outcome(test, call)
        if bad is None:
            print(f"ok {number} - {test.__name__}{good}", flush=True)
            continue
        failed += 1
        print(f"not ok {number} - {test.__name__}")
        for line in bad.splitlines():
            print(f"# {line}", flush=True)
    return 1 if failed else 0
