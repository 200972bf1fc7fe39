"""Responses that are streamed, read as the libraries of clients read them, and stricter.

A Reader holds what comes to the rules that those libraries enforce by throwing: numbers
without a gap, the response's own id in all of its events, items and their parts where they
are said to be, nothing of a kind that is not known. On top of that the events of each item
have to come in exactly the order that is documented, pieces have to make up the whole, and
the response at the end has to consist of the items that were shown on the way.

Only what Python brings along is used.
"""

import http.client
import json
import re

# A letter for each type, so that the order can be a regular expression.
LETTERS = {
    "response.created": "C", "response.queued": "Q", "response.in_progress": "P",
    "response.completed": "E", "response.incomplete": "I", "response.failed": "F",
    "response.output_item.added": "a", "response.output_item.done": "z",
    "response.code_interpreter_call.in_progress": "i", "response.code_interpreter_call_code.delta": "d",
    "response.code_interpreter_call_code.done": "k", "response.code_interpreter_call.interpreting": "r",
    "response.code_interpreter_call.completed": "c",
    "response.content_part.added": "p", "response.content_part.done": "q",
    "response.output_text.delta": "t", "response.output_text.annotation.added": "n", "response.output_text.done": "x",
    "response.refusal.delta": "f", "response.refusal.done": "g",
    "response.function_call_arguments.delta": "u", "response.function_call_arguments.done": "v",
    "response.reasoning_summary_part.added": "s", "response.reasoning_summary_text.delta": "l",
    "response.reasoning_summary_text.done": "m", "response.reasoning_summary_part.done": "w",
}
WHOLE_ITEM = "(?:aid*krc?z|ap(?:t+n*x|f+g)qz|au*vz|a(?:sl+mw)*z)"
# Where an item may be when all ends: what fails or is cancelled ends where it is.
CUT_ITEM = "(?:a|aid*|aid*k|aid*kr|aid*krc|ap|ap(?:t*n*|f*)|ap(?:t+n*x|f+g)q?|au*v?|asl*|asl+mw?)"
BEGIN = "CQ?P"
ORDERS = {
    "response.completed": f"{BEGIN}{WHOLE_ITEM}*E",
    "response.incomplete": f"{BEGIN}{WHOLE_ITEM}*{CUT_ITEM}?I",
    "response.failed": f"CQ?P?{WHOLE_ITEM}*{CUT_ITEM}?F",
    None: f"CQ?P?{WHOLE_ITEM}*{CUT_ITEM}?",  # it was cancelled
}
# Which events an item may have, by its type.
EVENTS_OF = {"code_interpreter_call": "idkrc", "message": "pqtnxfg", "function_call": "uv", "reasoning": "slmw"}
PIECES = {"d": "code", "t": "text", "f": "refusal", "u": "arguments", "l": "summary"}
WHOLES = {"k": "code", "x": "text", "g": "refusal", "v": "arguments", "m": "text"}


class Reader:
    """What a client has of one response, by its events.

    @after: the last event that another reader has had
    """

    def __init__(self, after=-1):
        self.sequence = after
        self.resumed = after >= 0
        self.id = None
        self.letters = ""
        self.items = []
        self.pieces = []
        self.parts = []
        self.notes = []
        self.shut = []
        self.response = None
        self.end = None

    def add(self, name, event):
        kind = event["type"]
        assert name == kind, f"'event: {name}' is not the type {kind}"
        assert self.end is None, f"{kind} after {self.end}"
        assert event["sequence_number"] == self.sequence + 1, f"{event['sequence_number']} after {self.sequence}"
        assert not event.get("error"), f"{kind} has an error at its top"
        assert kind in LETTERS, f"{kind} is not known to clients"
        self.sequence += 1
        letter = LETTERS[kind]
        self.letters += letter
        if letter.isupper():
            self.take_response(kind, event["response"])
        elif letter == "a":
            self.open_item(event)
        elif self.resumed and event["output_index"] >= len(self.items):
            raise AssertionError("resumed in the middle of an item: use the reader that has its beginning")
        elif letter == "z":
            self.close_item(event)
        else:
            self.take_event(letter, event)

    def take_response(self, kind, response):
        assert self.id or self.resumed or kind == "response.created", f"{kind} is the first event"
        self.id = self.id or response["id"]
        assert response["id"] == self.id
        self.response = response
        if kind in ("response.created", "response.queued", "response.in_progress"):
            assert response["output"] == [] and response["error"] is None and response["usage"] is None
            assert response["status"] in ("queued", "in_progress")
            return
        self.end = kind
        assert response["status"] == kind.removeprefix("response.")
        if kind == "response.completed":
            assert [self.same(i) for i in response["output"]] == [self.same(i) for i in self.items]
            assert response["usage"]["total_tokens"] > 0

    @staticmethod
    def same(item):
        return json.dumps(item, sort_keys=True)

    def open_item(self, event):
        item = event["item"]
        assert event["output_index"] == len(self.items), f"item {event['output_index']}, not {len(self.items)}"
        assert item["id"] and item["id"] not in [i["id"] for i in self.items]
        assert item["type"] in EVENTS_OF and item.get("status", "in_progress") == "in_progress"
        self.items.append(item)
        self.pieces.append("")
        self.parts.append(0)
        self.notes.append([])
        self.shut.append(False)

    def item_at(self, event, ident):
        at = event["output_index"]
        assert at < len(self.items), f"there is no item {at}"
        assert ident == self.items[at]["id"], f"{ident} is not at {at}"
        assert not self.shut[at], f"{event['type']} after the item was done"
        return at

    def close_item(self, event):
        done = event["item"]
        at = self.item_at(event, done["id"])
        assert done["type"] == self.items[at]["type"]
        assert done.get("status", "completed") in ("completed", "incomplete", "failed")
        if done["type"] == "code_interpreter_call":
            assert (self.letters[-2] == "c") == (done["status"] == "completed"), f"a call that is {done['status']}"
        said = {"code_interpreter_call": lambda: done["code"], "function_call": lambda: done["arguments"],
                "reasoning": lambda: "".join(p["text"] for p in done["summary"]),
                "message": lambda: "".join(p.get("text", p.get("refusal")) for p in done["content"])}
        assert said[done["type"]]() == self.pieces[at]
        assert [n for part in done.get("content", []) for n in part.get("annotations", [])] == self.notes[at]
        self.items[at], self.shut[at] = done, True

    def take_event(self, letter, event):
        at = self.item_at(event, event["item_id"])
        kind = self.items[at]["type"]
        assert letter in EVENTS_OF[kind], f"{event['type']} in a {kind}"
        if letter == "p":
            assert event["content_index"] == self.parts[at]
            self.parts[at] += 1
        elif kind == "message":
            assert event["content_index"] == self.parts[at] - 1
        if letter == "n":
            assert event["annotation_index"] == len(self.notes[at])
            self.notes[at].append(event["annotation"])
        elif letter in PIECES:
            assert event["delta"] != ""
            self.pieces[at] += event["delta"]
        elif letter in WHOLES:
            assert event[WHOLES[letter]] == self.pieces[at], f"the pieces do not make up the {WHOLES[letter]}"

    def check(self):
        """At the end of the stream: all came in the order that is documented."""
        if not self.resumed:
            assert re.fullmatch(ORDERS[self.end], self.letters), f"{self.letters} is no order for {self.end}"
        return self.response

    @property
    def text(self):
        return "".join(piece for piece, item in zip(self.pieces, self.items) if item["type"] == "message")

    @property
    def calls(self):
        return [item for item in self.items if item["type"] == "code_interpreter_call"]


def read_events(file):
    """(name, value) of each event; comments are what keeps proxies awake."""
    name, data = None, []
    while line := file.readline():
        line = line.decode().rstrip("\r\n")
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            data.append(line[6:])
        elif line == "" and data:
            assert len(data) == 1, "an event has more than one line of data"
            yield name, json.loads(data[0])
            name, data = None, []
        else:
            assert line == "" or line.startswith(":"), f"not of an event stream: {line!r}"
    assert not data, "the stream ends in the middle of an event"


class Stream:
    """A request that is answered with events, on a connection of its own."""

    def __init__(self, url, key, method, path, body=None, timeout=120):
        self.connection = http.client.HTTPConnection(url.split("//")[1], timeout=timeout)
        self.connection.request(method, path, json.dumps(body) if body is not None else None,
                                {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, f"{self.answer.status} {self.answer.read()[:400]}"
        assert self.answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        self.events = read_events(self.answer)

    def read(self, reader, until=None):
        """Read to the end, or to the first event of a type."""
        for name, event in self.events:
            reader.add(name, event)
            if name == until:
                return event
        assert until is None, f"no {until} came: {reader.letters}"
        # http.client keeps this to itself: a last chunk leaves None, a connection that broke does not.
        assert self.answer.chunk_left is None, "the stream was cut"
        self.close()
        return reader.check()

    def close(self):
        # The response holds the socket as well.
        self.answer.close()
        self.connection.close()


def ask(url, key, body, path="/v1/responses", reader=None):
    """Stream a response to its end. Return: its reader."""
    reader = reader or Reader()
    Stream(url, key, "POST", path, {**body, "stream": True}).read(reader)
    return reader
