"""Since when and until when: of a memory and of a fact, by what the sentence says of time, else by the time of its turn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from chronofact.text.dates import Dates
from chronofact.text.frames import Frame, Holds, Modality, Temporality
from chronofact.text.untaken import Untaken

_STATES: Final = frozenset({"at", "is"})
_HAPPENED: Final = frozenset({Temporality.CHANGE, Temporality.STARTED, Temporality.ENDED})


@dataclass(frozen=True, slots=True)
class Window:
    """Half open, in microseconds; a start of None is not known. ``said`` where the text says it, and not only the turn."""

    start: int | None
    end: int | None = None
    said: bool = False


def of_memory(dates: Dates, frames: Iterable[Frame], at: int | None) -> Window:
    """When a memory holds. What happened stays so; what is planned is planned now; one that says a time holds from its turn on."""
    told = list(frames)
    if dates.why_not is not None:
        return Window(None)  # some other time than the turn's is said
    if not dates.are_there or says_when(told):
        return Window(at)
    if told and all(frame.modality is not Modality.ASSERTED for frame in told):
        return _ordered(at, dates.end or dates.by, at)
    if dates.within is not None:
        is_state = bool(told) and all(map(_is_state, told))
        closes = any(frame.cardinality is Holds.ONE for frame in told)
        return _of_stretch(dates.within, at, is_state=is_state, is_from_then=closes)
    if dates.by is not None:
        return (
            Window(dates.by, None, said=True) if at is not None and dates.by <= at else Window(at, dates.by, said=True)
        )
    start = dates.start
    if start is None and at is not None and dates.end is not None and at < dates.end:
        start = at
    return Window(start, dates.end, said=True)


def says_when(frames: Iterable[Frame]) -> bool:
    """Whether a time is what the sentence says ("the review is on Friday"), and not when that holds."""
    return any(frame.slot.partition(":")[0] == "schedule" for frame in frames)


def _is_state(frame: Frame) -> bool:
    """What holds within a time, and not what is done in it, of which it stays true that it was done."""
    stem = frame.slot.partition(":")[0]
    return frame.temporality is Temporality.CURRENT and (frame.cardinality is Holds.ONE or stem in _STATES)


def _of_stretch(within: tuple[int, int], at: int | None, *, is_state: bool, is_from_then: bool) -> Window:
    """A state holds within it, and what happened from then on; what says no value of one slot is true as soon as it is said."""
    start, end = within
    first = start if at is None or is_from_then else min(start, at)
    return Window(first, end if is_state and (at is None or end > at) else None, said=True)


def _ordered(start: int | None, end: int | None, at: int | None) -> Window:
    if start is not None and end is not None and end <= start:
        return Window(at)
    return Window(start, end, said=end is not None)


def of_fact(frame: Frame, dates: Dates, at: int | None) -> Window | Untaken:
    """When a frame's value holds, or why that can't be told; "for now" without an end is until nobody knows when."""
    found = _of_frame(frame, dates, at)
    if isinstance(found, Untaken) or "one_off" not in frame.guards or found.end is not None:
        return found
    return found if found.said and frame.temporality in _HAPPENED else Untaken.ONE_OFF


def _of_frame(frame: Frame, dates: Dates, at: int | None) -> Window | Untaken:
    if dates.why_not is not None:
        return dates.why_not
    if frame.temporality is Temporality.PAST:
        return _of_past(dates)
    if dates.by is not None:
        return Untaken.DATED_BY
    if dates.within is not None:
        first, last = dates.within
        return Window(first, None if frame.temporality in _HAPPENED else last, said=True)
    start = dates.start if dates.start is not None else at
    if start is None:
        return Untaken.TIMELESS
    if dates.end is not None and dates.end <= start:
        return Untaken.ENDED_BEFORE
    return Window(start, dates.end, said=dates.start is not None or dates.end is not None)


def _of_past(dates: Dates) -> Window | Untaken:
    """What was, was only where both its ends are known."""
    if dates.within is not None:
        return Window(*dates.within, said=True)
    if dates.start is None or dates.end is None:
        return Untaken.PAST
    return Window(dates.start, dates.end, said=True)
