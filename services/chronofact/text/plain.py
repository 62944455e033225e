"""A text without what carries no meaning: control and direction marks, odd spaces, case (for comparing)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_KEPT_MAX: Final = 500
_CLOSE: Final = re.compile(r"(?<=[^\W\d_])\((?=[A-Z])")
"""A bracket that a name in it was written close to the one before: ``Rome(Italy)``."""


def clean(text: str) -> str:
    """One line of words: compatibility forms resolved, typographic quotes made plain, marks and pictures left out."""
    shown = (" " if ch.isspace() else ch for ch in unicodedata.normalize("NFKC", text).translate(_QUOTES))
    return _CLOSE.sub(" (", " ".join("".join(ch for ch in shown if ch == " " or not _is_mark(ch)).split()))


def _is_mark(character: str) -> bool:
    """Control and direction marks, pictures and what changes their look."""
    category = unicodedata.category(character)
    return category[0] == "C" or category in {"So", "Sk"} or "\ufe00" <= character <= "\ufe0f"


def plain(text: str) -> str:
    """Two texts that are equal in this say the same."""
    return _plain(text) if len(text) <= _KEPT_MAX else _plain.__wrapped__(text)


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    """Kept of short texts: each is compared with many."""
    return clean(text).casefold().strip(" .!")


_QUOTES = {0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"', 0x2010: "-", 0x2011: "-", 0x2013: "-"}
