"""Where a version is covered: a search back along edges, over whole spans of valid time (semantics §3, Covering)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chronofact.domain.edges import automatic_above, automatic_effect
from chronofact.domain.spans import NOWHERE, Spans, clip, subtract, union

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from chronofact.domain.knots import Knot
    from chronofact.domain.spans import Span
    from chronofact.domain.standing import Standing, Version


def covered(standing: Standing, knots: Mapping[Version, Knot], version: Version) -> Spans:
    """Where in its own interval other versions cover it.

    The search walks from the version back over edges that have effect, narrowing the span as it goes. A version met on
    the way that can cover does so and ends the search there; one that can't (revoked, ended before its start, judged
    wrong, kept against) passes on what reaches it. Versions on one cycle of edges are weighed against each other apart.
    """
    own = (version.start, version.end)
    knot = knots.get(version)
    done = NOWHERE if knot is None else clip(knot.covered(standing).get(version, NOWHERE), *own)
    seen: dict[Version, Spans] = {}
    waiting: list[tuple[Version, Spans]] = [(version, (own,))]
    while waiting:
        at, spans = waiting.pop()
        spans = subtract(subtract(spans, done), seen.get(at, NOWHERE))
        if not spans:
            continue
        seen[at] = union(seen.get(at, NOWHERE), spans)
        for source, is_stated, effect in _edges_into(standing, at, spans):
            within = clip(spans, *effect)
            if not within or source is version:
                continue
            covers = source.capable and (is_stated or at is version) and (knot is None or source not in knot)
            if covers and not version.is_kept_against(source):
                gained = subtract(within, source.excluded()) if source.pairs else within
                done = union(done, gained)
                spans = subtract(spans, gained)
                within = subtract(within, gained)
            if within:
                waiting.append((source, within))
            if not spans:
                break
    return done


def _edges_into(standing: Standing, at: Version, spans: Spans) -> Iterator[tuple[Version, bool, Span]]:
    """Edges into a version: stated ones, then automatic ones as long as they start before the spans end."""
    for edge in at.ins:
        if edge.counts:
            yield edge.src, True, edge.effect()
    if standing.is_single:
        end = spans[-1][1]
        for source in automatic_above(standing, at):
            if source.start >= end:
                return
            if not source.has_stated(at):
                yield source, False, automatic_effect(source)


def coverer(standing: Standing, version: Version) -> Version | None:
    """The version that covers it on to its end, of several the one whose edge takes effect first."""
    instant = version.end - 1
    seen = {version}
    level = [version]
    while level:
        found: list[tuple[int, bytes, Version]] = []
        further: list[Version] = []
        for at in level:
            for source, is_stated, (start, end) in _edges_into(standing, at, ((instant, instant + 1),)):
                if source in seen or not start <= instant < end:
                    continue
                seen.add(source)
                further.append(source)
                if source.capable and (is_stated or at is version) and not version.is_kept_against(source):
                    found.append((start, source.id, source))
        if found:
            return min(found, key=lambda one: one[:2])[2]
        level = further
    return None
