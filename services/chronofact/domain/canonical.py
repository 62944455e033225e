"""Canonical JSON (RFC 8785) and its SHA-256: the bytes that ids, hashes and state hashes are made of."""

from __future__ import annotations

import json
import math
from hashlib import sha256
from typing import Final, TypeAlias

from chronofact.domain.errors import Rejected

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"

SAFE_INTEGER: Final = 2**53
"""Integers beyond it change in canonical JSON, where each number is a double."""
DEPTH_MAX: Final = 64

_dumps = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode


def canonical(value: Json) -> bytes:
    """The RFC 8785 bytes of a JSON value, so that ``1``, ``1.0`` and ``1e0`` are one.

    Raises:
        Rejected: ``number_not_finite``, ``integer_unsafe``, ``nesting_too_deep``, ``surrogate_lone``,
            ``nul_character``: what canonical JSON or Postgres can't hold (semantics §1).
    """
    return canonical_text(value).encode()


def canonical_text(value: Json) -> str:
    """``canonical`` before its UTF-8 encoding."""
    kind = type(value)
    if kind is str:
        _check_text(value)  # type: ignore[arg-type]
        return _dumps(value)
    if value is None or kind is bool:
        return _dumps(value)
    return _dumps(value) if _check_plain(value, 0) else _spell(value)


def digest(data: bytes) -> bytes:
    """SHA-256, 32 bytes."""
    return sha256(data).digest()


def _check_text(text: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Rejected("surrogate_lone", "text has a lone surrogate, which is not valid Unicode") from None
    if "\x00" in text:
        raise Rejected("nul_character", "text has the character U+0000, which Postgres can't hold")


def _check_plain(value: Json, depth: int) -> bool:
    """Refuses what can't be held; tells whether the C encoder spells the value as RFC 8785 does."""
    match value:
        case str():
            _check_text(value)
            return True
        case None | bool():
            return True
        case int():
            if not -SAFE_INTEGER <= value <= SAFE_INTEGER:
                raise Rejected("integer_unsafe", "an integer beyond 2^53 would change; send it as a string")
            return True
        case float():
            if not math.isfinite(value):
                raise Rejected("number_not_finite", "NaN and infinities are not JSON numbers")
            return False
        case list() | dict() if depth >= DEPTH_MAX:
            raise Rejected("nesting_too_deep", f"values nest at most {DEPTH_MAX} deep")
        case list():
            plain = True
            for item in value:
                plain &= _check_plain(item, depth + 1)
            return plain
        case dict():
            plain = True
            for key, item in value.items():
                _check_text(key)
                # Python sorts by code point, RFC 8785 by UTF-16 unit: they differ beyond the basic plane only
                plain &= _check_plain(item, depth + 1) and key.isascii()
            return plain


def _spell(value: Json) -> str:
    match value:
        case float():
            return _spell_number(value)
        case list():
            return "[" + ",".join(map(_spell, value)) + "]"
        case dict():
            names = sorted(value, key=lambda name: name.encode("utf-16-be"))
            return "{" + ",".join(f"{_dumps(name)}:{_spell(value[name])}" for name in names) + "}"
        case _:
            return _dumps(value)


def _spell_number(number: float) -> str:
    """ECMAScript's Number-to-string, from Python's shortest round-trip digits."""
    if number == 0:
        return "0"
    mantissa, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len((whole + fraction).lstrip("0")))
    digits = digits.rstrip("0")
    count = len(digits)
    sign = "-" if number < 0 else ""
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"
