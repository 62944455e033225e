"""A command's texts as what they spell: ids, instants, intervals."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from chronofact.contracts.commands import VALUE_BYTES_MAX
from chronofact.contracts.payload import id_bytes
from chronofact.domain.canonical import canonical
from chronofact.domain.errors import Rejected
from chronofact.domain.events import Mode
from chronofact.domain.interval import Interval, parse_instant

_INSTANTS_KEPT: Final = 4_096

_instant = lru_cache(_INSTANTS_KEPT)(parse_instant)


def interval_of(valid_from: str | None, valid_to: str | None) -> Interval:
    """When it holds.

    Raises:
        Rejected: what is wrong with either bound, or with both.
    """
    return Interval(bound_at("valid_from", valid_from), bound_at("valid_to", valid_to))


def mode_of(mode: str | None) -> Mode | None:
    """The mode, if one is said."""
    return None if mode is None else Mode(mode)


def id_of(field: str, text: str) -> bytes:
    """The 16 bytes of a UUID.

    Raises:
        Rejected: ``id_malformed``.
    """
    try:
        return id_bytes(text)
    except ValueError:
        raise Rejected("id_malformed", "not a UUID of 36 characters", field=field) from None


def optional_id_of(field: str, text: str | None) -> bytes | None:
    """The same, if one is said."""
    return None if text is None else id_of(field, text)


def instant_at(field: str, text: str) -> int:
    """An instant.

    Raises:
        Rejected: what is wrong with it.
    """
    try:
        return _instant(text)
    except Rejected as error:
        raise error.at(field) from None


def bound_at(field: str, text: str | None) -> int | None:
    """An instant, or an open bound."""
    return None if text is None else instant_at(field, text)


def text_value(text: str, field: str = "text") -> bytes:
    """The value of a memory: its text as it came, in canonical JSON.

    Raises:
        Rejected: ``text_empty``, ``text_too_large``, ``surrogate_lone``, ``nul_character``.
    """
    if not text or text.isspace():
        raise Rejected("text_empty", "the text says nothing", field=field)
    try:
        value = canonical(text)
    except Rejected as error:
        raise error.at(field) from None
    if len(value) > VALUE_BYTES_MAX:
        raise Rejected("text_too_large", "the text's canonical JSON is larger than 64 KiB", field=field)
    return value
