"""When a sentence says that it holds: its own dates, read against the time at which it was said (ADR 38). Never raises.

A time names whole days: ``since March 2024`` begins on 1 March, ``until Friday`` and ``to 10 June`` hold through that day. All in UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from chronofact.text.found import Found, instant_of_days, last_until, why_not_of, without
from chronofact.text.periods import Lean, Period, day, day_of, number_of, shifted, unit_of
from chronofact.text.points import COUNT, UNIT, Clock, Timeless, point_at
from chronofact.text.untaken import Untaken

CHARACTERS_MAX: Final = 1_000
"""A longer text is no sentence: its dates say nothing of the whole."""


@dataclass(frozen=True, slots=True)
class Dates:
    """Bounds in microseconds. ``within`` is a stretch in which it holds, or happened; ``by`` a time before which it is to be."""

    start: int | None = None
    end: int | None = None
    within: tuple[int, int] | None = None
    by: int | None = None
    why_not: Untaken | None = None
    is_absolute: bool = False
    """Whether they are the same whenever it was said."""
    undated: str = ""
    """The text without its dates."""

    @property
    def are_there(self) -> bool:
        """Whether any bound is told."""
        return (self.start, self.end, self.within, self.by) != (None, None, None, None)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A text, and how it is read."""

    text: str
    clock: Clock
    is_perfect: bool


def dates_of(
    text: str,
    at: int | None,
    *,
    lean: Lean = Lean.FUTURE,
    is_perfect: bool = False,
    aside: Sequence[tuple[int, int]] = (),
) -> Dates:
    """The dates of one sentence.

    Args:
        text: The sentence.
        at: When it was said; None: nobody knows, and only dates with a year can be read.
        lean: Where a bare month or weekday lies: the past of a sentence in the past tense, else the future.
        is_perfect: Whether it says "has lived for two years", which goes on, rather than "lived for two years".
        aside: Stretches of the text that lie in subordinate clauses; their dates say nothing of the whole.
    """
    if len(text) > CHARACTERS_MAX or not _MAYBE.search(text):
        return Dates(undated=text)
    today = None if at is None else day_of(at)
    reading, found, place = _Reading(text, Clock(today, lean), is_perfect), Found(), 0
    while (word := _WORD.search(text, place)) is not None:
        place = _read_at(reading, found, word.start(), aside) or _end_of_word(text, word.start())
    last_until(found, today)
    return _settled(reading, found)


_WORD: Final = re.compile(r"(?<!\w)(?=\w)")
_MAYBE: Final = re.compile(
    r"\d|ago\b|since|christmas|easter|thanksgiving|halloween|spring|summer|autumn|fall\b|winter|day\b|week|month|quarter|year|decade|night|morning|afternoon|evening|tomorrow|now on|"
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)",
    re.IGNORECASE,
)


def _end_of_word(text: str, start: int) -> int:
    end = start + 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return end


def _read_at(reading: _Reading, found: Found, place: int, aside: Sequence[tuple[int, int]]) -> int | None:
    """Where a phrase that begins here ends, once it is noted."""
    held = Found() if any(start <= place < end for start, end in aside) else found
    for lead, read in _PHRASES:
        if (words := lead.match(reading.text, place)) is None:
            continue
        try:
            end = read(reading, held, words)
        except Timeless:
            held.why_not, end = held.why_not or Untaken.TIMELESS, _end_of_word(reading.text, words.end())
        except (ValueError, OverflowError, KeyError):
            held.why_not, end = held.why_not or Untaken.IMPOSSIBLE, _end_of_word(reading.text, words.end())
        if end is not None:
            if held is found:
                found.spans.append((place, end))
            return end
    return None


# -- phrases ---------------------------------------------------------------------------------------


def _since(reading: _Reading, found: Found, words: re.Match[str]) -> int | None:
    lean = Lean.PAST if "since" in words[0].casefold() else reading.clock.lean
    point = point_at(reading.text, words.end(), Clock(reading.clock.today, lean))
    if point is not None:
        found.starts.add(found.note(point).start)
    return point and point.end


def _after(reading: _Reading, found: Found, words: re.Match[str]) -> int | None:
    if (point := point_at(reading.text, words.end(), reading.clock)) is not None:
        found.starts.add(found.note(point).end)
    return point and point.end


def _until(reading: _Reading, found: Found, words: re.Match[str]) -> int | None:
    if (point := point_at(reading.text, words.end(), reading.clock)) is not None:
        period = found.note(point)
        is_before = _NEXT.match(reading.text, words.end()) is not None and "thr" not in words[0].casefold()
        found.ends.add(period.start if is_before else period.end)
    return point and point.end


def _before(reading: _Reading, found: Found, words: re.Match[str]) -> int | None:
    if (point := point_at(reading.text, words.end(), reading.clock)) is not None:
        found.ends.add(found.note(point).start)
    return point and point.end


def _by(reading: _Reading, found: Found, words: re.Match[str]) -> int | None:
    if (point := point_at(reading.text, words.end(), reading.clock)) is not None:
        found.by.add(found.note(point).end)
    return point and point.end


_SOME_DAY: Final = Clock(date(2000, 1, 1), Lean.PAST)


def _range(reading: _Reading, found: Found, words: re.Match[str]) -> int | None:
    """``from 3 May to 10 June``: the second is found first, the first lies before it."""
    text = reading.text
    first = point_at(text, words.end(), _SOME_DAY)
    if first is None or (to := _TO.match(text, first.end)) is None:
        return None
    last = point_at(text, to.end(), reading.clock)
    if last is None or _WEEKDAYS.fullmatch(text, words.end(), last.end):
        return None
    clock = reading.clock
    if first.is_bare and not first.is_absolute and last.is_bare:
        clock = Clock(last.period.start, Lean.PAST)
    first = point_at(text, words.end(), clock)
    if first is None:
        return None
    found.starts.add(first.period.start)
    found.ends.add(found.note(last).end)
    found.is_absolute &= first.is_absolute or last.is_absolute
    return last.end


def _days(reading: _Reading, found: Found, words: re.Match[str]) -> int | None:
    """``from 3 to 10 June``."""
    last = point_at(reading.text, words.end(), reading.clock)
    if last is None or last.period.end - last.period.start != timedelta(days=1):
        return None
    found.starts.add(last.period.start.replace(day=int(words["day"])))
    found.ends.add(found.note(last).end)
    return last.end


def _from(reading: _Reading, found: Found, words: re.Match[str]) -> int | None:
    """One bound: what goes on from then, or begins then; "the notes from last week" says nothing."""
    point = point_at(reading.text, words.end(), reading.clock)
    if point is None:
        return None
    is_first = not reading.text[: words.start()].strip()
    on = (_ON_FIRST if is_first else _ON).match(reading.text, point.end)
    if on is None and _TO.match(reading.text, point.end) is not None:
        return None
    is_ahead = reading.clock.today is not None and point.period.end > reading.clock.today
    if on is None and not is_ahead and not point.is_absolute and not is_first:
        return None
    found.starts.add(found.note(point).start)
    return point.end if on is None else on.end()


def _from_now(reading: _Reading, found: Found, words: re.Match[str]) -> int | None:
    found.is_absolute = False
    found.starts.add(reading.clock.day)
    return words.end()


def _last(reading: _Reading, found: Found, words: re.Match[str]) -> int | None:
    """``for the last two years``: from two years ago, to the day."""
    found.is_absolute = False
    found.starts.add(shifted(reading.clock.day, words["unit"].casefold(), -number_of(words["count"] or "a")))
    return words.end()


def _for(reading: _Reading, found: Found, words: re.Match[str]) -> int | None:
    """``has lived for two years`` says since when, ``is staying for two weeks`` until when, ``lived for two years`` only how long."""
    if reading.is_perfect:
        return _last(reading, found, words)
    is_ahead = words["more"] or _STAYS.search(reading.text, 0, words.start())
    if reading.clock.lean is Lean.FUTURE and is_ahead:
        found.lasting = (words["unit"].casefold(), number_of(words["count"]))
        found.is_absolute &= bool(found.starts)
    return words.end()


def _next(reading: _Reading, found: Found, words: re.Match[str]) -> int | None:
    found.is_absolute = False
    found.starts.add(reading.clock.day)
    found.ends.add(day(shifted(reading.clock.day, words["unit"].casefold(), number_of(words["count"] or "a"))).start)
    return words.end()


def _rest(reading: _Reading, found: Found, words: re.Match[str]) -> int | None:
    found.is_absolute = False
    found.ends.add(unit_of(words["unit"].casefold(), reading.clock.day).end)
    return words.end()


def _ahead(reading: _Reading, found: Found, words: re.Match[str]) -> int | None:
    """``in two weeks``; of the past it says how long something took."""
    if reading.clock.lean is Lean.PAST or reading.is_perfect:
        return None
    unit = words["unit"].casefold()
    found.is_absolute = False
    period = unit_of(unit, shifted(reading.clock.day, unit, number_of(words["count"])))
    found.within.add((period.start, period.end))
    return words.end()


def _within(reading: _Reading, found: Found, words: re.Match[str]) -> int | None:
    point = point_at(reading.text, words.end(), reading.clock)
    if point is None or _is_possessive(reading.text, point.end):
        return None
    period = found.note(point)
    found.within.add((period.start, period.end))
    return point.end


def _bare(reading: _Reading, found: Found, words: re.Match[str]) -> int | None:
    """``yesterday``, ``last week``, ``two days ago``, by itself: not "moved to next week", not "last week's"."""
    before = reading.text[: words.start()].split()[-1:]
    if before and before[0].casefold() in _NO_TIME_AFTER:
        return None
    point = point_at(reading.text, words.start(), reading.clock)
    if point is None or point.is_bare or _is_possessive(reading.text, point.end):
        return None
    period = found.note(point)
    found.within.add((period.start, period.end))
    return point.end


def _is_possessive(text: str, end: int) -> bool:
    return text[end : end + 2] in {"'s", "\N{RIGHT SINGLE QUOTATION MARK}s"}


def _lead(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_NO_TIME_AFTER: Final = frozenset(
    {
        "from",
        "to",
        "for",
        "of",
        "than",
        "about",
        "like",
        "every",
        "each",
        "or",
        "with",
        "until",
        "not",
        "is",
        "are",
        "was",
        "were",
        "be",
    }
)
_STAYS: Final = _lead(r"\b(?:am|is|are|stay(?:s|ing)?|valid)\b|['\N{RIGHT SINGLE QUOTATION MARK}](?:m|s|re)\b")
_ABOUT: Final = r"\s+(?:about\s+|around\s+|at\s+least\s+)?"
_TO: Final = _lead(r"\s*(?:(?:up\s+)?(?:to|until|till|til|through|thru|and)\s+|[-\u2013\u2014]\s*)")
_ON: Final = _lead(r"\s+(?:on(?:wards?)?|forward)\b(?!\s+(?:the|my|his|a)\b)")
_ON_FIRST: Final = _lead(r"\s+(?:on(?:wards?)?|forward)\b")
"""``From Monday on the price is 20``: at the beginning of a sentence it is no other phrase's."""
_NEXT: Final = _lead(r"(?:the\s+)?(?:next|coming)\s+(?:week|month|quarter|year|decade)")
"""``until next week`` ends when that week begins."""
_WEEKDAYS: Final = _lead(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day\s*\W?\s*\w*\s*(?:mon|tues|wednes|thurs|fri|satur|sun)day"
)
_Read = Callable[[_Reading, Found, "re.Match[str]"], "int | None"]
_PHRASES: Final[tuple[tuple[re.Pattern[str], _Read], ...]] = (
    (_lead(r"from\s+now\s+on(?:wards?)?\b"), _from_now),
    (_lead(rf"(?:(?:for|over|during|in|within)\s+)?(?:the\s+)?(?:last|past)\s+{COUNT}\s+{UNIT}s?\b"), _last),
    (_lead(rf"(?P<count>)(?:for|over)\s+the\s+(?:last|past)\s+{UNIT}\b"), _last),
    (_lead(rf"for{_ABOUT}{COUNT}\s+(?P<more>more\s+)?{UNIT}s?\b(?!\s+ago)"), _for),
    (_lead(rf"(?:for|over|during)\s+the\s+next\s+(?:{COUNT}\s+)?{UNIT}s?\b"), _next),
    (_lead(r"for\s+the\s+rest\s+of\s+(?:the|this)\s+(?P<unit>day|week|month|quarter|year|decade)\b"), _rest),
    (_lead(rf"in\s+{COUNT}\s+{UNIT}s?(?:'?\s+time)?\b"), _ahead),
    (_lead(r"from\s+(?:the\s+)?(?P<day>\d{1,2})(?:st|nd|rd|th)?\s*(?:to|until|through|-|\u2013)\s*(?=\d)"), _days),
    (_lead(r"(?:from|between)\s+"), _range),
    (_lead(r"from\s+"), _from),
    (_lead(rf"(?:ever\s+)?since{_ABOUT}"), _since),
    (_lead(rf"(?:as\s+(?:of|from)|(?:starting|beginning|effective)(?:\s+(?:from|in|on|as\s+of))?){_ABOUT}"), _since),
    (_lead(r"after\s+"), _after),
    (_lead(rf"(?:up\s+)?(?:until|till|til|through|thru){_ABOUT}"), _until),
    (_lead(r"(?:before|prior\s+to)\s+"), _before),
    (_lead(r"by\s+"), _by),
    (_lead(r"(?:in|on|during|within|throughout|at)\s+"), _within),
    (_lead(r"(?=\w)"), _bare),
)
"""In the order in which they are tried at a word."""


_UNREAD: Final = _lead(
    r"\b\d{1,4}[/.]\d{1,2}[/.]\d{2,4}\b"
    r"|\b(?:in|since|until|by|last|this|next|of)\s+(?:the\s+)?(?:early\s+|late\s+)?(?:spring|summer|autumn|fall|winter)\b"
    r"|\b(?:few|several|some|many|couple\s+of)\s+(?:day|week|month|year|decade)s\s+(?:ago|back)\b"
    r"|\b(?:last|past)\s+(?:few|several|couple\s+of)\s+(?:day|week|month|year|decade)s\b"
    r"|\b(?:since|until|till|before|after|at|on|by|for)\s+(?:(?:last|this|next)\s+)?(?:christmas|easter|thanksgiving|halloween|new\s+year)"
    r"|(?<!\d )(?<!\w)(?:years|decades|months|weeks|days|ages|long)\s+ago\b"
)
"""Times that are said and that nothing here reads: whoever took the turn's time for them would be wrong."""
_SINCE: Final = _lead(r"\bsince\b")


# -- what they say together ------------------------------------------------------------------------


def _settled(reading: _Reading, found: Found) -> Dates:
    undated = without(reading.text, found.spans)
    is_unread = _UNREAD.search(undated) or (reading.is_perfect and _SINCE.search(undated))
    why_not = found.why_not or why_not_of(found) or (Untaken.UNREAD if is_unread else None)
    if why_not is not None:
        return Dates(why_not=why_not, undated=undated)
    within = min(found.within, key=lambda one: one[1] - one[0], default=None)
    bounds = None if within is None else Period(*within).bounds
    return Dates(
        instant_of_days(found.starts),
        instant_of_days(found.ends),
        bounds,
        instant_of_days(found.by),
        None,
        found.is_absolute and bool(found.spans),
        undated,
    )


def of_several(dates: Dates) -> Dates:
    """The dates of a sentence of several main clauses: nobody knows of which."""
    if not dates.are_there:
        return dates
    return Dates(why_not=Untaken.SEVERAL, undated=dates.undated)
