# SPDX-License-Identifier: Apache-2.0
"""Executions in a ready session, beside those of a Jupyter kernel here."""

import contextlib
import statistics

from measure import Row, in_turns, medians, seconds
from sides import PRINT, BenchError, Jupyter, Session, png_of, serving

LINES = 1 << 14
OUTPUT = f"print(('x' * 63 + '\\n') * {LINES}, end='')"
FIGURE = ("import matplotlib.pyplot as plt\n"
          "plt.plot(range(100))\n"
          "plt.show()")
WARM = 20


COUNTERS = {
    "awaited": "cupola_executing_awaited_seconds_total",
    "guest": "cupola_executing_seconds_total",
    "python": "cupola_executing_cpu_seconds_total",
}


def counted(daemon):
    """What the daemon counts of executions, in seconds."""
    figures = dict(line.rsplit(" ", 1) for line in
                   daemon.metrics().splitlines() if line[:1] != "#")
    return {key: float(figures[name]) for key, name in COUNTERS.items()}


def split_of(before, after, times, http):
    """Where the time of a turn's executions went, in ms each.

    The daemon counts from EXEC to DONE; in that the guest does, which also
    tells the CPU time of user code's processes. What is left of one figure
    without the next is the way between the two.
    """
    each = {key: (after[key] - before[key]) / len(times) for key in before}
    whole = statistics.mean(times)
    parts = {
        "whole": whole,
        "HTTP": http,
        "daemon": whole - http - each["awaited"],
        "link": each["awaited"] - each["guest"],
        "guest": each["guest"] - each["python"],
        "Python": each["python"],
    }
    return {name: value * 1e3 for name, value in parts.items()}


def round_trip(session, jupyter, options):
    """print(1), many times in each turn."""
    each, splits = options.of(30, 10), []

    def ours():
        before = counted(session.daemon)
        times = [session.run(PRINT)[0] for _ in range(each)]
        after = counted(session.daemon)
        http = statistics.mean(session.health() for _ in range(each))
        splits.append(split_of(before, after, times, http))
        return times

    def theirs():
        return [jupyter.run(PRINT)[0] for _ in range(each)]

    for _ in range(WARM):
        session.run(PRINT)
        if jupyter.run(PRINT)[1][0] != "1\n":
            raise BenchError("Jupyter does not print 1")
    ours, theirs = in_turns(options.of(10, 5), ours, theirs)
    return (Row("execution round trip", "ms",
                [t * 1e3 for turn in ours for t in turn],
                "Jupyter kernel on the bare host",
                [t * 1e3 for turn in theirs for t in turn], target=1.0),
            {"of": "an execution, in ms", "parts": medians(splits)})


def large_output(session, jupyter, options):
    def ours():
        took, done = session.run(OUTPUT)
        if len(done["stdout"]) != 64 * LINES:
            raise BenchError(f"{len(done['stdout'])} bytes came of 1 MiB")
        return took * 1e3

    def theirs():
        took, (heard, _) = jupyter.run(OUTPUT)
        if len(heard) != 64 * LINES:
            raise BenchError("Jupyter loses output")
        return took * 1e3

    ours(), theirs()
    return Row("execution with 1 MiB of output", "ms",
               *around("Jupyter kernel on the bare host",
                       in_turns(options.of(15, 5), ours, theirs)))


def around(floor_name, sides):
    return sides[0], floor_name, sides[1]


def figure(session, jupyter, options):
    """Until the picture's bytes are with the client on both sides."""
    def ours():
        took, done = session.run(FIGURE)
        images = [r["image/png"] for r in done["results"] if "image/png" in r]
        if not images:
            raise BenchError("the execution has no figure")
        more, picture = fetch(session, images[0]["file_id"])
        if picture[:4] != b"\x89PNG":
            raise BenchError("the figure is no PNG")
        return (took + more) * 1e3

    def theirs():
        took, (_, shown) = jupyter.run(FIGURE)
        png_of(shown)
        return took * 1e3

    jupyter.run("%matplotlib inline")
    for _ in range(3):
        ours(), theirs()
    return Row("execution with a figure", "ms",
               *around("Jupyter kernel on the bare host",
                       in_turns(options.of(10, 3), ours, theirs)))


def fetch(session, file_id):
    return seconds(session.fetch, "GET",
                   f"{session.path}/files/{file_id}/content")


def with_kernels(image, measure):
    with serving(image=image) as daemon, \
            contextlib.closing(Jupyter()) as jupyter:
        session = Session(daemon)
        measured = measure(session, jupyter)
        session.delete()
        return measured


def run(options):
    def plain(session, jupyter):
        row, split = round_trip(session, jupyter, options)
        return [row, large_output(session, jupyter, options)], [split]

    rows, splits = with_kernels("python-minimal", plain)
    if options.short:
        return rows, splits
    rows.append(with_kernels("python", lambda *sides: figure(*sides, options)))
    return rows, splits
