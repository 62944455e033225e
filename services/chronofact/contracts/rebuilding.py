"""What a rebuild is asked, and how far it has come (architecture, Rebuild)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from chronofact.contracts.standstill import Standstill

NOTHING: Final = "none"
"""What a rebuild is verified against where what serves is known to be wrong: the independent check alone decides."""


class RebuildState(StrEnum):
    """The way of a rebuild, in its order; its two other ends last."""

    PLANNING = "planning"
    BUILDING = "building"
    INDEXING = "indexing"
    CATCHING_UP = "catching_up"
    VERIFYING = "verifying"
    READY = "ready"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen by itself."""
        return self in {RebuildState.READY, RebuildState.FAILED, RebuildState.CANCELLED}


@dataclass(frozen=True, slots=True)
class RebuildWanted:
    """One rebuild; what is None is decided when it begins."""

    projection: str | None = None
    rule: int | None = None
    workers: int | None = None
    compare_with: str | None = None
    """A projection, or ``none``."""
    shadow_window_s: int | None = None


@dataclass(frozen=True, slots=True)
class RebuildPart:
    """One partition of the log in a rebuild: how much of it is read, and folded."""

    partition: int
    target: int
    state: str
    """``waiting``, ``reading``, ``folding``, ``loaded`` or ``indexed``."""
    messages_read: int = 0
    buckets: int = 0
    buckets_done: int = 0
    messages: int = 0
    events: int = 0
    facts: int = 0
    parked: int = 0


@dataclass(frozen=True, slots=True)
class Rebuild:
    """One rebuild as it is kept."""

    rebuild_id: int
    projection: str
    rule: int
    state: RebuildState
    workers: int
    epoch: int
    started_at: datetime
    topic_id: UUID | None = None
    fingerprint: str | None = None
    targets: Sequence[int] = ()
    """The high watermarks taken at the start, by partition: the load goes up to them."""
    compared_with: str | None = None
    shadow_window_s: int | None = None
    phases: Mapping[str, float] = field(default_factory=dict)
    """Seconds, by ``plan_s``, ``load_s``, ``index_s``, ``catch_up_s``, ``verify_s``; all runners' together."""
    finished_at: datetime | None = None
    heartbeat_at: datetime | None = None
    waiting: str | None = None
    """For what, in words."""
    cancel_asked_at: datetime | None = None
    failure: str | None = None
    failure_code: str | None = None
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class RebuildTold:
    """A rebuild with the sums of its partitions."""

    rebuild: Rebuild
    messages_total: int
    messages_read: int
    messages: int
    events: int
    facts: int
    parked: int
    still: Standstill | None = None
    """Of the reconciler that has it."""
    idle: Standstill | None = None
    """Of the work itself: nobody has it, or who has it gives signs of life and does nothing."""

    @property
    def stood(self) -> Standstill | None:
        """Whichever it is."""
        return self.still or self.idle


@dataclass(frozen=True, slots=True)
class Comparable:
    """A projection that a rebuilt one is held against."""

    projection: str
    rule: int


class RebuildCancelled(Exception):
    """Somebody asked for the end of the rebuild that is at work."""

    code = "rebuild_cancelled"

    def __init__(self) -> None:
        super().__init__("the rebuild was cancelled")


class RebuildLost(Exception):
    """Another runner has taken the rebuild over: nothing more may be written for it."""

    code = "rebuild_taken_over"

    def __init__(self, rebuild_id: int) -> None:
        super().__init__(f"rebuild {rebuild_id} has another runner")
        self.rebuild_id = rebuild_id
