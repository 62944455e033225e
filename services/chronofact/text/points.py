"""What names a time in English, at a place of a text: ``3 May 2024``, ``last week``, ``Friday``, ``the end of 2025``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, NamedTuple

from chronofact.text.periods import (
    MONTH_NAMES,
    SHORT_MONTHS,
    WEEKDAY_NAMES,
    Lean,
    Period,
    beside,
    day,
    day_near,
    month_near,
    number_of,
    part_of,
    shifted,
    unit_of,
    weekday,
)


@dataclass(frozen=True, slots=True)
class Clock:
    """What a text is read against: the day it was said on, if that is known, and where bare days are looked for."""

    today: date | None
    lean: Lean

    @property
    def day(self) -> date:
        """The day that relative times start from.

        Raises:
            Timeless: it is not known.
        """
        if self.today is None:
            raise Timeless
        return self.today


class Timeless(Exception):
    """A time is relative to a day that is not known."""


class Point(NamedTuple):
    """A time that is named, and where its name ends; bare ones (a month, a weekday, a day) want a preposition."""

    period: Period
    end: int
    is_bare: bool = False
    is_absolute: bool = False


_MONTH: Final = rf"(?P<month>{'|'.join(MONTH_NAMES)}|(?:{'|'.join(SHORT_MONTHS)}|sept)\b\.?)"
_WEEKDAY: Final = rf"(?P<weekday>{'|'.join(WEEKDAY_NAMES)})\b(?!s)"
_NUMBER: Final = r"\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
COUNT: Final = rf"(?P<count>{_NUMBER}|an?\s+couple\s+of|an?)"
UNIT: Final = r"(?P<unit>day|week|month|quarter|year|decade)"
_YEAR: Final = r"(?P<year>(?:19|20|21)\d\d)\b(?![-:/]|\s*(?:%|percent|euros?|dollars?|km|miles?|people|users?|words))"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_Found = Callable[[re.Match[str], Clock], Period]


def _month_of(found: re.Match[str]) -> int:
    return SHORT_MONTHS[found["month"][:3].casefold()]


def _full(found: re.Match[str], clock: Clock) -> Period:
    """A day of a month, of a year or the nearest one."""
    if found["year"] is not None:
        return day(date(int(found["year"]), _month_of(found), int(found["day"])))
    date(2000, _month_of(found), int(found["day"]))
    return day_near(_month_of(found), int(found["day"]), clock.day, clock.lean)


def _iso(found: re.Match[str], _: Clock) -> Period:
    if found["day"] is None:
        return unit_of("month", date(int(found["year"]), int(found["number"]), 1))
    return day(date(int(found["year"]), int(found["number"]), int(found["day"])))


def _month_year(found: re.Match[str], _: Clock) -> Period:
    return unit_of("month", date(int(found["year"]), _month_of(found), 1))


def _quarter(found: re.Match[str], clock: Clock) -> Period:
    if found["year"] is not None:
        return unit_of("quarter", date(int(found["year"]), 3 * int(found["quarter"]) - 2, 1))
    today = clock.day
    near = unit_of("quarter", date(today.year, 3 * int(found["quarter"]) - 2, 1))
    if clock.lean is Lean.PAST and near.start > today:
        return unit_of("quarter", shifted(near.start, "year", -1))
    return (
        unit_of("quarter", shifted(near.start, "year", 1)) if clock.lean is Lean.FUTURE and near.end <= today else near
    )


_STEPS: Final = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1}


def _beside(found: re.Match[str], clock: Clock) -> Period:
    """``last week``, ``next Friday``, ``this March``."""
    step = _STEPS[found["step"].casefold()]
    if found["unit"] is not None:
        return beside(found["unit"].casefold(), clock.day, step)
    lean = Lean.PAST if step < 0 else Lean.FUTURE
    if found["weekday"] is not None:
        return weekday(found["weekday"].casefold(), clock.day, lean, is_today_meant=step == 0)
    if step == 0:
        return unit_of("month", date(clock.day.year, _month_of(found), 1))
    return month_near(_month_of(found), clock.day, lean, is_this_meant=False)


_DAYS: Final = {
    "the day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0,
    "this evening": 0, "tomorrow": 1, "the day after tomorrow": 2,
}  # fmt: skip


def _named_day(found: re.Match[str], clock: Clock) -> Period:
    return day(clock.day + timedelta(days=_DAYS[" ".join(found[0].casefold().split())]))


def _ago(found: re.Match[str], clock: Clock) -> Period:
    return day(shifted(clock.day, found["unit"].casefold(), -number_of(found["count"])))


class _Form(NamedTuple):
    """A way to name a time; a group ``year`` that is there makes it absolute."""

    pattern: re.Pattern[str]
    read: _Found
    is_bare: bool = False


_FORMS: Final = (
    _Form(_compiled(r"(?P<year>\d{4})-(?P<number>\d\d)(?:-(?P<day>\d\d)(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?)?\b(?!-)"), _iso),
    _Form(_compiled(rf"(?:the\s+)?{_DAY}(?:\s+of)?\s+{_MONTH}\b(?:,?\s+(?:of\s+)?{_YEAR})?"), _full, is_bare=True),
    _Form(_compiled(rf"{_MONTH}\s+(?:the\s+)?{_DAY}(?!\s*[:%])(?:,?\s+{_YEAR})?"), _full, is_bare=True),
    _Form(_compiled(rf"{_MONTH}\b(?:\s+of)?,?\s+{_YEAR}"), _month_year),
    _Form(_compiled(rf"(?:the\s+)?Q(?P<quarter>[1-4])\b(?:\s+(?:of\s+)?{_YEAR})?"), _quarter, is_bare=True),
    _Form(_compiled(rf"(?:the\s+|this\s+)?(?P<step>{'|'.join(_STEPS)})\s+(?:(?P<unit>week(?:end)?|month|quarter|year|decade)\b|{_WEEKDAY}|{_MONTH}\b)"), _beside),
    _Form(_compiled(rf"(?:{'|'.join(name.replace(' ', chr(92) + 's+') for name in _DAYS)})\b(?!'s)"), _named_day),
    _Form(_compiled(rf"{COUNT}\s+{UNIT}s?\s+ago\b"), _ago),
    _Form(_compiled(rf"{_WEEKDAY}"), lambda found, clock: weekday(found["weekday"].casefold(), clock.day, clock.lean), is_bare=True),
    _Form(_compiled(rf"{_MONTH}(?!\w)"), lambda found, clock: month_near(_month_of(found), clock.day, clock.lean), is_bare=True),
    _Form(_compiled(r"(?:the\s+)?(?P<year>(?:19|20)\d0)'?s\b"), lambda found, _: unit_of("decade", date(int(found["year"]), 1, 1)), is_bare=True),
    _Form(_compiled(rf"(?:the\s+year\s+)?{_YEAR}"), lambda found, _: unit_of("year", date(int(found["year"]), 1, 1)), is_bare=True),
)  # fmt: skip
_PART: Final = _compiled(
    r"(?:the\s+)?(?:very\s+)?(?P<part>start|beginning|end|middle)\s+of\s+(?:(?:the|this)\s+(?P<unit>week|month|quarter|year|decade)\b(?!\s+\d))?"
    r"|(?P<third>early|mid|late)[-\s]+"
)


def point_at(text: str, place: int, clock: Clock) -> Point | None:
    """The time that is named at this place of a text.

    Raises:
        Timeless: it is relative, and to what is not known.
        ValueError, OverflowError: no calendar has it.
    """
    if (found := _PART.match(text, place)) is not None:
        return _part_at(found, clock)
    for form in _FORMS:
        if (found := form.pattern.match(text, place)) is not None:
            is_absolute = found.groupdict().get("year") is not None
            return Point(form.read(found, clock), found.end(), is_bare=form.is_bare, is_absolute=is_absolute)
    return None


def _part_at(found: re.Match[str], clock: Clock) -> Point | None:
    part = (found["part"] or found["third"]).casefold()
    if found["unit"] is not None:
        return Point(part_of(unit_of(found["unit"].casefold(), clock.day), part), found.end(), is_bare=True)
    if _PART.match(found.string, found.end()) is not None:
        return None
    whole = point_at(found.string, found.end(), clock)
    if whole is None:
        return None
    return whole._replace(period=part_of(whole.period, part), is_bare=True)
