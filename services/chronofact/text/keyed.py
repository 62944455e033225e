"""``Team lead: Oksana``, ``Monthly budget = 400 EUR``: a line of a key and its value, which needs no parse."""

from __future__ import annotations

import re
from typing import Final

from chronofact.text.frames import Frame, Holds
from chronofact.text.making import ENTITY_MAX
from chronofact.text.timing import time_said
from chronofact.text.topic import SAYS_NOTHING
from chronofact.text.types import type_of
from chronofact.text.words import KIN, NUMBERS, ONE_OF_MANY, PETS, ROLE_ENDINGS, ROLES, never_changes

_LINE: Final = re.compile(
    r"(?P<key>[^\W\d_][\w/'&. -]{1,48}?)(?::\s+|\s*=\s+|\s+=\s*)(?P<value>[^\s:=][^:=]{0,48}?|\d{1,2}:\d\d(?:\s?[ap]m)?)\s*[.]?"
)
_SAYS: Final = frozenset(
    "i we you he she it they this that there who what is are was were be been has have had do does did will would can could should may might must "
    "not no never always don't isn't to because if when but use uses keep let please also another for const var def return import from class int float string bool void".split()
)
"""With one of these a line is a clause, or has one in it."""
_SEVERAL: Final = re.compile(r"[,;&+]|/(?!\d)|\b(?:and|or)\b")
_NUMBER: Final = re.compile(r"[$€£~]?\d")
_NAME: Final = re.compile(r"[A-Z][\w'.&+#-]*(?: (?:[A-Z][\w'.&+#-]*|(?:de|van|von|of|the|al|la)|\d[\w.]*))*")
_WHEN: Final = frozenset(
    {"date", "deadline", "day", "time", "hour", "hours", "eta", "start", "end", "due", "launch", "release"}
)
_ANYBODY: Final = (
    ONE_OF_MANY
    | KIN
    | PETS
    | {"contact", "guest", "attendee", "speaker", "member", "participant", "client", "author", "pet"}
)
_KINDS: Final = frozenset(
    {"preferred", "default", "current", "favorite", "favourite", "main", "primary", "desired", "next"}
)
"""What begins with one of these is no person's name."""
_WORDS_MAX: Final = 5


def keyed(text: str) -> tuple[Frame, ...]:
    """Its frame, or none where the line is something else; of several values it holds several."""
    found = _LINE.fullmatch(text)
    if found is None:
        return ()
    key, value = _spelled(found["key"]), found["value"].strip(" .")
    words = key.split()
    if len(words) > _WORDS_MAX or len(value.split()) > _WORDS_MAX or key in SAYS_NOTHING:
        return ()
    if not _SAYS.isdisjoint(words) or not _SAYS.isdisjoint(word.lower() for word in value.split() if word != "May"):
        return ()
    if "=" in text and len(words) == 1:
        return ()  # "retries = 3" is code
    kind, cues = _kind(words, value, is_somebody=_may_speak(found["key"]))
    holds = Holds.IMMUTABLE if never_changes(key) and "favorite" not in words else Holds.ONE
    if (
        kind == "time"
        or (_may_speak(found["key"]) and "named" not in cues)
        or _SEVERAL.search(value)
        or _is_anybody(words)
        or (words[-1].endswith("s") and words[-1] not in _WHEN and kind != "number")
    ):
        holds = Holds.MANY
    return (
        Frame(
            entity=key[:ENTITY_MAX],
            slot="value",
            value=_plain(value, kind),
            value_type=kind,
            cardinality=holds,
            cues=cues,
        ),
    )


def _may_speak(key: str) -> bool:
    """``Alice: 42``, ``Dana Smith: agreed`` are turns of a talk, as far as capitals tell."""
    words = key.split()
    return words[0].lower() not in _KINDS and all(word[:1].isupper() for word in words)


def _is_anybody(words: list[str]) -> bool:
    """``Contact: Dana``, of whom there may be several; a favorite is one."""
    return words[-1] in _ANYBODY and words[0] not in {"favorite", "best"}


def _spelled(key: str) -> str:
    words = key.strip().lower().removeprefix("the ").removeprefix("user's ").removeprefix("my ")
    return words.replace("favourite", "favorite").replace("preferred", "favorite")


def _kind(words: list[str], value: str, *, is_somebody: bool) -> tuple[str, tuple[str, ...]]:
    """Its type, and whether it is a name that excludes another: of one thing alone, or of who has a role."""
    timed = time_said(value)
    if timed is not None:
        returns = len(words) > 1 and timed[1] in {"weekday", "clock"}  # "Bin collection: Monday"
        return (timed[1] if returns or not _WHEN.isdisjoint(words) else "time"), ()
    if _NUMBER.match(value):
        return "number", ()
    if len(words) > 1 and words[0] != "favorite" and not is_somebody:
        return type_of(value.lower()) or words[-1], ("named",)
    is_one = not is_somebody or words[-1] in ROLES or (len(words) == 1 and words[-1].endswith(ROLE_ENDINGS))
    kind = type_of(value.lower()) or words[-1]
    return kind, ("named",) if is_one and _NAME.fullmatch(value) else ()


def _plain(value: str, kind: str) -> str:
    timed = time_said(value)
    if timed is not None and timed[1] == kind:
        return timed[0]
    return " ".join(NUMBERS.get(word, word) for word in value.lower().replace(",", "").split())
