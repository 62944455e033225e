"""A text without what carries no meaning: control and direction marks, odd spaces, case (for comparing)."""

from __future__ import annotations

import unicodedata


def clean(text: str) -> str:
    """One line of printable characters, compatibility forms resolved, typographic quotes made plain."""
    shown = (" " if ch.isspace() else ch for ch in unicodedata.normalize("NFKC", text).translate(_QUOTES))
    return " ".join("".join(ch for ch in shown if ch == " " or unicodedata.category(ch)[0] != "C").split())


def plain(text: str) -> str:
    """Two texts that are equal in this say the same."""
    return clean(text).casefold().strip(" .!")


_QUOTES = {0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"', 0x2010: "-", 0x2011: "-", 0x2013: "-"}
