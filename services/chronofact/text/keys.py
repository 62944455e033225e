"""Under which keys a memory is found, and which a new one asks for (semantics §7, candidates (a))."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from chronofact.text.fitting import stem
from chronofact.text.frames import Frame, Modality, Temporality, of_entity
from chronofact.text.leaving import WORK, is_workless
from chronofact.text.lives import life_keys
from chronofact.text.measures import measured_words
from chronofact.text.plans import plan_words
from chronofact.text.states import thing_keys

EVENTS: Final = frozenset({"switch", "end"})
"""Slots that are no attribute: they match by the value they end, or by the type of what they bring."""
KEYS_MAX: Final = 64
_KEY_CHARACTERS_MAX: Final = 200
_WORDS_MAX: Final = 6


def is_live(frame: Frame) -> bool:
    """Whether it says something of now, or plans it; history, questions and what-ifs are not candidates."""
    if frame.slot.startswith("plan:"):
        return True
    return frame.modality in {Modality.ASSERTED, Modality.PLANNED} and frame.temporality is not Temporality.PAST


def index_keys(frames: Iterable[Frame]) -> tuple[str, ...]:
    """What a memory with these frames is found under."""
    return _distinct(_all_keys(tuple(frames), "event", "state"))


def lookup_keys(frames: Iterable[Frame]) -> tuple[str, ...]:
    """What a new memory with these frames asks for; a pair is found in either order of arrival."""
    return _distinct(_all_keys(tuple(frames), "state", "event"))


def _all_keys(frames: tuple[Frame, ...], event: str, state: str) -> Iterator[str]:
    """Of what is live; what measures or is planned is looked for by its words, too, whatever its tense."""
    line = frames[0].line if frames and frames[0].modality is not Modality.QUESTION else ""
    yield from (f"amount|{word}" for word in (measured_words(line) if line else ()))
    yield from (f"plan|{word}" for word in plan_words(frames))
    yield from life_keys(frames)
    yield from (key for frame in frames if is_live(frame) for key in _keys(frame, event, state))


def _keys(frame: Frame, event: str, state: str) -> Iterator[str]:
    """``event`` and ``state`` are swapped between index and look-up: events ask for states, states for events."""
    entity = of_entity(frame)
    side = event if frame.slot in EVENTS else state
    yield f"slot|{entity}|{frame.slot}"
    yield from thing_keys(frame)
    if frame.slot in WORK or is_workless(frame) or (frame.slot.startswith("is:") and frame.scope.startswith("at ")):
        yield f"work|{entity}"
    if frame.slot == "diet" or frame.slot.startswith("do:eat:"):
        yield f"diet|{entity}"
    if frame.slot in {"do:live:with", "at:in", "at:on"} or "moved" in frame.cues or "ends:home" in frame.cues:
        yield f"home|{entity}"
    if frame.slot.startswith(("do:", "when:")):
        yield f"does|{entity}|{frame.slot.replace(':', ' ').split()[1]}"
    if frame.slot in {"made_with", "switch"}:
        yield f"made|{entity}"
    for cue in frame.cues:
        for word in cue[3:].split() if cue.startswith("at:") else ():
            yield f"{side}-value|{entity}|{stem(word)}"
    if frame.slot in {"rel_status", "end"}:
        for word in frame.value.split()[:1]:
            yield f"{side}-state|{entity}|{word[:6]}"
    if frame.line:
        yield f"line|{_begin(frame.line)}"
    ended = (
        f"{frame.from_value} {frame.value}" if frame.slot in EVENTS else f"{frame.slot.partition(':')[2]} {frame.value}"
    )
    if frame.from_value and frame.slot in {"residence", "at:in"}:
        for word in frame.from_value.split()[:_WORDS_MAX]:
            yield f"{event}-value|{entity}|{stem(word)}"
    if frame.slot.startswith("do:"):
        ended += f" {frame.scope.partition(' ')[2]}"
    for word in ended.replace(":", " ").split()[:_WORDS_MAX]:
        yield f"{side}-value|{entity}|{stem(word)}"
    ends_all = frame.slot == "end" and not frame.value
    if ends_all or frame.slot == "schedule":
        yield f"{side}-any|{entity}"
    if frame.value_type:
        yield f"{side}-type|{entity}|{frame.value_type}"


def _begin(line: str) -> str:
    """Up to the verb: two lines that differ in one phrase after it begin alike."""
    before, _, after = line.partition(" V:")
    return f"{before} {after.partition(' ')[0]}"


def _distinct(keys: Iterator[str]) -> tuple[str, ...]:
    """In order, each once, bounded in number and length."""
    seen: dict[str, None] = {}
    for key in keys:
        seen.setdefault(key[:_KEY_CHARACTERS_MAX])
        if len(seen) == KEYS_MAX:
            break
    return tuple(seen)
