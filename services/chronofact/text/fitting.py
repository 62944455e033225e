"""What an ending ends: retiring ends work and no diet, selling ends possession (semantics §7)."""

from __future__ import annotations

from typing import Final

from chronofact.text.frames import Frame

FAMILIES: Final[dict[str, tuple[str, ...]]] = {
    "work": ("employer", "occupation", "project", "teach"),
    "member": ("member", "employer", "study"),
    "possession": ("have", "vehicle", "device", "housing"),
    "activity": ("do", "use", "media", "project", "study", "like", "plan", "learn", "diet"),
    "project": ("project", "media", "do", "plan", "study", "learn"),
    "plan": ("plan", "subscribe", "schedule", "member", "have", "use"),
    "partner": ("rel_status", "have"),
    "health": ("have", "health"),
    "use": ("use", "made_with", "do", "like"),
    "debt": ("have", "owe"),
    "like": ("like",),
    "death": ("have",),
    "done": ("plan",),
    "business": ("do", "have", "owner", "project"),
    "any": ("use", "do", "like", "have", "project", "plan", "media", "member", "subscribe", "made_with", "diet"),
}
"""Slots (or their first word) that an ending of that family may end."""


def ends(old: Frame, new: Frame) -> bool:
    """Whether the thing that ``new`` ends is the one that ``old`` says."""
    if old.slot == "occupation" and "ends:member" in new.cues and f"at:{new.value}" in old.cues:
        return True
    if not ends_kind(old, new) and not ("ends:work" in new.cues and old.slot == "do:work:in"):
        return False
    if not new.value:
        return "all" in new.cues
    ended, held = _stems(new.value), _stems(f"{old.slot.partition(':')[2]} {old.value}".replace(":", " "))
    if "ends:done" in new.cues:
        return ended == _stems(old.value) and not old.scope
    verb, _, rest = old.slot.removeprefix("do:").partition(":")
    if old.slot.startswith("do:") and rest and ended <= _stems(verb):
        return False  # "quit drinking" says nothing of tea
    if not held:
        return False
    if f"at:{new.value}" in old.cues:
        return True
    return ended <= held | _stems(old.scope)


def ends_kind(old: Frame, new: Frame) -> bool:
    """Whether ``new`` ends things of the kind that ``old`` says."""
    first = old.slot.partition(":")[0]
    return any(first in FAMILIES.get(cue.removeprefix("ends:"), ()) for cue in new.cues if cue.startswith("ends:"))


def stem(word: str) -> str:
    """``smoking`` and ``smoke``, ``running`` and ``run`` are one word."""
    bare = word.removesuffix("ing") if len(word) > 5 else word
    if bare != word and bare[-2:-1] == bare[-1:]:
        return bare[:-1]
    return bare.removesuffix("e")


def _stems(words: str) -> set[str]:
    return {stem(word) for word in words.split()}
