"""Notices, from beside the loop, that it waits for an answer that does not come, and ends the wait."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from chronofact.runtime.failures import Transient
from chronofact.runtime.health import Health

PART: Final = "loop"
STALLED_S: Final = 15.0
CUT_S: Final = 75.0
"""Longer than any statement may take by Postgres' own clock."""


class Stall:
    """``turned`` is the loop's to call, ``look`` is called once a second by another thread."""

    def __init__(
        self, health: Health, *, monotonic: Callable[[], float], cut: Callable[[], None], part: str = PART
    ) -> None:
        self._health = health
        self._part = part
        self._monotonic = monotonic
        self._cut = cut
        self._turned_at = monotonic()
        self._lock = threading.Lock()
        self._is_over = False

    def counts(self, *, is_serving: bool) -> None:
        """Whether readiness depends on it."""
        self._health.counts(self._part, is_needed=is_serving)

    def turned(self) -> None:
        """The loop begins a turn."""
        self._turned_at = self._monotonic()

    def look(self) -> None:
        """Keep readiness true; beyond ``CUT_S`` break the connection that is waited at."""
        stood_s = self._monotonic() - self._turned_at
        with self._lock:
            if not self._is_over:
                self._tell(stood_s)
        if stood_s >= CUT_S:
            self._cut()

    def _tell(self, stood_s: float) -> None:
        if stood_s < STALLED_S:
            self._health.ready(self._part)
            return
        message = f"has waited for an answer, of Postgres most likely, for {stood_s:.0f} s"
        self._health.hindered(self._part, Transient("stalled", message))

    def forget(self) -> None:
        """The loop has ended: whoever looks once more says nothing of it."""
        with self._lock:
            self._is_over = True
            self._health.forget(self._part)
