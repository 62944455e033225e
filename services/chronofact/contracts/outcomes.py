"""What is counted of verifications and routes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

OUTCOMES: Sequence[str] = ("running", "identical", "different", "failed")
"""What comes of verifications."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """As the database keeps them now."""

    verifications: Mapping[str, int] = field(default_factory=dict)
    """How many, by what came of them."""
    differences: Sequence[tuple[str, str, int]] = ()
    """What the last finished verification of two projections that there are found."""
    routes: Sequence[tuple[str, int, int]] = ()
    """A projection, how many tenants' own lines name it, and whether (1, 0) the line of all others does."""
    changes: Mapping[str, int] = field(default_factory=dict)
    """How many changes of routes, by kind."""
