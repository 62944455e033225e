"""A frame to a structured fact: its key, and whether its value may close the one before (semantics §9)."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from chronofact.text.compare import NEEDS_CUE, guard_of, is_named, says_change
from chronofact.text.frames import Frame, Holds, Modality, Polarity, Temporality
from chronofact.text.keys import EVENTS
from chronofact.text.reasons import Reason
from chronofact.text.untaken import Untaken
from chronofact.text.words import SIDE_ROLES

KEY_BYTES_MAX: Final = 200
_PLAIN: Final = re.compile(r"[^a-z0-9]+")
_UNKNOWN: Final = frozenset({"", "?"})
_TYPED: Final = frozenset({"prefer", "use", "made_with"})


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
    if frame.cardinality not in {Holds.ONE, Holds.IMMUTABLE}:
        return Untaken.MANY_VALUED
    return None if frame.value else Untaken.NO_VALUE


def key_of(frame: Frame) -> str | None:
    """``<slot>`` of the user, ``<entity>/<slot>`` of any other; None where the key alphabet can't spell it."""
    parts = [*(() if frame.entity == "user" else frame.entity.split(":")), *frame.slot.split(":")]
    words = [_slug(part) for part in parts]
    key = "/".join(words)
    return key if all(words) and len(key) <= KEY_BYTES_MAX else None


def blocked_by(frame: Frame) -> Reason | None:
    """Which guard of rule 1 forbids that the value closes another, as far as one frame can tell; in doubt one does."""
    if (guard := guard_of(frame)) is not None:
        return guard
    if frame.cardinality is Holds.IMMUTABLE:
        return Reason.IMMUTABLE
    if frame.scope:
        return Reason.SCOPE_DIFFERS
    if frame.slot in _TYPED:
        return Reason.TYPE_DIFFERS
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
