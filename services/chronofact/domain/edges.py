"""Edges: stated ones, and in single-valued facts automatic ones to every earlier-starting version (semantics §3)."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from chronofact.domain.events import Mode
from chronofact.domain.spans import POS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chronofact.domain.spans import Span
    from chronofact.domain.standing import Standing, Version


_REPLACE: Final = Mode.REPLACE


class Edge:
    """A stated supersession ``src -> dst``; ``is_wish`` when a PROPOSED assertion said it."""

    __slots__ = ("dst", "effective_at", "event_id", "is_taken_back", "is_wish", "mode", "src")

    def __init__(
        self, event_id: bytes, src: Version, dst: Version, effective_at: int | None, mode: Mode | None, *, is_wish: bool
    ) -> None:
        self.event_id, self.src, self.dst = event_id, src, dst
        self.effective_at, self.mode = effective_at, mode
        self.is_wish, self.is_taken_back = is_wish, False

    @property
    def counts(self) -> bool:
        """Both ends known and ever active, not taken back, and not the wish of a proposal that was never admitted."""
        return (
            self.src.ever_active
            and self.dst.ever_active
            and self.src is not self.dst
            and not self.is_taken_back
            and (not self.is_wish or self.src.activated)
        )

    def effect(self) -> Span:
        """Where it has effect in valid time; empty when the start is not before the end."""
        src = self.src
        start = src.start if self.effective_at is None else self.effective_at
        if self.mode is _REPLACE or (self.mode is None and src.to == POS):
            return (start, POS)
        return (max(start, src.start), src.end)


def automatic_effect(version: Version) -> Span:
    """Where its automatic edges have effect: from its start for ever when it was asserted open, else its own time."""
    return (version.start, POS if version.to == POS else version.end)


def automatic_above(standing: Standing, version: Version) -> Iterator[Version]:
    """The active automatic versions that start later, nearest first."""
    autos = standing.autos
    for at in range(bisect_right(autos, (version.start, POS)), len(autos)):
        yield standing.numbered[autos[at][1] - 1]
