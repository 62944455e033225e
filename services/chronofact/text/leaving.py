"""What a later clause leaves behind by its kind, where slots differ: work found ends looking for it (semantics §7)."""

from __future__ import annotations

from typing import Final

from chronofact.text.fitting import stem
from chronofact.text.frames import Frame, Modality, Polarity, Temporality
from chronofact.text.reasons import Reason
from chronofact.text.words import SIDE_ROLES

WORKLESS: Final = frozenset({"is:unemployed", "is:jobless"})
"""Slots of who has no work."""
WORK: Final = frozenset({"employer", "occupation"})
_SEARCHES: Final = frozenset({"do:look:for", "do:search:for", "do:hunt:for", "do:shop:for"})
_FINDING: Final = frozenset(
    {"find", "buy", "get", "choose", "pick", "adopt", "hire", "land", "select", "rent", "purchase"}
)
_POSTS: Final = frozenset({"job", "work", "position", "internship"})


def searched(frame: Frame) -> str:
    """What is looked for."""
    return frame.value if frame.slot in _SEARCHES and frame.temporality is Temporality.CURRENT else ""


def is_workless(frame: Frame) -> bool:
    """Whether somebody has no work, or looks for some."""
    return frame.slot in WORKLESS or (searched(frame).split()[-1:] != [] and searched(frame).split()[-1] in _POSTS)


def leaves(old: Frame, new: Frame) -> Reason | None:
    """Why what is said later ends what was; None where it is no such thing."""
    if Polarity.NEGATIVE in {old.polarity, new.polarity} or new.modality is not Modality.ASSERTED:
        return None
    if is_workless(old) and new.slot in WORK:
        return Reason.VALUE_CHANGED
    if searched(old) and new.slot == "end" and "ends:done" in new.cues:
        verb, _, what = new.value.partition(" ")
        return Reason.ENDED if verb in _FINDING and stem(what) == stem(old.value) else None
    if old.slot.startswith("have:") and old.value_type == "version" and new.slot == "switch" and not new.from_value:
        is_newer = old.slot[5:] in new.value.split() and old.value not in new.value.split()
        return Reason.VALUE_CHANGED if is_newer and new.value_type == f"version of {old.slot[5:]}" else None
    if old.slot == "occupation" and new.slot == "employer" and any(cue.startswith("at:") for cue in old.cues):
        is_elsewhere = f"at:{new.value}" not in old.cues and new.temporality in {
            Temporality.CHANGE,
            Temporality.STARTED,
        }
        return Reason.VALUE_CHANGED if is_elsewhere and SIDE_ROLES.isdisjoint(old.value.split()) else None
    if new.slot == "occupation" and "promoted" in new.cues and old.slot.startswith("is:") and old.scope == new.scope:
        return Reason.VALUE_CHANGED if old.value != new.value and old.scope.startswith("at ") else None
    return None
