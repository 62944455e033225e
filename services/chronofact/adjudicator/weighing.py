"""One memory against its candidates: which pairs the rule decides, which a model must, and which are left alone. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from chronofact.domain.events import Verdict
from chronofact.postgres.looking import Look
from chronofact.postgres.memories import Candidate, Counting, StoredMemory
from chronofact.text.ending import End, ends_by_rule, ends_by_verdict
from chronofact.text.frames import frames_of_json
from chronofact.text.pairs import Judgement, Memory, Outcome, Thresholds, judge, lookup_keys
from chronofact.text.told import told_of_json

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
    ends: list[End] = field(default_factory=list)
    """Facts that are over by the rule, or by what others decided, and no check said so (ADR 44)."""

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
    ends: list[End] = []
    for candidate in look.candidates:
        other = memory_of(candidate)
        ends += _ended(look, new, other, declared.get(candidate.version_id))
        if candidate.version_id in declared:
            continue
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
    ends = list(dict.fromkeys(ends))
    return Weighed(new, len(known), has_asked, by_rule, to_ask[:asked_max], beyond, left_alone, ends)


def _ended(look: Look, new: Memory, other: Memory, declared: Counting | None) -> list[End]:
    """What the pair ends of facts; a check says that all which came before it is in the log."""
    if not new.told.given and not other.told.given:
        return []
    is_said = declared is not None and declared.relation == Verdict.SUPERSEDES and declared.decided_by != "rule"
    newer = declared.newer if declared is not None and is_said else None
    if look.check is not None:
        is_news = declared is not None and declared.event_seq > look.check.event_seq
        return ends_beside_rule(new, other, newer) if is_news else []
    if declared is not None and declared.decided_by == "person":
        return _ends_said(new, other, newer)
    return ends_by_rule(new, other) + _ends_said(new, other, newer)


def ends_beside_rule(new: Memory, other: Memory, newer: bytes | None) -> list[End]:
    """What is over by the word of whoever says that one supersedes the other, and the rule did not tell before."""
    by_rule = ends_by_rule(new, other)
    return [one for one in _ends_said(new, other, newer) if one not in by_rule]


def _ends_said(new: Memory, other: Memory, newer: bytes | None) -> list[End]:
    if newer is None:
        return []
    return ends_by_verdict(other, new) if newer == new.version_id else ends_by_verdict(new, other)


def memory_of(stored: StoredMemory | Candidate) -> Memory:
    """As the rule takes it."""
    frames = frames_of_json(stored.frames)
    return Memory(
        stored.version_id,
        stored.text,
        stored.valid_from,
        stored.valid_from_known,
        stored.valid_to,
        frames,
        told_of_json(stored.frames, frames),
    )


def _has_given_way(candidate: Candidate) -> bool:
    return candidate.lifecycle == "SUPERSEDED" or candidate.merged_into is not None


def _by_nearness(pair: Pair) -> tuple[bool, float, int]:
    """What stands first, then the nearest, then the newest."""
    return pair.has_given_way, -(pair.cosine if pair.cosine is not None else 0.0), -pair.arrived
