"""What was read of a sentence's time so far, and what the pieces say together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from chronofact.text.periods import Period, shifted
from chronofact.text.points import Point
from chronofact.text.untaken import Untaken


@dataclass(slots=True)
class Found:
    """What was read so far."""

    starts: set[date] = field(default_factory=set)
    ends: set[date] = field(default_factory=set)
    within: set[tuple[date, date]] = field(default_factory=set)
    by: set[date] = field(default_factory=set)
    spans: list[tuple[int, int]] = field(default_factory=list)
    lasting: tuple[str, int] | None = None
    """How long what begins then, or now, goes on."""
    why_not: Untaken | None = None
    is_absolute: bool = True

    def note(self, point: Point) -> Period:
        """A point's days, and whether they depend on when it was said."""
        self.is_absolute &= point.is_absolute
        return point.period


def last_until(found: Found, today: date | None) -> None:
    """``for two weeks``, where nothing else says until when: from the start, or from the day on which it was said."""
    if found.lasting is None or found.ends or found.by or found.within or len(found.starts) > 1:
        return
    start = min(found.starts, default=today)
    if start is None:
        found.why_not = found.why_not or Untaken.TIMELESS
        return
    try:
        found.ends.add(shifted(start, *found.lasting))
    except (ValueError, OverflowError):
        found.why_not = found.why_not or Untaken.IMPOSSIBLE


def why_not_of(found: Found) -> Untaken | None:
    """Why the pieces say no time together."""
    if len(found.starts) > 1 or len(found.ends) > 1 or len(found.by) > 1:
        return Untaken.CONTRADICT
    if found.starts and found.ends and min(found.starts) >= max(found.ends):
        return Untaken.CONTRADICT
    if found.within and (found.starts or found.ends or found.by):
        return Untaken.SEVERAL
    narrowest = min(found.within, key=lambda one: one[1] - one[0], default=None)
    if narrowest is not None and any(start > narrowest[0] or end < narrowest[1] for start, end in found.within):
        return Untaken.SEVERAL
    return None


def instant_of_days(days: set[date]) -> int | None:
    """The beginning of the only day of these."""
    return Period(*days, *days).bounds[0] if days else None


def without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text without these stretches, and without the commas that set them apart."""
    if not spans:
        return text
    kept, place = [], 0
    for start, end in spans:
        kept.append(text[place:start].rstrip())
        place = end
    rest = " ".join([*kept, text[place:].lstrip()])
    tidy = re.sub(r"\s+([.,;!?])", r"\1", re.sub(r"\s+", " ", rest)).strip().lstrip(",; ")
    return tidy[:1].upper() + tidy[1:]
