"""How much may be parked before the fault must be ours."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

WINDOW_EVENTS: Final = 10_000
PARKED_SHARE_MAX: Final = 0.01
PARKED_ROW_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class ParkingLimits:
    """Beyond these the projector stops; raised by an operator who knows the topic to be poisoned, not us wrong."""

    share_max: float = PARKED_SHARE_MAX
    row_max: int = PARKED_ROW_MAX


DEFAULT_LIMITS: Final = ParkingLimits()


class ParkingLimit(Exception):
    """Too many messages of a partition can't be applied: stop, since something is wrong with us."""

    def __init__(self, partition: int, offset: int, limit: str) -> None:
        super().__init__(
            f"partition {partition} at offset {offset}: {limit} can't be applied; the last batch was undone; "
            "see what is wrong with us, or with the topic: docs/operations/parked.md"
        )
        self.partition = partition
        self.offset = offset


class ParkingMeter:
    """Counts what one partition parked for its own sake; messages held behind an earlier one do not count."""

    def __init__(
        self, parked: Iterable[int] = (), *, next_offset: int = 0, limits: ParkingLimits = DEFAULT_LIMITS
    ) -> None:
        self._parked = deque(parked)
        self._limits = limits
        self._row = 0
        for offset in reversed(self._parked):
            if offset != next_offset - self._row - 1:
                break
            self._row += 1

    def copy(self) -> ParkingMeter:
        """An independent meter, to be kept only if its batch commits."""
        twin = ParkingMeter(self._parked, limits=self._limits)
        twin._row = self._row
        return twin

    def applied(self) -> None:
        """An event went through, so a row of failures ends."""
        self._row = 0

    def forget(self, offset: int) -> None:
        """What was parked there is released or given up."""
        if offset in self._parked:
            self._parked.remove(offset)
            self._row = 0

    def park(self, partition: int, offset: int) -> None:
        """Count one more.

        Raises:
            ParkingLimit: 50 in a row, or more than 1 % of the last 10,000.
        """
        row_max, share_max = self._limits.row_max, self._limits.share_max
        self._row += 1
        self._parked.append(offset)
        while self._parked[0] <= offset - WINDOW_EVENTS:
            self._parked.popleft()
        if self._row >= row_max:
            raise ParkingLimit(partition, offset, f"{row_max} messages in a row")
        if len(self._parked) > WINDOW_EVENTS * share_max:
            raise ParkingLimit(partition, offset, f"more than {share_max:.0%} of the last {WINDOW_EVENTS:,}")
