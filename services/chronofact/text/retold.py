"""Two sentences of one topic in other words, of which the later tells a change: what the earlier said of it holds no more (semantics §7)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from chronofact.text.alike import MANY
from chronofact.text.compare import guard_of
from chronofact.text.frames import Frame, Holds, Modality, Temporality
from chronofact.text.measures import stem_of
from chronofact.text.reasons import OPEN, Reason
from chronofact.text.types import type_of
from chronofact.text.values import contains, is_shortened
from chronofact.text.words import (
    LIKING,
    MOVING_TIME,
    ORDINALS,
    PERSONS,
    PETS,
    RAISING,
    RESIDING,
    SIDE_ROLES,
    SWITCHING,
    UNITS,
)

COSINE_MIN: Final = 0.55
ALIKE_MIN: Final = 0.40
"""Of texts farther apart than this a shared word says little, unless they share most words."""
LINES_MAX: Final = 4_096
"""Lines that are kept as read: each is compared with many."""
_FATAL: Final = frozenset(Reason) - {Reason.UNSURE_PARSE, Reason.PAST}
"""Guards of a clause that no likeness of words outweighs; that a verb of change is in the past is no history."""
_NEWS: Final = frozenset("now nowadays current currently presently anymore".split())
_MEASURING: Final = (RAISING | frozenset({"hit", "cap", "lift", "slash", "trim"})) - frozenset(
    "be go get come set up turn".split()
)
_CHANGES: Final = (SWITCHING | MOVING_TIME | frozenset({"promote", "redo", "relocate", "bump"})) - frozenset(
    "go leave sell set turn".split()
)
_DOING: Final = _CHANGES | _MEASURING
_BEING: Final = frozenset({"be", "become", "get", "remain", "stay", "take", "happen"})
_AGENTS: Final = frozenset({"we", "team", "company", "they", "user"})
"""Who changes what is theirs."""
_UNKNOWN: Final = frozenset("he she it they him her them this that these those everything both everyone who".split())
_WHY: Final = frozenset({"because", "after", "due", "so"})
_SILENT: Final = frozenset({"its", "our", "their", "there", "we", "am", "pm"})
_LEFT: Final = frozenset({"from", "instead of"})
_LOCAL: Final = frozenset(
    {"in", "on", "at", "under", "above", "behind", "beside", "near", "inside", "outside", "below"}
)
_OTHERS: Final = PERSONS | PETS | SIDE_ROLES


class _Word(NamedTuple):
    """One word that says something: its kind (``lines``), its stem, and the preposition before its phrase."""

    kind: str
    word: str
    stem: str
    after: str


class _Line(NamedTuple):
    """``subject`` and ``rest`` are what stands before and after the verb; of the subject ``user`` is no word."""

    root: str
    subject: tuple[_Word, ...]
    rest: tuple[_Word, ...]
    is_mine: bool
    stems: frozenset[str]
    numbers: tuple[str, ...]

    @property
    def words(self) -> tuple[_Word, ...]:
        return self.subject + self.rest


def retold(
    earlier: Sequence[Frame], later: Sequence[Frame], found: Reason | None, cosine: float | None
) -> Reason | None:
    """``value_changed`` or ``switched`` where the later tells what became of it, else what was found before."""
    if not earlier or not later or (found is not None and found not in OPEN) or cosine is None or cosine < ALIKE_MIN:
        return found
    if not earlier[0].line or not later[0].line or not _are_plain(earlier, later):
        return found
    is_instead = any("instead" in one.cues for one in later)
    was, now = _read(earlier[0].line), _read(later[0].line, is_instead=is_instead)
    if was is None or now is None:
        return found
    is_past = any(one.temporality is Temporality.PAST for one in later if one.is_main)
    is_news = not is_past and any(not _NEWS.isdisjoint(one.cues) for one in later if one.is_main)
    if cosine < COSINE_MIN and not _share_most(was, now):
        return found
    return _changed(was, now, is_news=is_news) or found


def _share_most(was: _Line, now: _Line) -> bool:
    both = was.stems & now.stems
    return all(2 * sum(one.stem in both for one in line.words) >= len(line.words) for line in (was, now))


def _are_plain(earlier: Sequence[Frame], later: Sequence[Frame]) -> bool:
    """Both asserted, of now, with no word that weakens or limits it."""
    for one in (*earlier, *later):
        if not one.is_main:
            continue
        if one.modality is not Modality.ASSERTED or one.cardinality is Holds.IMMUTABLE or not one.entity:
            return False
        if guard_of(one) in _FATAL:
            return False
    return all(one.temporality is Temporality.CURRENT for one in earlier if one.is_main)


@lru_cache(maxsize=LINES_MAX)
def _read(line: str, *, is_instead: bool = False) -> _Line | None:
    """The words of a line; None where it denies, joins, or speaks of somebody unnamed."""
    sides: tuple[list[_Word], list[_Word]] = [], []
    root, after, is_mine = "", "", False
    for item in line.split():
        kind, _, text = item.partition(":")
        if kind in {"-", "&"} or (kind == "?" and text in _UNKNOWN):
            return None
        if kind == "P" and text in _WHY and root:
            break  # why it is so limits nothing
        if text in _SILENT:
            continue
        if kind == "P":
            after = "instead of" if text == "of" and is_instead else text
        elif kind == "V":
            root, after = text, ""
        elif kind == "u" or text == "user":
            is_mine |= not root
        elif kind != "x":
            parts = text.removesuffix("'").replace("'s", "").split("_") if kind == "N" else [text]
            sides[bool(root)].extend(
                _Word("#" if _is_number(part) else kind, part, stem_of(part), after) for part in parts if part
            )
    words = (*sides[0], *sides[1])
    stems = frozenset(one.stem for one in words) | {stem_of(root)}
    numbers = tuple(one.word for one in words if one.kind == "#")
    return _Line(root, tuple(sides[0]), tuple(sides[1]), is_mine, stems, numbers) if root else None


def _changed(was: _Line, now: _Line, *, is_news: bool) -> Reason | None:
    gone = [one for one in was.words if one.stem not in now.stems]
    fresh = [one for one in now.words if one.stem not in was.stems and one.word not in _AGENTS]
    fresh = [one for one in fresh if now.root not in _DOING or one not in now.subject]
    if any(one.word in _OTHERS for one in (*gone, *fresh)) or not _is_one_topic(was, now):
        return None
    if was.numbers or now.numbers:
        is_told = now.root in _DOING and _are_measures(was, now, gone, fresh)
        return Reason.VALUE_CHANGED if is_told else None
    left = {one.stem for one in now.words if one.after in _LEFT}
    if left:
        is_left = any(one.stem in left and one.kind in "nN" for one in (*was.rest[-1:], *was.subject[-1:]))
        return Reason.SWITCHED if is_left and _is_put(fresh) and (now.root in _CHANGES or is_news) else None
    return Reason.VALUE_CHANGED if _is_replaced(was, now, gone, fresh, is_news=is_news) else None


def _is_one_topic(was: _Line, now: _Line) -> bool:
    """They share a thing that both speak of, and neither is about somebody or something that the other does not name."""
    both = was.stems & now.stems
    thing = _head(now.rest)
    is_done = now.root in _DOING and thing is not None and _is_thing(thing) and thing.stem in both
    named = [_head(was.subject), None if is_done else _head(now.subject)]  # whoever changes it
    if any(head and head.stem not in both for head in named):
        return False
    subject = _head(now.subject)
    if subject and any(one.stem == subject.stem and one.after == "with" for one in was.rest):
        return False  # who was with somebody tells of themselves
    if not is_done and any(one.stem not in both and one.word not in _AGENTS for one in now.subject):
        return False
    if any(
        one.stem not in both
        and (one.kind == "a" or one.after not in {"", "of", "for"} or (now.is_mine and one.kind == "N"))
        for one in was.subject
    ):
        return False
    return _is_anchored(was, now)


def _is_anchored(was: _Line, now: _Line) -> bool:
    """By a thing in the same place of both, or first in one; that two say other things of one subject is no change of it."""
    places = {one.stem: one.after for one in now.words if _is_thing(one)}
    in_both = {one.stem for one in was.subject} & {one.stem for one in now.subject}
    is_one_verb = was.root == now.root or {was.root, now.root} <= _BEING
    is_named = any(head and head.kind == "N" for head in map(_head, (was.subject, now.subject)))
    passed_over = in_both if not is_one_verb and (now.root not in _DOING or is_named) else set()
    return any(
        one.stem in places and (not one.after or not places[one.stem] or one.after == places[one.stem])
        for one in was.words
        if _is_thing(one) and one.stem not in passed_over
    )


def _head(phrase: tuple[_Word, ...]) -> _Word | None:
    """What a subject or an object is: the last word before any preposition."""
    bare = [one for one in phrase if not one.after]
    return bare[-1] if bare else None


def _is_thing(one: _Word) -> bool:
    return one.kind in "nN" and one.word.isalpha() and one.word not in UNITS | {"time"}


def _are_measures(was: _Line, now: _Line, gone: list[_Word], fresh: list[_Word]) -> bool:
    """One number each, of the same unit, and no other name; ``version 2`` and ``phase one`` are no measures."""
    if len(was.numbers) != 1 or len(now.numbers) != 1 or was.numbers == now.numbers:
        return False
    if any(one.kind == "N" or one.word in ORDINALS for one in (*gone, *fresh)):
        return False
    units = [_unit(line) for line in (was, now)]
    if units[0] != units[1] or len({any(one.kind == "t" for one in line.words) for line in (was, now)}) > 1:
        return False
    if any(one.after or now.is_mine for one in gone if one in was.subject):
        return False  # the rent of the shop, and one's own
    if any(one.kind in "nNa" for one in (*fresh, *(one for one in gone if one in was.rest))):
        return False  # a limit of cups is not how many one drinks
    return not any(one.kind == "#" for line in (was, now) for one in line.subject)


def _unit(line: _Line) -> str:
    """The stem of the noun that a number counts, or of its unit."""
    counted = iter(line.rest)
    return next((one.stem for one in counted if one.kind == "n"), "") if any(one.kind == "#" for one in counted) else ""


def _is_put(fresh: list[_Word]) -> bool:
    """One phrase, said to be where something else was."""
    return bool(fresh) and len({one.after for one in fresh}) == 1 and fresh[0].after not in {"for", *_LEFT}


def _is_replaced(was: _Line, now: _Line, gone: list[_Word], fresh: list[_Word], *, is_news: bool) -> bool:
    """Whether what is said now stands where what was said stood, and both can't be."""
    lost, gained = [one for one in gone if one.kind in "nNart"], [one for one in fresh if one.kind in "nNart"]
    if not lost or not gained or not (is_news or now.root in _CHANGES) or now.root in LIKING:
        return False
    if ("t" in {one.kind for one in lost}) != ("t" in {one.kind for one in gained}):
        return False
    before, after = " ".join(one.word for one in lost), " ".join(one.word for one in gained)
    if contains(before, after) or is_shortened(before, after):
        return False
    types = type_of(before), type_of(after)
    if types[0] != types[1] and (all(types) or any(one.kind == "N" for one in (*lost, *gained))):
        return False
    if was.root in RESIDING and (lost[-1].kind == "N") != (gained[-1].kind == "N"):
        return False  # "lives in fear"
    return _stands_for(was, now, lost, gained)


def _stands_for(was: _Line, now: _Line, lost: list[_Word], gained: list[_Word]) -> bool:
    """One phrase each, and in the same place of what is said of the topic."""
    places = {one.after for one in lost if one in was.rest}, {one.after for one in gained if one in now.rest}
    if any(len(one) != 1 for one in places):
        return False
    (old,), (new,) = places
    head = _head(now.subject)
    if (
        head
        and all(one.stem != head.stem for one in was.subject)
        and (not old or any(one.after == old for one in was.rest if one.stem == head.stem))
    ):
        return False  # "works in a big office", "the office moved": where one works is not where that is
    if new in {"to", "into"} and now.root in _CHANGES:
        return old not in {"for", "of"}
    if not old and not new:
        topic = _head(was.subject)
        is_of_it = topic is not None and topic.kind == "n" and not any(one in was.subject for one in lost)
        return is_of_it and {was.root, now.root} <= _BEING
    if was.root == now.root:
        return was.root not in MANY and (old == new or {old, new} <= _LOCAL)
    return (old == new and old not in {"for", "of", "as"}) or {old, new} <= _LOCAL


def _is_number(word: str) -> bool:
    """Whether it is one, be it of a release."""
    return word.replace(".", "").removeprefix("v").isdecimal()
