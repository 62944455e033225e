"""FactEvent to and from Avro single-object bytes: C3 01, the writer schema's fingerprint, the body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

import orjson
from fastavro import parse_schema, schemaless_reader
from fastavro.schema import fingerprint, to_parsing_canonical_form

from chronofact.contracts.payload import id_bytes, id_text
from chronofact.domain.errors import Rejected
from chronofact.domain.identity import FactIdentity
from chronofact.runtime.resources import schema_path

VERSIONS: Final = ("fact_event.v1.avsc",)
"""Every schema that the log may hold, oldest first; the last one is written."""

T = TypeVar("T")

_MARKER: Final = b"\xc3\x01"
_HEADER_BYTES: Final = 10
_KIND_AT: Final = 26
"""Every schema begins with the event's id and its kind."""
_NULL: Final = b"\x00"
_SOME: Final = b"\x02"
_KINDS: Final = {
    kind: bytes((2 * symbol,))
    for symbol, kind in enumerate(
        (
            "FactAsserted",
            "FactActivated",
            "FactSuperseded",
            "FactEnded",
            "FactRevoked",
            "ConflictResolved",
            "RelationDeclared",
            "RelationsChecked",
            "EventDropped",
        )
    )
}

_KIND_OF: Final = {spelled[0]: kind for kind, spelled in _KINDS.items()}


@dataclass(slots=True, init=False, unsafe_hash=True)
class FactEvent:
    """One event as the log holds it; the message key is its fact_id. Final and not frozen, for its cost (ADR 32)."""

    event_id: Final[bytes]
    kind: Final[str]
    identity: Final[bytes]
    subject_label: Final[str | None]
    payload: Final[bytes]
    derived: Final[bytes | None]
    version_id: Final[bytes | None]
    value_hash: Final[bytes | None]
    source_hash: Final[bytes | None]
    import_time: Final[int | None]
    trace: Final[str | None]

    def __init__(
        self,
        event_id: bytes,
        kind: str,
        identity: bytes,
        subject_label: str | None,
        payload: bytes,
        derived: bytes | None = None,
        version_id: bytes | None = None,
        value_hash: bytes | None = None,
        source_hash: bytes | None = None,
        import_time: int | None = None,
        trace: str | None = None,
    ) -> None:
        self.event_id = event_id
        self.kind = kind
        self.identity = identity
        self.subject_label = subject_label
        self.payload = payload
        self.derived = derived
        self.version_id = version_id
        self.value_hash = value_hash
        self.source_hash = source_hash
        self.import_time = import_time
        self.trace = trace


class _Codec:
    """Parsed schemas: the newest one to write, all of them to read."""

    def __init__(self) -> None:
        schemas = [orjson.loads(schema_path("avro", name).read_bytes()) for name in VERSIONS]
        parsed = [parse_schema(schema) for schema in schemas]
        self.newest = parsed[-1]
        self.header = _header(schemas[-1])
        self.older = {_header(raw): schema for raw, schema in zip(schemas[:-1], parsed[:-1], strict=True)}

    def knows(self, header: bytes) -> bool:
        """Whether the schema of this header is known."""
        return header == self.header or header in self.older


@cache
def _codec() -> _Codec:
    return _Codec()


def _header(schema: Any) -> bytes:
    return _MARKER + bytes.fromhex(fingerprint(to_parsing_canonical_form(schema), "CRC-64-AVRO"))


def encode_event(event: FactEvent) -> bytes:
    """The message value of an event, in the newest schema.

    Spelled by hand, since this runs for each command and fastavro takes five times as long to tell which branch of a
    union fits; tests hold it to fastavro's bytes.
    """
    label = None if event.subject_label is None else event.subject_label.encode()
    trace = None if event.trace is None else event.trace.encode()
    return b"".join(
        (
            _codec().header,
            event.event_id,
            _KINDS[event.kind],
            _long(len(event.identity)),
            event.identity,
            _NULL if label is None else _SOME + _long(len(label)) + label,
            _long(len(event.payload)),
            event.payload,
            _NULL if event.derived is None else _SOME + _long(len(event.derived)) + event.derived,
            _NULL if event.version_id is None else _SOME + event.version_id,
            _NULL if event.value_hash is None else _SOME + event.value_hash,
            _NULL if event.source_hash is None else _SOME + event.source_hash,
            _NULL if event.import_time is None else _SOME + _long(event.import_time),
            _NULL if trace is None else _SOME + _long(len(trace)) + trace,
        )
    )


def _long(number: int) -> bytes:
    """Avro's zigzag variable-length integer."""
    number = number << 1 if number >= 0 else (-number << 1) - 1
    if number < 0x80:
        return bytes((number,))
    spelled = bytearray()
    while number > 0x7F:
        spelled.append(number & 0x7F | 0x80)
        number >>= 7
    spelled.append(number)
    return bytes(spelled)


def decode_event(data: bytes) -> FactEvent:
    """The event of a message value, whichever schema version wrote it.

    Raises:
        Rejected: ``event_undecodable``, for a reason that names no content.
    """
    codec = _codec()
    if data[:_HEADER_BYTES] == codec.header and (found := _decoded_plainly(data)) is not None:
        return found
    return _decoded_exactly(codec, data)


def _decoded_plainly(data: bytes) -> FactEvent | None:
    """Spelled by hand as our own producers write it, in half the time; None leaves it to fastavro to judge."""
    try:
        kind = _KIND_OF[data[_KIND_AT]]
        identity, at = _sized(data, 27)
        label, at = _optional(data, at, _sized)
        payload, at = _sized(data, at)
        derived, at = _optional(data, at, _sized)
        version_id, at = _fixed(data, at, 16)
        value_hash, at = _fixed(data, at, 32)
        source_hash, at = _fixed(data, at, 32)
        import_time, at = _optional(data, at, _number)
        trace, at = _optional(data, at, _sized)
        if at != len(data):
            return None
        return FactEvent(
            data[10:26],
            kind,
            identity,
            None if label is None else label.decode(),
            payload,
            derived,
            version_id,
            value_hash,
            source_hash,
            import_time,
            None if trace is None else trace.decode(),
        )
    except (KeyError, IndexError, ValueError):
        return None


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A zigzag integer of at most 63 bits, and where it ends."""
    byte = data[at]
    at += 1
    number, shift = byte & 0x7F, 7
    while byte > 0x7F:
        if shift > 56:
            raise ValueError
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
    return (number >> 1) ^ -(number & 1), at


def _sized(data: bytes, at: int) -> tuple[bytes, int]:
    """Bytes behind their length, and where they end, which may lie beyond the end of the data."""
    size = data[at]
    if size > 0x7F:
        size, at = _number(data, at)
    else:
        size, at = (size >> 1) ^ -(size & 1), at + 1
    if size < 0:
        raise ValueError
    return data[at : at + size], at + size


def _optional(data: bytes, at: int, read: Callable[[bytes, int], tuple[T, int]]) -> tuple[T | None, int]:
    if data[at] == 0:
        return None, at + 1
    if data[at] != 2:
        raise ValueError
    return read(data, at + 1)


def _fixed(data: bytes, at: int, size: int) -> tuple[bytes | None, int]:
    if data[at] == 0:
        return None, at + 1
    if data[at] != 2:
        raise ValueError
    return data[at + 1 : at + 1 + size], at + 1 + size


def _decoded_exactly(codec: _Codec, data: bytes) -> FactEvent:
    body = BytesIO(data)
    header = body.read(_HEADER_BYTES)
    try:
        if header == codec.header:
            fields = schemaless_reader(body, codec.newest, None)
        elif header in codec.older:
            fields = schemaless_reader(body, codec.older[header], codec.newest)
        else:
            raise Rejected("event_undecodable", "no schema with this fingerprint is known")
    except (EOFError, ValueError, IndexError, OverflowError, MemoryError) as error:
        if isinstance(error, Rejected):
            raise
        raise Rejected("event_undecodable", f"not the Avro body that its header says: {type(error).__name__}") from None
    if body.read(1):
        raise Rejected("event_undecodable", "bytes are left over behind the Avro body")
    return FactEvent(**fields)  # type: ignore[arg-type]


def is_drop(data: bytes) -> bool:
    """Whether a message value begins as an EventDropped does: no event of a fact, but about a message."""
    return data[_KIND_AT : _KIND_AT + 1] == _KINDS["EventDropped"] and _codec().knows(data[:_HEADER_BYTES])


def is_of_unknown_schema(data: bytes) -> bool:
    """Whether a message value is headed as one of ours and names a schema that this code does not know."""
    return data[:2] == _MARKER and len(data) >= _HEADER_BYTES and not _codec().knows(data[:_HEADER_BYTES])


class IdentityParts(NamedTuple):
    """The five parts of a fact, ids as raw bytes."""

    tenant_id: bytes
    subject_id: bytes
    scope_kind: str
    scope_key: str
    fact_key: str


def parts_of(identity: bytes) -> IdentityParts:
    """``identity_of`` without an object for either id, in a quarter of the time.

    Raises:
        Rejected: ``event_undecodable``.
    """
    if (found := _parts_plainly(identity)) is not None:
        return found
    parts = identity_of(identity)
    return IdentityParts(
        parts.tenant_id.bytes, parts.subject_id.bytes, parts.scope_kind, parts.scope_key, parts.fact_key
    )


def _parts_plainly(identity: bytes) -> IdentityParts | None:
    """Texts that orjson spells as they came are canonical, but for U+0000; None leaves it to ``identity_of`` to judge."""
    try:
        named = orjson.loads(identity)
        if type(named) is not list or len(named) != 5 or orjson.dumps(named) != identity or b"\\u0000" in identity:
            return None
        tenant, subject, scope_kind, scope_key, fact_key = map(_text, named)
        tenant_id, subject_id = id_bytes(tenant), id_bytes(subject)
    except (TypeError, ValueError):
        return None
    if id_text(tenant_id) != tenant or id_text(subject_id) != subject:
        return None
    return IdentityParts(tenant_id, subject_id, scope_kind, scope_key, fact_key)


def _text(part: object) -> str:
    if type(part) is not str:
        raise TypeError
    return part


def identity_of(identity: bytes) -> FactIdentity:
    """The five parts of a fact from ``FactEvent.identity``.

    Raises:
        Rejected: ``event_undecodable``.
    """
    try:
        tenant_id, subject_id, *named = orjson.loads(identity)
        scope_kind, scope_key, fact_key = map(_text, named)
        found = FactIdentity(UUID(tenant_id), UUID(subject_id), scope_kind, scope_key, fact_key)
        spelled = found.canonical()
    except (TypeError, ValueError, AttributeError):
        raise Rejected("event_undecodable", "identity is not a JSON array of the five parts") from None
    if spelled != identity:
        raise Rejected("event_undecodable", "identity is not in canonical form")
    return found
