"""Says in the log what hinders: at once, again less and less often while it lasts, and once that it has passed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import structlog

FIRST_PAUSE_S: Final = 60.0
PAUSE_S_MAX: Final = 3_600.0


@dataclass(slots=True)
class _Hindrance:
    """Of one part: since when, by what now, and when each code is said again, and how long it is silent then."""

    since: float
    code: str
    again: dict[str, tuple[float, float]] = field(default_factory=dict)


class Hindrances:
    """What hinders each part now; another code is news, but no more often than the first where they take turns."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._known: dict[str, _Hindrance] = {}

    def tell(self, part: str, *, code: str, message: str, remedy: str | None) -> None:
        """It is hindered, or still is."""
        now = self._monotonic()
        known = self._known.get(part)
        if known is None:
            known = self._known[part] = _Hindrance(now, code)
        known.code = code
        again_at, pause_s = known.again.get(code, (now, FIRST_PAUSE_S))
        if now >= again_at:
            known.again[code] = now + pause_s, min(PAUSE_S_MAX, 2 * pause_s)
            for_s = round(now - known.since, 1)
            structlog.get_logger().warning(
                "hindered", part=part, code=code, message=message, remedy=remedy, for_s=for_s
            )

    def passed(self, part: str) -> None:
        """Nothing hinders it; silent where nothing did."""
        if (known := self._known.pop(part, None)) is not None:
            for_s = round(self._monotonic() - known.since, 1)
            structlog.get_logger().info("recovered", part=part, code=known.code, for_s=for_s)

    def forget(self, part: str) -> None:
        """There is no such part any more."""
        self._known.pop(part, None)
