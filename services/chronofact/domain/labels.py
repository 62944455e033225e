"""The projected label of a version: free of any clock, a function of the set of events (semantics §3, Lifecycle)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from chronofact.domain.cover import coverer
from chronofact.domain.events import Lifecycle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chronofact.domain.knots import Knot
    from chronofact.domain.standing import Standing, Version

_PROPOSED: Final = Lifecycle.PROPOSED
_ACTIVE: Final = Lifecycle.ACTIVE
_SUPERSEDED: Final = Lifecycle.SUPERSEDED
_REVOKED: Final = Lifecycle.REVOKED


class Label(NamedTuple):
    """Lifecycle, the edges that a reader asks for first, and the highest confidence said."""

    lifecycle: Lifecycle
    supersedes_id: bytes | None
    superseded_by_id: bytes | None
    merged_into_id: bytes | None
    confidence: float | None


def label_of(standing: Standing, knots: Mapping[Version, Knot], version: Version) -> Label:
    """The label of an asserted version."""
    lifecycle, superseded_by = _lifecycle(standing, knots, version)
    supersedes = _supersedes(version) if version.outs else None
    merged = version.merged_into.id if version.merged_into else None
    return Label(lifecycle, supersedes, superseded_by, merged, version.confidence)


def _lifecycle(standing: Standing, knots: Mapping[Version, Knot], version: Version) -> tuple[Lifecycle, bytes | None]:
    if version.revoked:
        return _REVOKED, None
    if not version.active:
        return _PROPOSED, None
    if version.covered and version.covered[-1][1] == version.end:
        return _SUPERSEDED, coverer(standing, knots, version)
    return _ACTIVE, None


def _supersedes(version: Version) -> bytes | None:
    """Of the stated edges that count the one with the earliest effect, ties lowest id."""
    counting = [
        (edge.effective_at if edge.effective_at is not None else version.start, edge.dst.id)
        for edge in version.outs
        if edge.counts
    ]
    return min(counting)[1] if counting else None
