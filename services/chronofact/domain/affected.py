"""Which versions an event may make eligible or not: the search forward from what it changed, stopped where it can."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from chronofact.domain.spans import POS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from chronofact.domain.groups import Group
    from chronofact.domain.knots import Knot
    from chronofact.domain.standing import Standing, Version


def affected_by(standing: Standing, knots: Mapping[Version, Knot], changed: Iterable[Version]) -> set[Version]:
    """Every version whose eligibility the change of these versions can alter.

    An edge matters to what it points at. Further on it matters only through versions that can't cover by themselves:
    whatever an active one points at is covered by that one, with or without the change.
    """
    first = set(changed)
    for version in tuple(first):
        for pair in version.pairs:
            first.add(pair.other(version))
    found = set(first)
    waiting = list(first)
    expanded: set[Group] = set()
    while waiting:
        at = waiting.pop()
        knot = knots.get(at)
        if at not in first and knot is None and at.capable and not at.pairs:
            targets = _weak_targets(standing, knots, at)
        else:
            targets = _targets(standing, knots, at, first, expanded)
        for target in targets:
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


def _targets(
    standing: Standing, knots: Mapping[Version, Knot], at: Version, first: set[Version], expanded: set[Group]
) -> list[Version]:
    """What its edges point at, and what shares its knot, or the group that they enter by it."""
    targets: list[Version] = [edge.dst for edge in at.outs]
    if (knot := knots.get(at)) is not None:
        targets += knot.members
    if standing.is_single and _may_be_automatic(at):
        targets += _automatic_targets(standing, knots, at, first)
    if standing.has_groups:
        if at.ins or standing.is_single:
            targets.append(at)
        groups = {target.group for target in targets if target.group is not None} - expanded
        expanded |= groups
        for group in groups:
            targets += group.members
    return targets


def _weak_targets(standing: Standing, knots: Mapping[Version, Knot], at: Version) -> list[Version]:
    """Of a version that can cover: those of its automatic targets that pass on what reaches them.

    It covers what it points at, but by an automatic edge it does not reach further; what reaches it by a stated one does.
    """
    if not (standing.is_single and _may_be_automatic(at)):
        return []
    weak = standing.weak if not knots else standing.weak.union(knots)
    if standing.has_groups:
        return list(weak)
    return [version for version in weak if version.start < at.start]


def _may_be_automatic(version: Version) -> bool:
    return version.said_stamps[1] or version.wished_stamps[1]


def _automatic_targets(
    standing: Standing, knots: Mapping[Version, Knot], version: Version, changed: set[Version]
) -> Iterator[Version]:
    """Earlier-starting versions that its automatic edges may bear on, newest start first.

    What starts before the nearest solid predecessor is covered by that one wherever this version's edges have effect.
    """
    floor = None
    for at in range(bisect_left(standing.by_start, (version.start, 0)) - 1, -1, -1):
        if floor is not None and standing.by_start[at][0] < floor:
            return
        if standing.reach[at] <= version.start and standing.is_orderly:
            return
        below = standing.numbered[standing.by_start[at][1] - 1]
        passes_on = not below.capable or below.pairs or below.group is not None or below in changed or below in knots
        if passes_on or below.end > version.start:
            yield below
        is_solid = below.active and below.automatic and below.to == POS and below.start < below.end
        if (
            floor is None
            and is_solid
            and not below.pairs
            and below not in changed
            and below not in knots
            and standing.is_orderly
        ):
            floor = below.start
            yield from (edge.dst for edge in below.outs)
