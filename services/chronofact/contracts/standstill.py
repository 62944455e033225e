"""What is known of a process that stands still though its connections are alive: stopped, or on a frozen machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

TOLD_S: Final = 5.0
"""Without a sign of life for so long, it is told that it stands still."""
STILL_S: Final = 30.0
"""After so long it is ended, so that others go on."""


@dataclass(frozen=True, slots=True)
class Standstill:
    """It gave its last sign then, so long ago."""

    since: datetime
    seconds: float


IDLE_S: Final = 120.0
"""A rebuild that is not over and of which nobody has told for so long that it goes on is told of, whatever lives."""


Ended = Callable[[str, Standstill], None]
"""Told what the one that was ended had held: ``rebuild 3``, ``check p1``."""


def nobody_is_told(_what: str, _stood: Standstill) -> None:
    """Where nobody has asked."""
