"""Two values as words: equal, contained, shortened, or one time of day."""

from __future__ import annotations

import re
from typing import Final

_CLOCK: Final = re.compile(r"(\d{1,2}):(\d\d)(am|pm)?")
_NOON: Final = 12
_STEM_MIN: Final = 4


def same(one: str, other: str) -> bool:
    """Equal after normalisation, whatever the order of words."""
    return sorted(one.split()) == sorted(other.split())


def contains(one: str, other: str) -> bool:
    """Whether all words of either are in the other."""
    left, right = set(one.split()), set(other.split())
    return left <= right or right <= left


def is_shortened(one: str, other: str) -> bool:
    """Whether they differ by the end of one word: ``Postgres`` and ``PostgreSQL``, release 3.12 and 3.12.4."""
    left, right = one.split(), other.split()
    if len(left) != len(right):
        return _are_initials(left, right) or _are_initials(right, left)
    return all(
        a == b or _begins(a, b) or _begins(b, a) or _is_numeronym(a, b) or _is_numeronym(b, a)
        for a, b in zip(left, right, strict=True)
    )


def _is_numeronym(short: str, long: str) -> bool:
    """``k8s``: the ends of a word, and how many letters are between them."""
    between = short[1:-1]
    return between.isdecimal() and len(long) == int(between) + 2 and (short[0], short[-1]) == (long[0], long[-1])


def _are_initials(short: list[str], long: list[str]) -> bool:
    """``VP of Sales`` is the Vice President of Sales."""
    return any(
        len(word) > 1 and [*short[:place], *long[place : place + len(word)], *short[place + 1 :]] == long
        and word == "".join(part[0] for part in long[place : place + len(word)])
        for place, word in enumerate(short)
    )  # fmt: skip


def _begins(short: str, long: str) -> bool:
    if len(short) >= len(long) or not long.startswith(short):
        return False
    if short.isalpha():
        return len(short) >= _STEM_MIN
    return short.replace(".", "").isdecimal() and long[len(short)] == "." and not long.endswith(".0")


def may_be_one_clock(one: str, other: str) -> bool:
    """``5:00pm`` and ``17:00``; half of a day that is not said may be either."""
    left, right = _CLOCK.match(one), _CLOCK.match(other)
    if left is None or right is None or left[2] != right[2] or int(left[1]) % 12 != int(right[1]) % 12:
        return False
    halves = [_half(found) for found in (left, right)]
    return "" in halves or halves[0] == halves[1]


def _half(clock: re.Match[str]) -> str:
    """Morning or afternoon, where it is said or told by the hour."""
    hour = int(clock[1])
    return clock[3] or ("pm" if hour > _NOON else "am" if not hour else "")


def shared(named: str, held: str) -> bool:
    """Whether a value that is named as the former one is the one held."""
    parts, whole = named.split(), held.split()
    if parts and whole[: len(parts)] == parts and any(ch.isdigit() for word in whole[len(parts) :] for ch in word):
        return True  # a Galaxy, of a Galaxy S21
    heads = parts[-1:], whole[-1:]
    return heads[0] != [] and heads[0] == heads[1] and contains(named, held)
