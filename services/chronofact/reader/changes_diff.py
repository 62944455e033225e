"""Where the answer is another because of one event, from what it and those before it painted (semantics §5)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from chronofact.contracts.changes import OPEN_END, OPEN_START, Stroke

UNKNOWN, VALUE, CONFLICT, VALUES, UNLISTED = range(5)
NEVER_RECORDED: Final = 7


class Stretch(NamedTuple):
    """From now on this is the answer over ``[start, end)``; ``winner`` None of a value is a crowd's, to be looked up."""

    start: str
    end: str
    kind: int
    reason: int | None
    versions: tuple[int, ...]
    winner: int | None = None


class _Answer(NamedTuple):
    kind: int
    reason: int | None
    versions: tuple[int, ...]
    winner: int | None = None

    def is_like(self, other: _Answer) -> bool:
        """Whether both say the same by the same versions."""
        return self[:3] == other[:3]


_NOTHING: Final = _Answer(UNKNOWN, NEVER_RECORDED, ())


def needs_more(painted: Sequence[Stroke]) -> bool:
    """Whether lane 0 alone, as painted, does not tell: it was repainted whole, perhaps where nothing changed."""
    start = OPEN_START
    for stroke in sorted(painted, key=_by_start):
        if stroke.start != start:
            return False
        start = stroke.end
    return start == OPEN_END


def changed_plainly(painted: Iterable[Stroke]) -> list[Stretch]:
    """What an event changed that painted some of lane 0 only: just that."""
    stretches: list[Stretch] = []
    for stroke in sorted(painted, key=_by_start):
        _add(stretches, stroke.start, stroke.end, _Answer(stroke.kind, stroke.reason, _numbers(stroke), stroke.winner))
    return stretches


def changed(strokes: Iterable[Stroke], event_seq: int) -> list[Stretch]:
    """What an event changed, from all strokes up to it; none may be missing that shows where the event painted."""
    ordered = sorted(strokes, key=lambda stroke: stroke.event_seq)
    painted = [stroke for stroke in ordered if stroke.event_seq == event_seq]
    if not painted:
        return []
    low, high = min(one.start for one in painted), max(one.end for one in painted)
    cuts = sorted({low, *(bound for one in ordered for bound in one[3:5] if low < bound < high)})
    canvas = _Canvas(cuts, high)
    for stroke in ordered[: len(ordered) - len(painted)]:
        canvas.paint(stroke)
    before = canvas.answers()
    for stroke in painted:
        canvas.paint(stroke)
    stretches: list[Stretch] = []
    for at, (was, now) in enumerate(zip(before, canvas.answers(), strict=True)):
        if not was.is_like(now):
            _add(stretches, cuts[at], cuts[at + 1] if at + 1 < len(cuts) else high, now)
    return stretches


def touched(painted: Iterable[Stroke]) -> list[Stretch]:
    """Where an event painted, without the answer: what is too much to be said."""
    stretches: list[Stretch] = []
    for stroke in sorted(painted, key=_by_start):
        if stretches and stroke.start <= stretches[-1].end:
            end = max(stretches[-1].end, stroke.end)
            stretches[-1] = stretches[-1]._replace(end=end)
        else:
            stretches.append(Stretch(stroke.start, stroke.end, UNLISTED, None, ()))
    return stretches


class _Canvas:
    """Lanes over the stretches between cuts."""

    def __init__(self, cuts: Sequence[str], end: str) -> None:
        self._cuts = cuts
        self._end = end
        self._lanes: dict[int, list[Stroke | None]] = {}

    def paint(self, stroke: Stroke) -> None:
        """Over what was there."""
        lane = self._lanes.setdefault(stroke.lane, [None] * len(self._cuts))
        first = bisect_left(self._cuts, stroke.start)
        last = len(self._cuts) if stroke.end >= self._end else bisect_left(self._cuts, stroke.end)
        if first < last:
            lane[first:last] = [stroke] * (last - first)

    def answers(self) -> list[_Answer]:
        """The answer of each stretch."""
        return [self._answer(at) for at in range(len(self._cuts))]

    def _answer(self, at: int) -> _Answer:
        lane_0 = self._lanes.get(0)
        top = None if lane_0 is None else lane_0[at]
        if top is not None and top.kind != VALUES and top.versions is not None:
            return _Answer(top.kind, top.reason, _numbers(top), top.winner)
        shown = [(number, stroke) for number, lane in self._lanes.items() if number and (stroke := lane[at])]
        eligible = tuple(sorted(number for number, stroke in shown if stroke.kind == VALUE))
        if top is not None and top.kind in {VALUE, CONFLICT}:
            return _Answer(top.kind, None, eligible)
        if eligible:
            return _Answer(VALUES, None, eligible)
        reasons = [stroke.reason for _, stroke in shown if stroke.reason is not None]
        return _Answer(UNKNOWN, min(reasons), ()) if reasons else _NOTHING


def _add(stretches: list[Stretch], start: str, end: str, answer: _Answer) -> None:
    last = stretches[-1] if stretches else None
    if last is not None and last.end == start and last[2:5] == answer[:3]:
        stretches[-1] = last._replace(end=end)
    else:
        stretches.append(Stretch(start, end, *answer))


def _numbers(stroke: Stroke) -> tuple[int, ...]:
    return tuple(stroke.versions or ())


def _by_start(stroke: Stroke) -> str:
    return stroke.start
