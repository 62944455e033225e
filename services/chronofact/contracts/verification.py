"""What a verification is asked, what it says of two projections, and what it found (architecture, Rebuild)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class VerificationState(StrEnum):
    """How far one has come; one that died is marked failed by the next of its pair."""

    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"


class Aspects(StrEnum):
    """What is compared: every line, only what no rule has a say in, or what does not depend on the topic."""

    ALL = "all"
    SAID = "said"
    ACROSS = "across"


TABLES: Mapping[Aspects, Sequence[str]] = {
    Aspects.ALL: (
        *("fact", "event", "version", "label", "edge", "ending", "decision", "relation", "conflict", "timeline"),
        *("memory", "checked"),
    ),
    Aspects.SAID: (
        *("fact_said", "event", "version_said", "edge", "ending", "decision", "relation", "memory", "checked"),
    ),
}
"""The tables of a projection that are compared fact by fact; ``*_said``: without what a rule decides."""
LEAVES: Sequence[str] = ("event", "version", "version_said", "timeline")
"""Those that have a leaf a partition."""
PLACES: Sequence[str] = ("parked_event", "dropped_event")
"""What is compared place by place."""


@dataclass(frozen=True, slots=True)
class VerifyWanted:
    """Two projections of one topic."""

    left: str
    right: str
    aspects: Aspects = Aspects.ALL
    held: str | None = None
    """Which one waits at the cut for the other; None: one that serves nobody."""


@dataclass(frozen=True, slots=True)
class NamedFact:
    """Whom and what a fact is about."""

    fact_id: UUID
    tenant_id: UUID
    subject_id: UUID
    subject_label: str | None
    scope_kind: str
    scope_key: str
    fact_key: str


@dataclass(frozen=True, slots=True)
class Difference:
    """One table of one fact: how many lines only one side has, and the first of them as JSON; values as hashes."""

    fact_id: UUID | None
    """None: of no one fact."""
    fact: NamedFact | None
    aspect: str
    left_lines: int
    right_lines: int
    left_said: Sequence[str] = ()
    right_said: Sequence[str] = ()


@dataclass(slots=True)
class VerifyTally:
    """How far a verification has come."""

    facts: int = 0
    facts_total: int = 0
    lines: int = 0
    """Of the left side."""
    differences: int = 0
    """Facts that differ, and what differs of no one fact."""


@dataclass(frozen=True, slots=True)
class Cut:
    """How far a projection has come in a snapshot, and by which rule it is folded."""

    rule: int
    state: str
    topic_id: UUID | None
    next_offsets: Mapping[int, int]
    """Of partitions of which anything was applied."""
    serves: bool
    """Whether some tenant is routed to it."""
    partitions: int
    """Leaves of its big tables."""


@dataclass(frozen=True, slots=True)
class Verification:
    """One as it is kept."""

    verification_id: int
    wanted: VerifyWanted
    rules: tuple[int, int]
    state: VerificationState
    started_at: datetime
    finished_at: datetime | None
    cut_at: datetime | None
    topic_id: UUID | None
    next_offsets: dict[int, int] = field(default_factory=dict)
    tally: VerifyTally = field(default_factory=VerifyTally)
    identical: bool | None = None
    failure: str | None = None
    failure_code: str | None = None
    remedy: str | None = None


class VerificationRunning(Exception):
    """Another verification of one of these projections is at work: one at a time."""

    def __init__(self, projection: str) -> None:
        super().__init__(f"a verification of {projection} is running")
        self.projection = projection
