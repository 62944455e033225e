"""Libraries say the same up to twenty times a second while something is away: once a minute is enough."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

PAUSE_S: Final = 60.0
KINDS_MAX: Final = 1_000


class Seldom(logging.Filter):
    """Lets each message of each library through once in a while, by its template."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._monotonic = monotonic
        self._said: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this one is logged."""
        kind = (record.name, str(record.msg))
        now = self._monotonic()
        if now < self._said.get(kind, 0.0):
            return False
        if len(self._said) >= KINDS_MAX:
            self._said.clear()
        self._said[kind] = now + PAUSE_S
        return True
