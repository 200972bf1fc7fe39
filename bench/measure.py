# SPDX-License-Identifier: Apache-2.0
"""Figures: a median beside a floor that was measured in the same run."""

import statistics
import sys
import time

BEGUN = time.monotonic()


class BenchError(Exception):
    """What is measured does not work, so there is no figure."""


def progress(text):
    """To whoever waits; the table alone is on stdout."""
    print(f"{time.monotonic() - BEGUN:4.0f} s  {text}", file=sys.stderr,
          flush=True)


class Row:
    """One line of the table.

    The ratio is the worse the higher it is, unless `more_is_better`; a target
    bounds the ratio, or the figure itself where that is what counts. A row that
    is not `judged` is shown beside the baseline and fails nothing.
    """

    def __init__(self, name, unit, values, floor_name, floors, *,
                 target=None, bounds="ratio", more_is_better=False,
                 judged=True):
        ordered = sorted(values)
        self.name = name
        self.unit = unit
        self.median = statistics.median(values)
        self.p90 = ordered[int(len(ordered) * 0.9)]
        self.samples = len(values)
        self.floor_name = floor_name
        self.floor = statistics.median(floors)
        self.ratio = self.median / self.floor
        self.target = target
        self.bounds = bounds
        self.more_is_better = more_is_better
        self.judged = judged
        self.part = None

    def missed(self):
        if self.target is None:
            return False
        value = getattr(self, self.bounds)
        if self.more_is_better:
            return value < self.target
        return value > self.target

    def worse_than(self, committed):
        """By how much, as a factor: 1.5 is worse by half.

        What may shrink instead of growing has no ratio that says anything then.
        """
        if committed["ratio"] <= 0 or self.ratio <= 0:
            return 1
        if self.more_is_better:
            return committed["ratio"] / self.ratio
        return self.ratio / committed["ratio"]

    def better_than(self, other):
        if self.more_is_better:
            return self.ratio > other.ratio
        return self.ratio < other.ratio

    def cells(self):
        target = "-"
        if self.target is not None:
            unit = f" {self.unit}" if self.bounds == "median" else ""
            sign = ">=" if self.more_is_better else "<="
            target = f"{sign} {self.target:g}{unit}"
        return (self.name, f"{number(self.median)} {self.unit}",
                number(self.p90), number(self.floor), f"{self.ratio:.3g}",
                target, self.floor_name)


HEAD = ("figure", "median", "p90", "floor", "ratio", "target", "against")


def number(value):
    """Four digits that say something."""
    if value >= 1000:
        return f"{value:.0f}"
    return f"{value:.4g}"


def show(rows):
    lines = [HEAD] + [row.cells() for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    for line in lines:
        print("  ".join(w.ljust(n) for w, n in zip(line, widths)).rstrip(),
              flush=True)


def show_split(split):
    parts = ", ".join(f"{name} {number(value)}"
                      for name, value in split["parts"].items())
    print(f"{split['of']}: {parts}")


def medians(samples):
    """Of a list of dictionaries with the same keys, each key's median."""
    return {key: statistics.median(s[key] for s in samples)
            for key in samples[0]}


def seconds(call, *args, **kwargs):
    """How long a call takes, and what it returns."""
    start = time.perf_counter()
    result = call(*args, **kwargs)
    return time.perf_counter() - start, result


def in_turns(turns, ours, theirs):
    """Two lists of what two calls return, who begins changing each turn.

    A noisy minute then hits both sides.
    """
    results = [], []
    for turn in range(turns):
        order = ((0, ours), (1, theirs))
        for side, call in order if turn % 2 == 0 else order[::-1]:
            results[side].append(call())
    return results
