"""Which part of a projection the next sweep has to look at: what came since the last one, and now and then all of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from chronofact.postgres.judging_store import Released
from chronofact.postgres.looking import Ref
from chronofact.postgres.memories import Window

WHOLE_S: Final = 3_600.0
"""Between two looks at all of it: nothing is known that they would find, so they need not be many."""
LEFT_MAX: Final = 1_000
RELEASED_MAX: Final = 1_000
"""Places into which something came late that are looked at one by one; beyond these it is all of the projection."""


class Reached(NamedTuple):
    """How far a projection had come in its topic."""

    topic_id: bytes
    next_offsets: Mapping[int, int]

    def is_behind(self, other: Reached) -> bool:
        """Whether the other one is of the same topic, and nowhere less far."""
        pairs = ((at, other.next_offsets.get(partition, -1)) for partition, at in self.next_offsets.items())
        return self.topic_id == other.topic_id and all(at <= further for at, further in pairs)


class Unlooked:
    """Of one projection; what is younger than ``age_s`` is left to the messages that tell of it."""

    def __init__(self, age_s: float) -> None:
        self._age_s = age_s
        self._marks: deque[tuple[float, Reached]] = deque()
        self._looked: Reached | None = None
        self._whole_at = 0.0
        self.released = 0
        """The number of the last message that was looked at, of those that had been parked and were applied late."""

    def windows(self, now: float, reached: Reached | None, released: Sequence[Released] = ()) -> list[Window] | None:
        """What came since, and is old enough, or late into old places; None where all of it is to be looked at."""
        if (
            len(released) >= RELEASED_MAX
            or self._looked is None
            or reached is None
            or now >= self._whole_at
            or not self._looked.is_behind(reached)
        ):
            return None
        late = [Window(one.partition, one.offset, one.offset + 1) for one in released]
        until = self._mark(now)
        if until is None:
            return late
        begun = self._looked.next_offsets
        came = [
            Window(partition, begun.get(partition, 0), end)
            for partition, end in until.next_offsets.items()
            if end > begun.get(partition, 0)
        ]
        return came + late

    def looked(self, now: float, reached: Reached | None, released: Sequence[Released] = (), *, is_whole: bool) -> None:
        """A sweep that began at ``now`` and found the projection there is over; the newest that was released is first."""
        if released:
            self.released = released[0].number
        mark = self._mark(now)
        if reached is None or (self._marks and not self._marks[-1][1].is_behind(reached)):
            self._marks.clear()
            self._looked = mark = None
        if mark is not None:
            self._looked = mark
        if is_whole:
            self._whole_at = now + WHOLE_S
        if reached is not None:
            self._marks.append((now, reached))
        while len(self._marks) > 1 and self._marks[1][0] <= now - self._age_s:
            self._marks.popleft()

    def _mark(self, now: float) -> Reached | None:
        """The newest that is old enough: all below it came at least so long ago."""
        return next((reached for at, reached in reversed(self._marks) if at <= now - self._age_s), None)


class Left:
    """Memories that the projection did not show when they were told of: the next sweeps ask for them by name."""

    def __init__(self) -> None:
        self._refs: dict[bytes, Ref] = {}

    def keep(self, ref: Ref) -> None:
        """One more, as far as there is room: all of the projection is looked at now and then."""
        if len(self._refs) < LEFT_MAX:
            self._refs[ref.version_id] = ref

    def done(self, ref: Ref) -> None:
        """It was there."""
        self._refs.pop(ref.version_id, None)

    def listed(self) -> list[Ref]:
        """All, the first first."""
        return list(self._refs.values())
