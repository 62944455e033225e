"""Health and metrics over HTTP, from a thread beside the loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from chronofact.runtime.health import Health
from chronofact.runtime.http import create_app
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.serve import serve

SUMMARY: Final = "Keeps a projection in step with the log; here only health and metrics."
STOP_S: Final = 2.0
LOOK_S: Final = 1.0


class HealthServer:
    """Answers /livez, /readyz and /metrics while the block runs; ``check`` tells what ended it early."""

    def __init__(self, health: Health, metrics: Metrics, *, host: str, port: int) -> None:
        self._health = health
        self._app = create_app("projector", SUMMARY, health=health, metrics=metrics)
        self._host = host
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="health", daemon=True)
        self._failure: BaseException | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(STOP_S)

    def watch(self, look: Callable[[], None]) -> None:
        """Have this called once a second, beside the loop."""
        self._loop.call_soon_threadsafe(self._tick, look)

    def _tick(self, look: Callable[[], None]) -> None:
        look()
        self._loop.call_later(LOOK_S, self._tick, look)

    def check(self) -> None:
        """Refuses to go on without the server.

        Raises:
            CannotListen, OSError: what ended it.
        """
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(
                serve(
                    self._app,
                    host=self._host,
                    port=self._port,
                    health=self._health,
                    stopping=self._stopping,
                    drain_timeout_s=STOP_S,
                )
            )
        except OSError as error:
            self._failure = error
