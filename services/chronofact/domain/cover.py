"""Where a version is covered: a search back along edges, over whole spans of valid time (semantics §3, Covering)."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from chronofact.domain.edges import automatic_above, automatic_effect
from chronofact.domain.spans import NOWHERE, POS, Spans, clip, contains, joined, subtract, union

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from chronofact.domain.groups import Group
    from chronofact.domain.knots import Knot
    from chronofact.domain.spans import Span
    from chronofact.domain.standing import Standing, Version


def covered(standing: Standing, knots: Mapping[Version, Knot], version: Version) -> Spans:
    """Where in its own interval other versions cover it.

    The search walks from the version back over edges that have effect, narrowing the span as it goes. A version met on
    the way that can cover does so and ends the search there; one that can't (revoked, ended before its start, judged
    wrong, kept against) passes on what reaches it. Versions on one cycle of edges are weighed against each other apart.
    """
    entered = version.ins if version.group is None else version.group.entered
    if not entered and not _has_automatic_above(standing, version):
        return NOWHERE
    own = (version.start, version.end)
    knot = knots.get(version)
    done = NOWHERE if knot is None else clip(knot.covered(standing).get(version, NOWHERE), *own)
    seen: dict[Version, Spans] = {}
    waiting: list[tuple[Version, Spans]] = [(version, (own,))]
    while waiting:
        at, spans = waiting.pop()
        spans = subtract(spans, done)
        if at in seen:
            spans = subtract(spans, seen[at])
        if not spans:
            continue
        seen[at] = union(seen.get(at, NOWHERE), spans)
        gained: list[Span] = []
        for source, within, is_stated in _reaching(standing, at, spans, gained):
            if source is version:
                continue
            covers = source.capable and (is_stated or at is version) and (knot is None or source not in knot)
            if not covers or (version.pairs and version.is_kept_against(source)):
                waiting.append((source, within))
            elif source.pairs:
                waiting.append((source, within))
                gained += subtract(within, source.excluded())
            else:
                gained += within
        done = union(done, joined(gained))
    return done


def _has_automatic_above(standing: Standing, version: Version) -> bool:
    low = version.start if version.group is None else version.group.low
    return standing.is_single and bool(standing.autos) and standing.autos[-1][0] > low


def gained_from(standing: Standing, newcomer: Version, version: Version) -> Spans:
    """Where a version is covered by the direct edges of one that nothing points at and no decision speaks of."""
    spans = [edge.effect() for edge in newcomer.outs if edge.dst is version and edge.counts]
    if not spans and standing.is_single and newcomer.automatic and version.start < newcomer.start:
        spans = [automatic_effect(newcomer)]
    since = min((start for start, end in spans if start < version.end <= end), default=None)
    if since is not None:
        was_covered = bool(version.covered) and version.covered[-1][1] == version.end
        if not was_covered or version.coverer is not None:
            version.coverer = min(version.coverer or (since, newcomer.id), (since, newcomer.id))
    return clip(joined(span for span in spans if span[0] < span[1]), version.start, version.end)


def _reaching(
    standing: Standing, at: Version, spans: Spans, gained: list[Span]
) -> Iterator[tuple[Version, Spans, bool]]:
    """Edges into a version that have effect within the spans: source, where, and whether the edge is stated.

    Automatic ones come nearest start first; none is asked for that starts where ``gained`` has covered all that is left.
    """
    if at.group is not None:
        yield from _reaching_group(standing, at.group, spans)
        return
    for edge in at.ins:
        if edge.counts and (within := clip(spans, *edge.effect())):
            yield edge.src, within, True
    if not standing.is_single:
        return
    end = spans[-1][1]
    counted = 0
    autos = standing.autos
    for place in range(bisect_right(autos, (at.start, POS)), len(autos)):  # as automatic_above, on the hot path
        source = standing.numbered[autos[place][1] - 1]
        while counted < len(gained):
            if gained[counted][0] < end <= gained[counted][1]:
                end = gained[counted][0]
                counted = 0
                continue
            counted += 1
        if source.start >= end:
            return
        if not source.has_stated(at) and (within := clip(spans, *automatic_effect(source))):
            yield source, within, False


def _reaching_group(standing: Standing, group: Group, spans: Spans) -> Iterator[tuple[Version, Spans, bool]]:
    """An edge to any of a group of near duplicates is one to all."""
    for edge in group.entering(standing.turn):
        if within := clip(spans, *edge.effect()):
            yield edge.src, within, True
    for member in group.members if standing.is_single else ():
        for source in automatic_above(standing, member):
            if not source.has_stated(member) and (within := clip(spans, *automatic_effect(source))):
                yield source, within, False


def coverer(standing: Standing, knots: Mapping[Version, Knot], version: Version) -> bytes | None:
    """The id of what covers it on to its end, of several the one whose edge takes effect first; kept in the version."""
    if version.coverer is None:
        version.coverer = _look_for_coverer(standing, knots.get(version), version)
    return version.coverer[1] if version.coverer else None


def _look_for_coverer(standing: Standing, knot: Knot | None, version: Version) -> tuple[int, bytes] | None:
    instant = version.end - 1
    inside = () if knot is None else knot.coverers(standing, version, instant)
    seen = {version}
    level = [version]
    found: list[tuple[int, bytes]] = []
    while level and not found:
        further: list[Version] = []
        for at in level:
            for source, is_stated, start in _effective_at(standing, knot, at, instant, is_first=at is version):
                if source is version:
                    continue
                covers = source.capable and (is_stated or at is version) and not version.is_kept_against(source)
                if knot is not None and source in knot:
                    covers = source in inside
                if covers and not contains(source.excluded(), instant):
                    found.append((start, source.id))
                if source not in seen:
                    seen.add(source)
                    further.append(source)
        level = further
    return min(found, default=None)


def _effective_at(
    standing: Standing, knot: Knot | None, at: Version, instant: int, *, is_first: bool
) -> Iterator[tuple[Version, bool, int]]:
    """Edges into a version that have effect at an instant: source, whether stated, since when.

    Of the automatic ones to the first only those that start no later than one that covers it, apart from decisions and
    its knot; to others all, since what states an edge to one of them covers too.
    """
    if at.group is not None:
        yield from _effective_on_group(standing, at.group, instant)
        return
    for edge in at.ins:
        if edge.counts:
            start, end = edge.effect()
            if start <= instant < end:
                yield edge.src, True, start
    if standing.is_single:
        enough = instant
        for source in automatic_above(standing, at):
            start, end = automatic_effect(source)
            if start > enough:
                return
            if instant < end and not source.has_stated(at):
                yield source, False, start
                if is_first and source.capable and not source.pairs and (knot is None or source not in knot):
                    enough = start


def _effective_on_group(standing: Standing, group: Group, instant: int) -> Iterator[tuple[Version, bool, int]]:
    """The same of a group, an edge to any of which is one to all."""
    for edge in group.entering(standing.turn):
        start, end = edge.effect()
        if start <= instant < end:
            yield edge.src, True, start
    for member in group.members if standing.is_single else ():
        for source in automatic_above(standing, member):
            start, end = automatic_effect(source)
            if start <= instant < end and not source.has_stated(member):
                yield source, False, start
