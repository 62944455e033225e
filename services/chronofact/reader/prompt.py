"""What is settled as lines for a prompt, one a line whatever a value holds: nothing in it can look like a line of ours."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

SOURCES_TOLD: Final = 3
_SHORT_CHARS: Final = 120
_PLAIN_SCOPE: Final = re.compile(r"[a-z0-9_]+:[\w./@+~%-]+", re.ASCII)
_LINE_BREAKING: Final = frozenset({"Zl", "Zp"})


def inert(text: str) -> str:
    """JSON text whose control, bidi, format and line-breaking characters are escapes; it parses to the same value."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if _is_inert(one) else _escaped(one) for one in text)


def quoted(text: str) -> str:
    """A text as a JSON string that is inert."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return inert(f'"{escaped}"')


def short(text: str) -> str:
    """The beginning of a text that is too long to ask about."""
    return text if len(text) <= _SHORT_CHARS else f"{text[:_SHORT_CHARS]}…"


def scope_told(scope: str) -> str:
    """A scope as it is, or quoted where it has more than plain characters."""
    return scope if _PLAIN_SCOPE.fullmatch(scope) else quoted(scope)


def line(
    key: str,
    scope: str,
    value: bytes,
    during: tuple[str | None, str | None],
    sources: Sequence[str],
    *,
    sources_count: int,
) -> str:
    """One settled value: what, where, since when, and by whose word."""
    told = ", ".join(quoted(source) for source in sources[:SOURCES_TOLD])
    more = sources_count - min(len(sources), SOURCES_TOLD)
    beside = f" and {more} more" if more > 0 else ""
    return f"- {key} in {scope_told(scope)}: {inert(value.decode())} ({_span(*during)}; source {told}{beside})"


def _span(start: str | None, end: str | None) -> str:
    if start is None:
        return "always" if end is None else f"until {end}"
    return f"since {start}" if end is None else f"from {start} until {end}"


def _is_inert(one: str) -> bool:
    if one.isascii():
        return one.isprintable()
    category = unicodedata.category(one)
    return category[0] != "C" and category not in _LINE_BREAKING


def _escaped(one: str) -> str:
    code = ord(one)
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"
