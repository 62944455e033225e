"""A plan and what became of it: called off, or made otherwise instead (semantics §7)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from chronofact.text.frames import Frame, Modality
from chronofact.text.measures import TIMES, is_one, said_of, stem_of
from chronofact.text.reasons import OPEN, Reason
from chronofact.text.words import PERSONS

_OPEN: Final = OPEN | {Reason.NOT_ASSERTED, Reason.SAME_VALUE, Reason.SUBORDINATE, Reason.ONE_OFF}
_FATAL: Final = frozenset({"additive", "one_off", "not_asserted", "pronoun"})
_FATAL_PLAN: Final = frozenset({"additive", "past", "not_asserted"})
_PLANNING: Final = frozenset({"plan", "intend", "organize", "organise", "arrange"})
_WISHING: Final = frozenset({"want", "hope", "aim"})
_AHEAD: Final = frozenset({"ticket", "reservation", "booking", "interview", "appointment"})
_SOON: Final = frozenset({"next", "later", "tomorrow", "tonight", "upcoming"})
_DROPPING: Final = frozenset(
    {"cancel", "scrap", "scratch", "shelve", "abandon", "axe", "nix", "ditch", "cancelled", "canceled"}
)
_KEPT: Final = frozenset(
    {
        "attend",
        "visit",
        "move",
        "join",
        "run",
        "buy",
        "adopt",
        "travel",
        "fly",
        "marry",
        "host",
        "apply",
        "perform",
        "play",
    }
)
"""What one says not to do after all, of what was planned."""
_WITH: Final = {"call": "off", "fall": "through", "back": "out", "pull": "out", "drop": "out", "bow": "out", "bail": "on", "withdraw": "from", "be": "off", "give": "up"}  # fmt: skip
"""Verbs that call a plan off with one more word."""
_DOUBTING: Final = frozenset("might may could would should will shall if unless whether consider think maybe".split())
_GENERIC: Final = frozenset({"show", "event", "trip", "plan", "thing", "visit", "date", "place"})
"""Nouns that may stand for any plan, if its name is said."""
_WEAK: Final = _GENERIC | {
    "meeting",
    "call",
    "appointment",
    "session",
    "class",
    "lesson",
    "game",
    "party",
    "dinner",
    "lunch",
    "flight",
}
"""Nouns of which one has many: alone they name no plan."""
_APART: Final = frozenset({"before", "during", "by", "without"})
"""What follows belongs to no plan, but says when or how."""
_LIGHT: Final = frozenset({"go", "get", "have", "take", "do", "make", "be", "come", "ca", "wo", "s"})
_LODGING: Final = frozenset({"place", "room", "hotel", "house", "cabin", "apartment", "airbnb", "flight", "ticket"})
_WHY: Final = frozenset({"because", "after", "since", "due", "so", "until", "when", "while"})
_UNNAMED: Final = frozenset("he she they him them this that these those everything both everyone who".split())
_PHRASE_MAX: Final = 3
_STEM: Final = 6
_KEYS_MAX: Final = 6


class _Word(NamedTuple):
    kind: str
    word: str
    stem: str
    after: str
    is_subject: bool

    @property
    def is_owner(self) -> bool:
        """Whose plan it is."""
        return self.is_subject and (self.kind == "N" or self.word in PERSONS)


class _Plain(NamedTuple):
    """A line by its words; ``verbs`` are its root, and what that has or decides to do."""

    root: str
    verb: str
    with_verb: frozenset[str]
    words: tuple[_Word, ...]
    said: frozenset[str]
    is_user: bool
    is_not: bool
    is_joined: bool
    is_pair: bool = False
    """The user and somebody with them did it."""


def plans(earlier: Sequence[Frame], later: Sequence[Frame], found: Reason | None) -> Reason | None:
    """``ended`` or ``value_changed`` where the later tells that it comes to nothing, or otherwise, else what was found before."""
    if (
        not earlier
        or not later
        or not earlier[0].line
        or not later[0].line
        or (found is not None and found not in _OPEN)
    ):
        return found
    was, now = _plain(earlier[0].line), _plain(later[0].line)
    if was is None or now is None or now.is_joined or not _is_asserted(later, now):
        return found
    if any(
        not _FATAL_PLAN.isdisjoint(one.guards) or one.modality in {Modality.QUESTION, Modality.HYPOTHETICAL}
        for one in earlier
        if one.is_main
    ):
        return found
    if now.is_user and not was.is_user and any(one.kind == "N" and one.is_subject for one in was.words):
        return found
    if _are_other_times(earlier[0].line, later[0].line):
        return found
    if _is_called_off(later, now):
        return Reason.ENDED if _is_plan(earlier, was) and _is_of(was, now) else found
    is_meant = _is_plan(earlier, was) or was.root in _WISHING
    return Reason.VALUE_CHANGED if is_meant and _is_otherwise(later, was, now) else found


def plan_words(frames: Sequence[Frame]) -> tuple[str, ...]:
    """Under which words a plan, or the end of one, is looked for; none for any other text."""
    said = _plain(frames[0].line) if frames and frames[0].line else None
    if said is None or not (
        _is_plan(frames, said) or said.root in _WISHING or _is_called_off(frames, said) or _is_instead(frames, said)
    ):
        return ()
    words = (one.stem[:_STEM] for one in said.words if one.kind in "nNv" and one.word not in _LIGHT | _GENERIC)
    return tuple(dict.fromkeys(words))[:_KEYS_MAX]


@lru_cache(maxsize=4096)
def _plain(line: str) -> _Plain | None:
    """None where it speaks of somebody unnamed."""
    items = [(kind, text) for kind, _, text in (item.partition(":") for item in line.split())]
    place = next((place for place, (kind, _) in enumerate(items) if kind == "V"), None)
    if place is None or any(kind == "?" and text in _UNNAMED for kind, text in items):
        return None
    end = next((at for at in range(place + 1, len(items)) if _is_reason(items, at)), len(items))
    items = items[:end]
    root, start = items[place][1], place + 1
    verb = root
    if root in {"have", "decide"} and [kind for kind, _ in items[start : start + 2]] == ["P", "v"]:
        verb, start = items[start + 1][1], start + 2 if items[start][1] == "to" else start + 1
    words: list[_Word] = []
    after = ""
    for at, (kind, text) in enumerate(items):
        if kind == "P":
            after = text
        elif kind == "V" or (place < at < start):
            after = ""
        elif kind not in {"u", "x", "t", "-", "&", "r", "#"} and text not in {"user", "we", "it"}:
            parts = text.removesuffix("'").replace("'s", "").split("_")
            words += [_Word(kind, part, stem_of(part), after, at < place) for part in parts if part]
    texts = [text for _, text in items]
    return _Plain(
        root,
        verb,
        frozenset(texts[place + 1 : start + 2]),
        tuple(words),
        frozenset(texts),
        items[0][0] == "u" or any(text in {"user", "we"} for _, text in items),
        any(kind == "-" for kind, _ in items),
        any(kind == "&" and not (at < place or _is_company(items, at)) for at, (kind, _) in enumerate(items)),
        items[:2] == [("n", "user"), ("&", "and")],
    )


def _is_reason(items: list[tuple[str, str]], at: int) -> bool:
    kind, text = items[at]
    return kind in "Pr" and text in _WHY and items[at + 1 : at + 2] != [("r", "all")]


def _is_company(items: list[tuple[str, str]], at: int) -> bool:
    """``with Audrey and her dogs``: of one plan."""
    return next((text for kind, text in reversed(items[:at]) if kind == "P"), "") == "with"


def _is_asserted(later: Sequence[Frame], now: _Plain) -> bool:
    """Not wondered, and not only this once; ``had to call off`` is done."""
    if not _DOUBTING.isdisjoint(now.said):
        return False
    if any(not _FATAL.isdisjoint(one.guards) or one.modality is Modality.QUESTION for one in later if one.is_main):
        return False
    return now.root == "have" or all(one.modality is not Modality.HYPOTHETICAL for one in later if one.is_main)


def _is_plan(frames: Sequence[Frame], said: _Plain) -> bool:
    if said.is_not or said.is_joined:
        return False
    if said.root in _PLANNING or any(
        one.slot.startswith(("plan", "schedule")) or one.modality is Modality.PLANNED for one in frames
    ):
        return True
    if said.root == "look":
        return "forward" in said.said
    if said.root == "have":
        return not _AHEAD.isdisjoint(said.said)
    return (said.root == "go" and "to" in said.with_verb) or not _SOON.isdisjoint(said.said)


def _is_called_off(frames: Sequence[Frame], now: _Plain) -> bool:
    if now.is_not:
        is_no_more = {"after", "all"} <= now.said or any({"anymore", "now"} & set(one.cues) for one in frames)
        return now.root == "decide" or (is_no_more and now.root in _LIGHT | _KEPT)
    if now.verb in _DROPPING or (now.root == "decide" and "against" in now.with_verb):
        return True
    return _WITH.get(now.verb) in now.with_verb


def _is_of(was: _Plain, now: _Plain) -> bool:
    """Whether all that is called off is said of the plan."""
    missing = [
        one
        for one in now.words
        if not _says(was, one)
        and one.word not in _LIGHT
        and not _is_aside(one)
        and not (one.is_subject and now.is_pair)
    ]
    shared = [one for one in now.words if one.kind in "nNv" and one.word not in _LIGHT and _says(was, one)]
    own = [
        one
        for one in shared
        if any(
            is_one(one.stem, mine.stem)
            and not (mine.is_subject if now.is_not else mine.is_owner)
            and mine.after not in _APART
            for mine in was.words
        )
    ]
    if any(one.word not in _GENERIC for one in missing) or not own:
        return False
    return any(one.kind == "N" for one in own) or (not missing and any(one.word not in _WEAK for one in own))


def _are_other_times(earlier: str, later: str) -> bool:
    """``the meeting on Tuesday``: not the one on Monday."""
    was, now = said_of(earlier), said_of(later)
    if was is None or now is None:
        return False
    old = {one.kind: one.text for one in was.measures if one.kind in TIMES}
    return any(one.kind in old and old[one.kind] != one.text for one in now.measures)


def _is_aside(one: _Word) -> bool:
    """``with a knee injury``: how it came to be."""
    return one.after == "with" and one.kind in "na"


def _says(said: _Plain, one: _Word) -> bool:
    return any(is_one(one.stem, mine.stem) for mine in said.words) or is_one(one.stem, stem_of(said.root))


def _is_instead(frames: Sequence[Frame], now: _Plain) -> bool:
    return any("instead" in one.cues for one in frames) or now.root == "book"


def _is_otherwise(later: Sequence[Frame], was: _Plain, now: _Plain) -> bool:
    """Whether one phrase of the plan was made another, and the rest is said of both."""
    if now.is_not or not _is_instead(later, now) or any(one.from_value for one in later):
        return False
    gone = [one for one in was.words if not _says(now, one) and one.kind in "nNa"]
    fresh = [one for one in now.words if not _says(was, one) and one.kind in "nNa"]
    shared = [
        one
        for one in was.words
        if _says(now, one) and not one.is_subject and one.word not in _LIGHT and one.kind in "nNv"
    ]
    if not shared or any(one.is_subject for one in (*gone, *fresh)):
        return False
    if not any("instead" in one.cues for one in later):
        gone, fresh = ([one for one in side if one.word not in _LODGING] for side in (gone, fresh))
        return len(gone) == len(fresh) == 1 and gone[0].kind == fresh[0].kind == "N" and gone[0].after == fresh[0].after
    return all(0 < len(side) <= _PHRASE_MAX and len({one.after for one in side}) == 1 for side in (gone, fresh))
