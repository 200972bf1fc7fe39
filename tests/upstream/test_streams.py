#!/usr/bin/python3
"""Many responses that are streamed at once, by a whole daemon, as TAP.

VMs are processes here (tests/chaos/scripted_guest), so that there can be fifty.
"""

import concurrent.futures
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("abs_top_builddir", HERE.parent.parent / "build"))
os.environ.setdefault("CUPOLA_BUILD", str(BUILD))
sys.path[:0] = [str(HERE), str(HERE.parent / "chaos"), str(HERE.parent / "unit")]

import tap  # noqa: E402
from host import Host, is_alive, wait_until  # noqa: E402
from model import Model  # noqa: E402
from stream import Reader, Stream, ask  # noqa: E402

STREAMS = 50
# Bytes that an open stream may take on top of its text.
STREAM_MAX = 256 << 10
OPEN_MAX = 200
INTERPRETER = {"type": "code_interpreter", "container": {"type": "auto"}}
LOOKUP = {"type": "function", "name": "lookup", "parameters": {"type": "object", "properties": {}}}


class Server:
    """A daemon with a model of each protocol."""

    def __init__(self, settings=None):
        tap.need_user()
        self.model = Model()
        self.host = Host({"pool.default.ready": "0", "pool.default.min": "0", "pool.default.max": str(STREAMS),
                          "test.minute_seconds": "60", "model.url": self.model.url, "model.name": "chat",
                          "model.other.url": self.model.url, "model.other.name": "responses",
                          "model.other.protocol": "responses", **(settings or {})})

    def __enter__(self):
        self.model.__enter__()
        self.host.start_for_clients()
        self.url = (self.host.dir / "url").read_text().strip()
        self.key = (self.host.dir / "api-key").read_text().strip()
        return self

    def __exit__(self, kind, *_):
        if kind:
            sys.stderr.write((self.host.top / "log").read_text())
        self.host.remove(keep=False)
        self.model.__exit__()

    def resident(self):
        for line in Path(f"/proc/{self.host.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) << 10


def block(code):
    return f"```python\n{code}\n```\n"


def talk(server, number):
    """Two turns of a conversation of its own: (events, the container)."""
    request = {"model": ("chat", "responses")[number % 2], "tools": [INTERPRETER, LOOKUP],
               "include": ["code_interpreter_call.outputs"],
               "conversation": server.host.json("POST", "/v1/conversations", {})["id"]}
    first = ask(server.url, server.key, {
        **request, "input": block(f"say first-{number}") + block(f"count file f{number}.csv 200 {number}")
        + ("!together\n" if number % 3 == 0 else "") + "!link"})
    one, two = first.calls
    assert one["outputs"] == [{"type": "logs", "logs": f"first-{number}\n"}]
    assert two["outputs"] == [{"type": "logs", "logs": "2\n"}] and one["container_id"] == two["container_id"]
    cited, = first.items[-1]["content"][0]["annotations"]
    assert first.text[cited["start_index"]:cited["end_index"]] == f"sandbox:/mnt/data/f{number}.csv"
    assert cited["container_id"] == one["container_id"] and cited["filename"] == f"f{number}.csv"
    second = ask(server.url, server.key, {
        **request, "input": block("count") + (f'!call lookup {{"n": {number}}}' if number % 2 else "!refuse No")
        + "\n!think about it", "reasoning": {"summary": "auto"}})
    assert second.calls[0]["outputs"] == [{"type": "logs", "logs": "3\n"}]
    assert second.calls[0]["container_id"] == one["container_id"]
    assert [i["type"] for i in second.items] == ["reasoning", "code_interpreter_call", "reasoning",
                                                 "function_call" if number % 2 else "message"]
    return first.sequence + second.sequence + 2, one["container_id"]


def fifty_conversations_at_once_keep_their_order():
    with Server() as server, concurrent.futures.ThreadPoolExecutor(STREAMS) as pool:
        talks = list(pool.map(lambda number: talk(server, number), range(STREAMS)))
        assert len({container for _, container in talks}) == STREAMS
        print(f"# {sum(events for events, _ in talks)} events in {2 * STREAMS} streams")
        assert server.host.differences() == []
        assert is_alive(server.host.process.pid)


def open_streams(server, count):
    """Streams whose model has begun to speak and has fallen silent."""
    streams = []
    for number in range(count):
        stream = Stream(server.url, server.key, "POST", "/v1/responses",
                        {"model": "chat", "input": f"!say Number {number} is waiting\n!stall", "stream": True})
        stream.read(Reader(), "response.output_text.delta")
        streams.append(stream)
    return streams


def cost(server, streams, before):
    each = (server.resident() - before) / len(streams)
    print(f"# {len(streams)} open streams: {each / 1024:.1f} KiB each")
    return each


def an_open_stream_takes_little_memory():
    tap.need_own_memory(BUILD / "cupolad")
    with Server({"turn.max": "256", "turn.max_per_tenant": "256"}) as server:
        # What the first ones make for all that follow.
        for stream in open_streams(server, 5):
            stream.close()
        wait_until(lambda: all(entry["ended"] == "the client left" for entry in server.model.log), 60,
                   "the upstream connections to be closed")
        before = server.resident()
        streams = open_streams(server, STREAMS)
        few = cost(server, streams, before)
        streams += open_streams(server, OPEN_MAX - STREAMS)
        many = cost(server, streams, before)
        assert few <= STREAM_MAX and many <= STREAM_MAX
        for stream in streams:
            stream.close()
        # Each of them has hung up at the model, too.
        wait_until(lambda: all(entry["ended"] == "the client left" for entry in server.model.log), 60,
                   "the upstream connections to be closed")


def recorded(server, body):
    """The events of a response, as they came."""
    stream = Stream(server.url, server.key, "POST", "/v1/responses", {**body, "model": "chat", "stream": True})
    events = [event for _, event in stream.events]
    stream.close()
    return events


def play(events):
    """Whether a reader takes these, numbered anew."""
    reader = Reader()
    try:
        for number, event in enumerate(events):
            reader.add(event["type"], {**event, "sequence_number": number})
        reader.check()
    except (AssertionError, KeyError, IndexError):
        return False
    return True


def a_reader_of_these_tests_notices_each_event_that_is_not_in_its_place():
    with Server() as server:
        events = recorded(server, {"tools": [INTERPRETER], "input": block("file a.txt 9 1") + "!say all said\n!link"})
        assert play(events)
        for at, event in enumerate(events):
            assert not play(events[:at] + events[at + 1:]) or at == len(events) - 1, f"without {event}"
            assert not play(events[:at] + [event] + events[at:]), f"twice {event}"
        for at, (one, two) in enumerate(zip(events, events[1:])):
            assert not play(events[:at] + [two, one] + events[at + 2:]), f"{two} ahead of {one}"


if __name__ == "__main__":
    sys.exit(tap.run((fifty_conversations_at_once_keep_their_order, an_open_stream_takes_little_memory,
                      a_reader_of_these_tests_notices_each_event_that_is_not_in_its_place)))
