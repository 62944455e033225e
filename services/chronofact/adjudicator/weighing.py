"""One memory against its candidates: which pairs the rule decides, which a model must, and which are left alone. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from chronofact.postgres.looking import Look
from chronofact.postgres.memories import Candidate, StoredMemory
from chronofact.text.frames import frames_of_json
from chronofact.text.pairs import Judgement, Memory, Outcome, Thresholds, judge, lookup_keys

GAVE_WAY = "gave_way"
"""Superseded or merged, and further away than a call has room for: what it gave way to is asked about instead."""


class Pair(NamedTuple):
    """The new memory's pair with a candidate, as it was judged."""

    other: Memory
    cosine: float | None
    judgement: Judgement
    has_given_way: bool
    arrived: int = 0
    """Its place in the fact: of two that are as near the later one comes first."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """All pairs of one memory; the sum of all is ``pairs``."""

    new: Memory
    known: int = 0
    """Decided before, by whomever."""
    has_asked: bool = False
    """Of those some by a model."""
    by_rule: list[Pair] = field(default_factory=list)
    to_ask: list[Pair] = field(default_factory=list)
    beyond: int = 0
    """Further ones to ask about, once the nearest are decided (ADR 40)."""
    left_alone: list[str] = field(default_factory=list)
    """The reason of each pair that there is nothing to decide about."""

    @property
    def pairs(self) -> int:
        """How many were looked at."""
        return self.known + len(self.by_rule) + len(self.to_ask) + self.beyond + len(self.left_alone)


def keys_of(memory: StoredMemory) -> Sequence[str]:
    """What a new memory asks for."""
    return lookup_keys(frames_of_json(memory.frames))


def weigh(look: Look, thresholds: Thresholds, *, asked_max: int) -> Weighed:
    """Judges every pair that nobody has decided; to be asked about are at most so many, the nearest, and of these the newest."""
    new = memory_of(look.memory)
    declared = {one.left if one.right == new.version_id else one.right: one for one in look.declared}
    by_rule: list[Pair] = []
    left_alone: list[str] = []
    known = [declared[one.version_id] for one in look.candidates if one.version_id in declared]
    to_ask: list[Pair] = []
    for candidate in look.candidates:
        if candidate.version_id in declared:
            continue
        other = memory_of(candidate)
        judgement = judge(new, other, candidate.cosine, thresholds)
        pair = Pair(other, candidate.cosine, judgement, _has_given_way(candidate), candidate.event_seq)
        match judgement.outcome:
            case Outcome.DECIDED:
                by_rule.append(pair)
            case Outcome.MODEL:
                to_ask.append(pair)
            case Outcome.NOTHING:
                left_alone.append(judgement.reason)
    to_ask.sort(key=_by_nearness)
    further = to_ask[asked_max:]
    beyond = sum(not pair.has_given_way for pair in further)
    left_alone += [GAVE_WAY] * (len(further) - beyond)
    has_asked = any(one.llm_call_made for one in known)
    return Weighed(new, len(known), has_asked, by_rule, to_ask[:asked_max], beyond, left_alone)


def memory_of(stored: StoredMemory | Candidate) -> Memory:
    """As the rule takes it."""
    return Memory(
        stored.version_id,
        stored.text,
        stored.valid_from,
        stored.valid_from_known,
        stored.valid_to,
        frames_of_json(stored.frames),
    )


def _has_given_way(candidate: Candidate) -> bool:
    return candidate.lifecycle == "SUPERSEDED" or candidate.merged_into is not None


def _by_nearness(pair: Pair) -> tuple[bool, float, int]:
    """What stands first, then the nearest, then the newest."""
    return pair.has_given_way, -(pair.cosine if pair.cosine is not None else 0.0), -pair.arrived
