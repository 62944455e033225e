"""What a check is asked, what it says of a projection, and what it found (semantics §3-§5; ADR 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class RunState(StrEnum):
    """How far a run has come; one that died is marked failed by the next."""

    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CheckWanted:
    """One check of one projection."""

    projection: str = "p1"
    past_max: int = 8
    """System times of a fact that are looked at; of more, a sample by ``seed``."""
    past_instants_max: int = 2
    """Instants of valid time that are looked at in each of them; at everything applied all are."""
    seed: int = 0
    with_log: bool = True
    with_adjudicated: bool = True
    with_ids: bool = True
    """Whether ids are held to be the hashes of what they name; off where they are made up, in tests."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """One thing that is not as the events say; both sides as text, values of facts only as hashes."""

    fact_no: int | None
    fact_id: UUID | None
    relation: str
    """The table, or ``log``."""
    aspect: str
    """The column, or what is wrong with the whole line."""
    place: str
    expected: str | None
    found: str | None


@dataclass(slots=True)
class Tally:
    """How far a check has come."""

    facts: int = 0
    facts_total: int = 0
    events: int = 0
    messages: int = 0
    messages_total: int = 0
    divergences: int = 0
    bounded: int = 0
    """Facts of too many versions for every instant: their answers were judged at sampled ones."""


@dataclass(frozen=True, slots=True)
class Run:
    """One check as it is kept."""

    run_id: int
    wanted: CheckWanted
    state: RunState
    started_at: datetime
    finished_at: datetime | None
    cut_at: datetime | None
    topic_id: UUID | None
    next_offsets: dict[int, int] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    adjudicated: str | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class StoredLine:
    """What the projection says of one message of the log."""

    offset: int
    sort: str
    """``event``, ``parked`` or ``dropped``."""
    fact_no: int | None
    fact_id: bytes | None
    event_id: bytes | None
    event_seq: int
    event_type: str
    """Of a parked message the code."""
    recorded_at: int
    recorded_before: int | None
    """Of the fact's event before."""
    payload: bytes | None
    """Of a parked message its raw bytes."""
    subject_label: str | None
    derived: Sequence[bytes | None] | None = None
    """Of the memory that the event first asserted: extractor, frames and keys as JSON, embedder, embedding high byte first."""


class CheckRunning(Exception):
    """Another check of this projection is at work: one at a time."""

    def __init__(self, projection: str) -> None:
        super().__init__(f"a check of {projection} is running")
        self.projection = projection
