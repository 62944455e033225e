"""Instants and half-open intervals in UTC microseconds (semantics §1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from chronofact.domain.errors import Rejected

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
INSTANT_MIN: Final = -62_135_596_800_000_000
"""0001-01-01T00:00:00Z."""
INSTANT_MAX: Final = 253_402_300_799_999_999
"""9999-12-31T23:59:59.999999Z."""

_RFC3339: Final = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:([Zz])|([+-])(\d{2}):(\d{2}))?", re.ASCII
)


def parse_instant(text: str) -> int:
    """Microseconds since 1970 of an RFC 3339 instant with offset; digits past the microsecond are cut off.

    Raises:
        Rejected: ``instant_malformed``, ``offset_missing``, ``leap_second`` or ``year_out_of_range``.
    """
    found = _RFC3339.fullmatch(text)
    if found is None:
        raise Rejected("instant_malformed", "not an RFC 3339 instant; write it like 2026-07-01T00:00:00Z")
    year, month, day, hour, minute, second, fraction, zulu, sign, off_hour, off_minute = found.groups()
    if zulu is None and sign is None:
        raise Rejected("offset_missing", "an instant needs an offset; append Z for UTC or one like +02:00")
    if second == "60":
        raise Rejected("leap_second", "leap seconds are not accepted; write the second before or after")
    if year == "0000":
        raise Rejected("year_out_of_range", "the year must be 0001 to 9999 in UTC")
    offset = UTC
    if sign is not None:
        if int(off_hour) > 23 or int(off_minute) > 59:
            raise Rejected("instant_malformed", "the offset must be at most 23:59")
        shift = timedelta(hours=int(off_hour), minutes=int(off_minute))
        offset = timezone(shift if sign == "+" else -shift)
    micros = int((fraction or "0")[:6].ljust(6, "0"))
    try:
        local = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), micros, tzinfo=offset)
    except ValueError as error:
        raise Rejected("instant_malformed", f"not a date and time of the calendar: {error}") from None
    instant = instant_of(local)
    if not INSTANT_MIN <= instant <= INSTANT_MAX:
        raise Rejected("year_out_of_range", "the year must be 0001 to 9999 in UTC")
    return instant


def instant_of(moment: datetime) -> int:
    """Microseconds since 1970 of an aware datetime."""
    since = moment - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def datetime_of(instant: int) -> datetime:
    """The UTC datetime of an instant."""
    return EPOCH + timedelta(microseconds=instant)


def format_instant(instant: int) -> str:
    """RFC 3339 in UTC with ``Z``: no fraction when it is zero, else six digits."""
    return datetime_of(instant).isoformat().removesuffix("+00:00") + "Z"


def format_bound(bound: int | None) -> str | None:
    """``format_instant`` that leaves an open bound None."""
    return None if bound is None else format_instant(bound)


@dataclass(slots=True, init=False, unsafe_hash=True)
class Interval:
    """``[start, end)``; None is an open bound.

    Raises:
        Rejected: ``interval_reversed`` or ``interval_empty``.
    """

    start: Final[int | None]
    end: Final[int | None]

    def __init__(self, start: int | None = None, end: int | None = None) -> None:
        if start is not None and end is not None and start >= end:
            if start == end:
                raise Rejected(
                    "interval_empty", "valid_from and valid_to are equal, so it never holds", field="valid_to"
                )
            raise Rejected("interval_reversed", "valid_to must be later than valid_from", field="valid_to")
        self.start = start
        self.end = end

    def __contains__(self, instant: int) -> bool:
        return (self.start is None or self.start <= instant) and (self.end is None or instant < self.end)

    def overlaps(self, other: Interval) -> bool:
        """Whether some instant lies in both."""
        return (self.end is None or other.start is None or other.start < self.end) and (
            other.end is None or self.start is None or self.start < other.end
        )
