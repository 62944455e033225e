"""Two memories: whether the rule decides their relation, a model must, or there is nothing (semantics §7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from chronofact.domain.events import Verdict
from chronofact.text.alike import alike
from chronofact.text.amounts import amounts, tell_amounts
from chronofact.text.compare import DECIDES, answer
from chronofact.text.frames import Frame
from chronofact.text.keys import index_keys, lookup_keys
from chronofact.text.lives import lives
from chronofact.text.plain import plain
from chronofact.text.plans import plans
from chronofact.text.reasons import Reason
from chronofact.text.retold import retold
from chronofact.text.told import UNTOLD, Told

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


DEFAULT = Thresholds()


@dataclass(frozen=True, slots=True)
class Memory:
    """One version of a text memory; times in microseconds, ``valid_from`` None is always."""

    version_id: bytes
    text: str
    valid_from: int | None
    valid_from_known: bool
    valid_to: int | None
    frames: tuple[Frame, ...]
    told: Told = UNTOLD


@dataclass(frozen=True, slots=True)
class Judgement:
    """``verdict`` and ``newer`` (a version id) are there when the rule decided."""

    outcome: Outcome
    reason: Reason
    verdict: Verdict | None = None
    newer: bytes | None = None


def judge(new: Memory, other: Memory, cosine: float | None, thresholds: Thresholds = DEFAULT) -> Judgement:
    """The pair's relation; symmetric, ``new`` only names the later arrival. Never raises."""
    if new.valid_from_known and other.valid_from_known:
        if _are_apart(new, other):
            return Judgement(Outcome.NOTHING, Reason.INTERVALS_APART)
        if new.valid_from != other.valid_from:
            return _by_rule(new, other, cosine, thresholds)
        reason = Reason.VALID_FROM_EQUAL
    else:
        reason = Reason.VALID_FROM_UNKNOWN
    if set(lookup_keys(new.frames)) & set(index_keys(other.frames)):
        return Judgement(Outcome.MODEL, reason)
    return _by_closeness(new, other, cosine, thresholds, Reason.NO_COMMON_SLOT)


def _by_rule(new: Memory, other: Memory, cosine: float | None, thresholds: Thresholds) -> Judgement:
    """Both starts are known and differ: rule 1, else what blocked it."""
    earlier, later = sorted((new, other), key=_start)
    reason = Reason.EQUAL_TEXT if _same_text(new, other) else _found(earlier.frames, later.frames, cosine)
    if reason is not None and reason in DECIDES:
        return Judgement(Outcome.DECIDED, reason, Verdict.SUPERSEDES, later.version_id)
    if reason is None:
        return _by_closeness(new, other, cosine, thresholds, Reason.NO_COMMON_SLOT)
    if reason is not Reason.EQUAL_TEXT and (cosine is None or cosine >= thresholds.blocked):
        return Judgement(Outcome.MODEL, reason)
    return _by_closeness(new, other, cosine, thresholds, reason)


def _found(earlier: Sequence[Frame], later: Sequence[Frame], cosine: float | None) -> Reason | None:
    """By their frames, else by the two sentences as wholes."""
    found = alike(earlier, later, supersession(earlier, later))
    if tell_amounts(earlier, later):
        return retold(earlier, later, amounts(earlier, later, found), cosine)
    return lives(earlier, later, plans(earlier, later, retold(earlier, later, found, cosine)))


def _by_closeness(
    new: Memory, other: Memory, cosine: float | None, thresholds: Thresholds, otherwise: Reason
) -> Judgement:
    """Near duplicates go to the model; equal texts are as near as can be, whatever was measured."""
    if _same_text(new, other):
        return Judgement(Outcome.MODEL, Reason.EQUAL_TEXT)
    if cosine is not None and cosine >= thresholds.duplicate:
        return Judgement(Outcome.MODEL, Reason.CLOSE_TEXTS)
    return Judgement(Outcome.NOTHING, otherwise)


def supersession(earlier: Sequence[Frame], later: Sequence[Frame]) -> Reason | None:
    """Why every frame of the earlier-valid memory is answered, else what forbids it; None where nothing meets."""
    decided: list[Reason] = []
    blocked: list[Reason] = []
    is_read = True
    for old in earlier:
        found = _of_one(old, earlier, later)
        if found is None:
            continue  # said again beside what changed
        is_read &= found.is_read
        (decided if found.reason in DECIDES else blocked).append(found.reason)
    if not decided and not blocked and earlier:
        return Reason.SAME_VALUE
    if not decided and all(found is Reason.NOT_ALL_ANSWERED for found in blocked):
        return None
    if blocked:
        return next((found for found in blocked if found is not Reason.NOT_ALL_ANSWERED), Reason.NOT_ALL_ANSWERED)
    # what either sentence says beyond its frames may be the difference, unless both say it
    return decided[0] if is_read else Reason.UNREAD_WORDS


def ended_by(old: Frame, earlier: Sequence[Frame], later: Sequence[Frame]) -> Reason | None:
    """Why the later text answers this one frame of the earlier, whatever else that says; None where it does not."""
    found = _of_one(old, earlier, later)
    return found.reason if found is not None and found.is_read and found.reason in DECIDES else None


class _Found(NamedTuple):
    """What a frame is answered by, or what is in the way; and whether both sentences were read as far as it matters."""

    reason: Reason
    is_read: bool


def _of_one(old: Frame, earlier: Sequence[Frame], later: Sequence[Frame]) -> _Found | None:
    """None where the later text says it again, beside what changed."""
    if not old.is_main and old in later:
        return None
    beside = any(one is not old and (one.entity, one.slot) == (old.entity, old.slot) for one in earlier)
    answered = [(found, new) for new in later if (found := answer(old, new)) is not None]
    answers = [found for found, _ in answered]
    decides = [found for found in answers if found in DECIDES]
    kept = [found for found in answers if found in {Reason.SAME_VALUE, Reason.CONTAINED_VALUE}]
    if not decides and any(restates(old, new) for new in later):
        return None
    texts = earlier, later
    is_read = any(_is_read(found, old, new, texts) for found, new in answered if found in DECIDES)
    if beside and decides and decides[0] is Reason.VALUE_CHANGED:
        return _Found(Reason.MANY_VALUED, is_read)  # it says two values of one slot: another may be a third
    if decides and not kept:
        return _Found(decides[0], is_read)
    return _Found((kept or answers or [Reason.NOT_ALL_ANSWERED])[0], is_read)


def _is_read(found: Reason, old: Frame, new: Frame, texts: tuple[Sequence[Frame], Sequence[Frame]]) -> bool:
    """Whether both leave the same unread, or what both say; what ends, ends whatever more was said of it."""
    if set(new.unread) == set(old.unread):
        return True
    leaves = found is Reason.ENDED or (found is Reason.SWITCHED and bool(new.from_value))
    return set(new.unread) <= _words(texts[0]) and (leaves or set(old.unread) <= _words(texts[1]))


def _words(frames: Sequence[Frame]) -> set[str]:
    """All words of a text of one sentence."""
    return {part for item in frames[0].line.split() for part in item[2:].split("_")} if frames else set()


def restates(old: Frame, new: Frame) -> bool:
    """Whether the later text says it as well: it holds on, beside what changed."""
    said = (new.entity, new.slot, new.value, new.polarity, new.modality, new.scope)
    return bool(old.value) and said == (old.entity, old.slot, old.value, old.polarity, old.modality, old.scope)


def _start(memory: Memory) -> tuple[bool, int]:
    """Always (None) is before every instant."""
    return memory.valid_from is not None, memory.valid_from or 0


def _are_apart(one: Memory, other: Memory) -> bool:
    """Whether one had ended when the other began."""
    for first, second in ((one, other), (other, one)):
        if first.valid_to is not None and second.valid_from is not None and first.valid_to <= second.valid_from:
            return True
    return False


def _same_text(one: Memory, other: Memory) -> bool:
    """Equal but for case, spaces and the marks at the end."""
    return plain(one.text) == plain(other.text)
