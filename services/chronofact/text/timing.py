"""Times of day, days and dates as values of a schedule."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from chronofact.text.words import MONTHS, WEEKDAYS

if TYPE_CHECKING:
    from spacy.tokens import Token

_MONTH: Final = "|".join(sorted(MONTHS))
_DAY: Final = "|".join(sorted(WEEKDAYS))
_CLOCK: Final = re.compile(r"(?:around |about )?(\d{1,2})(?::(\d\d))?\s?(am|pm|a\.m|p\.m)?(?![\w%])", re.IGNORECASE)
_DATE: Final = re.compile(
    rf"(?:(?:{_DAY}),? )?(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})\b|(?:{_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?\b|\d{{1,2}}(?:st|nd|rd|th)\b)",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(rf"(?:next |this )?(?:({_DAY})s?|({_MONTH}))\b(?: (\d{{4}}))?", re.IGNORECASE)
TYPES: Final = frozenset({"clock", "weekday", "month", "date", "year"})


def time_at(token: Token) -> tuple[str, str] | None:
    """The time that a phrase says, and its type."""
    start = min(token.left_edge.idx, token.idx) if token.left_edge.pos_ != "ADP" else token.idx
    return time_said(token.doc.text[start : start + 40])


def time_said(said: str) -> tuple[str, str] | None:
    """The time that words begin with, and its type."""
    if found := _DATE.match(said):
        return " ".join(sorted(found[0].lower().replace("the ", "").replace(" of ", " ").split())), "date"
    if found := _NAMED.match(said):
        if found[1]:
            return found[1].lower(), "weekday"
        return " ".join(part for part in (found[2].lower(), found[3]) if part), "month"
    if found := _CLOCK.match(said):
        half = (found[3] or "").lower().replace(".", "")
        if not half and not found[2]:
            return None
        return f"{found[1]}:{found[2] or '00'}{half}", "clock"
    return None
