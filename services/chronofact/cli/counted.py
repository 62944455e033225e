"""Counts of things, as a sentence has them."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 fact``, ``2 facts``."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
