"""Run in a new python-minimal image before it is published."""

import locale
import os
import pathlib
import sys
import time

assert 6 * 7 == 42
assert sys.version_info >= (3, 13)
assert locale.getpreferredencoding().upper() == "UTF-8"
assert time.tzname[0] == "UTC"
assert os.getuid() == 1000, os.getuid()
pathlib.Path("/mnt/data/smoke.txt").write_text("größer\n")
print("all is well")
