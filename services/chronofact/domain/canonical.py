"""Canonical JSON (RFC 8785) and its SHA-256: the bytes that ids, hashes and state hashes are made of."""

from __future__ import annotations

import json
import math
from hashlib import sha256
from json.encoder import encode_basestring
from typing import Final, TypeAlias

from chronofact.domain.errors import Rejected

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

SAFE_INTEGER: Final = 2**53
"""Most integers beyond it change in canonical JSON, where each number is a double."""
EXPONENT_FROM: Final = 10**21
DEPTH_MAX: Final = 64

_sha256: Final = sha256
_encode: Final = encode_basestring

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
    if type(value) is str:
        check_text(value)
        return _encode(value)
    return _dumps(value) if _check_plain(value, 0) else _spell(value)


def digest(data: bytes) -> bytes:
    """SHA-256, 32 bytes."""
    return _sha256(data).digest()


def check_text(text: str) -> None:
    """Refuses what Postgres can't hold as text: ``surrogate_lone``, ``nul_character``."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Rejected("surrogate_lone", "text has a lone surrogate, which is not valid Unicode") from None
    if "\x00" in text:
        raise Rejected("nul_character", "text has the character U+0000, which Postgres can't hold")


def check_integer(number: int) -> None:
    """Refuses what canonical JSON would spell otherwise: ``integer_unsafe``. What it spells itself may be said again."""
    if -SAFE_INTEGER <= number <= SAFE_INTEGER:
        return
    if abs(number) >= EXPONENT_FROM or _spell_number(float(number)) != str(number):
        raise Rejected("integer_unsafe", "an integer beyond 2^53 would change; send it as a string")


def _check_plain(value: Json, depth: int) -> bool:
    """Refuses what can't be held; tells whether the C encoder spells the value as RFC 8785 does."""
    # by exact type, the most frequent first: this runs for each part of each value that is written
    kind = type(value)
    if kind is str:
        check_text(value)  # type: ignore[arg-type]
        return True
    if value is None or kind is bool:
        return True
    if kind is dict or kind is list:
        if depth >= DEPTH_MAX:
            raise Rejected("nesting_too_deep", f"values nest at most {DEPTH_MAX} deep")
        return _check_parts(value, depth + 1)  # type: ignore[arg-type]
    return _check_number(value)


def _check_parts(parts: list[Json] | dict[str, Json], depth: int) -> bool:
    plain = True
    if isinstance(parts, list):
        for item in parts:
            plain &= _check_plain(item, depth)
        return plain
    for name, item in parts.items():
        check_text(name)
        # Python sorts by code point, RFC 8785 by UTF-16 unit: they differ beyond the basic plane only
        plain &= _check_plain(item, depth) and name.isascii()
    return plain


def _check_number(number: Json) -> bool:
    # not typed as a float: compiled, that would round an integer before it is looked at
    if isinstance(number, int):
        check_integer(number)
        return True
    if isinstance(number, float) and not math.isfinite(number):
        raise Rejected("number_not_finite", "NaN and infinities are not JSON numbers")
    return False


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
