"""JSON that is not read in silence: repeated keys, infinities, depth and size are seen, whatever a fast parser makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, NoReturn, TypeAlias

import orjson

from chronofact.domain.errors import Rejected

Raw: TypeAlias = bytes | bytearray

TOKENS_MAX: Final = 400_000
_INTEGER_CHARS_MAX: Final = 32


class Repeating(dict[str, Any]):
    """An object that named ``key`` twice."""

    key: str


def check_tokens(raw: Raw) -> None:
    """Refuses a body that is small as bytes and huge as objects, before any is made.

    Raises:
        Rejected: ``body_too_large``.
    """
    if len(raw) > TOKENS_MAX and sum(map(raw.count, (b"{", b"[", b","))) > TOKENS_MAX:
        raise Rejected("body_too_large", f"the body holds more than {TOKENS_MAX:,} JSON values; send fewer at once")


def may_lack_keys(raw: Raw, found: Any) -> bool:
    """Whether orjson may have dropped a repeated key.

    Each key has a colon that is spelled as such; a dropped key lacks its own. Only an escaped one could make up for it.
    """
    if b"\\u003a" in raw or b"\\u003A" in raw:
        return True
    try:
        return raw.count(b":") != orjson.dumps(found).count(b":")
    except (orjson.JSONEncodeError, RecursionError):
        # it nests too deep for either; the exact reading says so
        return True


def exactly(raw: Raw, *, constant: Callable[[str], Any] | None = None) -> Any:
    """As RFC 8259 says; an object that names a key twice is a ``Repeating``, and lone surrogates stay in.

    Args:
        raw: The bytes.
        constant: What to make of NaN and infinities, where they are not to be refused at once.

    Raises:
        Rejected: ``encoding_not_utf8``, ``json_malformed``, ``nesting_too_deep``, ``number_not_finite``.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise Rejected("encoding_not_utf8", "the body is not UTF-8") from None
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=constant or _refuse_constant, parse_int=_integer
        )
    except RecursionError:
        raise Rejected("nesting_too_deep", "values nest at most 64 deep") from None
    except json.JSONDecodeError:
        raise Rejected("json_malformed", "the body is not JSON, or is cut short") from None


def faithfully(raw: Raw) -> Any:
    """By orjson where it drops nothing in silence, else exactly.

    Raises:
        Rejected: what ``exactly`` refuses, and ``json_key_repeated`` for the outermost object.
    """
    try:
        found = orjson.loads(raw)
        is_exact = not may_lack_keys(raw, found)
    except orjson.JSONDecodeError:
        is_exact = False
    found = found if is_exact else exactly(raw)
    check_keys(found, "the body")
    return found


def check_keys(found: Any, what: str) -> None:
    """Refuses an object that named a key twice.

    Raises:
        Rejected: ``json_key_repeated``, naming the key.
    """
    if isinstance(found, Repeating):
        message = f"{what} names a key twice, and which one counts would be a guess"
        raise Rejected("json_key_repeated", message, field=found.key)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    repeating = Repeating(found)
    named = [name for name, _ in pairs]
    repeating.key = next(name for at, name in enumerate(named) if name in named[:at])
    return repeating


def _refuse_constant(_name: str) -> NoReturn:
    raise Rejected("number_not_finite", "NaN and infinities are not JSON numbers")


def _integer(digits: str) -> int:
    return int(digits) if len(digits) <= _INTEGER_CHARS_MAX else 10**_INTEGER_CHARS_MAX
