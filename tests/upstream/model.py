#!/usr/bin/python3
"""A model that does what it is told: Chat Completions and Responses over HTTP.

It is no model at all. Its last user message is a script, and the same script always
gives the same answer, so that tests, examples and documentation need no model and no
key. A script is any text; these parts of it mean something:

    ```python       a block of code: a call of the code tool. Several blocks are called
    ```             one after the other, one in each round
    !call NAME {…}  a call of function NAME with these arguments, in line with the blocks
                    "Call the function NAME with {…}" says the same
    !together       all calls in the first round at once
    !repeat N       the calls N times over
    !repair         a block that ends in KeyError is answered as a good model would: look at
                    the columns of its data frame, then run it again with the nearest name
    !insist         call the code tool in every round, for ever

    !say TEXT       the last answer; without it, the last result of a tool, or "Hello."
    !link           … and links to all files that the results say were created
    [x](sandbox:…)  … and such links, as they stand on lines of their own
    !instructions   … or the system text
    !tools          … or the names of the tools that were offered, and the choice
    !context        … or what the context consists of, an item a line
    !big N          … or N KiB of text

    !think TEXT     reasoning ahead of everything else
    !refuse TEXT    a refusal for an answer
    !cut            ended by the limit of tokens, in the middle of what it says
    !filtered       ended by the content filter

    !status N [times=M] [after=TEXT] [words…]   the HTTP status N, with Retry-After: TEXT
    !error CODE words…  an error in the stream, behind its first piece
    !drop           the connection ends in the middle
    !unfinished     the stream ends without a reason to finish
    !slow MS        so long before each piece
    !stall          nothing more after the first piece, and the connection stays
    !dead           no answer at all, and the connection stays
    !once           what goes wrong goes wrong for the first request of a script only

    !whole          calls come in one piece
    !bare           calls lack what they can: index, id, type
    !plain          arguments are the bare code, no JSON
    !early          "stop" for a reason after calls, and no [DONE]
    !unstreamed     one JSON object, though a stream was asked for
    !raw TEXT       for a stream, TEXT as in Python's string literals, then the end

GET /log tells what was asked (newest last), and how each request ended.

A message may also be a question in plain words for which a script was given.

    model.py [--port N] [--key KEY] [--tls PEM] [--name NAME] [--always SCRIPT]
             [--scripts FILE]
"""

import argparse
import difflib
import hmac
import http.server
import json
import re
import ssl
import sys
import threading
import time
import uuid

CODE_PARAMETERS = ("code", "python_code", "input", "script", "source")
LOG_MAX = 200
STALL_SECONDS = 3600
PIECE = 6  # characters


class Refused(Exception):
    """A request that a real server would not take, either."""

    def __init__(self, message, status=400, code=None, after=None):
        super().__init__(message)
        self.status, self.code, self.after = status, code, after


class Dropped(Exception):
    """The connection is to end now."""


# ------------------------------------------------------------------ what was asked


class Script:
    """The last user message, taken apart."""

    def __init__(self, text):
        self.text = text
        self.blocks = re.findall(r"```python\n(.*?)\n?```", text, re.S)
        rest = re.sub(r"```python\n.*?```", "```", text, flags=re.S)
        self.words = {}
        self.calls = []
        blocks = iter(self.blocks)
        for line in rest.splitlines():
            if line.strip().startswith("```"):
                self.calls.extend([(None, block)] if (block := next(blocks, None)) is not None else [])
            elif match := re.match(r"\s*(?:!call|Call the function) (\S+) ?(?:with )?(.*)", line):
                self.calls.append((match[1], match[2] or "{}"))
            elif match := re.match(r"\s*!([a-z]+)\b ?(.*)", line):
                self.words[match[1]] = match[2].strip()
        self.calls *= int(self.words.get("repeat", 1))
        plain = re.sub(r"^\s*![a-z].*", "", text, flags=re.M)
        self.links = re.findall(r"\[[^\]]*\]\(sandbox:[^)\s]*\)", plain)

    def has(self, word):
        return word in self.words

    def get(self, word, fallback=""):
        return self.words.get(word, fallback)


class Asked:
    """A request in terms that both protocols have.

    context: (kind, text) of each item; kind is a role, "call", "result" or "reasoning".
    """

    def __init__(self, context, tools, choice, body):
        self.context, self.tools, self.choice, self.body = context, tools, choice, body
        last = max((i for i, (kind, _) in enumerate(context) if kind == "user"), default=-1)
        self.script = Script(context[last][1] if last >= 0 else "")
        tail = context[last + 1 :]
        self.results = [text for kind, text in tail if kind == "result"]
        self.calls_made = sum(kind == "call" for kind, _ in tail)

    def instructions(self):
        return "\n".join(text for kind, text in self.context if kind in ("system", "developer"))

    def code_tool(self):
        """Name and parameter of the tool that takes code; None if there is none."""
        for name, parameters in self.tools.items():
            for key in CODE_PARAMETERS:
                if key in (parameters or {}).get("properties", {}):
                    return name, key
        return None


def flat(content):
    """The text of a content, whichever way it is written."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part.get("text", "") or part.get("refusal", "") for part in content)
    return ""


def need(condition, message):
    if not condition:
        raise Refused(message)


def check_common(body):
    need(isinstance(body.get("model"), str) and body["model"], "'model' is missing")
    if not body.get("tools"):
        need("tool_choice" not in body, "'tool_choice' is only allowed when 'tools' are specified")
        need("parallel_tool_calls" not in body, "'parallel_tool_calls' is only allowed when 'tools' are specified")


def check_choice(choice, tools):
    if isinstance(choice, dict):
        name = choice.get("name") or choice.get("function", {}).get("name")
        need(name in tools, f"tool choice '{name}' is not among the tools")
        return name
    need(choice in (None, "auto", "none", "required"), f"invalid tool_choice {choice!r}")
    return choice


def chat_message(message, open_calls, context):
    role = message.get("role")
    need(role in ("system", "developer", "user", "assistant", "tool"), f"invalid role {role!r}")
    need(not open_calls or role == "tool", "'tool_calls' must be followed by tool messages responding to each")
    if role == "tool":
        need(open_calls and open_calls.pop(0) == message.get("tool_call_id"),
             f"unexpected 'tool_call_id' {message.get('tool_call_id')!r}")
        need(isinstance(message.get("content"), (str, list)), "'content' of a tool message is missing")
        context.append(("result", flat(message["content"])))
        return
    calls = message.get("tool_calls") or []
    need(calls or message.get("content") is not None, "'content' is missing")
    if message.get("content"):
        context.append((role, flat(message["content"])))
    for call in calls:
        need(call.get("type") == "function" and call.get("id"), "a tool call lacks 'type' or 'id'")
        need(isinstance(call["function"]["arguments"], str), "'arguments' must be a string")
        open_calls.append(call["id"])
        context.append(("call", f"{call['function']['name']} {call['function']['arguments']}"))


def read_chat(body):
    check_common(body)
    need(body.get("messages"), "'messages' is missing")
    need(body.get("stream") or "stream_options" not in body, "'stream_options' is only allowed when streaming")
    context, open_calls = [], []
    for message in body["messages"]:
        chat_message(message, open_calls, context)
    need(not open_calls, f"'tool_calls' without an answer: {open_calls}")
    tools = {t["function"]["name"]: t["function"].get("parameters") for t in body.get("tools", [])}
    return Asked(context, tools, check_choice(body.get("tool_choice"), tools), body)


def responses_item(item, open_calls, context):
    kind = item.get("type", "message")
    if kind == "function_call":
        need(item.get("call_id") and isinstance(item.get("arguments"), str), "a function_call lacks fields")
        open_calls.add(item["call_id"])
        context.append(("call", f"{item['name']} {item['arguments']}"))
    elif kind == "function_call_output":
        need(item.get("call_id") in open_calls, f"No tool call found for call_id {item.get('call_id')!r}")
        open_calls.discard(item["call_id"])
        context.append(("result", flat(item["output"])))
    elif kind == "reasoning":
        context.append(("reasoning", flat(item.get("summary"))))
    else:
        need(kind == "message", f"invalid type {kind!r}")
        context.append((item["role"], flat(item["content"])))


def read_responses(body):
    check_common(body)
    need("input" in body, "'input' is missing")
    need(body.get("store") is False, "this server keeps nothing: 'store' must be false")
    items = body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]
    context, open_calls = [], set()
    if body.get("instructions"):
        context.append(("system", body["instructions"]))
    for item in items:
        responses_item(item, open_calls, context)
    need(not open_calls, f"No tool output found for function call {sorted(open_calls)}")
    tools = {t["name"]: t.get("parameters") for t in body.get("tools", [])}
    return Asked(context, tools, check_choice(body.get("tool_choice"), tools), body)


# ------------------------------------------------------------------ what is answered


def repair(asked, code):
    """The next step of !repair, or None: columns after a KeyError, then the nearest one."""
    lost = [re.search(r"KeyError: ['\"](.+?)['\"]", result) for result in asked.results]
    if lost and lost[-1]:
        frame = re.search(r"(\w+) *= *\w+\.read_", code)
        return f'print(*{frame[1] if frame else "df"}.columns, sep="\\n")'
    if len(lost) > 1 and lost[-2]:
        columns = [line.strip() for line in asked.results[-1].splitlines() if line.strip()]
        near = difflib.get_close_matches(lost[-2][1], columns, 1, 0)
        return code.replace(lost[-2][1], near[0]) if near else None
    return None


def next_calls(asked):
    """The calls of this round: (name, arguments)."""
    script, made = asked.script, asked.calls_made
    calls = script.calls
    if not asked.tools or asked.choice == "none":
        return []
    if script.has("insist"):
        calls = [(None, "print('again')")] * (made + 1)
    if not calls and made == 0 and asked.choice not in (None, "auto"):
        chosen = next(iter(asked.tools)) if asked.choice == "required" else asked.choice
        tool = asked.code_tool()
        calls = [(None, "print('as you insist')")] if tool and tool[0] in (chosen, next(iter(asked.tools))) \
            and asked.choice in ("required", tool[0]) else [(chosen, "{}")]
    if script.has("repair") and script.blocks and (code := repair(asked, script.blocks[-1])):
        return [encode(asked, None, code)]
    due = calls[made:] if script.has("together") else calls[made : made + 1]
    return [encode(asked, *call) for call in due if call[0] or asked.code_tool()]


def encode(asked, name, arguments):
    if name:
        return name, arguments
    tool, key = asked.code_tool()
    return tool, arguments if asked.script.has("plain") else json.dumps({key: arguments})


def answer_text(asked):
    script = asked.script
    if script.has("instructions"):
        return asked.instructions()
    if script.has("tools"):
        return f"{' '.join(asked.tools) or 'none'}; choice: {asked.choice or 'auto'}"
    if script.has("context"):
        return "\n".join(f"{kind}: {text[:200]}" for kind, text in asked.context)
    if script.has("big"):
        return ("0123456789abcde\n" * 64) * int(script.get("big"))
    parts = [script.get("say")] if script.has("say") else \
        [f"The result is: {asked.results[-1][:4000]}" if asked.results else "Hello."]
    links = list(script.links)
    if script.has("link"):
        names = dict.fromkeys(re.findall(r"/mnt/data/([^\s,]+)", "\n".join(asked.results)))
        links += [f"[{name}](sandbox:/mnt/data/{name})" for name in names]
    return "\n".join(parts + ([f"📎 {' '.join(links)}"] if links else []))


class Answer:
    """What the model says to a request."""

    def __init__(self, asked):
        self.asked, self.script = asked, asked.script
        self.reasoning = self.script.get("think")
        self.calls = next_calls(asked)
        self.refusal = self.script.get("refuse", None) if not self.calls else None
        self.text = "" if self.calls or self.refusal is not None else answer_text(asked)
        if self.script.has("cut"):
            self.text = self.text[: len(self.text) // 2]
            self.calls = [(name, text[: len(text) // 2]) for name, text in self.calls]

    def usage(self):
        said = len(self.text) + len(self.reasoning) + sum(len(a) for _, a in self.calls)
        return len(json.dumps(self.asked.body)) // 4 + 1, said // 4 + 1, len(self.reasoning) // 4


def pieces(text):
    return (text[i : i + PIECE] for i in range(0, len(text), PIECE))


def new_id(prefix):
    return prefix + uuid.uuid4().hex


class ChatWriter:
    """Pieces of a chat completion."""

    def __init__(self, answer):
        self.answer, self.script = answer, answer.script
        self.base = {"id": new_id("chatcmpl-"), "object": "chat.completion.chunk", "created": int(time.time()),
                     "model": answer.asked.body["model"]}

    def reason(self):
        if self.script.has("cut"):
            return "length"
        if self.script.has("filtered"):
            return "content_filter"
        return "tool_calls" if self.answer.calls and not self.script.has("early") else "stop"

    def usage(self):
        asked, said, thought = self.answer.usage()
        return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said,
                "prompt_tokens_details": {"cached_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": thought}}

    def chunk(self, delta, reason=None):
        return None, {**self.base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    def call(self, index, name, arguments):
        head = {"index": index, "id": new_id("call_"), "type": "function", "function": {"name": name, "arguments": ""}}
        rest = {"index": index}
        if self.script.has("bare"):
            head, rest = {"function": {"name": name, "arguments": ""}}, {}
        if self.script.has("whole"):
            head["function"]["arguments"] = arguments
            yield self.chunk({"tool_calls": [head]})
            return
        yield self.chunk({"tool_calls": [head]})
        for piece in pieces(arguments):
            yield self.chunk({"tool_calls": [{**rest, "function": {"arguments": piece}}]})

    def events(self):
        yield self.chunk({"role": "assistant", "content": None if self.answer.calls else ""})
        for piece in pieces(self.answer.reasoning):
            yield self.chunk({"reasoning_content": piece})
        for piece in pieces(self.answer.text):
            yield self.chunk({"content": piece})
        for piece in pieces(self.answer.refusal or ""):
            yield self.chunk({"refusal": piece})
        for index, (name, arguments) in enumerate(self.answer.calls):
            yield from self.call(index, name, arguments)
        if self.script.has("unfinished"):
            return
        yield self.chunk({}, self.reason())
        if self.answer.asked.body.get("stream_options", {}).get("include_usage"):
            yield None, {**self.base, "choices": [], "usage": self.usage()}
        if not self.script.has("early"):
            yield None, "[DONE]"

    def whole(self):
        calls = [{"id": new_id("call_"), "type": "function", "function": {"name": n, "arguments": a}}
                 for n, a in self.answer.calls]
        message = {"role": "assistant", "content": self.answer.text or None, "refusal": self.answer.refusal,
                   **({"tool_calls": calls} if calls else {})}
        return {**self.base, "object": "chat.completion", "usage": self.usage(),
                "choices": [{"index": 0, "message": message, "finish_reason": self.reason()}]}

    def failure(self, code, message):
        return None, {"error": {"message": message, "type": code, "param": None, "code": code}}


class ResponsesWriter:
    """Events of a response."""

    def __init__(self, answer):
        self.answer, self.script = answer, answer.script
        self.base = {"id": new_id("resp_"), "object": "response", "created_at": int(time.time()),
                     "model": answer.asked.body["model"], "error": None, "incomplete_details": None}
        self.output = []

    def event(self, kind, **members):
        return kind, {"type": kind, **members}

    def message(self):
        item = {"id": new_id("msg_"), "type": "message", "status": "completed", "role": "assistant"}
        kind, key, text = ("refusal", "refusal", self.answer.refusal) if self.answer.refusal is not None else \
            ("output_text", "text", self.answer.text)
        at = {"item_id": item["id"], "output_index": len(self.output), "content_index": 0}
        done = {"type": kind, key: text, **({"annotations": [], "logprobs": []} if kind == "output_text" else {})}
        yield self.event("response.output_item.added", output_index=len(self.output),
                         item={**item, "status": "in_progress", "content": []})
        yield self.event("response.content_part.added", **at, part={**done, key: ""})
        for piece in pieces(text):
            yield self.event(f"response.{kind}.delta", **at, delta=piece)
        yield self.event(f"response.{kind}.done", **at, **{key: text})
        yield self.event("response.content_part.done", **at, part=done)
        yield from self.end({**item, "content": [done]})

    def end(self, item):
        yield self.event("response.output_item.done", output_index=len(self.output), item=item)
        self.output.append(item)

    def call(self, name, arguments):
        item = {"id": new_id("fc_"), "type": "function_call", "status": "completed", "call_id": new_id("call_"),
                "name": name, "arguments": arguments}
        at = {"item_id": item["id"], "output_index": len(self.output)}
        yield self.event("response.output_item.added", output_index=len(self.output),
                         item={**item, "status": "in_progress", "arguments": ""})
        for piece in [] if self.script.has("whole") else pieces(arguments):
            yield self.event("response.function_call_arguments.delta", **at, delta=piece)
        yield self.event("response.function_call_arguments.done", **at, name=name, arguments=arguments)
        yield from self.end(item)

    def thought(self):
        item = {"id": new_id("rs_"), "type": "reasoning"}
        at = {"item_id": item["id"], "output_index": len(self.output), "summary_index": 0}
        yield self.event("response.output_item.added", output_index=len(self.output), item={**item, "summary": []})
        for piece in pieces(self.answer.reasoning):
            yield self.event("response.reasoning_summary_text.delta", **at, delta=piece)
        if "reasoning.encrypted_content" in self.answer.asked.body.get("include", ()):
            item["encrypted_content"] = "cipher of " + self.answer.reasoning
        yield from self.end({**item, "summary": [{"type": "summary_text", "text": self.answer.reasoning}]})

    def usage(self):
        asked, said, thought = self.answer.usage()
        return {"input_tokens": asked, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": said,
                "output_tokens_details": {"reasoning_tokens": thought}, "total_tokens": asked + said}

    def final(self):
        why = "max_output_tokens" if self.script.has("cut") else \
            "content_filter" if self.script.has("filtered") else None
        return {**self.base, "status": "incomplete" if why else "completed", "output": self.output,
                "incomplete_details": {"reason": why} if why else None, "usage": self.usage()}

    def events(self):
        begun = {**self.base, "status": "in_progress", "output": []}
        yield self.event("response.created", response=begun)
        yield self.event("response.in_progress", response=begun)
        if self.answer.reasoning:
            yield from self.thought()
        for name, arguments in self.answer.calls:
            yield from self.call(name, arguments)
        if not self.answer.calls:
            yield from self.message()
        if self.script.has("unfinished"):
            return
        final = self.final()
        yield self.event(f"response.{final['status']}", response=final)

    def whole(self):
        for _ in self.events():
            pass
        return self.final()

    def failure(self, code, message):
        return self.event("error", code=code, message=message, param=None)


# ------------------------------------------------------------------ over HTTP

PROTOCOLS = {"/chat/completions": (read_chat, ChatWriter), "/responses": (read_responses, ResponsesWriter)}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 0

    def log_message(self, *_):
        """Say nothing: the log is at /log."""

    def send_json(self, status, value, after=None):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if after:
            self.send_header("Retry-After", after)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.path.rstrip("/") == "/log":
            self.send_json(200, self.server.log)
        elif self.path.rstrip("/").endswith("/models"):
            self.send_json(200, {"object": "list", "data": [{"id": self.server.name, "object": "model", "created": 0,
                                                             "owned_by": "tests"}]})
        else:
            self.send_json(404, {"error": {"message": f"there is no {self.path}", "type": "invalid_request_error"}})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        entry = {"path": self.path, "headers": dict(self.headers), "body": None, "ended": "under way",
                 "connection": self.client_address[1]}
        self.server.note(entry)
        try:
            entry["body"] = json.loads(body)
            self.answer(entry)
            entry["ended"] = "answered"
        except Refused as refused:
            entry["ended"] = f"refused: {refused}"
            self.send_json(refused.status, {"error": {"message": str(refused), "type": "invalid_request_error",
                                                      "param": None, "code": refused.code}}, refused.after)
        except Dropped:
            entry["ended"] = "dropped"
            self.close_connection = True
        except OSError:
            entry["ended"] = "the client left"
            self.close_connection = True

    def answer(self, entry):
        path = re.sub(r"\?.*", "", self.path)
        protocol = next((p for p in PROTOCOLS if path.endswith(p)), None)
        if not protocol:
            raise Refused(f"there is no {path}", 404)
        if self.server.key and not hmac.compare_digest(self.headers.get("Authorization", ""),
                                                       f"Bearer {self.server.key}"):
            raise Refused("Incorrect API key provided", 401, "invalid_api_key")
        read, writer = PROTOCOLS[protocol]
        asked = read(entry["body"])
        asked.script = Script(self.server.scripts.get(asked.script.text, asked.script.text))
        if self.server.always:
            asked.script = Script(f"{asked.script.text}\n{self.server.always}")
        faults = self.server.faults_of(asked.script)
        self.fail_early(faults)
        writer = writer(Answer(asked))
        if not entry["body"].get("stream") or asked.script.has("unstreamed"):
            self.send_json(200, writer.whole())
        else:
            self.stream(writer, faults)

    def fail_early(self, faults):
        if "dead" in faults:
            self.wait(STALL_SECONDS)
        if "status" in faults:
            status, *words = faults["status"].split()
            after = next((w[6:] for w in words if w.startswith("after=")), "").replace("_", " ")
            words = [w for w in words if not re.match("(times|after)=", w)]
            raise Refused(" ".join(words) or "told to fail", int(status), "told_to_fail", after)

    def wait(self, seconds):
        """Let time pass, but not behind the back of a client that leaves."""
        self.connection.settimeout(seconds)
        try:
            self.connection.recv(1)
        except TimeoutError:
            return
        raise ConnectionError

    def write_event(self, kind, value):
        text = value if isinstance(value, str) else json.dumps(value)
        self.write_chunk((f"event: {kind}\n" if kind else "") + f"data: {text}\n\n")

    def write_chunk(self, text):
        data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def stream(self, writer, faults):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if "raw" in faults:
            self.write_chunk(faults["raw"].encode().decode("unicode_escape").encode("latin-1"))
        else:
            self.write_events(writer, faults)
        self.wfile.write(b"0\r\n\r\n")

    def write_events(self, writer, faults):
        begun = 0
        for sequence, (kind, value) in enumerate(writer.events()):
            if "slow" in faults:
                self.wait(int(faults["slow"]) / 1000)
            if kind and isinstance(value, dict):
                value["sequence_number"] = sequence
            self.write_event(kind, value)
            begun += self.says_something(kind, value)
            if begun == 0:
                continue
            if "error" in faults:
                code, _, message = faults["error"].partition(" ")
                self.write_event(*writer.failure(code or "server_error", message or "told to fail"))
                return
            if "stall" in faults:
                self.wait(STALL_SECONDS)
            if "drop" in faults and begun == 2:
                raise Dropped

    @staticmethod
    def says_something(kind, value):
        if kind:
            return kind.endswith(".delta")
        delta = value["choices"][0]["delta"] if isinstance(value, dict) and value.get("choices") else {}
        return any(delta.get(key) for key in ("content", "refusal", "reasoning_content", "tool_calls"))


FAULTS = ("status", "error", "drop", "slow", "stall", "dead", "raw")


class Model(http.server.ThreadingHTTPServer):
    """The server: with Model() as model: … model.url …"""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port=0, key=None, tls=None, name="test-model", always=None, scripts=None):
        super().__init__(("127.0.0.1", port), Handler)
        self.key, self.name, self.always, self.log = key, name, always, []
        self.scripts, self.failures, self.lock = scripts or {}, {}, threading.Lock()
        self.scheme = "https" if tls else "http"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls)
            self.socket = context.wrap_socket(self.socket, server_side=True)

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.server_address[1]}/v1"

    def note(self, entry):
        with self.lock:
            self.log.append(entry)
            del self.log[:-LOG_MAX]

    def handle_error(self, *_):
        """A client that leaves is no error of a server."""

    def faults_of(self, script):
        """What is to go wrong with this request; "!once" and "times=N" count by script."""
        faults = {word: script.get(word) for word in FAULTS if script.has(word)}
        times = re.search(r"\btimes=(\d+)", faults.get("status", ""))
        limit = int(times[1]) if times else 1 if script.has("once") else None
        if limit is None or not faults:
            return faults
        with self.lock:
            count = self.failures[script.text] = self.failures.get(script.text, 0) + 1
        return faults if count <= limit else {}

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", help="the key that is wanted; without it, anybody may ask")
    parser.add_argument("--tls", metavar="PEM", help="certificate and key")
    parser.add_argument("--name", default="test-model")
    parser.add_argument("--always", metavar="SCRIPT", help="what every script has at its end")
    parser.add_argument("--scripts", metavar="FILE", type=argparse.FileType(encoding="utf-8"),
                        help="a JSON object: the script of each message that is in plain words")
    options = parser.parse_args()
    scripts = json.load(options.scripts) if options.scripts else None
    model = Model(options.port, options.key, options.tls, options.name, options.always, scripts)
    print(model.url, flush=True)
    try:
        model.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    sys.exit(main())
