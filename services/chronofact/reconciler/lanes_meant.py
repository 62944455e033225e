"""What lines on the long lanes of versions mean: the picture of each lane after each event that changed it.

A lane of more than eight stretches is painted whole again now and then, and when depends on how long its fact was kept
in memory. Such a line says nothing new, so two ways to paint the same pictures mean the same. Every other line of a
timeline is a function of the log alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import groupby
from typing import Any, Final, TypeAlias

from chronofact.reconciler.verify_ports import LaneLine

ALWAYS_WHOLE_MAX: Final = 8
"""A lane of at most so many stretches is painted whole with each change."""

Stretch: TypeAlias = tuple[float, float, tuple[Any, ...]]
"""From, to, and what is said over it."""
Pictures: TypeAlias = dict[int, list[tuple[int, str, tuple[Stretch, ...]]]]
"""Of each lane: the events that changed it, since when that is known, and the picture from then on."""


def mean_the_same(left: Iterable[LaneLine], right: Iterable[LaneLine], lanes: Collection[int]) -> bool:
    """Whether these lanes, whose lines differ, are long ones that show the same after every event."""
    mine, theirs = pictures_of(left), pictures_of(right)
    return all(
        lane in mine
        and mine[lane] == theirs.get(lane)
        and max(len(picture) for _, _, picture in mine[lane]) > ALWAYS_WHOLE_MAX
        for lane in lanes
    )


def pictures_of(lines: Iterable[LaneLine]) -> Pictures:
    """Of lines lane by lane, in the order of events."""
    pictures: Pictures = {}
    for lane, of_lane in groupby(lines, lambda line: line.lane):
        shown: tuple[Stretch, ...] = ()
        seen = pictures.setdefault(lane, [])
        for (event_seq, known_from), painted in groupby(of_lane, lambda line: (line.event_seq, line.known_from)):
            now = shown
            for line in painted:
                now = _painted(now, line)
            if now != shown or not seen:
                seen.append((event_seq, known_from, now))
                shown = now
    return pictures


def _painted(shown: tuple[Stretch, ...], line: LaneLine) -> tuple[Stretch, ...]:
    start = float("-inf") if line.valid_from is None else line.valid_from
    end = float("inf") if line.valid_to is None else line.valid_to
    versions = None if line.versions is None else tuple(line.versions)
    said = (line.kind, line.reason, line.answer_key, versions, line.winner)
    left = [(low, min(high, start), what) for low, high, what in shown if low < start]
    right = [(max(low, end), high, what) for low, high, what in shown if high > end]
    return tuple(_joined([*left, (start, end, said), *right]))


def _joined(stretches: list[Stretch]) -> Iterable[Stretch]:
    """Neighbours that say the same are one."""
    low, high, said = stretches[0]
    for start, end, what in stretches[1:]:
        if start == high and what == said:
            high = end
            continue
        yield low, high, said
        low, high, said = start, end, what
    yield low, high, said
