"""The worker processes of a load: started, watched, started again when they die, and never left behind."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

import orjson
import psutil
import structlog
from pydantic import SecretStr

from chronofact.contracts.rebuilding import Rebuild, RebuildCancelled, RebuildLost
from chronofact.contracts.standstill import TOLD_S, Ended, Standstill, nobody_is_told
from chronofact.embedded.compiled import with_build
from chronofact.reconciler.rebuilding.signs import Silence
from chronofact.runtime.config import Settings
from chronofact.runtime.failures import Corruption, Unfit

DEATHS_MAX: Final = 5
"""Workers that died since anything of the load was last done."""
STOP_S: Final = 5.0
START_S: Final = 30.0
"""The first sign may take so long, since all that a worker needs is read from the disk before it."""
_SAID: Final = (
    *("kafka", "kafka_options", "postgres", "facts_topic", "rebuild_folder", "rebuild_bucket_bytes"),
    *("rebuild_memory_bytes", "parked_share_max", "parked_row_max", "log_level"),
)
"""Settings that a worker works by."""


class WorkerProcess:
    """One of them, heard and ended; what it says last is kept."""

    def __init__(self, process: subprocess.Popen[bytes], monotonic: Callable[[], float]) -> None:
        assert isinstance(process.stdout, io.FileIO)  # noqa: S101 - a pipe without a buffer
        os.set_blocking(process.stdout.fileno(), False)
        self._process = process
        self._stdout = process.stdout
        self._said = b""
        self._seen = psutil.Process(process.pid)
        self._ran_s = 0.0
        self.silence = Silence(monotonic)
        self.was_heard = self.is_ended = False

    def listen(self) -> int | None:
        """Takes in what it says; its exit code once it is dead."""
        code = self._process.poll()
        heard = self._stdout.readall()
        self._said += heard or b""
        self.silence.listen(heard, has_run=self._has_run())
        self.was_heard |= bool(heard)
        return code

    def _has_run(self) -> bool:
        """Whether it was on some core since the last look."""
        before = self._ran_s
        with suppress(psutil.Error):  # it is dead
            self._ran_s = sum(self._seen.cpu_times()[:2])
        return self._ran_s > before

    def end(self) -> None:
        """By force: what stands still hears nothing else."""
        self.is_ended = True
        self._process.kill()

    def last_words(self) -> bytes:
        """What it said but signs of life; it is dead, or will be."""
        assert self._process.stdin is not None  # noqa: S101 - a pipe
        self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):  # one in the hands of a dead disk dies when that lets it go
            self._process.wait(STOP_S)
        self.listen()
        self._stdout.close()
        return self._said.strip()


class Workers:
    """As many processes as the rebuild says; all are gone when the block ends."""

    def __init__(
        self,
        settings: Settings,
        rebuild: Rebuild,
        *,
        still_ended: Ended = nobody_is_told,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._environ = environ_of(settings)
        self._still_s = settings.rebuild_still_s
        self._still_ended = still_ended
        self._monotonic = monotonic
        self._rebuild = rebuild
        self._running: dict[int, WorkerProcess] = {}
        self._deaths = 0
        self._done = -1

    def __enter__(self) -> Self:
        for number in range(1, self._rebuild.workers + 1):
            self._start(number)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._running.values():
            worker.end()
        for worker in self._running.values():
            worker.last_words()
        self._running.clear()

    def still(self) -> dict[int, Standstill]:
        """Those that give no sign of life any more, by number."""
        silent = ((number, worker.silence) for number, worker in self._running.items() if worker.was_heard)
        return {number: Standstill(one.since, one.seconds) for number, one in silent if one.seconds >= TOLD_S}

    def watch(self, done: int) -> bool:
        """Whether any still works; one that stands still is killed, and another begins from its checkpoint.

        ``done`` grows with whatever the load gets done.

        Raises:
            Unfit, Corruption, RebuildLost, RebuildCancelled: what ended a worker.
            Unfit: ``worker_dies``: they die again and again, and nothing gets done.
        """
        if done > self._done:
            self._done, self._deaths = done, 0
        for number, worker in list(self._running.items()):
            code = worker.listen()
            if code is None:
                still_s = self._still_s if worker.was_heard else max(self._still_s, START_S)
                if worker.silence.seconds >= still_s and not worker.is_ended:
                    self._end_still(number, worker)
                continue
            del self._running[number]
            told = worker.last_words()
            if told:
                self._end(orjson.loads(told))
            elif code:
                self._died(number, code)
        return bool(self._running)

    def _start(self, number: int) -> None:
        rebuild = self._rebuild
        line = [sys.executable, "-m", "chronofact.reconciler.rebuilding"]
        arguments = (str(rebuild.rebuild_id), str(rebuild.epoch), str(number), rebuild.projection)
        process = subprocess.Popen(  # noqa: S603 - ourselves
            [*line, *arguments], env=self._environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self._running[number] = WorkerProcess(process, self._monotonic)

    def _end_still(self, number: int, worker: WorkerProcess) -> None:
        silence = worker.silence
        structlog.get_logger().error("worker_still", worker=number, since=silence.since.isoformat())
        worker.end()
        self._still_ended(f"worker {number}", Standstill(silence.since, silence.seconds))

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
