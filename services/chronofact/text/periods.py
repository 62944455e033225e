"""Days, weeks, months and years as half-open stretches of UTC days, and the moves from one to another."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Final

from chronofact.domain.interval import datetime_of, instant_of
from chronofact.text.words import MONTHS, NUMBERS, WEEKDAYS

WEEKDAY_NAMES: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTH_NAMES: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
SHORT_MONTHS: Final = {name[:3]: place for place, name in enumerate(MONTH_NAMES, start=1)}
_MONTHS_OF: Final = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
if set(WEEKDAY_NAMES) != WEEKDAYS or set(MONTH_NAMES) != MONTHS:
    raise ImportError("the days and months of the rules are others than those of the calendar")


class Lean(StrEnum):
    """Which way a day that names no year, or no week, is looked for."""

    PAST = "past"
    FUTURE = "future"


@dataclass(frozen=True, slots=True)
class Period:
    """Whole days, ``end`` excluded."""

    start: date
    end: date

    @property
    def bounds(self) -> tuple[int, int]:
        """The same as instants."""
        return _midnight(self.start), _midnight(self.end)


def day_of(at: int) -> date:
    """The UTC day of an instant."""
    return datetime_of(at).date()


def day(start: date) -> Period:
    """One day."""
    return Period(start, start + timedelta(days=1))


def unit_of(unit: str, within: date) -> Period:
    """The calendar's day, week (from Monday), weekend, month, quarter, year or decade that holds a day."""
    match unit:
        case "day":
            return day(within)
        case "week":
            monday = within - timedelta(days=within.weekday())
            return Period(monday, monday + timedelta(days=7))
        case "weekend":
            saturday = within - timedelta(days=within.weekday()) + timedelta(days=5)
            return Period(saturday, saturday + timedelta(days=2))
        case _:
            months = _MONTHS_OF[unit]
            place = (within.year * 12 + within.month - 1) // months * months
            return Period(_first(place), _first(place + months))


def shifted(from_day: date, unit: str, count: int) -> date:
    """So many units on; the last day of a month where the month is too short."""
    if unit in {"day", "week", "weekend"}:
        return from_day + timedelta(days=count * (1 if unit == "day" else 7))
    first = _first(from_day.year * 12 + from_day.month - 1 + count * _MONTHS_OF[unit])
    last = shifted(first, "month", 1) - timedelta(days=1) if from_day.day > 28 else first
    return first.replace(day=min(from_day.day, last.day) if from_day.day > 28 else from_day.day)


def beside(unit: str, today: date, step: int) -> Period:
    """The unit before (-1) the one of today, that one, or the one after (1)."""
    return unit_of(unit, shifted(unit_of(unit, today).start, unit, step))


def weekday(name: str, today: date, lean: Lean, *, is_today_meant: bool = True) -> Period:
    """The nearest day of that name, back or ahead."""
    ahead = (WEEKDAY_NAMES.index(name) - today.weekday()) % 7
    if lean is Lean.PAST:
        ahead -= 7 if ahead or not is_today_meant else 0
    elif not ahead and not is_today_meant:
        ahead = 7
    return day(today + timedelta(days=ahead))


def month_near(month: int, today: date, lean: Lean, *, is_this_meant: bool = True) -> Period:
    """The nearest month of that name, back or ahead."""
    year = today.year
    is_other = month != today.month or not is_this_meant
    if lean is Lean.PAST and (month > today.month or (is_other and month == today.month)):
        year -= 1
    elif lean is Lean.FUTURE and (month < today.month or (is_other and month == today.month)):
        year += 1
    return unit_of("month", date(year, month, 1))


def day_near(month: int, number: int, today: date, lean: Lean) -> Period:
    """The nearest such day, back or ahead; ValueError where no near year has it."""
    years = (today.year, today.year - 1, today.year - 2, today.year - 3, today.year - 4)
    if lean is Lean.FUTURE:
        years = (today.year, today.year + 1, today.year + 2, today.year + 3, today.year + 4)
    for year in years:
        try:
            found = date(year, month, number)
        except ValueError:
            continue
        if (found <= today) if lean is Lean.PAST else (found >= today):
            return day(found)
    raise ValueError("no such day")


def part_of(whole: Period, part: str) -> Period:
    """The beginning (its first month, or day), the end, or the early, middle or late third."""
    days = (whole.end - whole.start).days
    if part in {"start", "beginning", "end"}:
        unit = "month" if days > 31 else "day"
        return unit_of(unit, whole.start if part != "end" else whole.end - timedelta(days=1))
    thirds = [whole.start, *_thirds(whole, days), whole.end]
    place = {"early": 0, "mid": 1, "middle": 1, "late": 2}[part]
    return Period(thirds[place], thirds[place + 1])


def _thirds(whole: Period, days: int) -> tuple[date, date]:
    if days > 360:
        return shifted(whole.start, "month", 4), shifted(whole.start, "month", 8)
    third = max(1, days // 3)
    return whole.start + timedelta(days=third), whole.start + timedelta(days=min(2 * third, days - 1))


def number_of(word: str) -> int:
    """A count in digits or a small one in words."""
    words = word.casefold().split()
    if words and words[0] in {"a", "an", "the"}:
        return 2 if "couple" in words else 1
    return int(NUMBERS.get(words[0], words[0])) if words else 1


def _first(months: int) -> date:
    return date(months // 12, months % 12 + 1, 1)


def _midnight(of_day: date) -> int:
    return instant_of(datetime(of_day.year, of_day.month, of_day.day, tzinfo=UTC))
