#!/usr/bin/python3
"""How bench/run --compare judges, as TAP. Nothing is measured."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import sys

TOP = pathlib.Path(os.environ.get("abs_top_srcdir", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(TOP / "bench"))
sys.dont_write_bytecode = True

import tap  # noqa: E402
from measure import Row  # noqa: E402


def load():
    loader = importlib.machinery.SourceFileLoader("bench_run", str(TOP / "bench" / "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_run", loader))
    loader.exec_module(module)
    return module


bench = load()
MEASURE = bench.measure
KNOWN = {"time": {"ratio": 2.0}, "rate": {"ratio": 0.9}, "tail": {"ratio": 1.0}}


def rows(time=2.0, rate=0.9, tail=1.0):
    made = [Row("time", "ms", [time], "floor", [1.0]),
            Row("rate", "/s", [rate], "floor", [1.0], more_is_better=True),
            Row("tail", "ms", [tail], "floor", [1.0], judged=False)]
    for row in made:
        row.part = "part of rates" if row.name == "rate" else "part of times"
    return made


def judged(*runs):
    """The verdict, and the parts that each further run was asked for."""
    asked, left = [], list(runs[1:])

    def again(parts, _options):
        asked.append(parts)
        return [row for row in left.pop(0) if row.part in parts], []

    bench.measure, bench.PARTS = again, ("part of times", "part of rates")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        kept = bench.measure_again(runs[0], KNOWN, None)
        return bench.compare(kept, KNOWN), asked, {row.name: row.ratio for row in kept}


def what_is_as_it_was_is_not_measured_again():
    assert judged(rows(time=2.9, rate=0.61)) == (False, [], {"time": 2.9, "rate": 0.61, "tail": 1.0})


def what_is_worse_once_is_forgiven():
    assert judged(rows(time=3.1), rows(time=2.1)) == (False, [["part of times"]], {"time": 2.1, "rate": 0.9, "tail": 1.0})


def what_is_worse_each_time_fails():
    runs = [rows(time=worse) for worse in (9.0, 3.1, 4.0)]
    failed, asked, kept = judged(*runs)
    assert failed and asked == [["part of times"]] * (bench.TRIES - 1) and kept["time"] == 3.1


def a_rate_is_worse_when_it_is_lower():
    failed, asked, kept = judged(*[rows(rate=0.59)] * bench.TRIES)
    assert failed and asked == [["part of rates"]] * (bench.TRIES - 1) and kept["rate"] == 0.59


def a_row_that_is_not_judged_fails_nothing():
    assert judged(rows(tail=9.0))[:2] == (False, [])


def a_row_that_is_new_fails_nothing():
    new = Row("new", "s", [1.0], "floor", [1.0])
    new.part = "part of times"
    assert judged([new])[:2] == (False, [])


def what_shrank_or_shrinks_is_not_worse():
    grown, shrunk, same = (Row("tail", "KiB", [n], "floor", [1.0]) for n in (3.0, -3.0, 0.0))
    for row, ratio in ((grown, -1.0), (grown, 0.0), (shrunk, -1.0), (shrunk, 1.0), (same, 1.0)):
        assert row.worse_than({"ratio": ratio}) == 1


class FailsAfterOne:
    """Parts of which only the first can be measured."""

    @staticmethod
    def run(name, _options):
        if name != "first":
            raise bench.BenchError(f"{name}: cupolad ended")
        return [Row("figure of the first", "ms", [1.0], "floor", [1.0])], []


def a_part_that_fails_loses_no_figure():
    usual, bench.part_module = bench.part_module, lambda: FailsAfterOne
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            MEASURE(["first", "second", "third"], None)
    except bench.BenchError as e:
        assert str(e) == "second: cupolad ended"
    else:
        raise AssertionError("the failure is not told")
    finally:
        bench.part_module = usual
    assert "figure of the first" in out.getvalue()


TESTS = (what_is_as_it_was_is_not_measured_again, what_is_worse_once_is_forgiven, what_is_worse_each_time_fails,
         a_rate_is_worse_when_it_is_lower, a_row_that_is_not_judged_fails_nothing, a_row_that_is_new_fails_nothing,
         what_shrank_or_shrinks_is_not_worse, a_part_that_fails_loses_no_figure)


if __name__ == "__main__":
    sys.exit(tap.run(TESTS))
