"""What a context is made of, as the projection gives it: a chain's facts, and what is open about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from chronofact.contracts.reading import Found


@dataclass(frozen=True, slots=True)
class ContextWanted:
    """Which of a subject's facts, in which scopes, nearest first."""

    tenant_id: UUID
    subject_id: UUID
    scopes: tuple[tuple[str, str], ...]
    prefix: str
    valid_at: int
    system_as_of: int | None
    next_offsets: list[int] | None
    limit: int


class ChainFact(NamedTuple):
    """A fact of a chain with its answer; ``place`` counts its scopes from 1."""

    place: int
    fact_id: str
    fact_key: str
    as_of: str | None
    found: Found


class AsKnown(NamedTuple):
    """Fact number ``at`` of those asked about, as known then; None is everything applied."""

    at: int
    fact_no: int
    system_as_of: int | None


class Proposal(NamedTuple):
    """A version that waits for its activation; ``proposals`` is how many do, listed or not."""

    at: int
    version_id: str
    value: bytes
    value_hash: str
    valid_from: str | None
    valid_to: str | None
    source_id: str
    recorded_at: str
    proposals: int


class Undecided(NamedTuple):
    """A memory of which a pair waits for a verdict, and the other one, unless its check named none."""

    at: int
    version_id: str
    other_id: str | None
    reason: str
    recorded_at: str
    value: bytes
    source_id: str
    other_value: bytes | None
    other_source_id: str | None


class WantedCheck(NamedTuple):
    """A text memory of a fact, as known then; None is everything applied."""

    version_id: str
    fact_no: int
    system_as_of: int | None


class Contradiction(NamedTuple):
    """A pair that contradicts each other, unsettled; ``pending`` is the side under review."""

    at: int
    left: str
    right: str
    pending: str
    recorded_at: str
    left_value: bytes = b"null"
    left_source_id: str = ""
    right_value: bytes = b"null"
    right_source_id: str = ""
