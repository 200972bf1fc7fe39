"""What one session does costs the others little."""

import threading
import time

SLOTS = 2
SLOT_SECONDS = 15
OTHERS = 2
PAUSE = 0.5

# What a busy machine adds by itself, to a few answers in a hundred
SLACK_SECONDS = 0.1

# One after the other
NOISE_SECONDS = 5
NOISE = (
    "while True: print('x' * 1000)",
    "kept = []\n"
    "while True: kept.append(b'x' * 1000000)",
    "import os\n"
    "for _ in range(16):\n"
    "    if os.fork() == 0:\n"
    "        while True: pass\n"
    "while True: pass",
    "for i in range(100000):\n"
    "    open(f'/mnt/data/{i}', 'w').close()",
    "import os\n"
    "f = os.open('/mnt/data/storm', os.O_RDWR | os.O_CREAT | os.O_DSYNC)\n"
    "while True: os.pwrite(f, os.urandom(4096), 0)",
)
ENDS = {"ok", "error", "timeout", "output_limit", "oom", "kernel_died"}


class Neighbour(threading.Thread):
    """Asks for next to nothing, and notes how long it takes."""

    def __init__(self, daemon, number):
        super().__init__()
        self.box = daemon.container(name=f"neighbour {number}")
        self.took = {"quiet": [], "noisy": []}
        self.slot = None
        self.wrong = []

    def run(self):
        while self.slot != "over":
            slot = self.slot
            began = time.monotonic()
            done = self.box.run("print(1)")
            # One that saw both belongs to neither.
            if self.slot == slot and slot:
                self.took[slot].append(time.monotonic() - began)
            if (done["status"], done["stdout"]) != ("ok", "1\n"):
                self.wrong.append(done)
            time.sleep(PAUSE)


def make_noise(box, number):
    """Until the slot is over; what it is left with is its own."""
    end = time.monotonic() + SLOT_SECONDS
    while time.monotonic() < end:
        left = min(NOISE_SECONDS, max(1, end - time.monotonic()))
        code = NOISE[number % len(NOISE)]
        assert box.run(code, timeout_s=left)["status"] in ENDS
        number += 1
    return number


def percentile(took, part):
    return sorted(took)[int(len(took) * part)]


def test_a_noisy_neighbour_costs_the_others_little(fresh_daemon):
    d = fresh_daemon(settings={"pool.default.memory": "256M"})
    noisy = d.container(name="noisy")
    others = [Neighbour(d, n) for n in range(OTHERS)]
    for box in [noisy] + [o.box for o in others]:
        box.run("1")
    for other in others:
        other.start()
    number = 0
    # In turns, so that what else this machine does is in both.
    for _ in range(SLOTS):
        for other in others:
            other.slot = "quiet"
        time.sleep(SLOT_SECONDS)
        for other in others:
            other.slot = "noisy"
        number = make_noise(noisy, number)
    for other in others:
        other.slot = "over"
    for other in others:
        other.join()
        assert other.wrong == []
    quiet, noise = (sum((o.took[slot] for o in others), [])
                    for slot in ("quiet", "noisy"))
    print(f"{len(quiet)} and {len(noise)} answers, {number} noises")
    assert number >= len(NOISE)
    for part, times in ((0.95, 2), (0.99, 4)):
        before, after = percentile(quiet, part), percentile(noise, part)
        print(f"{part:.0%} within {before * 1000:.0f} ms, "
              f"then {after * 1000:.0f}")
        assert after <= max(times * before, before + SLACK_SECONDS)
    assert d.audit() == []
