"""Two memories: whether the rule decides their relation, a model must, or there is nothing (semantics §7)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from chronofact.domain.events import Verdict
from chronofact.text.frames import Frame
from chronofact.text.keys import index_keys, lookup_keys
from chronofact.text.reasons import Reason

__all__ = ["Judgement", "Memory", "Outcome", "Reason", "Thresholds", "index_keys", "judge", "lookup_keys"]


class Outcome(StrEnum):
    """Who decides a pair."""

    DECIDED = "decided"
    MODEL = "model"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines, by the scale of one embedder; ``nearest`` is how many neighbours are looked at."""

    near: float = 0.40
    blocked: float = 0.60
    duplicate: float = 0.85
    nearest: int = 20


@dataclass(frozen=True, slots=True)
class Memory:
    """One version of a text memory; times in microseconds, ``valid_from`` None is always."""

    version_id: bytes
    text: str
    valid_from: int | None
    valid_from_known: bool
    valid_to: int | None
    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """``verdict`` and ``newer`` (a version id) are there when the rule decided."""

    outcome: Outcome
    reason: Reason
    verdict: Verdict | None = None
    newer: bytes | None = None


def judge(new: Memory, other: Memory, cosine: float | None, thresholds: Thresholds = Thresholds()) -> Judgement:  # noqa: B008
    """The pair's relation; symmetric, ``new`` only names the later arrival. Never raises."""
    raise NotImplementedError
