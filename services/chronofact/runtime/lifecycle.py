"""How a process learns that it should stop, and how long it may then take."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import structlog

CUT_SHORT: Final = 1
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """An event that SIGINT, SIGTERM or SIGHUP sets, in place of their usual effect; main thread only."""
    stopping = threading.Event()
    before = {number: signal.signal(number, lambda *_: stopping.set()) for number in STOP_SIGNALS}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interrupt_on_signals() -> Iterator[None]:
    """The first SIGINT, SIGTERM or SIGHUP raises KeyboardInterrupt, later ones are ignored; main thread only."""
    is_told = False

    def interrupt(_number: int, _frame: object) -> None:
        nonlocal is_told
        if not is_told:
            is_told = True
            raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stop_loop_on_signals(*, leave_within_s: float | None = None) -> Iterator[asyncio.Event]:
    """The same for a running event loop; with a time after which the process is gone in any case."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if leave_within_s is not None and not stopping.is_set():
            leave_within(leave_within_s)
        stopping.set()

    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, stop)
    try:
        yield stopping
    finally:
        for number in STOP_SIGNALS:
            loop.remove_signal_handler(number)


def leave_within(seconds: float) -> None:
    """The process is gone after so many seconds, though a thread may wait for an answer that never comes.

    For what may be killed at any moment anyway, as late as its end.
    """
    timer = threading.Timer(seconds, _leave)
    timer.daemon = True
    timer.start()


def _leave() -> None:
    structlog.get_logger().warning("cut_short", reason="what was at work did not end in time")
    os._exit(CUT_SHORT)
