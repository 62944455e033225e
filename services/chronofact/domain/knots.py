"""Knots: versions on one cycle of edges, where covers may cancel, weighed instant by instant (semantics §3, Covering)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from chronofact.domain.edges import automatic_effect
from chronofact.domain.groups import members_of
from chronofact.domain.spans import NEG, POS, Spans, contains, union

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from chronofact.domain.standing import Standing, Version


Node = TypeVar("Node", bound="Hashable")


class Knot:
    """The versions of one strongly connected component of all stated and automatic edges, whenever they have effect.

    Covers between two versions of one component at an instant are covers inside one knot; no other covers can cancel.
    """

    def __init__(self, members: Iterable[Version]) -> None:
        self.members = frozenset(members)
        self._covered: Mapping[Version, Spans] | None = None

    def __contains__(self, version: Version) -> bool:
        return version in self.members

    def covered(self, standing: Standing) -> Mapping[Version, Spans]:
        """Where its members are covered by one another; kept until ``forget``."""
        if self._covered is None:
            self._covered = self._weigh(standing)
        return self._covered

    def coverers(self, standing: Standing, version: Version, instant: int) -> set[Version]:
        """The members that cover the version at the instant."""
        return {new for new, olds in self._covers_at(standing, instant).items() if version in olds}

    def covers_at(
        self, standing: Standing, instant: int
    ) -> tuple[dict[Version, set[Version]], dict[Version, set[Version]]]:
        """Which members cover which at the instant, and which covers cancel."""
        covers, component = self._uncancelled(standing, instant)
        counting: dict[Version, set[Version]] = {}
        cancelled: dict[Version, set[Version]] = {}
        for new, olds in covers.items():
            counting[new] = {old for old in olds if component.get(old, old) != component[new]}
            cancelled[new] = olds - counting[new]
        return counting, cancelled

    def forget(self) -> None:
        """Something that the members' covers depend on has changed."""
        self._covered = None

    def _weigh(self, standing: Standing) -> dict[Version, Spans]:
        spans: dict[Version, Spans] = {}
        bounds = sorted(self._bounds(standing))
        for start, end in pairwise(bounds):
            for version in _all(self._covers_at(standing, start).values()):
                spans[version] = union(spans.get(version, ()), ((start, end),))
        return spans

    def _bounds(self, standing: Standing) -> set[int]:
        bounds = {NEG, POS}
        for version in self.members:
            bounds.update((version.start, version.end))
            for edge in version.outs:
                if edge.counts:
                    bounds.update(edge.effect())
            if standing.is_single and version.automatic:
                bounds.update(automatic_effect(version))
            for a, b in version.excluded():
                bounds.update((a, b))
        return {bound for bound in bounds if NEG <= bound <= POS}

    def _covers_at(self, standing: Standing, instant: int) -> dict[Version, set[Version]]:
        return self.covers_at(standing, instant)[0]

    def _uncancelled(
        self, standing: Standing, instant: int
    ) -> tuple[dict[Version, set[Version]], Mapping[Version, int]]:
        """All covers before any cancels, and the number of each version's component of them."""
        stated, automatic = self._effective(standing, instant)
        able = [v for v in self.members if v.capable and not contains(v.excluded(), instant)]
        covers: dict[Version, set[Version]] = {}
        for new in able:
            reached = _reach(stated[new], lambda at: stated[at] | automatic[at]) - {new}
            covers[new] = {old for old in reached if not old.is_kept_against(new)}
        implied: dict[Version, set[Version]] = {}
        for new in able:
            implied[new] = {
                old
                for old in automatic[new]
                if not old.is_kept_against(new) and not (old in covers and new in covers[old])
            }
        for new in able:
            covers[new] |= implied[new]
        return covers, components(covers, lambda at: covers.get(at, ()))

    def _effective(
        self, standing: Standing, instant: int
    ) -> tuple[dict[Version, set[Version]], dict[Version, set[Version]]]:
        """The stated and the automatic edges between members that have effect at the instant."""
        stated: dict[Version, set[Version]] = {}
        automatic: dict[Version, set[Version]] = {}
        for version in self.members:
            counting = [edge for edge in version.outs if edge.counts]
            stated[version] = _grouped(edge.dst for edge in counting if _is_within(instant, edge.effect()))
            automatic[version] = set()
            is_automatic = standing.is_single and version.active and version.automatic
            if is_automatic and _is_within(instant, automatic_effect(version)):
                said = {edge.dst for edge in counting}
                earlier = (old for old in standing.numbered if old.ever_active and old.start < version.start)
                automatic[version] = _grouped(old for old in earlier if old not in said) & self.members
            stated[version] &= self.members
        return stated, automatic


def _all(sets: Iterable[set[Version]]) -> set[Version]:
    return {version for versions in sets for version in versions}


def _grouped(versions: Iterable[Version]) -> set[Version]:
    """The versions with their near duplicates: an edge to one is an edge to all."""
    return {member for version in versions for member in members_of(version)}


def _is_within(instant: int, span: tuple[int, int]) -> bool:
    return span[0] <= instant < span[1]


def _reach(first: set[Version], onward: Callable[[Version], Iterable[Version]]) -> set[Version]:
    reached = set(first)
    waiting = list(first)
    while waiting:
        for version in onward(waiting.pop()):
            if version not in reached:
                reached.add(version)
                waiting.append(version)
    return reached


def knots_of(standing: Standing, instant: int | None = None) -> dict[Version, Knot]:
    """Each version on a cycle with its knot; empty without an edge that points to an equal or later start.

    Args:
        standing: What the events say.
        instant: None takes edges whenever they have effect, else those that have effect then.
    """
    if standing.is_orderly:
        return {}
    targets: dict[Hashable, list[Hashable]] = {}
    ever_active = [standing.numbered[no - 1] for _, no in standing.by_start]
    ever_active = [version for version in ever_active if version.ever_active]
    for version in ever_active:
        edges = (edge for edge in version.outs if edge.counts)
        targets[version] = list(
            _grouped(edge.dst for edge in edges if instant is None or _is_within(instant, edge.effect()))
        )
    if standing.is_single:
        _link_by_start(ever_active, targets, instant)
    component = components(targets, lambda at: targets.get(at, ()))
    groups: dict[Hashable, list[Version]] = {}
    for version in ever_active:
        groups.setdefault(component[version], []).append(version)
    knots = [Knot(members) for members in groups.values() if len(members) > 1]
    return {version: knot for knot in knots for version in knot.members}


def _link_by_start(by_start: list[Version], targets: dict[Hashable, list[Hashable]], instant: int | None) -> None:
    """Automatic edges without one each: a helper node a start stands for all that start no later."""
    before: int | None = None
    previous: int | None = None
    for version in by_start:
        if version.start != before:
            previous, before = before, version.start
            targets[before] = [] if previous is None else [previous]
        targets[version.start] += members_of(version)
        is_automatic = version.active and version.automatic and previous is not None
        if is_automatic and (instant is None or _is_within(instant, automatic_effect(version))):
            targets[version].append(previous)


def components(nodes: Iterable[Node], onward: Callable[[Node], Iterable[Node]]) -> dict[Node, int]:
    """The number of each node's strongly connected component (Tarjan's algorithm, without recursion)."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    found: dict[Node, int] = {}
    stack: list[Node] = []
    for root in nodes:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        work = [(root, iter(onward(root)))]
        while work:
            node, rest = work[-1]
            for target in rest:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    work.append((target, iter(onward(target))))
                    break
                if target not in found:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    while node not in found:
                        found[stack.pop()] = index[node]
    return found
