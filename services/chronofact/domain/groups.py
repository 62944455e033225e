"""Groups of near duplicates: joined the smaller into the larger, each with its survivor at hand (semantics §3)."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from chronofact.domain.spans import NEG

if TYPE_CHECKING:
    from chronofact.domain.edges import Edge
    from chronofact.domain.standing import Version


class Group:
    """Versions that were ever active and are joined by near duplicates; what points at one of them points at all."""

    def __init__(self, first: Version) -> None:
        self.members: list[Version] = [first]
        self.survivor: Version | None = None
        self.low = self.high = first.start
        """The first and the last start of a member."""
        self.entered: dict[Version, None] = {}
        """Members that edges point at."""
        self.leaving: dict[Version, None] = {}
        """Members that point at others."""
        self._ages: dict[Version, tuple[bool, int, bytes]] = {}
        self._by_age: list[tuple[bool, int, bytes, Version]] = []
        self._entering: list[Edge] = []
        self._turn = -1
        first.group = self
        if first.ins:
            self.entered[first] = None
        if first.outs:
            self.leaving[first] = None
        self.renew(first)

    def renew(self, member: Version) -> None:
        """After a change of a member's standing: the active one with the earliest known start survives, ties by lowest id."""
        age = (not member.valid_from_known, member.start if member.valid_from_known else NEG, member.id)
        if self._ages.get(member) != age:
            self._ages[member] = age
            heappush(self._by_age, (*age, member))
        # who is not active any more was revoked, and stays so
        while self._by_age and not self._by_age[0][3].active:
            heappop(self._by_age)
        self.survivor = self._by_age[0][3] if self._by_age else None

    def take(self, other: Group) -> None:
        """All members of the other one, the smaller, become members of this."""
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.entered.update(other.entered)
        self.leaving.update(other.leaving)
        self._turn = -1
        for member in other.members:
            self.members.append(member)
            member.group = self
            self.renew(member)

    def entering(self, turn: int) -> list[Edge]:
        """The edges that point at members, one of each source and effect; looked for once a turn."""
        if self._turn != turn:
            found: dict[tuple[bytes, int, int], Edge] = {}
            for member in self.entered:
                for edge in member.ins:
                    if edge.counts:
                        start, end = edge.effect()
                        found.setdefault((edge.src.id, start, end), edge)
            self._entering = list(found.values())
            self._turn = turn
        return self._entering

    def is_upward(self) -> bool:
        """Whether some edge into it or out of it does not lead from all later starts to all earlier ones."""
        return any(_is_upward(edge) for one in self.entered for edge in one.ins) or any(
            _is_upward(edge) for one in self.leaving for edge in one.outs
        )


def _is_upward(edge: Edge) -> bool:
    return bool(edge.src.no and edge.dst.no) and is_upward(edge)


def is_upward(edge: Edge) -> bool:
    """Whether an edge between asserted versions may lead to an equal or later start, groups taken as one."""
    src, dst = edge.src, edge.dst
    low = src.start if src.group is None else src.group.low
    high = dst.start if dst.group is None else dst.group.high
    return low <= high and src is not dst


def members_of(version: Version) -> list[Version]:
    """Its group, or itself."""
    return [version] if version.group is None else version.group.members
