"""A service on a real socket that answers from a script and keeps what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    params: list[tuple[str, str]]
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return orjson.loads(self.body)


@dataclass(frozen=True)
class Told:
    """One scripted reply; status 0 cuts the connection."""

    body: Any = field(default_factory=dict)
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


class ScriptedService:
    """Replies in order; the last one is repeated."""

    def __init__(self, *script: Told) -> None:
        self.script = list(script)
        self.asked: list[Asked] = []
        self.url = ""

    def next(self) -> Told:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@contextmanager
def serving(*script: Told) -> Iterator[ScriptedService]:
    service = ScriptedService(*script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            service.asked.append(
                Asked(self.command, parts.path, parse_qsl(parts.query), dict(self.headers.items()), body)
            )
            told = service.next()
            if told.status == 0:
                self.connection.close()
                self.close_connection = True
                return
            content = orjson.dumps(told.body)
            self.send_response(told.status)
            self.send_header("Content-Length", str(len(content)))
            for name, value in told.headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        service.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()
