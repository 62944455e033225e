"""CPU time and memory of process trees."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

import psutil


def cpu_s(processes: list[psutil.Process]) -> float:
    """Seconds that these processes have spent so far."""
    total = 0.0
    for process in processes:
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system
    return total


def server_cpu_s(pid: int) -> float:
    """Seconds that a server has spent so far, those of its processes that have ended and been waited for with them."""
    ended = psutil.Process(pid).cpu_times()
    return cpu_s(tree(pid)) + ended.children_user + ended.children_system


def tree(pid: int) -> list[psutil.Process]:
    """A process with all its descendants."""
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def listening_on(port: int) -> int | None:
    """The process that listens on a port of this machine, where it can be seen."""
    for connection in psutil.net_connections("tcp"):
        if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port:
            return connection.pid
    return None


class PeakMemory:
    """The largest resident size of a process while the block runs, in MB."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.mb = 0.0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.is_set():
            try:
                self.mb = max(self.mb, self._process.memory_info().rss / 1e6)
            except psutil.Error:
                return
            self._done.wait(0.2)


def percentile(values: list[float], share: float) -> float:
    """The value below which this share of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
