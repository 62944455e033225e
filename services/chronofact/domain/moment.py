"""Who covers whom at one instant, and over which edges: what an explanation names (semantics §3, Covering)."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from chronofact.domain.edges import automatic_effect
from chronofact.domain.errors import Rejected
from chronofact.domain.groups import members_of
from chronofact.domain.knots import knots_of
from chronofact.domain.spans import contains

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from chronofact.domain.edges import Edge
    from chronofact.domain.knots import Knot
    from chronofact.domain.pairs import Pair
    from chronofact.domain.standing import Standing, Version

STEPS_MAX: Final = 500_000
"""Edges looked at for one explanation."""
KNOT_MEMBERS_MAX: Final = 500
"""Versions that supersede one another in a circle at the instant; weighing them costs their square."""


class Tie(NamedTuple):
    """One edge with effect at the instant; ``edge`` None is an automatic one."""

    source: Version
    target: Version
    edge: Edge | None
    named: Version
    """What it points at: the target, or a near duplicate of it."""

    def effect(self) -> tuple[int, int]:
        """Where it has effect in valid time."""
        return automatic_effect(self.source) if self.edge is None else self.edge.effect()


class Cover(NamedTuple):
    """A version that covers another, and the shortest way: each hop with every edge that makes it."""

    coverer: Version
    path: tuple[tuple[Tie, ...], ...]
    is_only_way: bool
    """Known to be the only coverer, over the only way; False when there are more, or when nobody looked."""


class Moment:
    """One fact's edges with effect at one instant of valid time.

    Raises:
        Rejected: ``explanation_too_large`` from any call, where the work would have no bound.
    """

    def __init__(self, standing: Standing, instant: int) -> None:
        self.standing = standing
        self.instant = instant
        self._steps = 0
        self._knots = knots_of(standing, instant)
        self._weighed: dict[Knot, tuple[dict[Version, set[Version]], dict[Version, set[Version]]]] = {}
        autos = [standing.numbered[no - 1] for _, no in standing.autos] if standing.is_single else []
        self._autos = [version for version in autos if self.is_within(automatic_effect(version))]
        self._auto_starts = [version.start for version in self._autos]
        self._stated: dict[Version, frozenset[Version]] = {}
        self._passing: dict[Version, bool] = {}

    def is_within(self, span: tuple[int, int]) -> bool:
        """Whether the instant lies in ``[start, end)``."""
        return span[0] <= self.instant < span[1]

    def holds(self, version: Version) -> bool:
        """Whether the instant lies in its interval, up to its end."""
        return version.start <= self.instant < version.end

    def excluding(self, version: Version) -> list[Pair]:
        """The pairs whose decision excludes it."""
        return [pair for pair in version.pairs if pair.excludes(version) and contains(pair.overlap(), self.instant)]

    def is_covered(self, version: Version) -> bool:
        """Whether anything covers it."""
        return next(self._search(version, {}, {}), None) is not None

    def covers(self, version: Version, limit: int) -> tuple[list[Cover], bool]:
        """What covers it, nearest first, and whether there is more than the limit."""
        came: dict[Version, Version] = {}
        links: dict[tuple[Version, Version], list[Tie]] = {}
        found: dict[Version, Version] = {}
        for source, at in self._search(version, came, links):
            if len(found) == limit:
                return [_cover(version, one, came, links, found) for one in found], True
            found[source] = at
        return [_cover(version, one, came, links, found) for one in found], False

    def cancelled(self, version: Version) -> list[Version]:
        """What would cover it but for a circle: covers inside it decide nothing."""
        knot = self._knots.get(version)
        if knot is None:
            return []
        return sorted((new for new, olds in self._weigh(knot)[1].items() if version in olds), key=lambda one: one.no)

    def reaches(self, source: Version, version: Version) -> bool:
        """Whether edges with effect lead from one to the other, stated or not."""
        return source in self._ways_above(version, lambda one: one is source, {})

    def is_passing_on(self, version: Version) -> bool:
        """Whether one that can cover reaches it; asked of many, each is walked over about once."""
        if version not in self._passing:
            above = self._ways_above(version, lambda one: one.capable or self._passing.get(one, False), self._passing)
            last = next(reversed(above), version)
            passes = last is not version and (last.capable or self._passing.get(last, False))
            self._passing[version] = passes
            if not passes:
                self._passing.update(dict.fromkeys(above, False))
            while passes and last is not version:
                self._passing[last], last = True, above[last]
        return self._passing[version]

    def _ways_above(
        self, version: Version, is_enough: Callable[[Version], bool], known: Mapping[Version, bool]
    ) -> dict[Version, Version]:
        """All from which edges lead to it, each with its next one on the way, up to one that is enough; not past known ones."""
        onward: dict[Version, Version] = {}
        waiting = deque([version])
        while waiting:
            at = waiting.popleft()
            for tie in self.ties(at):
                source = tie.source
                if source is version or source in onward:
                    continue
                onward[source] = at
                if is_enough(source):
                    return onward
                if source not in known:
                    waiting.append(source)
        return onward

    def replaces_automatic(self, edge: Edge) -> bool:
        """Whether an automatic edge has no effect now because this one was stated in its place."""
        source = edge.src
        is_automatic = self.standing.is_single and source.active and source.automatic
        return is_automatic and edge.dst.start < source.start and self.is_within(automatic_effect(source))

    def ties(self, at: Version) -> Iterator[Tie]:
        """The edges into it, stated ones first, then automatic ones, nearest start first."""
        members = members_of(at)
        for member in members:
            for edge in member.ins:
                self._step()
                if edge.counts and self.is_within(edge.effect()):
                    yield Tie(edge.src, at, edge, member)
        for member in members:
            for source in self._autos[bisect_right(self._auto_starts, member.start) :]:
                self._step()
                if member not in self._stated_of(source):
                    yield Tie(source, at, None, member)

    def _search(
        self, version: Version, came: dict[Version, Version], links: dict[tuple[Version, Version], list[Tie]]
    ) -> Iterator[tuple[Version, Version]]:
        """Each version that covers this one, once, with what its own edge points at; ``came`` leads on from there."""
        seen, told = {version}, set()
        waiting = deque([version])
        while waiting:
            at = waiting.popleft()
            for tie in self.ties(at):
                source = tie.source
                if source is version:
                    continue
                links.setdefault((source, at), []).append(tie)
                if source not in told and self._covers(tie, version):
                    told.add(source)
                    yield source, at
                if source not in seen:
                    seen.add(source)
                    came[source] = at
                    waiting.append(source)

    def _covers(self, tie: Tie, version: Version) -> bool:
        source = tie.source
        if not source.capable or (tie.edge is None and tie.target is not version):
            return False
        knot = self._knots.get(source)
        if knot is not None and version in knot:
            return version in self._weigh(knot)[0].get(source, ())
        return not version.is_kept_against(source) and not self.excluding(source)

    def _weigh(self, knot: Knot) -> tuple[dict[Version, set[Version]], dict[Version, set[Version]]]:
        found = self._weighed.get(knot)
        if found is None:
            if len(knot.members) > KNOT_MEMBERS_MAX:
                raise _too_large(f"more than {KNOT_MEMBERS_MAX} versions supersede one another in a circle then")
            found = self._weighed[knot] = knot.covers_at(self.standing, self.instant)
        return found

    def _stated_of(self, source: Version) -> frozenset[Version]:
        found = self._stated.get(source)
        if found is None:
            found = self._stated[source] = frozenset(edge.dst for edge in source.outs if edge.counts)
        return found

    def _step(self) -> None:
        self._steps += 1
        if self._steps > STEPS_MAX:
            raise _too_large(f"the versions of this fact have more than {STEPS_MAX:,} edges to look at then")


def _cover(
    version: Version,
    coverer: Version,
    came: dict[Version, Version],
    links: dict[tuple[Version, Version], list[Tie]],
    found: dict[Version, Version],
) -> Cover:
    way = [coverer, found[coverer]]
    while way[-1] is not version:
        way.append(came[way[-1]])
    hops = [links[hop] for hop in pairwise(way)]
    if len(hops) > 1:
        # an automatic edge covers what it points at and reaches no further
        hops[0] = [tie for tie in hops[0] if tie.edge is not None]
    is_only_way = len(found) == 1 and len(_routes(coverer, version, links)) == len(hops)
    return Cover(coverer, tuple(map(tuple, hops)), is_only_way)


def _routes(
    coverer: Version, version: Version, links: dict[tuple[Version, Version], list[Tie]]
) -> set[tuple[Version, Version]]:
    """Every hop on some way from the coverer; all links lead to the version, so only the way from it matters."""
    onward: dict[Version, list[Version]] = {}
    for source, at in links:
        onward.setdefault(source, []).append(at)
    hops = {
        (coverer, at)
        for at in onward[coverer]
        if at is version or any(tie.edge is not None for tie in links[coverer, at])
    }
    seen = {coverer}
    waiting = [at for _, at in hops]
    while waiting:
        at = waiting.pop()
        if at not in seen:
            seen.add(at)
            hops.update((at, further) for further in onward.get(at, ()))
            waiting += onward.get(at, ())
    return hops


def _too_large(why: str) -> Rejected:
    return Rejected("explanation_too_large", f"{why}; resolve still answers")
