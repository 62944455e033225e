"""A set of events, folded: all that the rules about an instant look at."""

from __future__ import annotations

from dataclasses import dataclass

from .edges import Edge, Said, edges_of, said_edges
from .relations import contradictions, groups_of, merged_into
from .says import OLog, OResolve
from .standing import Version, not_taken_back, versions_of


@dataclass(frozen=True)
class State:
    """One fact as known from some set of events."""

    versions: dict[bytes, Version]
    is_single: bool
    said: list[Said]
    edges: list[Edge]
    decisions: dict[tuple[bytes, bytes], OResolve]
    groups: dict[bytes, frozenset[bytes]]
    merged: dict[bytes, bytes]
    contradictions: set[tuple[bytes, bytes]]

    def bounds(self) -> list[int]:
        """Every instant at which anything can change."""
        found: set[int | None] = set()
        for version in self.versions.values():
            found |= {version.valid_from, version.valid_to, version.end}
        for edge in self.edges:
            found |= {edge.start, edge.stop}
        return sorted(bound for bound in found if bound is not None)


def fold(log: OLog) -> State:
    """The state of a set of counted events; their order does not matter."""
    versions = versions_of(log)
    is_single = any(v.is_active and v.cardinality == "one" for v in versions.values())
    said = said_edges(log, versions)
    return State(
        versions=versions,
        is_single=is_single,
        said=said,
        edges=edges_of(said, versions, is_single=is_single),
        decisions=_decisions(log),
        groups=groups_of(log, versions),
        merged=merged_into(log, versions),
        contradictions=contradictions(log, versions),
    )


def _decisions(log: OLog) -> dict[tuple[bytes, bytes], OResolve]:
    """Per pair the latest ``(decided_at, event_id)`` of those that can apply."""
    counts: dict[tuple[bytes, bytes], OResolve] = {}
    for event in not_taken_back(log):
        if not isinstance(event, OResolve) or event.left == event.right:
            continue
        if event.keep not in {None, event.left, event.right}:
            continue
        left, right = sorted((event.left, event.right))
        best = counts.get((left, right))
        if best is None or (event.decided_at, event.event_id) > (best.decided_at, best.event_id):
            counts[left, right] = event
    return counts
