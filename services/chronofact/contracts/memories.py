"""Reads of text memories: what is asked for and what a projection gives, spelled as answers spell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from chronofact.contracts.reading import Scopes

MEMORY_PREFIX: Final = "memory/"
"""Keys of the facts that hold text memories: this, and a category."""
VERDICTS: Final = ("supersedes", "contradicts", "near_duplicate", "unrelated")


@dataclass(frozen=True, slots=True)
class MemoriesWanted:
    """Whose memories, and as of when; ``named`` are scopes that the caller asks for, any of them."""

    tenant_id: UUID
    subject_id: UUID
    named: tuple[tuple[str, str], ...]
    category: str | None
    scopes: Scopes | None
    valid_at: int
    system_as_of: int | None
    next_offsets: list[int] | None


class MemoryFact(NamedTuple):
    """A fact of text memories, and its versions by number, the last asserted first, as of both instants."""

    fact_no: int
    fact_id: str
    scope_kind: str
    scope_key: str
    fact_key: str
    subject_label: str | None
    as_of: str | None
    """As known when, where the list has a cut or the caller named an instant."""
    eligible: list[int]
    superseded: list[int]
    merged: list[int]
    under_review: list[int]
    undecided: list[int]
    """Those of which some pair is pending."""


class Asked(NamedTuple):
    """A query: its words, and where its text lies among others, by which model; None: words alone."""

    words: str
    embedder: str | None
    embedding: bytes | None


class Ranked(NamedTuple):
    """A memory that a query found; places count from 1, None where that way did not find it."""

    fact_no: int
    version_no: int
    score: float
    cosine: float | None
    place_near: int | None
    place_worded: int | None
    place_kind: int | None


class MemoryLine(NamedTuple):
    """What a memory says."""

    version_id: str
    text: str
    valid_from: str | None
    valid_to: str | None
    recorded_at: str
    source_id: str
    confidence: float | None
    is_checked: bool


class WantedMemory(NamedTuple):
    """A memory by its number, as known then."""

    fact_no: int
    version_no: int
    system_as_of: int | None


@dataclass(frozen=True, slots=True)
class RelationsWanted:
    """Relations of one memory or of a subject's, and where the page begins."""

    tenant_id: UUID
    version_id: bytes | None
    subject_id: UUID | None
    relation: str | None
    scopes: Scopes | None
    after: Sequence[UUID]
    """Fact and pair of the last one; nil ids begin."""
    limit: int
    next_offsets: list[int] | None


class MemoryPlace(NamedTuple):
    """A fact where something was said of a memory, a check or a relation."""

    fact_no: int
    fact_id: str
    scope_kind: str
    scope_key: str
    is_checked: bool
    subject_id: str
    subject_label: str | None
    fact_key: str


class RelationLine(NamedTuple):
    """The declaration that counts for a pair."""

    left: str
    right: str
    relation: str
    newer: str | None
    decided_by: str
    reason: str | None
    llm_call_made: bool
    model: str | None
    decided_at: str
    event_id: str
    left_text: str | None
    """The beginning; None of a memory that is not known yet."""
    right_text: str | None
    left_valid_from: str | None
    right_valid_from: str | None
    fact_id: str
    subject_id: str
    subject_label: str | None
    scope_kind: str
    scope_key: str
    fact_key: str
    ended: bytes | None
    """Facts of either that the other one ended, as JSON: their keys, versions and events (ADR 44)."""


class UndecidedLine(NamedTuple):
    """A pair that waits for a verdict; ``right`` None stands for those that a check counted and did not name."""

    left: str
    right: str | None
    reason: str
    since: str
    age_s: float
    left_text: str | None
    """The beginning; None of a memory that is not known yet."""
    right_text: str | None
    left_valid_from: str | None
    """None where it is not known since when it holds."""
    right_valid_from: str | None
    fact_id: str
    subject_id: str
    subject_label: str | None
    scope_kind: str
    scope_key: str
    fact_key: str
