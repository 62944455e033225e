"""A version's own lane: where it is eligible, and why not elsewhere (architecture, The timeline)."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from chronofact.domain.picture import Cell, Kind, Reason
from chronofact.domain.spans import EVERYWHERE, NEG, NOWHERE, POS, subtract

if TYPE_CHECKING:
    from chronofact.domain.picture import Stroke
    from chronofact.domain.spans import Spans
    from chronofact.domain.standing import Version


def lane_of(version: Version) -> list[Stroke]:
    """The stretches of an asserted version's lane, in order, over the whole axis; masks are 0."""
    if not version.active:
        return [(NEG, POS, _why(Reason.REVOKED if version.revoked else Reason.PROPOSED_ONLY))]
    end = version.end
    excluded = version.excluded() if version.pairs else NOWHERE
    own = ((version.start, end),) if version.start < end else NOWHERE
    # merged into a near duplicate: not covered, so nothing says more than that it was asserted
    merged = subtract(subtract(own, version.covered), excluded) if version.merged_into else NOWHERE
    layers: list[tuple[Spans, Cell]] = [
        (((NEG, min(version.start, end)),), _why(Reason.NOT_YET_VALID)),
        (version.eligible, ELIGIBLE),
        (subtract(version.covered, excluded), _why(Reason.SUPERSEDED)),
        (merged, _why(Reason.PROPOSED_ONLY)),
        (subtract(own, subtract(EVERYWHERE, excluded)), _why(Reason.EXCLUDED)),
        (((end, POS),), _why(Reason.ENDED)),
    ]
    return sorted(((a, b, cell) for spans, cell in layers for a, b in spans if a < b), key=itemgetter(0))


def _why(reason: Reason) -> Cell:
    return Cell(Kind.UNKNOWN, reason, 0)


ELIGIBLE = Cell(Kind.VALUE, None, 0)
