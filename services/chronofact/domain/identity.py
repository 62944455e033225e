"""Ids derived from content, so that a retry is the same event (semantics §1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from uuid import NAMESPACE_URL, UUID, uuid5

from chronofact.domain.canonical import canonical_text
from chronofact.domain.interval import format_instant

_UUID: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", re.ASCII)
_BOUNDS_KEPT: Final = 4_096
_sha256: Final = sha256
_VERSION_8: Final = [bytes((byte & 0x0F | 0x80,)) for byte in range(256)]
"""The byte of a UUID that tells its version, by what the hash has there."""
_VARIANT: Final = [bytes((byte & 0x3F | 0x80,)) for byte in range(256)]
_bounds: Final[dict[int | None, bytes]] = {None: b"null"}


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
    return _uuid_8(_sha256(b"".join((domain, b"\x00", content))).digest())


def _uuid_8(hashed: bytes) -> bytes:
    return b"".join((hashed[:6], _VERSION_8[hashed[6]], hashed[7:8], _VARIANT[hashed[8]], hashed[9:16]))


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
    named = f'version\x00{{"fact_id":"{fact_id.hex()}","source_hash":"{source_hash.hex()}","source_id":'
    claim = (named.encode(), canonical_text(source_id).encode())
    valid = (b',"valid_from":', _bound(valid_from), b',"valid_to":', _bound(valid_to))
    return _uuid_8(_sha256(b"".join((*claim, *valid, b',"value":', value, b"}"))).digest())


def event_id_of(fact_id: bytes, kind: str, payload: bytes) -> bytes:
    """The id of an event: the fact, the kind and the canonical payload; no system time, trace or transport."""
    return _uuid_8(_sha256(b"".join((b"event\x00", fact_id, kind.encode(), b"\x00", payload))).digest())


def _bound(instant: int | None) -> bytes:
    found = _bounds.get(instant)
    if found is None:
        if len(_bounds) >= _BOUNDS_KEPT:
            _bounds.clear()
        found = _bounds[instant] = b"null" if instant is None else f'"{format_instant(instant)}"'.encode()
    return found


def _uuid(text: str) -> UUID | None:
    return UUID(text) if is_uuid(text) else None
