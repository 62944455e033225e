"""What of a turn is somebody else's words, and what only leads to what it says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_MARKS: Final = re.compile(r"""(?<!\d)"|`+|[\u201c\u201d\u201e\u00ab\u00bb]""")
_OPENING: Final = frozenset("\u201c\u201e\u00ab")
_CLOSING: Final = frozenset("\u201d\u00bb")
_LINE: Final = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_TAIL: Final = 2
"""So many characters may follow a closing mark: a full stop, another mark."""
_WHO: Final = r"(?=(?:i|i'm|i've|my|we|we're|we've|our|the)\b)"
_LEAD: Final = re.compile(
    rf"(?:[-*\u2022\u2013]\s+|\d{{1,3}}[.)]\s+)?(?:(?:(?:please|and|also|just|so|but|well|ok|okay|hey)[,\s]+)*"
    rf"(?:(?:remember|note|keep\s+in\s+mind|bear\s+in\s+mind|be\s+aware)[,:]?\s+(?:that\s+|{_WHO})"
    r"|(?:as\s+i\s+(?:said|mentioned|told\s+you)|by\s+the\s+way|btw|fyi|in\s+fact|as\s+a\s+matter\s+of\s+fact|for\s+the\s+record"
    r"|just\s+so\s+you\s+know)[,:]\s+"
    rf"|(?:i\s+(?:(?:already\s+)?told\s+you|mentioned)|the\s+(?:good|bad|big)\s+news\s+is)\s+(?:that\s+|{_WHO})))?",
    re.IGNORECASE,
)


def quotations(text: str) -> list[tuple[int, int]]:
    """The stretches of a text between quotation marks, and its lines behind ``>``, code; a mark that none closes reaches to the end."""
    found = [one.span() for one in _LINE.finditer(text)]
    begun: int | None = None
    for mark in _MARKS.finditer(text):
        if begun is None and mark[0] not in _CLOSING:
            begun = mark.start()
        elif begun is not None and mark[0] not in _OPENING:
            found.append((begun, mark.end()))
            begun = None
    if begun is not None:
        found.append((begun, len(text)))
    return found


def is_quoted(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a sentence begins within a quotation, or is one."""
    return any(first < start < last or (first == start and last >= end - _TAIL) for first, last in spans)


def without_lead(text: str) -> str | None:
    """``Please remember that I live in Oslo`` without what only leads to it; None where nothing does."""
    lead = _LEAD.match(text)
    if lead is None or not lead[0] or not (rest := text[lead.end() :]):
        return None
    return rest[:1].upper() + rest[1:]
