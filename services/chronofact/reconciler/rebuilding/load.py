"""A rebuild's load as its runner calls it: plan, load, discard; each may be called again after any crash."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from chronofact.contracts.rebuilding import Rebuild, RebuildPart
from chronofact.runtime.config import Settings

Report: TypeAlias = Callable[[Sequence[RebuildPart]], None]
"""Told about twice a second how far each partition has come; ``chronofact.rebuild_part`` says the same to anybody."""


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What a load has made."""

    messages: int
    events: int
    facts: int
    parked: int
    dropped: int


def plan(settings: Settings, rebuild: Rebuild) -> Rebuild:
    """Look at the log and fix what is to be loaded: topic, targets, fold; kept in the rebuild's line (state planning).

    The caller has inserted that line with projection, rule and workers, and holds its epoch.

    Raises:
        Unfit: ``topic_missing``, ``log_truncated``, any other fault of the topic, ``projection_exists``.
        Transient: Kafka or Postgres is away.
        RebuildLost: the epoch is another's.
    """
    raise NotImplementedError


def load(settings: Settings, rebuild: Rebuild, *, report: Report, stopping: threading.Event) -> LoadResult:
    """Make the projection's schema, fill it up to the targets, index and analyse it; goes on where an earlier one ended.

    It moves the rebuild's line from planning through building to indexing, beats its heartbeat, and adds up
    ``phases`` ``plan_s``, ``load_s`` and ``index_s``. Afterwards the projection (still in state building) has its
    checkpoints at the targets and its parked and dropped messages in their tables. Waits out Kafka and Postgres.

    Raises:
        RebuildCancelled: ``cancel_asked_at`` is set; no worker is at work any more. Call ``discard``.
        RebuildLost: another runner has it; its workers write nothing more.
        Unfit: it can't go on as things are: ``fold_changed``, ``schema_unknown``, ``topic_recreated``, ``log_truncated``,
            ``parking_limit``, ``worker_dies``, …; each with its remedy.
        Corruption: what is stored contradicts itself.
        Transient: ``shutting_down``: ``stopping`` was set; workers are gone, what they had written stays.
    """
    raise NotImplementedError


def discard(settings: Settings, rebuild: Rebuild) -> None:
    """Remove all that the rebuild has made but its own line: schema, checkpoints, parked and dropped lines, parts.

    Nothing happens where the projection is routed to or serves.

    Raises:
        Transient: Postgres is away, or somebody reads the schema.
    """
    raise NotImplementedError
