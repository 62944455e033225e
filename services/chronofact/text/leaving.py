"""What a later clause leaves behind by its kind, where slots differ: work found ends looking for it (semantics §7)."""

from __future__ import annotations

from typing import Final

from chronofact.text.fitting import stem
from chronofact.text.frames import Frame, Modality, Polarity, Temporality
from chronofact.text.reasons import Reason
from chronofact.text.values import contains
from chronofact.text.words import SIDE_ROLES

WORKLESS: Final = frozenset({"is:unemployed", "is:jobless"})
"""Slots of who has no work."""
WORK: Final = frozenset({"employer", "occupation"})
_SEARCHES: Final = frozenset({"do:look:for", "do:search:for", "do:hunt:for", "do:shop:for"})
_FINDING: Final = frozenset(
    {"find", "buy", "get", "choose", "pick", "adopt", "hire", "land", "select", "rent", "purchase"}
)
_TIMES: Final = frozenset({"morning", "evening", "night", "day", "week", "weekend", "afternoon"})
_HOMES: Final = frozenset({"do:live:with", "do:stay:with", "housing"})
_WHERE: Final = frozenset({"at:in", "at:on", "at:at"})
_MEATLESS: Final = frozenset({"vegan", "vegetarian"})
_MEAT: Final = frozenset({"meat", "chicken", "beef", "pork", "steak", "bacon"})
_STATE_MIN: Final = 6
_POSTS: Final = frozenset({"job", "work", "position", "internship"})


def says_news(frame: Frame) -> bool:
    """Whether it was begun, or holds again or now."""
    return frame.temporality is Temporality.STARTED or not {"now", "again", "started"}.isdisjoint(frame.cues)


def searched(frame: Frame) -> str:
    """What is looked for."""
    return frame.value if frame.slot in _SEARCHES and frame.temporality is Temporality.CURRENT else ""


def is_workless(frame: Frame) -> bool:
    """Whether somebody has no work, or looks for some."""
    return frame.slot in WORKLESS or (searched(frame).split()[-1:] != [] and searched(frame).split()[-1] in _POSTS)


def _stops(old: Frame, new: Frame) -> bool:
    """``stopped playing basketball``: on Sundays, too; ``stopped running``: in the mornings, too."""
    if new.temporality is not Temporality.ENDED or not new.slot.startswith("do:") or new.scope:
        return False
    verb, _, thing = new.slot[3:].partition(":")
    stopped = {verb, *thing.split(), *new.value.split()}
    if old.slot.startswith("when:"):
        return stopped == set(old.slot[5:].split())
    return old.slot.startswith(f"do:{verb}:") and not thing and old.slot.rpartition(":")[2] in _TIMES


def _moves(old: Frame, new: Frame) -> Reason | None:
    """``moved out of his parents' house``, ``the office moved to Park Avenue``."""
    if new.slot == "end" and "ends:home" in new.cues:
        words = set(old.value.split())
        is_it = words == set(new.value.split()) or (words < set(new.value.split()) and old.slot != "housing")
        return Reason.ENDED if old.slot in _HOMES and words and is_it else None
    is_thing = ":" in old.entity or old.entity not in {"user", "we"}
    if is_thing and old.slot in _WHERE and new.slot in {"at:in", "switch"} and "moved" in new.cues:
        is_other = not new.from_value and not new.scope and not contains(old.value, new.value)
        return Reason.VALUE_CHANGED if is_other and old.value_type != "region" != new.value_type else None
    return None


def _is_called_off(old: Frame, new: Frame) -> bool:
    """``called off the engagement``: of who is engaged."""
    first, *rest = new.value.split() or [""]
    state, *partner = old.value.split() or [""]
    is_state = old.slot == "rel_status" and len(state) > _STATE_MIN and first.startswith(state[:-2])
    return is_state and set(rest) <= set(partner)


def leaves(old: Frame, new: Frame) -> Reason | None:
    """Why what is said later ends what was; None where it is no such thing."""
    if old.polarity is Polarity.POSITIVE and new.polarity is Polarity.NEGATIVE and _stops(old, new):
        return Reason.ENDED
    if Polarity.NEGATIVE in {old.polarity, new.polarity} or new.modality is not Modality.ASSERTED:
        return None
    if new.slot == "end" and _is_called_off(old, new):
        return Reason.ENDED
    if (moved := _moves(old, new)) is not None:
        return moved
    if old.slot == "diet" and old.value in _MEATLESS and new.slot.startswith("do:eat:") and new.slot[7:] in _MEAT:
        return Reason.VALUE_CHANGED if says_news(new) else None
    if new.slot == "diet" and new.value in _MEATLESS and old.slot.startswith("do:eat:") and old.slot[7:] in _MEAT:
        return Reason.VALUE_CHANGED
    if is_workless(old) and new.slot in WORK and SIDE_ROLES.isdisjoint(new.value.split()):
        return Reason.VALUE_CHANGED
    if searched(old) and new.slot == "end" and "ends:done" in new.cues:
        verb, _, what = new.value.partition(" ")
        return Reason.ENDED if verb in _FINDING and stem(what) == stem(old.value) else None
    if old.slot.startswith("have:") and old.value_type == "version" and new.slot == "switch" and not new.from_value:
        is_newer = old.slot[5:] in new.value.split() and old.value not in new.value.split()
        return Reason.VALUE_CHANGED if is_newer and new.value_type == f"version of {old.slot[5:]}" else None
    if old.slot == "employer" and old.value_type == "place" and "as" in old.cues and new.slot == "occupation":
        is_other = "promoted" not in new.cues and not new.scope and _TIMES.isdisjoint(old.value.split())
        return Reason.VALUE_CHANGED if is_other and says_news(new) else None
    if old.slot == "occupation" and new.slot == "employer" and any(cue.startswith("at:") for cue in old.cues):
        is_elsewhere = f"at:{new.value}" not in old.cues and new.temporality in {
            Temporality.CHANGE,
            Temporality.STARTED,
        }
        return Reason.VALUE_CHANGED if is_elsewhere and SIDE_ROLES.isdisjoint(old.value.split()) else None
    if old.slot == "made_with" and new.slot == "switch" and f"again {old.value_type.partition(' ')[0]}" in new.cues:
        return Reason.VALUE_CHANGED if not (new.from_value or new.scope or contains(old.value, new.value)) else None
    if new.slot == "occupation" and "promoted" in new.cues and old.slot.startswith("is:") and old.scope == new.scope:
        return Reason.VALUE_CHANGED if old.value != new.value and old.scope.startswith("at ") else None
    return None
