"""Has a projection that nobody reads wait for those that tenants read, within one process."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Final, Self

YIELD_S: Final = 0.25
"""How long one turn waits at most: what is read may have work without end, and the other has to come level, too."""
YIELDING_EVENTS_MAX: Final = 250
"""In one transaction beside others that have work: what it still takes of their time once they have some."""
QUIET_S: Final = 1.0
"""So long after the last work of those that are read, batches are as large as ever."""


class Turns:
    """Of all projections that a process feeds."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._served = 0
        self._served_at = -QUIET_S

    def begin(self) -> None:
        """One that tenants read has work."""
        with self._changed:
            self._served += 1
            self._served_at = time.monotonic()

    def end(self) -> None:
        """It has done it."""
        with self._changed:
            self._served -= 1
            self._served_at = time.monotonic()
            self._changed.notify_all()

    def wait(self) -> None:
        """Until those that tenants read have none, but not for ever."""
        with self._changed:
            self._changed.wait_for(lambda: not self._served, YIELD_S)

    @property
    def are_quiet(self) -> bool:
        """Whether those that tenants read have had no work for a while."""
        with self._changed:
            return not self._served and time.monotonic() - self._served_at >= QUIET_S


class OfTurns:
    """One projection's: a batch is applied within it."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._is_begun = False
        self.is_serving = True

    def events_max(self, most: int) -> int:
        """How many events the next batch may have."""
        return most if self.is_serving or self._turns.are_quiet else min(most, YIELDING_EVENTS_MAX)

    def __enter__(self) -> Self:
        self._is_begun = self.is_serving
        if self._is_begun:
            self._turns.begin()
        else:
            self._turns.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_begun:
            self._turns.end()
