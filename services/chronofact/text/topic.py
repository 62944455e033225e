"""The topic that a note begins with, ``billing-api: the owner is Priya``: what it says, it says of that only."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from chronofact.text.frames import Frame
from chronofact.text.making import ENTITY_MAX

_TOPIC: Final = re.compile(
    r"(?:\[(?P<inside>[^][]{1,40})\]:?|(?P<label>[\w./#@-]+(?: [\w./#@-]+){0,3})(?::| [-\u2013\u2014]))\s+(?=\S+\s+\S+\s+\S)"
)
SAYS_NOTHING: Final = frozenset(
    {
        "note",
        "update",
        "fact",
        "reminder",
        "info",
        "fyi",
        "news",
        "memory",
        "correction",
        "preference",
        "edit",
        "user",
        "remember",
        "important",
        "todo",
        "task",
        "idea",
        "plan",
        "goal",
        "decision",
    }
)
"""What a note calls itself is not what it is about."""
_PRONOUNS: Final = frozenset({"user", "we", "?", ""})


def split_topic(text: str) -> tuple[str, str]:
    """The topic in lower case, if there is one, and the rest."""
    found = _TOPIC.match(text)
    if found is None:
        return "", text
    topic = (found["inside"] or found["label"]).strip().lower()
    return "" if topic in SAYS_NOTHING else topic, text[found.end() :]


def about_topic(frames: Iterable[Frame], topic: str) -> tuple[Frame, ...]:
    """What is said of a thing is said of the topic's; what is said of a person holds within the topic."""
    if not topic:
        return tuple(frames)
    begin = f"N:{topic.replace(' ', '_')}"
    return tuple(replace(one, line=f"{begin} {one.line}" if one.line else "") for one in _within(frames, topic))


def _within(frames: Iterable[Frame], topic: str) -> tuple[Frame, ...]:
    return tuple(
        replace(one, scope=f"{topic}: {one.scope}".strip()) if one.entity in _PRONOUNS
        else replace(one, entity=f"{topic}:{one.entity}"[:ENTITY_MAX])
        for one in frames
    )  # fmt: skip
