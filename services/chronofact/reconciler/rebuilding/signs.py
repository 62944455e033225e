"""Signs of life of a load's workers: given while their work goes on, and missed by their runner."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

SIGN: Final = b"\n"
SIGN_S: Final = 1.0
HANG_S: Final = 600.0
"""Work that made no step for so long, and waits for nothing of Postgres, comes to no end."""
LOOK_S_MAX: Final = 2.0
"""What counts of the time between two looks: a runner that stood still itself has heard nothing, either."""


class Signs:
    """Of a worker; they end where the process is stopped, and where its work hangs."""

    def __init__(
        self,
        write: Callable[[bytes], object],
        *,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._write = write
        self._monotonic = monotonic
        self._sleep = sleep
        self._stepped_at = monotonic()
        self._is_over = False

    def step(self) -> None:
        """The work goes on."""
        self._stepped_at = self._monotonic()

    def rest(self, seconds: float) -> None:
        """Sleep for a while, which is a step."""
        self.step()
        self._sleep(seconds)

    def give(self, is_asking: Callable[[], bool]) -> None:
        """One after another, in a thread of its own; ``is_asking`` says whether an answer is waited for."""
        while not self._is_over:
            if is_asking() or self._monotonic() - self._stepped_at < HANG_S:
                self._write(SIGN)
            self._sleep(SIGN_S)

    def end(self) -> None:
        """No more of them."""
        self._is_over = True


class Silence:
    """Since when nothing was heard, and for how much of that somebody listened."""

    def __init__(self, monotonic: Callable[[], float], now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._monotonic = monotonic
        self._now = now
        self._listened_at = monotonic()
        self._unheard_s = 0.0
        self.since = now()
        self.seconds = 0.0

    def listen(self, heard: bytes | None, *, has_run: bool = False) -> None:
        """One look: what was heard, if anything, and whether it was at work on some core meanwhile.

        Who runs does not stand still: where cores are scarce, or one call computes for long, signs come late.
        """
        now = self._monotonic()
        passed_s = min(now - self._listened_at, LOOK_S_MAX)
        self._unheard_s = 0.0 if heard else self._unheard_s + passed_s
        if heard or (has_run and self._unheard_s < HANG_S):
            self.since, self.seconds = self._now(), 0.0
        else:
            self.seconds += passed_s
        self._listened_at = now
