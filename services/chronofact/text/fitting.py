"""What an ending ends: retiring ends work and no diet, selling ends possession (semantics §7)."""

from __future__ import annotations

from typing import Final

from chronofact.text.frames import Frame

FAMILIES: Final[dict[str, tuple[str, ...]]] = {
    "work": ("employer", "occupation", "project", "teach"),
    "member": ("member", "employer", "study"),
    "possession": ("have", "vehicle", "count", "device", "housing"),
    "activity": ("do", "use", "media", "project", "study", "like", "plan", "learn"),
    "project": ("project", "media", "do", "plan", "study", "learn"),
    "plan": ("plan", "subscribe", "schedule", "member", "have", "use"),
    "partner": ("rel_status", "have"),
    "health": ("have", "health"),
    "use": ("use", "made_with", "do", "like"),
    "debt": ("have", "owe"),
    "like": ("like",),
    "death": ("have",),
    "done": ("plan",),
    "any": ("use", "do", "like", "have", "project", "plan", "media", "member", "subscribe", "made_with"),
}
"""Slots (or their first word) that an ending of that family may end."""


def ends(old: Frame, new: Frame) -> bool:
    """Whether the thing that ``new`` ends is the one that ``old`` says."""
    stem = old.slot.partition(":")[0]
    fits = any(stem in FAMILIES.get(cue.removeprefix("ends:"), ()) for cue in new.cues if cue.startswith("ends:"))
    if not fits:
        return False
    if not new.value:
        return "all" in new.cues
    ended, held = set(new.value.split()), set(f"{old.slot.partition(':')[2]} {old.value}".split())
    if "ends:done" in new.cues:
        return ended == set(old.value.split())
    return bool(held) and (ended <= held or (bool(old.value) and set(old.value.split()) <= ended))
