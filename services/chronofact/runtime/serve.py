"""Runs an application until it is told to stop, then finishes what was taken."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final

import structlog
import uvicorn
from fastapi import FastAPI

from chronofact.runtime.health import Health, Reason
from chronofact.runtime.logging import place_of

STOPPED: Final = 0
FAILED: Final = 1
_KEEP_ALIVE_S = 75


class _Server(uvicorn.Server):
    """uvicorn that leaves signals to the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing is captured."""
        yield


class CannotListen(OSError):
    """The address is taken, or not ours to take."""

    def __init__(self, host: str, port: int, why: str) -> None:
        super().__init__(f"can't listen at {host}:{port}: {why}")


@contextmanager
def listening_or_exit(service: str) -> Iterator[None]:
    """An address that can't be listened at ends the process with code 1, on stderr."""
    try:
        yield
    except CannotListen as error:
        variable = f"CHRONOFACT_{service.upper()}"
        sys.stderr.write(f"chronofact: {error}; name another by {variable}_HOST and {variable}_PORT\n")
        sys.exit(1)


async def serve(
    app: FastAPI,
    *,
    host: str,
    port: int,
    health: Health,
    stopping: asyncio.Event,
    drain_timeout_s: float,
    beside: Collection[asyncio.Task[None]] = (),
) -> int:
    """Serves until ``stopping`` is set; readiness goes first, then new connections, then what was taken is finished.

    What the service does by itself runs ``beside``: where some of it fails, by a fault of ours, the service stops, too.
    Returns the code to leave with.
    """
    listener = _listener(host, port)
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=int(drain_timeout_s),
        lifespan="off",
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    log = structlog.get_logger()
    log.info("started", host=host, port=listener.getsockname()[1], version=app.version)
    stop = asyncio.create_task(stopping.wait())
    ends: set[asyncio.Future[Any]] = {serving, stop, *beside}
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    code = _code(beside)
    if code == FAILED:
        stopping.set()
    health.hindered("process", Reason("shutting_down", "the process is about to stop"))
    log.info("stopping")
    server.should_exit = True
    await serving
    return code


def _code(beside: Collection[asyncio.Task[None]]) -> int:
    code = STOPPED
    for task in beside:
        if task.done() and not task.cancelled() and (fault := task.exception()) is not None:
            structlog.get_logger().critical("failed", code="fault", message=place_of(fault))
            code = FAILED
    return code


def _listener(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=_family(host), backlog=2_048)
    except OSError as error:
        raise CannotListen(host, port, os.strerror(error.errno) if error.errno else str(error)) from None


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
