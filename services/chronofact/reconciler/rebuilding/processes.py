"""The worker processes of a load: started, watched, started again when they die, and never left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

import orjson
import structlog
from pydantic import SecretStr

from chronofact.contracts.rebuilding import Rebuild, RebuildCancelled, RebuildLost
from chronofact.embedded.compiled import with_build
from chronofact.runtime.config import Settings
from chronofact.runtime.failures import Corruption, Unfit

DEATHS_MAX: Final = 5
"""Workers that died since anything of the load was last done."""
STOP_S: Final = 5.0
_SAID: Final = (
    *("kafka", "kafka_options", "postgres", "facts_topic", "rebuild_folder", "rebuild_bucket_bytes"),
    *("rebuild_memory_bytes", "parked_share_max", "parked_row_max", "log_level"),
)
"""Settings that a worker works by."""


class Workers:
    """As many processes as the rebuild says; all are gone when the block ends."""

    def __init__(self, settings: Settings, rebuild: Rebuild) -> None:
        self._environ = environ_of(settings)
        self._rebuild = rebuild
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._deaths = 0
        self._done = -1

    def __enter__(self) -> Self:
        for number in range(1, self._rebuild.workers + 1):
            self._start(number)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._running.values():
            process.kill()
        for process in self._running.values():
            self._reaped(process)
        self._running.clear()

    @property
    def pids(self) -> list[int]:
        """Of those at work."""
        return [process.pid for process in self._running.values()]

    def watch(self, done: int) -> bool:
        """Whether any still works; ``done`` grows with whatever the load gets done.

        Raises:
            Unfit, Corruption, RebuildLost, RebuildCancelled: what ended a worker.
            Unfit: ``worker_dies``: they die again and again, and nothing gets done.
        """
        if done > self._done:
            self._done, self._deaths = done, 0
        for number, process in list(self._running.items()):
            code = process.poll()
            if code is None:
                continue
            del self._running[number]
            told = self._reaped(process)
            if told:
                self._end(orjson.loads(told))
            elif code:
                self._died(number, code)
        return bool(self._running)

    def _start(self, number: int) -> None:
        rebuild = self._rebuild
        line = [sys.executable, "-m", "chronofact.reconciler.rebuilding"]
        arguments = (str(rebuild.rebuild_id), str(rebuild.epoch), str(number), rebuild.projection)
        self._running[number] = subprocess.Popen(  # noqa: S603 - ourselves
            [*line, *arguments], env=self._environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def _died(self, number: int, code: int) -> None:
        self._deaths += 1
        structlog.get_logger().error("worker_died", worker=number, exit=code)
        if self._deaths >= DEATHS_MAX:
            raise Unfit(
                "worker_dies",
                f"{self._deaths} workers died and nothing got done; the last one with {code}",
                remedy="see the reconciler's log, and whether the machine has memory left",
            )
        self._start(number)

    def _end(self, told: Mapping[str, str]) -> None:
        match told["kind"]:
            case "RebuildLost":
                raise RebuildLost(self._rebuild.rebuild_id)
            case "RebuildCancelled":
                raise RebuildCancelled
            case "Unfit":
                raise Unfit(told["code"], told["message"], remedy=told["remedy"])
            case _:
                raise Corruption(told["message"])

    @staticmethod
    def _reaped(process: subprocess.Popen[bytes]) -> bytes:
        """What it said last; it is dead."""
        assert process.stdin is not None  # noqa: S101 - both are pipes
        assert process.stdout is not None  # noqa: S101
        process.stdin.close()
        with process.stdout as stdout:
            told = stdout.read()
        process.wait(STOP_S)
        return told


def environ_of(settings: Settings) -> dict[str, str]:
    """Our environment with the settings as they are here, wherever they came from, and the compiled fold if there is one."""
    said = {}
    for name in _SAID:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            value = value.get_secret_value()
        if value is not None:
            said[f"CHRONOFACT_{name.upper()}"] = orjson.dumps(value).decode() if isinstance(value, dict) else str(value)
    return with_build({**os.environ, **said})
