"""A frame to structured facts: their keys, and whether a value may close the one before (semantics §9)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import Final

from chronofact.text.compare import NEEDS_CUE, guard_of, is_named, says_change
from chronofact.text.frames import Frame, Holds, Modality, Polarity, Temporality
from chronofact.text.keys import EVENTS
from chronofact.text.reasons import Reason
from chronofact.text.untaken import Untaken
from chronofact.text.words import HOMES, PERSONS, SIDE_ROLES, WEEKDAYS

KEY_BYTES_MAX: Final = 200
_PLAIN: Final = re.compile(r"[^a-z0-9]+")
_UNKNOWN: Final = frozenset({"", "?"})
_TYPED: Final = frozenset({"prefer", "use", "made_with"})
"""Slots that hold one value of each type."""
_TOOLS: Final = frozenset(
    {
        "programming language",
        "editor",
        "database",
        "warehouse",
        "cache",
        "web framework",
        "front end",
        "bundler",
        "package manager",
    }
    | {
        "shell",
        "operating system",
        "browser",
        "chat tool",
        "tracker",
        "forge",
        "ci",
        "notes",
        "hosting",
        "test framework",
    }
    | {"browser tests", "time tracker"}
)
"""Types of what one uses instead of another."""
_FAVORITE: Final = "prop:favorite "
_ELSEWHERE: Final = frozenset(
    (
        "novel story book tale game play film movie series dream scenario example test exam quiz exercise draft joke kid prank "
        "argument theory every each weekend spring summer autumn fall winter"
    ).split()
).union(WEEKDAYS, (f"{day}s" for day in WEEKDAYS))
"""Words of a scope in which something holds that does not hold of somebody at large."""
_DOUBTS: Final = frozenset(
    "not n't no nor never neither either or but except without hardly barely almost nearly guess suppose think believe assume reckon "
    "maybe perhaps probably possibly allegedly supposedly apparently kinda sorta unless until".split()
)
"""Words that turn or weaken what is said, where no frame says them."""
_OTHERWISE: Final = frozenset({"or", "nor", "not", "except", "unless"})
_CLAUSE_WORDS: Final = frozenset({"is", "are", "was", "were", "my", "our", "his", "her", "their"})
"""In a value they tell that the parser took another clause for part of it."""
_BROKEN: Final = re.compile(r"[^\w&/+]+")
"""What is left of a number or a date that was cut."""
_LABELS: Final = frozenset(
    {"fun", "fact", "update", "note", "ps", "fyi", "btw", "reminder", "news", "info", "status", "me"}
)
"""What may stand before a colon without saying of whom or what the rest is."""


def states_of(frame: Frame) -> tuple[Frame, ...]:
    """What a frame says of slots that hold one value: itself, or what holds once something was switched to."""
    if frame.slot != "switch":
        return (frame,)
    if frame.value_type not in _TOOLS or not frame.value or frame.value_type == frame.value.split()[-1]:
        return ()
    is_somebody = frame.entity in {"user", "we"} or frame.entity.rpartition(":")[2] in PERSONS
    slots = ("use", "prefer") if is_somebody else ("use", "made_with")
    return tuple(replace(frame, slot=slot, cardinality=Holds.ONE) for slot in slots)


def why_none(frame: Frame) -> Untaken | None:
    """Why a frame says no structured fact; None where it does, if its time can be told."""
    if frame.entity in _UNKNOWN:
        return Untaken.ENTITY_UNKNOWN
    if frame.slot in EVENTS or frame.temporality is Temporality.ENDED:
        return Untaken.EVENT
    if frame.modality is not Modality.ASSERTED:
        return Untaken(frame.modality.value)
    if frame.polarity is Polarity.NEGATIVE:
        return Untaken.NEGATED
    if frame.cardinality not in {Holds.ONE, Holds.IMMUTABLE} or "additive" in frame.guards:
        return Untaken.MANY_VALUED
    if not frame.value:
        return Untaken.NO_VALUE
    if frame.slot in _TYPED and not frame.value_type:
        return Untaken.MANY_VALUED
    return _why_unsure(frame)


def _why_unsure(frame: Frame) -> Untaken | None:
    """What is said, but not as something that holds at large."""
    if not frame.is_main:
        return Untaken.SUBORDINATE
    if "not_asserted" in frame.guards:
        return Untaken.HYPOTHETICAL
    words = frame.scope.split()
    if not _DOUBTS.isdisjoint(frame.unread) or not _OTHERWISE.isdisjoint(words):
        return Untaken.UNSURE
    value = frame.value.split()
    if not _CLAUSE_WORDS.isdisjoint(value) or any(_BROKEN.fullmatch(word) for word in value):
        return Untaken.UNSURE
    if not is_named(frame) or (frame.slot == "housing" and HOMES.isdisjoint(frame.value.split()[-1:])):
        return Untaken.NO_VALUE
    is_labelled = frame.scope.endswith(":") and not _LABELS.issuperset(frame.scope.removesuffix(":").split())
    if is_labelled or not _ELSEWHERE.isdisjoint(words):
        return Untaken.SCOPED
    is_of_both = frame.slot == "residence" and words[:1] == ["in"]  # "in Oslo or Bergen"
    return Untaken.UNSURE if is_of_both else None


def key_of(frame: Frame) -> str | None:
    """``<slot>`` of the user, ``<entity>/<slot>`` of any other; None where the key alphabet can't spell it."""
    parts = [*(() if frame.entity == "user" else frame.entity.split(":")), *_slot_of(frame).split(":")]
    words = [_slug(part) for part in parts]
    key = "/".join(words)
    return key if all(words) and len(key) <= KEY_BYTES_MAX else None


def _slot_of(frame: Frame) -> str:
    """With its type and its scope, where a slot holds one value of each: a drink answers no language, and work is not home.

    A favorite tool is what is preferred.
    """
    if frame.slot in _TYPED:
        return ":".join(filter(None, (frame.slot, frame.value_type, frame.scope)))
    is_tool = frame.value_type in _TOOLS and frame.value_type.endswith(frame.slot.removeprefix(_FAVORITE))
    return f"prefer:{frame.value_type}" if frame.slot.startswith(_FAVORITE) and is_tool else frame.slot


def blocked_by(frame: Frame) -> Reason | None:
    """Which guard of rule 1 forbids that the value closes another, as far as one frame can tell; in doubt one does."""
    if (guard := guard_of(frame)) is not None:
        return guard
    if frame.unread:
        return Reason.UNREAD_WORDS
    if frame.cardinality is Holds.IMMUTABLE:
        return Reason.IMMUTABLE
    if frame.scope and frame.slot not in _TYPED:
        return Reason.SCOPE_DIFFERS
    if frame.slot in _TYPED and frame.value_type == frame.value.split()[-1]:
        return Reason.MANY_VALUED  # short emails, and emails in the morning
    if frame.value_type == "region":
        return Reason.REGION_AND_PLACE
    if not is_named(frame):
        return Reason.NOT_A_NAME
    if frame.slot == "occupation" and not SIDE_ROLES.isdisjoint(frame.value.split()[-1:]):
        return Reason.MANY_VALUED
    return Reason.NO_CHANGE_CUE if frame.slot in NEEDS_CUE and not says_change(frame) else None


def _slug(words: str) -> str:
    plain = unicodedata.normalize("NFKD", words.casefold())
    return _PLAIN.sub("_", "".join(ch for ch in plain if not unicodedata.combining(ch))).strip("_")
