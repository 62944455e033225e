"""Commands as the writer takes them: plain dicts, so that they can be kept in files and sent later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import Any, Final, TypeAlias
from uuid import UUID

import orjson

from chronofact.domain.canonical import digest
from chronofact.domain.errors import Rejected
from chronofact.domain.interval import format_instant, instant_of, parse_instant

When: TypeAlias = datetime | str
"""An aware datetime, or RFC 3339 text with an offset."""
Command: TypeAlias = Mapping[str, Any]
VersionId: TypeAlias = UUID | str

_HASH_HEX_CHARS: Final = 64


@dataclass(frozen=True, slots=True)
class Source:
    """The evidence of a claim: what it is called, and its text or the SHA-256 of that (hex)."""

    id: str
    text: str | None = None
    hash: str | None = None

    def hash_bytes(self) -> bytes:
        """The SHA-256 that the version's id is made with.

        Raises:
            Rejected: ``source_hash_missing`` or ``source_hash_malformed``.
        """
        if self.hash is None:
            if self.text is None:
                raise Rejected("source_hash_missing", "a source needs its hash, or its text to hash", field="source")
            return digest(self.text.encode())
        try:
            found = bytes.fromhex(self.hash)
        except ValueError:
            found = b""
        if len(self.hash) != _HASH_HEX_CHARS or len(found) != _HASH_HEX_CHARS // 2:
            raise Rejected("source_hash_malformed", "a hash is 64 hexadecimal digits", field="source.hash")
        return found

    def as_json(self) -> dict[str, str]:
        """As a command carries it."""
        return {"id": self.id, "hash": self.hash_bytes().hex()}


@dataclass(frozen=True, slots=True)
class Supersedes:
    """What a new version supersedes; None asks for the defaults (semantics §3)."""

    version_id: VersionId
    effective_at: When | None = None
    mode: str | None = None

    def as_json(self) -> dict[str, str]:
        """As a command carries it."""
        return said(
            version_id=str(self.version_id),
            effective_at=instant_text(self.effective_at, "effective_at"),
            mode=self.mode,
        )


def instant_text(when: When | None, field: str | None = None) -> str | None:
    """RFC 3339 in UTC.

    Raises:
        Rejected: ``offset_missing`` of a naive datetime, or what ``parse_instant`` refuses (a day, too); names the field.
    """
    try:
        return None if (instant := instant_micros(when)) is None else format_instant(instant)
    except Rejected as refusal:
        raise refusal if field is None else refusal.at(field) from None


def instant_micros(when: When | None) -> int | None:
    """Microseconds since 1970; refuses what ``instant_text`` refuses."""
    if when is None:
        return None
    if isinstance(when, str):
        return parse_instant(when)
    if not isinstance(when, datetime):
        raise Rejected(
            "instant_malformed", f"no instant, but of type {type(when).__name__}; give an aware datetime or RFC 3339"
        )
    if when.utcoffset() is None:
        raise Rejected("offset_missing", "a datetime must be aware; give it a tzinfo")
    return instant_of(when)


def source_of(source: Source | str) -> Source:
    """A source by its name alone is evidence whose text is that name."""
    return source if isinstance(source, Source) else Source(source, text=source)


def said(**fields: Any) -> dict[str, Any]:
    """The fields that were given; null and absent mean the same."""
    return {name: field for name, field in fields.items() if field is not None}


def encoded(command: Any) -> bytes:
    """JSON of a command, or of many.

    Raises:
        Rejected: ``number_not_finite``; a NaN would else go as null, which says something else.
    """
    raw = orjson.dumps(command)
    if b"null" in raw and not _is_finite(command):
        raise Rejected("number_not_finite", "NaN and infinities are not JSON numbers", field="value")
    return raw


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, Mapping):
        return all(map(_is_finite, value.values()))
    return not isinstance(value, list | tuple) or all(map(_is_finite, value))


def assertion(
    subject: str,
    key: str,
    value: Any,
    *,
    source: Source | str,
    scope: str | None = None,
    valid_from: When | None = None,
    valid_to: When | None = None,
    lifecycle: str | None = None,
    supersedes: Supersedes | Iterable[Supersedes] | None = None,
    succession: str | None = None,
    cardinality: str | None = None,
    confidence: float | None = None,
    recorded_at: When | None = None,
    idempotency_key: str | None = None,
) -> dict[str, Any]:
    """The command that says: this held from then to then, by this evidence."""
    edges = [supersedes] if isinstance(supersedes, Supersedes) else list(supersedes or ())
    command = said(
        type="assert",
        subject=subject,
        scope=scope,
        key=key,
        valid_from=instant_text(valid_from, "valid_from"),
        valid_to=instant_text(valid_to, "valid_to"),
        source=source_of(source).as_json(),
        lifecycle=lifecycle,
        supersedes=[edge.as_json() for edge in edges] or None,
        succession=succession,
        cardinality=cardinality,
        confidence=confidence,
        recorded_at=instant_text(recorded_at, "recorded_at"),
        idempotency_key=idempotency_key,
    )
    return {**command, "value": value}
