"""A line of words (``lines``) as what it measures: its words, its amounts and times, and what stands for their unit."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

from chronofact.text.words import MONTHS, ORDINALS, WEEKDAYS

TIMES: Final = frozenset({"clock", "day", "date", "month", "often"})
_CLOCK: Final = re.compile(r"\d{1,2}(?:_\d\d){1,2}(?:[ap]m)?|\d{1,2}[ap]m")
_PERIODS: Final = {"day": "day", "daily": "day", "week": "week", "weekly": "week", "month": "month", "monthly": "month", "year": "year", "yearly": "year",
                   "annual": "year", "annually": "year", "night": "night", "nightly": "night", "hour": "hour", "hourly": "hour", "minute": "minute",
                   "second": "second"}  # fmt: skip
_WHY: Final = frozenset({"after", "because", "since", "due", "so", "thanks"})
"""What follows says why, and limits nothing."""
_UNNAMED: Final = frozenset("he she it they him her them this that these those everything both everyone who".split())
_SCALES: Final = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "dozen": 12.0, "hundred": 1e2, "k": 1e3, "m": 1e6}
_ORDER: Final = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
)
_PLACES: Final = frozenset({"st", "nd", "rd", "th"})
_WHICH: Final = ORDINALS | {"every", "other", "last"}
_OFTEN: Final = frozenset({"daily", "weekly", "monthly", "yearly", "nightly", "hourly"})
_WHICH_TIME: Final = frozenset({"last", "this", "next", "past"})
_MONEY: Final = frozenset("$€£")
_MARKS: Final = frozenset({"$", "€", "£", "%"})
_SYNONYMS: Final = {"data": "datum", "earn": "salary", "earns": "salary", "wage": "salary", "income": "salary"}
RECORDS: Final = frozenset({"best", "record", "pb", "pr"})
_STEM_MIN: Final = 6
_KEYS_MAX: Final = 6
_HOURS: Final = 24


class Measure(NamedTuple):
    """One amount or time."""

    kind: str
    text: str
    number: float | None = None
    after: str = ""
    """The preposition right before it."""
    is_place: bool = False
    """Which one in an order it is."""

    @property
    def value(self) -> tuple[str, str]:
        """What it says."""
        return self.kind, self.text


class Word(NamedTuple):
    """A word that is no part of an amount; ``phrase`` numbers the run of words without a preposition or verb between them."""

    kind: str
    word: str
    stem: str
    phrase: int
    is_root: bool = False
    is_unit: bool = False
    is_aside: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """What a sentence says."""

    root: str
    words: tuple[Word, ...]
    measures: tuple[Measure, ...]
    units: frozenset[str]
    periods: frozenset[str]
    is_user: bool
    is_up_to: bool
    of_number: str
    is_after: bool = False

    @property
    def is_money(self) -> bool:
        """Whether an amount of it is money."""
        return any(one.kind.startswith("amount") and not _MONEY.isdisjoint(one.kind) for one in self.measures)

    def says(self, one: Word) -> bool:
        """Whether it has that word, in any form."""
        return any(is_one(one.stem, mine.stem) for mine in self.words)

    def is_unit(self, one: Word) -> bool:
        """Whether that word is what is counted here."""
        return any(is_one(one.stem, mine.stem) and mine.is_unit for mine in self.words)

    def is_of_number(self, one: Word) -> bool:
        """``a team of eight``."""
        return one.word == self.of_number

    def without_start(self, other: Said) -> Said:
        """Without ``after hiring three more engineers`` before what both speak of."""
        if not self.is_after:
            return self
        start = next((place for place, one in enumerate(self.words) if one.kind in "nN" and other.says(one)), 0)
        return replace(self, words=self.words[start:], measures=self.measures[-1:])


@lru_cache(maxsize=4096)
def said_of(line: str) -> Said | None:
    """None where the line measures nothing, denies, joins, or speaks of somebody unnamed."""
    if not any(mark in line for mark in ("#:", "t:", ":every", "ly")):
        return None
    items = [
        (kind, text) for kind, _, text in (item.partition(":") for item in line.removesuffix(" P:on ?:it").split())
    ]
    if any(kind in {"-", "&"} or (kind == "?" and text in _UNNAMED) for kind, text in items):
        return None
    items = _joined_names(items)
    root = next((place for place, (kind, _) in enumerate(items) if kind == "V"), None)
    if root is None:
        return None
    return _Reader(items, root).read()


def measured_words(line: str) -> tuple[str, ...]:
    """Under which words a line that measures something is looked for; none for any other."""
    said = said_of(line)
    if said is None:
        return ()
    words = [
        one.stem[:_STEM_MIN] for one in said.words if (one.kind in "nN" or one.word in _SYNONYMS) and not one.is_unit
    ]
    counted = sorted(stem_of(one)[:_STEM_MIN] for one in said.units)
    return tuple(dict.fromkeys([*words, *(counted if said.is_user or not words else ())]))[:_KEYS_MAX]


def stem_of(word: str) -> str:
    """One form of a word in its numbers, tenses and as a gerund."""
    if word in _SYNONYMS:
        return _SYNONYMS[word]
    for ending in ("ing", "ed", "ly", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2 and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    if word[-2:-1] == word[-1:] and word[-1:] not in "lsaeiou0123456789":
        word = word[:-1]
    return word.removesuffix("e")


def is_one(one: str, other: str) -> bool:
    """``approv`` and ``approval`` are of one word."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= _STEM_MIN and long.startswith(short)


def _joined_names(items: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """``10 k`` beside another number is the name of a race."""
    numbers = sum(kind == "#" for kind, _ in items)
    found: list[tuple[str, str]] = []
    for kind, text in items:
        if (kind, text) == ("n", "k") and found and found[-1][0] == "#" and numbers > 1:
            found[-1] = ("n", f"{found[-1][1]}k")
        else:
            found.append((kind, text))
    return found


class _Reader:
    """Goes through the items once."""

    def __init__(self, items: list[tuple[str, str]], root: int) -> None:
        self.items, self.root = items, root
        self.words: list[Word] = []
        self.measures: list[Measure] = []
        self.units: list[str] = []
        self.periods: set[str] = set()
        self.phrase = 0
        self.of_number = ""
        self.is_counting = False
        self.is_aside = False

    def read(self) -> Said | None:
        place = 0
        while place < len(self.items):
            if place > self.root and self.measures and self._ends(place):
                break
            place += self._step(place)
        if not self.measures:
            return None
        texts = [text for _, text in self.items]
        root = self.items[self.root][1]
        is_up_to = any(one in {"up", "down"} and place > self.root for place, one in enumerate(texts)) or (
            root == "be" and self.items[self.root + 1 : self.root + 2] == [("P", "at")]
        )
        return Said(
            root,
            tuple(self.words),
            tuple(self.measures),
            frozenset(self.units),
            frozenset(self.periods),
            any(kind == "u" or text == "user" for kind, text in self.items),
            is_up_to,
            self.of_number,
            is_after=self.items[0] == ("P", "after"),
        )

    def _ends(self, place: int) -> bool:
        """A reason or a purpose begins: it limits nothing."""
        kind, text = self.items[place]
        after = self.items[place + 1][0] if place + 1 < len(self.items) else ""
        return kind == "P" and (text in _WHY or (text == "to" and after == "v"))

    def _step(self, place: int) -> int:
        kind, text = self.items[place]
        after = self.items[place + 1] if place + 1 < len(self.items) else ("", "")
        if text in _WHICH_TIME and after[1] in _PERIODS:
            return 2  # "last week"
        measure, length = self._measured(place)
        if measure is not None:
            self.measures.append(measure._replace(after=self._before(place)))
            self.is_counting = measure.kind not in TIMES
            before = [item for item in self.items[max(0, place - 2) : place] if item[0] != "x"]
            if len(before) == 2 and before[1] == ("P", "of"):
                self.of_number = before[0][1]
            return length
        if kind == "P":
            self.phrase += 1
            self.is_counting &= text in {"of", "per"}
            self.is_aside = text == "with" and bool(self.measures) and place > self.root
            return 1
        if kind == "u" or text == "user" or text in _MARKS or text.endswith(("self", "selves")):
            return 1
        if kind in "Vv":
            is_part = kind == "v" and self.is_counting
            self.phrase += 0 if is_part else 1
            self.is_counting &= is_part
        self._add(place)
        return 1

    def _before(self, place: int) -> str:
        before = [item for item in self.items[:place] if item[1] not in _MARKS | {"up", "down"}][-1:]
        return before[0][1] if before and before[0][0] == "P" else ""

    def _add(self, place: int) -> None:
        kind, text = self.items[place]
        before = self.items[place - 1][0] if place else ""
        is_money = bool(self.measures) and self.measures[-1].kind == "amount$"
        if (
            text in _PERIODS
            and (before != "#" or is_money or text.endswith("ly"))
            and (self.is_counting or text.endswith("ly"))
        ):
            self.periods.add(_PERIODS[text])
            return
        if self.is_counting and kind in "nNt":
            self.units.append(text)
        if self.is_counting and kind == "t":
            return
        for part in text.removesuffix("'").replace("'s", "").split("_"):
            if part:
                self.words.append(
                    Word(kind, part, stem_of(part), self.phrase, place == self.root, self.is_counting, self.is_aside)
                )

    def _measured(self, place: int) -> tuple[Measure | None, int]:
        """The amount or time that begins here, and how many items it takes."""
        kind, text = self.items[place]
        after = self.items[place + 1] if place + 1 < len(self.items) else ("", "")
        if (kind in "nra" and text in _OFTEN and after[0] not in {"n", "#"}) or (kind == "x" and text == "every"):
            often, length = self._often(place)
            if often is not None:
                return often, length
        if kind == "t" or (kind in "x#a" and text in _WHICH):
            return self._day(place)
        if kind != "#":
            return None, 0
        if after[0] == "t" and after[1] in MONTHS:
            return Measure("date", f"{after[1]} {_bare(text)}"), 2
        if (
            text[:1].isdigit()
            and self._before(place) in {"on", "by", "to", "until"}
            and after[0] not in {"n", "N", "a"}
            and text[-2:] in _PLACES
        ):
            return Measure("date", _bare(text)), 1  # "due on the 1st"
        if text in ORDINALS or text[-2:] in _PLACES:
            return Measure("amount", text, float(_place(text)), is_place=True), 1
        if _CLOCK.fullmatch(text) or after[1] in {"am", "pm"} or self._is_hour(place):
            half = 1 if after[1] in {"am", "pm"} else 0
            is_record = not RECORDS.isdisjoint(word for _, word in self.items)
            return Measure(
                "lap" if is_record else "clock", f"{text}{after[1] if half else ''}".replace("_00", "")
            ), 1 + half
        return self._counted(place)

    def _often(self, place: int) -> tuple[Measure | None, int]:
        """``weekly``, ``every other week``."""
        text = self.items[place][1]
        if text in _OFTEN:
            return Measure("often", _PERIODS[text]), 1
        is_other = self.items[place + 1 : place + 2] == [("a", "other")]
        end = place + 2 if is_other else place + 1
        period = _PERIODS.get(self.items[end][1]) if end < len(self.items) else None
        return (Measure("often", f"other {period}" if is_other else period), end - place + 1) if period else (None, 0)

    def _day(self, place: int) -> tuple[Measure | None, int]:
        """``Fridays``, ``every other Monday``, ``the first Friday``, ``May 3``, ``June``."""
        which: list[str] = []
        for at in range(place, min(place + 3, len(self.items))):
            kind, text = self.items[at]
            if kind == "t" and (text in WEEKDAYS or text.removesuffix("s") in WEEKDAYS):
                return Measure("day", " ".join([*which, text.removesuffix("s")])), at - place + 1
            if text not in _WHICH:
                break
            which += [text] if text != "every" else []
        text = self.items[place][1]
        after = self.items[place + 1] if place + 1 < len(self.items) else ("", "")
        if text in MONTHS:
            return (Measure("date", f"{text} {_bare(after[1])}"), 2) if after[0] == "#" else (Measure("month", text), 1)
        if text in ORDINALS:
            return Measure("amount", text, float(_place(text)), is_place=True), 1
        return None, 0

    def _is_hour(self, place: int) -> bool:
        """``starts at 9``: no amount."""
        text = self.items[place][1]
        before = self.items[place - 1] if place else ("", "")
        after = self.items[place + 1 : place + 2]
        is_last = not after or after[0][0] in "PtV"
        return before == ("P", "at") and is_last and text.isdecimal() and 0 < int(text) <= _HOURS

    def _counted(self, place: int) -> tuple[Measure | None, int]:
        number, length = 1.0, 0
        while place + length < len(self.items) and self.items[place + length][0] == "#":
            number *= _number(self.items[place + length][1])
            length += 1
        if place and self.items[place - 1][0] == "N":
            return None, 0  # a version
        around = {
            text
            for _, text in (*self.items[max(0, place - 1) : place], *self.items[place + length : place + length + 1])
        }
        marks = sorted(around & _MARKS | ({"%"} & {"%" for one in around if one == "percent"}))
        return Measure("".join(["amount", *marks]), f"{number:g}", number), length


def _place(text: str) -> int:
    return _ORDER.index(text) + 1 if text in _ORDER else int("".join(ch for ch in text if ch.isdigit()) or 0)


def _bare(text: str) -> str:
    return text.removesuffix("st").removesuffix("nd").removesuffix("rd").removesuffix("th")


def _number(text: str) -> float:
    digits = re.match(r"[\d.]+", text)
    if digits is None:
        return _SCALES.get(text, 1.0)
    scale = _SCALES.get(text[digits.end() :], 1.0)
    try:
        return float(digits[0].strip(".")) * scale
    except ValueError:
        return 0.0
