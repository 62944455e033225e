"""Automatic edges: in a single-valued fact from an automatic version to every earlier-starting one (semantics §3)."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from chronofact.domain.spans import POS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chronofact.domain.spans import Span
    from chronofact.domain.standing import Standing, Version


def automatic_effect(version: Version) -> Span:
    """Where its automatic edges have effect: from its start for ever when it was asserted open, else its own time."""
    return (version.start, POS if version.to == POS else version.end)


def automatic_above(standing: Standing, version: Version) -> Iterator[Version]:
    """The active automatic versions that start later, nearest first."""
    autos = standing.autos
    for at in range(bisect_right(autos, (version.start, POS)), len(autos)):
        yield standing.numbered[autos[at][1] - 1]
