"""Text of others among words of ours: escaped so that nothing in it is invisible, breaks a line or looks like a line of ours."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_PLAIN: Final = re.compile(r"[\w./@+~%:#…-]+")
_LINE_BREAKING: Final = frozenset({"Zl", "Zp"})
_EMOJI_STYLE: Final = "\ufe0f"
_INVISIBLE: Final = frozenset(
    map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10)))
)
"""Letters and marks by category that show nothing; more variation selectors are a range of their own."""
_MORE_SELECTORS: Final = ("\U000e0100", "\U000e01ef")


def inert(text: str, *, keep: str = "") -> str:
    """JSON text with escapes for what can't be seen or breaks a line; it parses to the same value. ``keep`` stays."""
    if text.isascii() and text.isprintable():
        return text
    before = " "
    shown = []
    for one in text:
        shown.append(one if one in keep or _is_inert(one, before) else _escaped(one))
        before = one
    return "".join(shown)


def quoted(text: str) -> str:
    """A text as a JSON string that is inert."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return inert(f'"{escaped}"')


def named(text: str) -> str:
    """A name within a sentence: as it is where it is one plain word, else quoted."""
    return text if _PLAIN.fullmatch(text) and inert(text) == text else quoted(text)


def cited(text: str) -> str:
    """Words within curly quotes, which they can't close."""
    escaped = text.replace("\\", "\\\\").replace("“", "\\u201c").replace("”", "\\u201d")
    return f"“{inert(escaped)}”"


def _is_inert(one: str, before: str) -> bool:
    if one.isascii():
        return one.isprintable()
    if one == _EMOJI_STYLE:
        return unicodedata.category(before) == "So"
    if one in _INVISIBLE or _MORE_SELECTORS[0] <= one <= _MORE_SELECTORS[1]:
        return False
    category = unicodedata.category(one)
    return category[0] != "C" and category not in _LINE_BREAKING


def _escaped(one: str) -> str:
    code = ord(one)
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"
