"""The examples, as their first lines tell to run them, with a scripted model."""

import os
import pathlib
import shutil
import subprocess

import pytest

EXAMPLES = pathlib.Path(__file__).parent.parent.parent / "examples"

TABLE = "quarter,price\nQ1,1\nQ2,2\nQ3,4\n"
QUESTION = """What is the standard deviation of price? Draw it.
```python
import csv, statistics
prices = [float(row["price"]) for row in csv.DictReader(open("/mnt/data/TABLE"))]
print(statistics.stdev(prices))
open("/mnt/data/chart.svg", "w").write("<svg/>")
```
!link"""


@pytest.fixture
def place(tmp_path):
    """Where an example is run; what it saves is there."""
    (tmp_path / "table.csv").write_text(TABLE)
    return tmp_path


def run(argv, place, daemon, model, name="table.csv"):
    env = {**os.environ, "CUPOLA_URL": daemon.url, "CUPOLA_API_KEY": daemon.key, "MODEL": model.name,
           "OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1"}
    done = subprocess.run([*argv, "table.csv", QUESTION.replace("TABLE", name)], cwd=place, env=env, text=True,
                          capture_output=True, check=False, timeout=600)
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "1.52752523" in done.stdout
    assert (place / "out" / "chart.svg").read_text() == "<svg/>"


@pytest.mark.parametrize("name", ["agent.mjs", "hosted-agent.mjs"])
def test_example(daemon, model, programs, place, name):
    shutil.copy(EXAMPLES / name, place)
    (place / "node_modules").symlink_to(programs / "node_modules")
    run(["node", name], place, daemon, model)


def python_with_openai():
    """Debian has the library from forky on; CUPOLA_OPENAI_PYTHON may name a Python that has it."""
    for python in (os.environ.get("CUPOLA_OPENAI_PYTHON"), "/usr/bin/python3"):
        if python and subprocess.run([python, "-c", "import openai"], capture_output=True, check=False).returncode == 0:
            return python
    pytest.skip("there is no Python with the library openai")


def test_example_in_python(daemon, model, place):
    shutil.copy(EXAMPLES / "agent.py", place)
    run([python_with_openai(), "agent.py"], place, daemon, model)
