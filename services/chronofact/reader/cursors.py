"""Cursors: opaque places to go on from, each good only for the very call that gave it.

A cursor holds what all pages of a list share (the instant, and the cut of the log that its first page was read at), so that
nothing is skipped or repeated while writers go on.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final
from uuid import UUID

import orjson

from chronofact.contracts.position import Position
from chronofact.domain.errors import Rejected
from chronofact.domain.interval import INSTANT_MAX, INSTANT_MIN

Check = Callable[[Any], bool]

_CHARS_MAX: Final = 8_192
_VERSION: Final = 1
_NAME_BYTES: Final = 9
_PAGE_PARAMETERS: Final = frozenset({"cursor", "limit", "after", "wait_ms"})
"""What may differ from page to page."""


def text(found: Any) -> bool:
    """A text that Postgres can hold."""
    return isinstance(found, str) and "\x00" not in found


def natural(found: Any) -> bool:
    """A whole number from 0."""
    return type(found) is int and 0 <= found < 2**62


def instant(found: Any) -> bool:
    """Microseconds since 1970 within the years that we know."""
    return type(found) is int and INSTANT_MIN <= found <= INSTANT_MAX


def uuid(found: Any) -> bool:
    """An id as answers spell it."""
    try:
        return isinstance(found, str) and str(UUID(found)) == found
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended: what it shares with the next ones, and the key of its last line."""

    key: Sequence[Any]
    valid_at: int | None = None
    cut: Position | None = None

    def next_offsets(self) -> list[int] | None:
        """The cut, one offset a partition from 0 up to the last that it speaks of: nothing of a later one lies below it."""
        if self.cut is None:
            return None
        reached = self.cut.next_offsets
        return [reached.get(one, 0) for one in range(max(reached, default=-1) + 1)]


class Cursors:
    """The cursors of one call: its path, its tenant and its parameters, whichever page they ask for."""

    def __init__(self, path: str, tenant_id: UUID, parameters: Iterable[tuple[str, str]]) -> None:
        kept = [one for one in parameters if one[0] not in _PAGE_PARAMETERS]
        named = orjson.dumps([path, str(tenant_id), sorted(kept, key=lambda one: one[0])])
        self._name = bytes((_VERSION,)) + sha256(named).digest()[: _NAME_BYTES - 1]

    def spell(self, place: Place) -> str:
        """The cursor of a place."""
        cut = None if place.cut is None else place.cut.encode()
        return urlsafe_b64encode(self._name + orjson.dumps([place.valid_at, cut, *place.key])).rstrip(b"=").decode()

    def place(self, cursor: str | None, *checks: Check) -> Place | None:
        """The place that a cursor of this call names; None begins.

        Raises:
            Rejected: ``cursor_malformed``, ``cursor_of_other_call``.
        """
        if cursor is None:
            return None
        name, held = _read(cursor)
        if name != self._name:
            raise Rejected(
                "cursor_of_other_call",
                "the cursor belongs to another call, tenant or query; repeat the parameters of the page that gave it",
                field="cursor",
            )
        valid_at, cut, *key = held
        if len(key) != len(checks) or not all(check(one) for one, check in zip(key, checks, strict=True)):
            raise _malformed()
        if valid_at is not None and not instant(valid_at):
            raise _malformed()
        try:
            return Place(key, valid_at, None if cut is None else Position.parse(cut))
        except (Rejected, AttributeError, TypeError):
            raise _malformed() from None


def _read(cursor: str) -> tuple[bytes, list[Any]]:
    try:
        raw = (
            urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)) if len(cursor) <= _CHARS_MAX else b""
        )
        held = orjson.loads(raw[_NAME_BYTES:])
    except ValueError:
        raise _malformed() from None
    if raw[0] != _VERSION or not isinstance(held, list) or len(held) < 2:
        raise _malformed()
    return raw[:_NAME_BYTES], held


def _malformed() -> Rejected:
    return Rejected("cursor_malformed", "not a cursor that this call gave", field="cursor")
