"""A sentence as who does what: its line cut at each verb, with whom it is about (semantics §7)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from chronofact.text.frames import Frame, Modality, Temporality, of_entity
from chronofact.text.words import KIN, PERSONS, PETS, PLANNING, WONDERING

_MODALS: Final = frozenset({"can", "ca", "could", "would", "should", "might", "may", "must", "will", "wo", "shall"})
_IFS: Final = frozenset("if unless whether maybe perhaps might may could would should will shall must".split())
_FATAL: Final = frozenset({"not_asserted", "one_off", "past"})
_FORMER: Final = frozenset({"old", "former", "previous", "ex", "other"})
_MEANING: Final = (PLANNING | WONDERING) - {
    "go",
    "need",
    "try",
    "train",
    "save",
    "book",
    "look",
    "like",
    "schedule",
    "tell",
    "report",
    "feel",
}
_PARTICLES: Final = frozenset({"up", "off", "out", "away", "down"})
_DONE_TO: Final = frozenset({"have", "manage", "come", "get"})
"""What one has, or comes, to do is done; what else stands after ``to`` is only meant."""
_NAMING: Final = frozenset({"name", "call"})


class Word(NamedTuple):
    """One word: its kind (``lines``), and the preposition before its phrase."""

    kind: str
    word: str
    after: str


class Deed(NamedTuple):
    """A verb, and what follows it up to the next."""

    verb: str
    is_not: bool
    words: tuple[Word, ...]
    particle: str = ""

    def at(self, *prepositions: str) -> list[str]:
        """The words after one of these; after none, what has no preposition before it."""
        return [one.word for one in self.words if one.after in (prepositions or ("",)) and one.kind in "nNavxr#t"]

    def objects(self) -> list[str]:
        """Nouns and names that it is done to."""
        return [one.word for one in self.words if not one.after and one.kind in "nN"]

    @property
    def after(self) -> set[str]:
        """The prepositions."""
        return {one.after for one in self.words if one.after}


class Told(NamedTuple):
    """``person`` is whom it is about, ``thing`` what of theirs, if any."""

    person: str
    thing: str
    deeds: tuple[Deed, ...]
    verbs: frozenset[str]
    subject: tuple[str, ...]
    said: frozenset[str]
    is_now: bool
    is_joined: bool
    """Whether something is joined to what is said, not to who says it."""
    is_of_two: bool
    frames: tuple[Frame, ...]

    def has(self, slot: str) -> str:
        """The value of the first frame of a slot of theirs."""
        return next((one.value for one in self.frames if one.slot == slot and one.is_main), "")


def told(frames: Sequence[Frame]) -> Told | None:
    """None where it is no plain statement of somebody named."""
    return _told(tuple(frames))


@lru_cache(maxsize=4096)
def _told(frames: tuple[Frame, ...]) -> Told | None:
    if not frames or not frames[0].line:
        return None
    items = [(kind, text) for kind, _, text in (item.partition(":") for item in frames[0].line.split())]
    place = next((at for at, (kind, _) in enumerate(items) if kind in "Vv"), len(items))
    mains = _mains(frames)
    fatal = _FATAL - {"one_off"} if ("P", "once") in items else _FATAL  # "once he is back" says when
    if any(not fatal.isdisjoint(one.guards) or one.modality is Modality.QUESTION for one in mains):
        return None
    if mains and "pronoun" in mains[0].guards and ("?", "our") not in items:
        return None
    if any(one.scope.endswith(":") for one in mains):
        return None  # whose words they are, a label says
    if not _IFS.isdisjoint(text for kind, text in items if kind != "t"):
        return None
    entity = next((of_entity(one) for one in (*mains, *frames) if one.entity not in {"", "?"}), "")
    person, _, thing = entity.partition(":")
    if not person:
        return None
    subject = items[:place]
    if thing and (name := _apposed(subject)):
        person, thing = name, ""
    deeds = _deeds(items[place:], is_not=any(kind == "-" for kind, _ in subject))
    return Told(
        "user" if person == "we" else person,
        thing,
        deeds,
        frozenset(one.verb for one in deeds),
        tuple(text for kind, text in subject if kind in "nNa"),
        frozenset(text for _, text in items),
        any("now" in one.cues or "currently" in one.cues for one in frames),
        any(kind == "&" for kind, _ in items[place:]),
        any(kind == "&" for kind, _ in subject),
        frames,
    )


def _apposed(subject: Sequence[tuple[str, str]]) -> str:
    """``User's friend Gina``: the name that says who it is."""
    place = next((at for at, (_, text) in enumerate(subject) if text in KIN | PERSONS | PETS), len(subject))
    return next((text.replace("_", " ") for kind, text in subject[place + 1 :] if kind == "N"), "")


def _mains(frames: Sequence[Frame]) -> list[Frame]:
    return [one for one in frames if one.is_main]


def _deeds(items: list[tuple[str, str]], *, is_not: bool) -> tuple[Deed, ...]:
    found: list[tuple[str, bool, list[Word]]] = []
    particles: dict[int, str] = {}
    after = ""
    for at, (kind, text) in enumerate(items):
        before = items[at - 1] if at else ("", "")
        if kind == "v" and before[1] in {"have", "suffer"}:
            found[-1][2].append(Word("a", text, after))  # "has a sprained wrist"
            continue
        if kind == "P" and text in _PARTICLES and before[0] in "Vv" and found:
            particles[len(found) - 1] = text
            continue
        if kind in "Vv" and text in _MODALS:
            is_not |= items[at + 1 : at + 2] == [("-", "not")]
        elif kind in "Vv":
            is_done = bool(found) and found[-1][0] in _DONE_TO and not found[-1][2]  # "had to give up"
            is_not |= (before == ("P", "to") and not is_done) or items[at + 1 : at + 2] == [("-", "not")]
            found.append((text, is_not, []))
            after, is_not = "", False
        elif kind == "-":
            is_not = items[at + 1 : at + 2] != [] and items[at + 1][0] in "vVr"
        elif kind == "P":
            after = text
        elif kind in "&u?":
            after = "" if kind == "&" and after != "with" else after
        elif found:
            words = text.replace("'s", "").split("_") if kind == "N" else [text]
            found[-1][2].extend(Word(kind, word, after) for word in words if word)
    return tuple(
        Deed(verb, no, tuple(words), particles.get(place, ""))
        for place, (verb, no, words) in enumerate(found)
        if verb not in _NAMING
    )


def holds(one: Told) -> bool:
    """Whether all that it says holds now: no history, and nothing that is only meant."""
    mains = _mains(one.frames)
    is_past = any(main.temporality is Temporality.PAST and "perfect" not in main.cues for main in mains)
    is_done = any("ends:done" in main.cues for main in mains)
    return not (is_past or is_done) and all(main.modality is not Modality.HYPOTHETICAL for main in mains)


def is_asserted(one: Told) -> bool:
    """Whether it happened: nothing dreamt of, meant or told of; ``was let go`` is read as if it were none."""
    if any(deed.verb in _MEANING for deed in one.deeds):
        return False
    is_let = any(deed.verb in {"let", "leave", "quit"} for deed in one.deeds[:1])  # "left the bank to open a cafe"
    had_to = len(one.deeds) > 1 and one.deeds[0].verb == "have" and not one.deeds[0].words
    had_to &= any(main.temporality is Temporality.PAST for main in _mains(one.frames))
    return is_let or had_to or all(main.modality is Modality.ASSERTED for main in _mains(one.frames))


def is_one_person(one: str, other: str) -> bool:
    """By all or part of a name; a former one is another."""
    left, right = set(one.replace(".", "").split()), set(other.replace(".", "").split())
    if one == other:
        return True
    if "user" in left | right or not _FORMER.isdisjoint(left ^ right):
        return False
    ends = one.split()[-1:] == other.split()[-1:] or one.split()[:1] == other.split()[:1]
    return ends and (left <= right or right <= left)


def is_same(was: Told, now: Told) -> bool:
    """Whether both are about one person, the earlier about nobody and nothing else."""
    return not (was.thing or was.is_of_two) and is_one_person(was.person, now.person)
