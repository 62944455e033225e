"""Ids derived from content, so that a retry is the same event (semantics §1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Final
from uuid import NAMESPACE_URL, UUID, uuid5

from chronofact.domain.canonical import canonical_text
from chronofact.domain.interval import format_instant

_UUID: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", re.ASCII)
_BOUNDS_KEPT: Final = 4_096
_VERSION_8: Final = 0x8 << 76
_VARIANT: Final = 0b10 << 62
_CLEAR: Final = ~((0xF << 76) | (0b11 << 62))


@dataclass(frozen=True, slots=True)
class FactIdentity:
    """The five parts that name one fact; the scope is already normalised."""

    tenant_id: UUID
    subject_id: UUID
    scope_kind: str
    scope_key: str
    fact_key: str

    def canonical(self) -> bytes:
        """The canonical JSON array of the five parts: what ``fact_id`` is the hash of."""
        named = ",".join(map(canonical_text, (self.scope_kind, self.scope_key, self.fact_key)))
        return f'["{self.tenant_id}","{self.subject_id}",{named}]'.encode()


DEVELOPMENT_TENANT: Final = uuid5(NAMESPACE_URL, "chronofact:development")
"""The tenant of a stack on loopback whose callers name none."""


def tenant_id_of(tenant: str) -> UUID:
    """The tenant's id: the text itself when it is a UUID as RFC 9562 writes it, else derived from it."""
    return _uuid(tenant) or uuid5(NAMESPACE_URL, "chronofact:tenant:" + tenant)


def subject_id_of(tenant_id: UUID, subject: str) -> UUID:
    """The subject's id: the text itself when it is a UUID, else derived from it within the tenant."""
    return _uuid(subject) or uuid5(tenant_id, subject)


def is_uuid(text: str) -> bool:
    """Whether the text is a UUID as RFC 9562 writes it: 36 characters, in any case."""
    return _UUID.fullmatch(text) is not None


def derived_id(domain: bytes, content: bytes) -> bytes:
    """16 bytes: a UUID of version 8 from the SHA-256 of the domain tag, a zero byte and the content."""
    number = int.from_bytes(sha256(domain + b"\x00" + content).digest()[:16])
    return ((number & _CLEAR) | _VERSION_8 | _VARIANT).to_bytes(16)


def fact_id_of(identity: FactIdentity) -> bytes:
    """The 16 bytes that are the fact's id and its Kafka message key."""
    return fact_id_of_canonical(identity.canonical())


def fact_id_of_canonical(identity: bytes) -> bytes:
    """``fact_id_of`` an identity in its canonical form."""
    return derived_id(b"fact", identity)


def version_id_of(
    fact_id: bytes,
    *,
    value: bytes,
    valid_from: int | None,
    valid_to: int | None,
    source_id: str,
    source_hash: bytes,
) -> bytes:
    """The id of a claim: the fact, the canonical value, the interval and the evidence; no stamp, no lifecycle."""
    claim = b'{"fact_id":"%s","source_hash":"%s","source_id":%s,"valid_from":%s,"valid_to":%s,"value":%s}' % (
        fact_id.hex().encode(),
        source_hash.hex().encode(),
        canonical_text(source_id).encode(),
        _bound(valid_from),
        _bound(valid_to),
        value,
    )
    return derived_id(b"version", claim)


def event_id_of(fact_id: bytes, kind: str, payload: bytes) -> bytes:
    """The id of an event: the fact, the kind and the canonical payload; no system time, trace or transport."""
    return derived_id(b"event", fact_id + kind.encode() + b"\x00" + payload)


@lru_cache(_BOUNDS_KEPT)
def _bound(instant: int | None) -> bytes:
    return b"null" if instant is None else f'"{format_instant(instant)}"'.encode()


def _uuid(text: str) -> UUID | None:
    return UUID(text) if is_uuid(text) else None
