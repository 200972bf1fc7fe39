#!/usr/bin/python3
"""The client of models against a model that does what its script says, as TAP.

Each case asks once through build/tests/upstream/ask, in both protocols where that
makes a difference.
"""

import contextlib
import http.server
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from model import Model  # noqa: E402

BUILD = Path(os.environ.get("abs_top_builddir", HERE.parent.parent / "build"))
ASK = BUILD / "tests/upstream/ask"
# Of a test that goes well nothing waits for it: sanitizers on a busy machine are slow.
PATIENCE = 240

PYTHON = {"type": "function", "name": "python", "description": "Runs code.",
          "parameters": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}}
LOOKUP = {"type": "function", "name": "lookup", "parameters": {"type": "object", "properties": {}}}


class Told:
    """What was told of a round."""

    def __init__(self, process):
        assert process.returncode == 0, process.stderr
        self.log = process.stderr
        self.events = [json.loads(line) for line in process.stdout.splitlines()]
        self.ends = [e for e in self.events if "end" in e]
        self.end = self.ends[-1] if self.ends else None
        self.error = self.end.get("error") if self.end else None

    def all(self, key):
        return "".join(e[key] for e in self.events if key in e)

    def calls(self):
        heads = [e for e in self.events if "call" in e]
        return [(e["name"], "".join(a["arguments"] for a in self.events if a.get("of") == e["call"])) for e in heads]


def user(text):
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def ask(url, text="", protocol="chat", settings=None, arguments=(), environment=None, **more):
    given = {"model.url": url, "model.name": "m", "model.protocol": protocol, "model.retries": "0", **(settings or {})}
    round_ = {"model": "m", "items": [user(text)], "tools": [PYTHON, LOOKUP], **more}
    return Told(subprocess.run(
        [ASK, *arguments, *(f"{k}={v}" for k, v in given.items())], input=json.dumps(round_), text=True,
        capture_output=True, timeout=PATIENCE, check=False, env={**os.environ, **(environment or {})}))


def both(case):
    """Run a case in both protocols."""
    def run():
        for protocol in ("chat", "responses"):
            with Model() as model:
                case(model, protocol)
    run.__name__ = case.__name__
    return run


def alone(case):
    def run():
        with Model() as model:
            case(model)
    run.__name__ = case.__name__
    return run


# ------------------------------------------------------------------ what is said


@both
def text_comes_in_pieces(model, protocol):
    told = ask(model.url, "!say Zwölf Boxkämpfer 🥊 jagen Viktor quer über den großen Sylter Deich", protocol)
    assert told.all("text") == "Zwölf Boxkämpfer 🥊 jagen Viktor quer über den großen Sylter Deich"
    assert len([e for e in told.events if "text" in e]) > 5
    assert told.end["end"] == "stop" and told.end["input"] > 0 and told.end["output"] > 0


@both
def a_call_comes_in_pieces(model, protocol):
    told = ask(model.url, "```python\nprint(6*7)\nprint('é')\n```", protocol)
    assert told.calls() == [("python", json.dumps({"code": "print(6*7)\nprint('é')"}))]
    assert told.events[0]["call_id"].startswith("call_") and len(told.events) > 5
    assert told.end["end"] == "stop" and told.all("text") == ""


@both
def a_call_may_come_in_one_piece(model, protocol):
    told = ask(model.url, "```python\n1\n```\n!whole", protocol)
    assert told.calls() == [("python", '{"code": "1"}')]


@alone
def a_call_without_index_and_id_is_given_one(model):
    told = ask(model.url, "```python\n1\n```\n```python\n2\n```\n!together\n!bare\n!whole")
    assert told.calls() == [("python", '{"code": "1"}'), ("python", '{"code": "2"}')]
    ids = [e["call_id"] for e in told.events if "call" in e]
    assert len(set(ids)) == 2 and all(re.fullmatch("call_[0-9a-f]{24}", i) for i in ids)


@both
def parallel_calls_are_told_one_after_the_other(model, protocol):
    told = ask(model.url, "```python\n1\n```\n!call lookup {\"a\": 2}\n```python\n3\n```\n!together", protocol)
    assert told.calls() == [("python", '{"code": "1"}'), ("lookup", '{"a": 2}'), ("python", '{"code": "3"}')]
    order = [e.get("call", e.get("of")) for e in told.events[:-1]]
    assert order == sorted(order)


@both
def reasoning_and_refusal_are_told_as_such(model, protocol):
    told = ask(model.url, "!think first this, then that\n!refuse I would rather not", protocol)
    assert told.all("reasoning") == "first this, then that"
    assert told.all("refusal") == "I would rather not" and told.all("text") == ""
    assert told.end["thought"] > 0


@alone
def what_is_thought_comes_encrypted_if_it_is_asked_for(model):
    text = "!think first this, then that\n!say yes"
    for whole in ("", "\n!whole"):
        told = ask(model.url, text + whole, "responses", encrypted=True)
        assert model.log[-1]["body"]["include"] == ["reasoning.encrypted_content"]
        assert told.all("encrypted") == "cipher of first this, then that"
        assert told.all("reasoning") == "first this, then that" and told.all("text") == "yes"
        told = ask(model.url, text + whole, "responses")
        assert "include" not in model.log[-1]["body"] and told.all("encrypted") == ""
    # Chat Completions have no such thing.
    told = ask(model.url, text, "chat", encrypted=True)
    assert "include" not in model.log[-1]["body"] and told.all("encrypted") == "" and told.all("text") == "yes"


def summaries_in_parts_are_paragraphs():
    def event(kind, **members):
        return {"type": f"response.{kind}", "output_index": 0, "item_id": "rs_1", **members}
    told = ask(stream(
        event("reasoning_summary_part.added", summary_index=0),
        event("reasoning_summary_text.delta", summary_index=0, delta="one"),
        event("reasoning_summary_part.added", summary_index=1),
        event("reasoning_summary_text.delta", summary_index=1, delta="two"),
        {"type": "response.completed", "response": {"status": "completed", "usage": None}}, end=False),
        protocol="responses")
    assert told.all("reasoning") == "one\n\ntwo" and told.end["end"] == "stop"


@both
def limits_and_filters_have_their_own_end(model, protocol):
    assert ask(model.url, "!say something long enough\n!cut", protocol).end["end"] == "length"
    assert ask(model.url, "!say something\n!filtered", protocol).end["end"] == "filter"


@both
def one_object_instead_of_a_stream_is_understood(model, protocol):
    told = ask(model.url, "!say hello\n!unstreamed", protocol)
    assert told.all("text") == "hello" and told.end["end"] == "stop" and told.end["input"] > 0
    told = ask(model.url, "```python\n1\n```\n!unstreamed", protocol)
    assert told.calls() == [("python", '{"code": "1"}')]


@alone
def a_stream_may_lack_its_last_line(model):
    told = ask(model.url, "```python\n1\n```\n!early")
    assert told.calls() == [("python", '{"code": "1"}')] and told.end["end"] == "stop"


# ------------------------------------------------------------------ what is asked


CONTEXT = [
    user("first"),
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
     "content": [{"type": "output_text", "text": "I'll look.", "annotations": [], "logprobs": []}]},
    {"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "python", "arguments": "{}"},
    {"type": "function_call", "id": "fc_2", "call_id": "call_b", "name": "lookup", "arguments": "{}"},
    {"type": "function_call_output", "id": "fco_1", "call_id": "call_b", "output": "B"},
    {"type": "function_call_output", "id": "fco_2", "call_id": "call_a",
     "output": [{"type": "input_text", "text": "A"}]},
    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "be brief"}]},
    {"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "!context"},
        {"type": "input_image", "image_url": "https://pictures.example/a.png", "detail": "low"},
        {"type": "input_file", "file_id": "file-1", "filename": "a.csv"}]},
]


@both
def the_context_is_told_as_the_protocol_wants_it(model, protocol):
    told = ask(model.url, protocol=protocol, items=CONTEXT, instructions="You count.")
    lines = told.all("text").splitlines()
    assert lines[0] == "system: You count." and lines[1] == "user: first"
    assert "assistant: I'll look." in lines and "call: lookup {}" in lines and "result: A" in lines
    body = model.log[-1]["body"]
    text = json.dumps(body)
    assert "https://pictures.example/a.png" in text and "[file a.csv]" in text and "file-1" not in text
    assert "rs_1" not in text and "msg_1" not in text
    if protocol == "chat":
        calls = next(m for m in body["messages"] if m.get("tool_calls"))
        assert calls["content"] == "I'll look." and [c["id"] for c in calls["tool_calls"]] == ["call_a", "call_b"]
        assert [m["content"] for m in body["messages"] if m["role"] == "tool"] == ["A", "B"]


@both
def a_result_without_its_call_is_refused(model, protocol):
    told = ask(model.url, protocol=protocol, items=[user("x"), CONTEXT[5]])
    assert told.error["code"] == "bad_request" and told.error["param"] == "input"
    assert "call_b" in told.error["message"] and not model.log


@both
def a_call_without_its_result_is_completed(model, protocol):
    assert ask(model.url, protocol=protocol, items=[*CONTEXT[:5], user("!say ok")]).all("text") == "ok"


@both
def tools_and_choice_go_together_or_not_at_all(model, protocol):
    for choice, want in ((None, "python lookup; choice: auto"), ("none", "python lookup; choice: none")):
        assert ask(model.url, "!tools", protocol, tool_choice=choice).all("text") == want
    told = ask(model.url, "x", protocol, tool_choice={"type": "function", "name": "lookup"})
    assert told.calls() == [("lookup", "{}")]
    told = ask(model.url, "!tools", protocol, tools=None, tool_choice="auto", options={"parallel_tool_calls": True})
    assert told.all("text") == "none; choice: auto", told.events


@alone
def allowed_tools_are_the_only_ones_that_are_offered(model):
    choice = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "lookup"}]}
    assert ask(model.url, "!tools", tool_choice=choice).all("text") == "lookup; choice: auto"


@alone
def options_have_the_names_of_chat_completions(model):
    options = {"max_output_tokens": 50, "temperature": 0.5, "reasoning": {"effort": "low"}, "metadata": {},
               "text": {"format": {"type": "json_schema", "name": "s", "schema": {"type": "object"}, "strict": True},
                        "verbosity": "low"}}
    ask(model.url, "x", options=options)
    body = model.log[-1]["body"]
    assert body["max_completion_tokens"] == 50 and body["temperature"] == 0.5
    assert body["reasoning_effort"] == "low" and body["verbosity"] == "low" and "metadata" not in body
    assert body["response_format"] == {"type": "json_schema", "json_schema": {
        "name": "s", "schema": {"type": "object"}, "strict": True}}
    ask(model.url, "x", settings={"model.limit_field": "max_tokens", "model.max_output_tokens": "7"})
    assert model.log[-1]["body"]["max_tokens"] == 7


@alone
def a_model_may_have_another_name_at_its_server(model):
    ask(model.url, "x", settings={"model.upstream_name": "org/model"}, trace="00-1-2-01")
    assert model.log[-1]["body"]["model"] == "org/model"
    assert model.log[-1]["headers"]["traceparent"] == "00-1-2-01"
    assert model.log[-1]["headers"]["User-Agent"].startswith("cupola/")


@contextlib.contextmanager
def key_file(text):
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(text)
        file.flush()
        yield file.name


def the_key_goes_to_the_server_and_nowhere_else():
    with Model(key="sesame-open") as model, key_file("sesame-open\n") as key:
        told = ask(model.url, "!say in", settings={"model.key_file": key})
        assert told.all("text") == "in"
        told = ask(model.url, "!status 500 you sent sesame-open as key", settings={"model.key_file": key})
        assert told.error["message"] == "The model's server answered 500: you sent [key] as key"
        assert "sesame" not in told.log + json.dumps(told.events)


def a_refused_key_is_not_the_clients():
    with Model(key="right") as model, key_file("wrong") as key:
        told = ask(model.url, "x", settings={"model.key_file": key})
        assert told.error["code"] == "upstream"
        assert told.error["message"] == "The model's server answered 401: Incorrect API key provided"


# ------------------------------------------------------------------ what goes wrong


@both
def the_servers_status_and_words_are_kept(model, protocol):
    for status, code in ((400, "bad_request"), (403, "upstream"), (404, "upstream"), (422, "bad_request"),
                         (429, "limit"), (500, "upstream"), (503, "upstream"), (504, "upstream_timeout")):
        told = ask(model.url, f"!status {status} the words of {status}", protocol)
        assert told.error["code"] == code, told.error
        assert told.error["message"] == f"The model's server answered {status}: the words of {status}"
    assert len(model.log) == 8


@alone
def a_context_that_is_too_long_says_so(model):
    told = ask(raw_server(400, '{"error":{"message":"too long","code":"context_length_exceeded","param":"messages"}}'))
    assert (told.error["code"], told.error["reason"]) == ("bad_request", "context_length_exceeded")


@both
def what_may_pass_is_repeated(model, protocol):
    for status in (429, 500, 502, 503):
        told = ask(model.url, f"!status {status} times=2\n!say at last", protocol, {"model.retries": "2"})
        assert told.all("text") == "at last" and told.end["end"] == "stop"
    assert len(model.log) == 12


@alone
def what_cannot_pass_is_not(model):
    for status in (400, 401, 403, 404, 422):
        assert ask(model.url, f"!status {status}", settings={"model.retries": "2"}).error
    assert len(model.log) == 5


@alone
def retry_after_is_waited_for(model):
    began = time.monotonic()
    told = ask(model.url, "!status 429 times=1 after=2\n!say now", settings={"model.retries": "1"})
    assert told.all("text") == "now" and time.monotonic() - began > 1.9
    date = time.strftime("%a,_%d_%b_%Y_%H:%M:%S_GMT", time.gmtime(time.time() + 3))
    began = time.monotonic()
    told = ask(model.url, f"!status 503 times=1 after={date}\n!say now", settings={"model.retries": "1"})
    assert told.all("text") == "now" and time.monotonic() - began > 1.5


@alone
def nothing_is_waited_for_beyond_the_deadline(model):
    began = time.monotonic()
    told = ask(model.url, "!status 429 after=100", settings={"model.retries": "5", "model.timeout": "5"})
    assert (told.error["code"], told.error["reason"]) == ("limit", "rate_limit_exceeded")
    assert told.error["retry_after"] == 100 and time.monotonic() - began < 3 and len(model.log) == 1


@both
def what_has_begun_is_not_repeated(model, protocol):
    for fault in ("drop", "unfinished", "error server_error out of memory"):
        told = ask(model.url, f"!say some words that take several pieces\n!{fault}", protocol, {"model.retries": "2"})
        assert told.end["end"] == "failed" and told.error["code"] == "upstream", told.end
        assert told.all("text").startswith("some w")
    assert "out of memory" in told.error["message"] and len(model.log) == 3


@both
def a_rate_limit_in_a_stream_is_one(model, protocol):
    told = ask(model.url, "!say words\n!error rate_limit_exceeded slow down", protocol)
    assert (told.error["code"], told.error["reason"]) == ("limit", "rate_limit_exceeded")
    assert told.error["message"] == "The model's server broke off: slow down"


@both
def a_dead_server_is_given_up(model, protocol):
    began = time.monotonic()
    told = ask(model.url, "!dead", protocol, {"model.idle_timeout": "1"})
    assert told.error["code"] == "upstream_timeout" and "within 1 seconds" in told.error["message"]
    told = ask(model.url, "!say abc\n!stall", protocol, {"model.idle_timeout": "1"})
    assert told.error["code"] == "upstream_timeout" and told.all("text") == "abc"
    assert time.monotonic() - began < 10


@both
def a_slow_server_has_the_deadline_and_no_more(model, protocol):
    told = ask(model.url, "!say " + "word " * 40 + "\n!slow 100", protocol,
               {"model.idle_timeout": "1", "model.timeout": "2"})
    assert told.error["code"] == "upstream_timeout" and "end its answer within 2" in told.error["message"]
    told = ask(model.url, "!say a few words only\n!slow 100", protocol, {"model.idle_timeout": "1"})
    assert told.end["end"] == "stop"


@both
def a_call_that_is_freed_is_over_at_once(model, protocol):
    told = ask(model.url, "!big 4096", protocol, arguments=("--cancel", "3"))
    assert told.events[-1] == {"cancelled": True} and len(told.events) == 4
    told = ask(model.url, "!say abc\n!stall", protocol, arguments=("--cancel", "1"))
    assert told.events[-1] == {"cancelled": True}
    wait_until(lambda: [e["ended"] for e in model.log] == ["the client left"] * 2)


def wait_until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


def no_server_is_an_error_without_its_address():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        began = time.monotonic()
        told = ask(f"http://127.0.0.1:{port}/v1", settings={"model.retries": "1"})
        assert told.error["code"] == "upstream" and "127.0.0.1" not in told.error["message"]
        assert told.error["message"].startswith("Cannot reach the model's server: ")
        assert str(port) in told.log and time.monotonic() - began > 0.3
    told = ask("http://models.invalid/v1")
    assert told.error["message"] == "Cannot reach the model's server: Couldn't resolve host name"


# ------------------------------------------------------------------ bytes of one's own


class RawServer(http.server.ThreadingHTTPServer):
    daemon_threads = True


def raw_server(status, body, headers=(), content_type="application/json"):
    """A server that answers everything with this; Return: its address."""
    data = body.encode() if isinstance(body, str) else body

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            server.paths.append(self.path)
            self.send_response(status)
            if content_type:
                self.send_header("Content-Type", content_type)
            for key, value in headers:
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST

        def log_message(self, *_):
            pass

    server = RawServer(("127.0.0.1", 0), Handler)
    server.paths = []
    servers.append(server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/v1"


servers = []


def stream(*chunks, end=True):
    data = b"".join(b"data: " + (c if isinstance(c, bytes) else json.dumps(c).encode()) + b"\n\n" for c in chunks)
    if end:
        data += b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    return raw_server(200, data, content_type="text/event-stream")


def delta(**members):
    return {"choices": [{"index": 0, "delta": members}]}


def redirects_are_not_followed():
    with Model() as model:
        for status in (301, 302, 303, 307, 308):
            told = ask(raw_server(status, "", [("Location", f"{model.url}/chat/completions")]), "!say you came")
            assert told.error["code"] == "upstream"
            assert told.error["message"] == f"The model's server answered {status}: it redirects, which is not followed"
        assert not model.log


def proxies_of_the_environment_are_not_used():
    with Model() as model:
        proxy = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy", "ALL_PROXY", "all_proxy")}
        assert ask(model.url, "!say straight", environment=proxy).all("text") == "straight"


def another_content_type_is_refused():
    told = ask(raw_server(200, "<html>Sign in</html>", content_type="text/html"))
    assert told.error["code"] == "upstream" and "neither a stream" in told.error["message"]
    assert ask(raw_server(200, "hello")).error["code"] == "upstream"
    assert ask(raw_server(200, "")).error["code"] == "upstream"


def garbage_is_a_failure():
    for data in (b"data: {\n\n", b"data: nonsense\n\n", b"\0\xff\xfe" * 1000, b"", b"data: {}\n\n", b"data: 7\n\n",
                 b'data: {"choices":7}\n\n', b'data: {"choices":[{"delta":7,"finish_reason":8}]}\n\n'):
        told = ask(raw_server(200, data, content_type="text/event-stream"))
        assert told.end["end"] == "failed" and told.error["code"] == "upstream", data


def an_html_error_is_told_in_one_line():
    told = ask(raw_server(502, "<html>\n<b>Bad\x1b[31m gateway</b>\n" + "x" * 100000, content_type="text/html"))
    assert told.error["message"].startswith("The model's server answered 502: <html> <b>Bad [31m gateway</b> xxx")
    assert len(told.error["message"]) < 500


def errors_have_many_forms():
    for body in ('{"error":"the words"}', '{"error":{"message":"the words"}}', '{"message":"the words"}',
                 '{"detail":"the words"}', '{"error":{"message":"the words","code":7,"type":null}}', '"the words"'):
        told = ask(raw_server(500, body))
        assert told.error["message"] == "The model's server answered 500: the words", body


def a_huge_event_is_a_failure():
    told = ask(stream(b'{"x":"' + b"x" * (17 << 20) + b'"}'))
    assert told.error["code"] == "upstream" and "more than 16777216 bytes" in told.error["message"]


def a_large_event_is_none():
    assert len(ask(stream(delta(content="x" * (4 << 20)))).all("text")) == 4 << 20


def a_stream_without_end_has_one():
    told = ask(stream(*[delta(content="x" * 1000)] * 140000, end=False), settings={"model.timeout": "50"})
    assert told.error["code"] == "upstream" and "too much" in told.error["message"], told.error


def a_head_without_end_has_one():
    told = ask(raw_server(200, "", [("X-Long", "x" * 1000)] * 90))
    assert told.error["code"] == "upstream" and "more than 65536 bytes" in told.error["message"], told.error


def a_line_of_a_head_without_end_is_no_failure_of_ours():
    told = ask(raw_server(200, "", [("X-Long", "x" * 300000)]))
    assert told.error["code"] == "capacity" and "a line that is too long" in told.error["message"], told.error


def characters_that_were_cut_are_made_whole():
    for first, second in ((b'"a\xf0\x9f"', b'"\x98\x80b"'), (b'"a\xc3"', b'"\xa9b"'), (b'"a\\ud83d"', b'"\\ude00b"')):
        chunk = b'{"choices":[{"delta":{"content":%s}}]}'
        told = ask(stream(chunk % first, chunk % second))
        assert told.all("text") in ("a😀b", "aéb"), told.events
    told = ask(stream(b'{"choices":[{"delta":{"content":"a\\udc00b\xffc\\ud800"}}]}', delta(content="d")))
    assert told.all("text") == "a\ufffdb\ufffdcd", told.events


def calls_are_told_apart_however_they_are_counted():
    def piece(arguments, **more):
        name = more.pop("name", None)
        return delta(tool_calls=[{"function": {"arguments": arguments, **({"name": name} if name else {})}, **more}])

    for chunks, want in (
            # Mixed pieces.
            ([piece("", index=0, id="a", name="f"), piece("", index=1, id="b", name="g"), piece("1", index=0),
              piece("2", index=1), piece("1", index=0), piece("2", index=1)], [("f", "11"), ("g", "22")]),
            # All counted as 0, with ids of their own.
            ([piece("1", index=0, id="a", name="f"), piece("2", index=0, id="b", name="f")], [("f", "1"), ("f", "2")]),
            # Ids and names in every piece.
            ([piece("1", index=0, id="a", name="f"), piece("2", index=0, id="a", name="f")], [("f", "12")]),
            # Counted from 1.
            ([piece("1", index=1, id="a", name="f"), piece("2", index=2, id="b", name="g")], [("f", "1"), ("g", "2")]),
            # The same id twice, and one that is no good.
            ([piece("1", index=0, id="a", name="f"), piece("2", index=1, id="a", name="g"),
              piece("3", index=2, id="x y", name="h")], [("f", "1"), ("g", "2"), ("h", "3")])):
        told = ask(stream(*chunks))
        assert told.calls() == want, told.events
        ids = [e["call_id"] for e in told.events if "call" in e]
        assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[\w-]{1,64}", i) for i in ids)


def a_call_without_a_name_is_a_failure():
    told = ask(stream(delta(tool_calls=[{"index": 0, "id": "a", "function": {"arguments": "{}"}}])))
    assert told.error["message"] == "The model called a function without a name"


def too_many_calls_are_a_failure():
    told = ask(stream(delta(tool_calls=[{"index": i, "id": f"c{i}", "function": {"name": "f", "arguments": ""}}
                                        for i in range(200)])))
    assert "more than 128 calls" in told.error["message"]


def oddities_of_chunks_are_taken():
    told = ask(stream({"choices": [], "prompt_filter_results": []}, delta(role="assistant", content=""),
                      delta(content=None), delta(content=[{"type": "text", "text": "a"}]), {"choices": None},
                      {"choices": [{"delta": {"content": "b"}}], "error": None}, delta(reasoning="c")))
    assert told.all("text") == "ab" and told.all("reasoning") == "c" and told.end["end"] == "stop"


def a_connection_that_stays_open_is_not_waited_for():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def serve():
            peer, _ = listener.accept()
            peer.recv(65536)
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                         b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\r\n\r\n'
                         b"data: [DONE]\r\n\r\n")
            peer.recv(1)
        threading.Thread(target=serve, daemon=True).start()
        began = time.monotonic()
        told = ask(f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
        assert told.all("text") == "a" and told.end["end"] == "stop" and time.monotonic() - began < 3


# ------------------------------------------------------------------ TLS


def certificate(directory, name):
    path = Path(directory) / f"{name}.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                    "-addext", f"subjectAltName={'IP:127.0.0.1' if name == 'right' else 'DNS:other.example'}",
                    "-keyout", path, "-out", f"{path}.crt"], check=True, capture_output=True)
    with path.open("a") as file:
        file.write(Path(f"{path}.crt").read_text())
    return str(path), f"{path}.crt"


def certificates_are_verified():
    with tempfile.TemporaryDirectory() as directory:
        pem, ca = certificate(directory, "right")
        with Model(tls=pem) as model:
            told = ask(model.url, "!say private", settings={"model.ca_file": ca})
            assert told.all("text") == "private", told.events
            told = ask(model.url, "!say private", settings={"model.retries": "2"})
            assert told.error["code"] == "upstream" and not told.all("text") and len(model.log) == 1
        pem, ca = certificate(directory, "wrong")
        with Model(tls=pem) as model:
            told = ask(model.url, "!say private", settings={"model.ca_file": ca})
            assert told.error["code"] == "upstream" and not model.log


# ------------------------------------------------------------------ many


@both
def many_at_once_do_not_mix(model, protocol):
    told = ask(model.url, "!big 64", protocol, arguments=("--times", "50"))
    assert len(told.ends) == 50 and all(e["end"] == "stop" for e in told.ends)
    assert len(told.all("text")) == 50 * 64 * 1024


@alone
def more_at_once_than_allowed_are_refused(model):
    told = ask(model.url, "!say x", settings={"model.calls": "3"}, arguments=("--times", "5"))
    assert sorted(e["end"] for e in told.ends) == ["failed"] * 2 + ["stop"] * 3
    assert [e["error"]["reason"] for e in told.ends if "error" in e] == ["rate_limit_exceeded"] * 2


@alone
def figures_count_what_happened(model):
    told = ask(model.url, "!status 500 times=1\n!say x", settings={"model.retries": "1"},
               environment={"ASK_FIGURES": "1"})
    figures = {}
    for event in told.events:
        if "figure" in event:
            figures[event["figure"]] = figures.get(event["figure"], 0) + event["value"]
    assert figures["cupola_model_answers_total"] == 1 and figures["cupola_model_repetitions_total"] == 1
    assert figures["cupola_model_first_piece_seconds_count"] == 1 and figures["cupola_model_output_tokens_total"] > 0


def collect():
    """All functions here that can be called as they are: the cases, in their order."""
    helpers = ("main", "collect", "key_file")
    for name, value in list(globals().items()):
        code = getattr(value, "__code__", None)
        if code and code.co_argcount == 0 and value.__module__ == __name__ and name not in helpers:
            yield value


def main():
    cases = [globals()[name] for name in sys.argv[1:]] or list(collect())
    print(f"1..{len(cases)}")
    for number, case in enumerate(cases, 1):
        try:
            case()
            print(f"ok {number} - {case.__name__}", flush=True)
        except Exception:
            print(f"not ok {number} - {case.__name__}")
            print("".join(f"# {line}\n" for line in traceback.format_exc().splitlines()), flush=True)


if __name__ == "__main__":
    main()
