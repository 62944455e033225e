"""A model at an OpenAI-compatible address, over real HTTP: it answers by a rule that the test gives, or fails as told."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from chronofact.text import prompt

PATH = "/v1/chat/completions"


class Side(NamedTuple):
    """A memory as the model sees it."""

    name: str
    text: str
    valid_from: str


Rule = Callable[[Side, Side], tuple[str, Side | None]]
"""The relation of two memories, and the newer one where one supersedes."""


def all_unrelated(_left: Side, _right: Side) -> tuple[str, Side | None]:
    return "unrelated", None


@dataclass
class Request:
    """One that came: its body, its headers and the question in it."""

    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def system(self) -> str:
        return "".join(one["content"] for one in self.body["messages"] if one["role"] != "user")

    @property
    def question(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body["messages"][-1]["content"])
        return found

    @property
    def pairs(self) -> list[tuple[str, Side, Side]]:
        mark = self.question["mark"]
        sides = {
            one["id"]: Side(
                one["id"], one["text"].removeprefix(f"<{mark}>").removesuffix(f"</{mark}>"), one["valid_from"]
            )
            for one in self.question["memories"]
        }
        return [(one["id"], *(sides[name] for name in one["memories"])) for one in self.question["pairs"]]


Fault = Callable[["_Handler", Request], None]


@dataclass
class ModelServer:
    """``faults`` are used up one a request, then ``rule`` answers; ``requests`` are all that came."""

    url: str = ""
    rule: Rule = all_unrelated
    model: str = "small-model-2026-11-01"
    fingerprint: str | None = "fp_7"
    faults: deque[Fault] = field(default_factory=deque)
    always: Fault | None = None
    requests: list[Request] = field(default_factory=list)

    def verdicts(self, request: Request) -> list[dict[str, Any]]:
        """As the rule decides, and right about the pairs that the gate knows the answers of."""
        found = []
        for name, left, right in request.pairs:
            texts = {left.text, right.text}
            relation, newer = self.rule(left, right)
            if any(texts == set(pair) for pair in prompt._ALIKE):
                relation, newer = "near_duplicate", None
            elif any(texts == set(pair) for pair in prompt._STRANGE):
                relation, newer = "unrelated", None
            because = "attribute_changed" if relation == "supersedes" else "not_clear"
            found.append(
                {"pair": name, "relation": relation, "newer": newer and newer.name, "because": because},
            )
        return found

    def completion(self, content: Any, *, finish: str = "stop", **message: Any) -> dict[str, Any]:
        """A chat completion whose message is this."""
        text = content if isinstance(content, str) or content is None else json.dumps(content)
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.model,
            "system_fingerprint": self.fingerprint,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text, "refusal": None, **message},
                    "finish_reason": finish,
                }
            ],
            "usage": {"prompt_tokens": 700, "completion_tokens": 90, "total_tokens": 790},
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model_server: ModelServer

    def log_message(self, *_args: object) -> None:
        """Nothing is logged."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = Request(body, {name.lower(): said for name, said in self.headers.items()})
        server = self.model_server
        server.requests.append(request)
        if self.path != PATH or (why := unlike_the_protocol(body)) is not None:
            self.answer(400, {"error": {"message": why if self.path == PATH else "path", "type": "invalid_request"}})
        elif server.faults or server.always:
            fault = server.faults.popleft() if server.faults else server.always
            assert fault is not None
            fault(self, request)
        else:
            self.answer(200, server.completion({"verdicts": server.verdicts(request)}))

    def answer(self, status: int, body: Any, **headers: str) -> None:
        """JSON, or these bytes."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        for name, said in headers.items():
            self.send_header(name.replace("_", "-"), said)
        with suppress(OSError):  # who gave up waiting reads it no more
            self.end_headers()
            self.wfile.write(raw)


def unlike_the_protocol(body: dict[str, Any]) -> str | None:
    """What a strict server refuses of a request."""
    form = body.get("response_format", {})
    if {"model", "messages"} - set(body):
        return "model and messages are required"
    if [one["role"] for one in body["messages"]] != ["system", "user"]:
        return "roles"
    if form.get("type") != "json_schema" or form["json_schema"].get("strict") is not True:
        return "response_format"
    return _not_strict(form["json_schema"]["schema"])


def _not_strict(schema: dict[str, Any]) -> str | None:
    """Strict structured outputs want all properties required and none besides."""
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False or set(schema["required"]) != set(schema["properties"]):
            return "schema is not strict"
        return next(filter(None, map(_not_strict, schema["properties"].values())), None)
    return _not_strict(schema["items"]) if schema.get("type") == "array" else None


@contextmanager
def model_server(rule: Rule = all_unrelated, *, port: int = 0) -> Iterator[ModelServer]:
    """Listens on loopback while the block runs."""
    server = ModelServer(rule=rule)
    handler = type("Handler", (_Handler,), {"model_server": server})
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as http:
        http.daemon_threads = True
        server.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()


def status(code: int, **headers: str) -> Fault:
    """An error as OpenAI spells it."""

    def fault(handler: _Handler, _request: Request) -> None:
        handler.answer(code, {"error": {"message": "no", "type": "error", "code": str(code)}}, **headers)

    return fault


def slow(seconds: float) -> Fault:
    """Says nothing for so long."""

    def fault(handler: _Handler, request: Request) -> None:
        time.sleep(seconds)
        handler.answer(200, handler.model_server.completion({"verdicts": handler.model_server.verdicts(request)}))

    return fault


def drip(seconds: float) -> Fault:
    """Sends a byte now and then, so that no single read waits long."""

    def fault(handler: _Handler, _request: Request) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        until = time.monotonic() + seconds
        with suppress(OSError):
            while time.monotonic() < until:
                handler.wfile.write(b" ")
                time.sleep(0.02)
        handler.close_connection = True

    return fault


def body(raw: bytes) -> Fault:
    """A 200 with these bytes."""
    return lambda handler, _request: handler.answer(200, raw)


def content(text: Any, *, finish: str = "stop", **message: Any) -> Fault:
    """A completion that says this."""

    def fault(handler: _Handler, _request: Request) -> None:
        handler.answer(200, handler.model_server.completion(text, finish=finish, **message))

    return fault


def changed(change: Callable[[list[dict[str, Any]], Request], Any]) -> Fault:
    """The right answer, changed."""

    def fault(handler: _Handler, request: Request) -> None:
        verdicts = handler.model_server.verdicts(request)
        said = change(verdicts, request)
        handler.answer(200, handler.model_server.completion({"verdicts": verdicts if said is None else said}))

    return fault


def cut(*, after_bytes: int) -> Fault:
    """Breaks the connection in the middle of the answer."""

    def fault(handler: _Handler, request: Request) -> None:
        whole = handler.model_server.completion({"verdicts": handler.model_server.verdicts(request)})
        raw = json.dumps(whole).encode()
        if after_bytes:
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(raw)))
            handler.end_headers()
            handler.wfile.write(raw[:after_bytes])
            handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True

    return fault
