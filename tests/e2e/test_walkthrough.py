"""doc/walkthrough.md is true: its calls are made, and its answers compared.

The page also says what the model does: the code and the words of its answers are
the scripts of the questions before them, for tests/upstream/model.py. What comes
back of them, output, files and citations, is Cupola's.
"""

import json
import os
import pathlib
import re
import subprocess

import pytest

from cupola import Daemon
from model import Model

PAGE = pathlib.Path(__file__).parent.parent.parent / "doc/walkthrough.md"
ID = re.compile(r"\b(?:file-|(?:cfile|ci|cntr|conv|exec|msg|resp)_)[0-9A-Za-z]{20,}")
EPOCH = 1_500_000_000
PNG = b"\x89PNG\r\n"


def blocks():
    """(language, text) of each fenced block, in the page's order."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)


def question_of(call):
    found = re.search(r'"input": ("(?:[^"\\]|\\.)*")', call)
    return found and json.loads(found[1])


def script_of(answer):
    """What makes the scripted model write this code and say these words."""
    code = [f"```python\n{item['code']}\n```" for item in answer["output"] if "code" in item]
    said = [part["text"] for item in answer["output"] for part in item.get("content", [])]
    return "\n".join([*code, *(f"!say {text}" for text in said)]) if code else None


def scripts():
    """By question. A question that is asked again is answered in the same way."""
    found, question = {}, None
    for language, text in blocks():
        if language == "sh":
            question = question_of(text)
        elif language == "json" and question and (script := script_of(json.loads(text))):
            found[question] = script
    return found


class Comparison:
    """Ids and times differ from day to day, but one id of the page is one id of ours, everywhere."""

    def __init__(self):
        self.ours, self.pages = {}, {}

    def same_id(self, page, ours):
        return self.ours.setdefault(page, ours) == ours and self.pages.setdefault(ours, page) == page

    def same_string(self, page, ours):
        goes_on = page.endswith("…")
        if goes_on:
            page, ours = page[:-1], ours[:len(page) - 1]
        ids = list(zip(ID.findall(page), ID.findall(ours)))
        return ID.sub("", page) == ID.sub("", ours) and len(ids) == len(ID.findall(page)) \
            and all(self.same_id(*pair) for pair in ids)

    def check(self, page, ours, where="answer"):
        """All that the page shows is there; it need not show all."""
        if isinstance(page, dict):
            assert isinstance(ours, dict) and page.keys() <= ours.keys(), (where, page, ours)
            for key, value in page.items():
                self.check(value, ours[key], f"{where}.{key}")
        elif isinstance(page, list):
            assert isinstance(ours, list) and len(page) == len(ours), (where, page, ours)
            for index, pair in enumerate(zip(page, ours)):
                self.check(*pair, f"{where}[{index}]")
        elif isinstance(page, str):
            assert isinstance(ours, str) and self.same_string(page, ours), (where, page, ours)
        elif where.endswith("_at") and page is not None:
            assert page > EPOCH and ours > EPOCH, (where, page, ours)
        else:
            assert type(page) is type(ours) and page == ours, (where, page, ours)

    def with_our_ids(self, text):
        return ID.sub(lambda found: self.ours[found[0]], text)


@pytest.fixture(scope="module")
def env():
    """What the page has set before its first call, with a daemon behind it."""
    with Model(name="qwen3", scripts=scripts()) as model:
        d = Daemon(image="python", settings={"pool.default.memory": "1G", "model.url": model.url,
                                             "model.name": model.name})
        try:
            d.start()
            yield {**os.environ, "URL": d.url, "KEY": d.key, "MODEL": model.name, "NO_PROXY": "127.0.0.1"}
            assert d.audit() == []
        finally:
            d.remove()


class Shell:
    """Blocks one after the other: what one sets is there for the next."""

    def __init__(self, env, place):
        self.env, self.place = env, place

    def run(self, text):
        script = f"set -ae\n[ ! -e .set ] || . ./.set\n{text}\nexport -p >.set"
        done = subprocess.run(["bash", "-c", script], cwd=self.place, env=self.env, text=True,
                              capture_output=True, check=False, timeout=600)
        assert done.returncode == 0, text + done.stdout + done.stderr
        return done.stdout


def test_calls_are_answered_as_the_page_says(env, tmp_path):
    shell, comparison, answer = Shell(env, tmp_path), Comparison(), ""
    for language, text in blocks():
        if language == "sh":
            assert not answer, f"the page does not show {answer}"
            answer = shell.run(comparison.with_our_ids(text))
        elif language == "json":
            comparison.check(json.loads(text), json.loads(answer))
            answer = ""
    assert not answer
    for name in re.findall(r"-o (\S+)", PAGE.read_text(encoding="utf-8")):
        assert (tmp_path / name).read_bytes().startswith(PNG), name
    assert (tmp_path / "deleted").read_text().count('"deleted":true') == 3


def test_the_program_says_what_the_page_says(env, programs, tmp_path):
    program, = (text for language, text in blocks() if language == "js")
    output, = (text for language, text in blocks() if language == "text")
    table = next(text for language, text in blocks() if "cat >prices.csv" in text)
    Shell(env, tmp_path).run(table.partition("curl")[0])
    (tmp_path / "walkthrough.mjs").write_text(program, encoding="utf-8")
    (tmp_path / "node_modules").symlink_to(programs / "node_modules")
    done = subprocess.run(["node", "walkthrough.mjs"], cwd=tmp_path, env=env, text=True, capture_output=True,
                          check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == output
    assert (tmp_path / "chart.png").read_bytes().startswith(PNG)
