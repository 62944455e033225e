"""A writer in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import httpx
import orjson

STOP_S = 20


class WriterProcess:
    """`python -m chronofact.writer` on a free port of loopback; ends with the block."""

    def __init__(self, kafka: str, topic: str, **settings: str) -> None:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("CHRONOFACT_")} | {
            "CHRONOFACT_KAFKA": kafka,
            "CHRONOFACT_FACTS_TOPIC": topic,
            "CHRONOFACT_AUTH": "off",
            "CHRONOFACT_WRITER_PORT": "0",
            **{f"CHRONOFACT_{name.upper()}": said for name, said in settings.items()},
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "chronofact.writer"], env=environ, stderr=subprocess.PIPE
        )
        assert self.process.stderr is not None
        self.logged = [orjson.loads(self.process.stderr.readline())]
        while "port" not in self.logged[-1]:  # it may have loaded models first
            self.logged.append(orjson.loads(self.process.stderr.readline()))
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{self.logged[-1]['port']}", timeout=30)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.http.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def send(self, commands: Any) -> httpx.Response:
        return self.http.post(
            "/v1/events", content=orjson.dumps(commands), headers={"content-type": "application/json"}
        )

    def reasons(self) -> list[str]:
        """What /readyz names."""
        return [reason["code"] for reason in self.http.get("/readyz").json()["reasons"]]

    def await_reasons(self, wanted: Callable[[list[str]], bool], *, timeout_s: float = 20) -> list[str]:
        deadline = time.monotonic() + timeout_s
        while not wanted(reasons := self.reasons()):
            assert time.monotonic() < deadline, reasons
            time.sleep(0.05)
        return reasons

    def await_ready(self) -> None:
        self.await_reasons(lambda reasons: not reasons)

    def stop(self) -> int:
        """SIGTERM; the exit code once it has left."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.stderr is not None
        rest = self.process.stderr.read()
        self.logged += [orjson.loads(line) for line in rest.splitlines()]
        return self.process.wait(STOP_S)
