"""What a later memory ends of the structured facts that an earlier one gave, a fact at a time (ADR 44)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from chronofact.text.compare import DECIDES, answer
from chronofact.text.fitting import ends_kind
from chronofact.text.frames import Frame, Modality, Polarity, Temporality, of_entity
from chronofact.text.pairs import Memory, ended_by
from chronofact.text.reasons import Reason
from chronofact.text.told import Given
from chronofact.text.values import contains
from chronofact.text.words import PASSING

_BY_NAME: Final = frozenset({Reason.ENDED, Reason.SWITCHED})
_NOT_PLAIN: Final = frozenset({Reason.NOT_ASSERTED, Reason.SUBORDINATE, Reason.ADDITIVE, Reason.ONE_OFF, Reason.PAST})


_SOON: Final = frozenset({"a:early", "a:late", "r:early", "r:late"})


class End(NamedTuple):
    """A version of a fact that holds until then; ``by`` is the memory that says so."""

    key: str
    version_id: bytes
    effective_at: int
    by: bytes


def ends_by_rule(one: Memory, other: Memory) -> list[End]:
    """What the rule tells by the facts' own frames, whatever it says of the memories as wholes. Never raises."""
    if not (one.valid_from_known and other.valid_from_known) or one.valid_from == other.valid_from:
        return []
    earlier, later = (one, other) if _begins(one) < _begins(other) else (other, one)
    texts = earlier.told.frames, tuple(filter(_is_for_good, later.told.frames))
    return [
        _end(given, later)
        for given in _holding(earlier, later)
        if (why := ended_by(given.frame, *texts)) is not None and not _is_left_to_succession(given, later, why)
    ]


def ends_by_verdict(older: Memory, newer: Memory) -> list[End]:
    """What is over where somebody said that the newer memory supersedes the older one. Never raises."""
    says_one_thing = len(older.told.frames) == 1
    plain = [frame for frame in newer.told.frames if _is_plain(frame)]
    return [
        _end(given, newer)
        for given in _holding(older, newer)
        if all(given.key != one.key for one in newer.told.given)
        and not any(_keeps(given.frame, new) for new in plain)
        and any(
            (says_one_thing and _is_about(given.frame, new)) or _speaks_of(given.frame, new)
            for new in plain
            if not _names_another(given.frame, new)
        )
    ]


def _holding(older: Memory, newer: Memory) -> Iterator[Given]:
    """Facts of the older one that hold when the newer one begins, if that is there to stay."""
    at = newer.valid_from
    if not newer.valid_from_known or at is None or newer.valid_to is not None:
        return
    for given in older.told.given:
        if (given.valid_from is None or given.valid_from < at) and (given.valid_to is None or at < given.valid_to):
            yield given


def _is_left_to_succession(given: Given, later: Memory, why: Reason) -> bool:
    """Whether a fact of the later one closes it, or is a conflict to ask about, as long as that fact stands."""
    beside = [one for one in later.told.given if one.key == given.key]
    return any(one.is_automatic for one in beside) or (bool(beside) and why not in _BY_NAME)


def _is_for_good(frame: Frame) -> bool:
    """``left Acme for lunch``, ``left Acme early``: back tomorrow."""
    if frame.slot == "switch":
        return PASSING.isdisjoint(frame.value.split())
    return frame.slot != "end" or _SOON.isdisjoint(frame.line.split())


def _is_plain(frame: Frame) -> bool:
    return frame.modality is Modality.ASSERTED and _NOT_PLAIN.isdisjoint(frame.guards)


def _keeps(old: Frame, new: Frame) -> bool:
    """``works at Acme on Mondays``: whatever else it says, it is at Acme."""
    is_so = new.polarity is Polarity.POSITIVE and new.temporality is not Temporality.ENDED
    return is_so and (of_entity(old), old.slot) == (of_entity(new), new.slot) and contains(old.value, new.value)


def _is_about(old: Frame, new: Frame) -> bool:
    """``Acme is history``: it is of the same somebody, or of what is said of them."""
    return of_entity(old) == of_entity(new) or not set(old.value.split()).isdisjoint(new.entity.split())


def _speaks_of(old: Frame, new: Frame) -> bool:
    if of_entity(old) != of_entity(new):
        return False
    if answer(old, new) in DECIDES:
        return True
    return ends_kind(old, new) if new.temporality is Temporality.ENDED else old.slot == new.slot


def _names_another(old: Frame, new: Frame) -> bool:
    """``left Globex`` says nothing of Acme, whoever takes it so."""
    said = set(new.value.split())
    return new.temporality is Temporality.ENDED and bool(said) and said.isdisjoint(old.value.split())


def _end(given: Given, by: Memory) -> End:
    return End(given.key, given.version_id, by.valid_from or 0, by.version_id)


def _begins(memory: Memory) -> tuple[bool, int]:
    """Always (None) is before every instant."""
    return memory.valid_from is not None, memory.valid_from or 0
