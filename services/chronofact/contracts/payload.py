"""The canonical payload of each kind of event, to bytes and back; event ids are hashes of these bytes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, assert_never

import orjson

from chronofact.domain.canonical import SAFE_INTEGER, canonical_text, digest
from chronofact.domain.errors import Rejected
from chronofact.domain.events import (
    Cardinality,
    ConflictResolved,
    Decider,
    EventDropped,
    FactActivated,
    FactAsserted,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    Happening,
    Lifecycle,
    Mode,
    RelationDeclared,
    RelationsChecked,
    Succession,
    Supersession,
    Verdict,
)
from chronofact.domain.interval import Interval, format_instant, instant_of

_VALUE_KEY: Final = b',"value":'
_VERSION_KEY: Final = b',"version_id":"'
_TAIL_BYTES: Final = len(_VERSION_KEY) + 36 + 2
_ID_CHARS: Final = 36
_HASH_BYTES: Final = 32
_INSTANTS_KEPT: Final = 4_096
_moments: Final[dict[str, int]] = {}
_loads: Final = orjson.loads
_from_hex: Final = bytes.fromhex


def id_text(raw: bytes) -> str:
    """The UUID text of 16 raw bytes."""
    h = raw.hex()
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


def id_bytes(text: str) -> bytes:
    """The 16 raw bytes of a UUID text of 36 characters, in any case.

    Raises:
        ValueError: it is none.
    """
    digits = text.replace("-", "")
    if len(text) != _ID_CHARS or len(digits) != 32 or not digits.isalnum():
        raise ValueError("not a UUID of 36 characters")
    if not (text[8] == "-" and text[13] == "-" and text[18] == "-" and text[23] == "-"):
        raise ValueError("not a UUID of 36 characters")
    return _from_hex(digits)


# -- to bytes --------------------------------------------------------------------------------------


def payload_of(what: Happening) -> bytes:
    """The canonical JSON of an event's content: keys sorted, all present, null when absent."""
    return _text_of(what).encode()


def _text_of(what: Happening) -> str:
    match what:
        case FactAsserted():
            return _asserted_text(what)
        case FactActivated():
            return f'{{"reason":{_text(what.reason)},"version_id":{_id(what.version_id)}}}'
        case FactSuperseded():
            return (
                f'{{"effective_at":{_instant(what.effective_at)},"mode":{_text(what.mode)},'
                f'"new_version_id":{_id(what.new_version_id)},"old_version_id":{_id(what.old_version_id)},'
                f'"reason":{_text(what.reason)}}}'
            )
        case FactEnded():
            return (
                f'{{"effective_at":{_instant(what.effective_at)},"reason":{_text(what.reason)},'
                f'"version_id":{_id(what.version_id)}}}'
            )
        case FactRevoked():
            return (
                f'{{"event_id":{_id(what.event_id)},"reason":{_text(what.reason)},"version_id":{_id(what.version_id)}}}'
            )
        case ConflictResolved():
            return _resolved_text(what)
        case RelationDeclared():
            return _relation_text(what)
        case RelationsChecked():
            return (
                f'{{"decided":{what.decided:d},"llm_call_made":{_bool(what.llm_call_made)},"pairs":{what.pairs:d},'
                f'"pending":{what.pending:d},"reason":{_text(what.reason)},"version_id":{_id(what.version_id)}}}'
            )
        case EventDropped():
            return (
                f'{{"dropped_by":{_text(what.dropped_by)},"offset":{what.offset:d},"partition":{what.partition:d},'
                f'"reason":{_text(what.reason)},"topic_id":{_text(what.topic_id)}}}'
            )
        case _:
            assert_never(what)


def _asserted_text(what: FactAsserted) -> str:
    confidence = "null" if what.confidence is None else canonical_text(what.confidence)
    return (
        f'{{"cardinality":"{what.cardinality.value}","confidence":{confidence},"lifecycle":"{what.lifecycle.value}",'
        f'"source_hash":"{what.source_hash.hex()}","source_id":{_text(what.source_id)},'
        f'"succession":"{what.succession.value}","supersedes":{_supersedes_text(what.supersedes)},'
        f'"valid_from":{_instant(what.valid.start)},"valid_from_known":{_bool(what.valid_from_known)},'
        f'"valid_to":{_instant(what.valid.end)},"value":{what.value.decode()},"version_id":{_id(what.version_id)}}}'
    )


def _supersedes_text(supersedes: tuple[Supersession, ...]) -> str:
    if not supersedes:
        return "[]"
    spelled = {
        f'{{"effective_at":{_instant(one.effective_at)},"mode":{_text(one.mode)},"version_id":{_id(one.version_id)}}}'
        for one in supersedes
    }
    return f"[{','.join(sorted(spelled))}]"


def _resolved_text(what: ConflictResolved) -> str:
    left, right = sorted((what.left_version_id, what.right_version_id))
    return (
        f'{{"decided_at":{_instant(what.decided_at)},"decided_by":{_text(what.decided_by)},"keep":{_id(what.keep)},'
        f'"left_version_id":{_id(left)},"reason":{_text(what.reason)},"right_version_id":{_id(right)}}}'
    )


def _relation_text(what: RelationDeclared) -> str:
    left, right = sorted((what.left_version_id, what.right_version_id))
    return (
        f'{{"decided_at":{_instant(what.decided_at)},"decided_by":{_text(what.decided_by)},'
        f'"left_version_id":{_id(left)},"llm_call_made":{_bool(what.llm_call_made)},"model":{_text(what.model)},'
        f'"newer_version_id":{_id(what.newer_version_id)},"reason":{_text(what.reason)},'
        f'"relation":{_text(what.relation)},"right_version_id":{_id(right)}}}'
    )


def _text(text: str | None) -> str:
    return "null" if text is None else canonical_text(str(text))


def _id(raw: bytes | None) -> str:
    return "null" if raw is None else f'"{id_text(raw)}"'


@lru_cache(_INSTANTS_KEPT)
def _instant(instant: int | None) -> str:
    return "null" if instant is None else f'"{format_instant(instant)}"'


def _bool(statement: bool) -> str:
    return "true" if statement else "false"


# -- and back --------------------------------------------------------------------------------------


def happening_of(kind: str, payload: bytes, *, value_hash: bytes | None = None) -> Happening:
    """What an event of the log says; ``value_hash`` (from the event) spares hashing the value again.

    Raises:
        Rejected: ``event_undecodable``: no writer of ours can have produced this.
    """
    reader = _READERS.get(kind)
    if reader is None:
        raise Rejected("event_undecodable", "no event of this kind is known", field="kind")
    try:
        if reader is _asserted_of:
            return _asserted_of(payload, value_hash)
        happening: Happening = reader(_fields_of(payload, _FIELDS[kind]))
    except Rejected as error:
        raise Rejected("event_undecodable", error.message, field=error.field) from None
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Rejected("event_undecodable", f"payload is not that of a {kind}") from None
    return happening


def _fields_of(payload: bytes, count: int) -> dict[str, Any]:
    fields: dict[str, Any] = _loads(payload)
    if len(fields) != count:
        raise ValueError("unexpected fields")
    return fields


def _asserted_of(payload: bytes, value_hash: bytes | None) -> FactAsserted:
    fields = _fields_of(payload, _FIELDS["FactAsserted"])
    # strings before this key escape their quotes, so its first occurrence is the key itself
    start = payload.index(_VALUE_KEY) + len(_VALUE_KEY)
    end = len(payload) - _TAIL_BYTES
    if payload[end : end + len(_VERSION_KEY)] != _VERSION_KEY or end <= start:
        raise ValueError("not the canonical form")
    value = payload[start:end]
    confidence = fields["confidence"]
    if not (confidence is None or (type(confidence) in (float, int) and 0 <= confidence <= 1)):
        raise ValueError("confidence out of range")
    supersedes = fields["supersedes"]
    return FactAsserted(
        id_bytes(fields["version_id"]),
        value,
        digest(value) if value_hash is None else value_hash,
        Interval(_bound(fields["valid_from"]), _bound(fields["valid_to"])),
        _string(fields["source_id"]),
        _hash(fields["source_hash"]),
        _LIFECYCLES[fields["lifecycle"]],
        _CARDINALITIES[fields["cardinality"]],
        _SUCCESSIONS[fields["succession"]],
        None if confidence is None else float(confidence),
        tuple(map(_supersession, supersedes)) if supersedes else (),
        _flag(fields["valid_from_known"]),
    )


def _supersession(fields: dict[str, Any]) -> Supersession:
    if len(fields) != 3:
        raise ValueError("unexpected fields")
    return Supersession(id_bytes(fields["version_id"]), _bound(fields["effective_at"]), _MODES[fields["mode"]])


def _activated_of(fields: dict[str, Any]) -> FactActivated:
    return FactActivated(id_bytes(fields["version_id"]), _optional(fields["reason"]))


def _superseded_of(fields: dict[str, Any]) -> FactSuperseded:
    return FactSuperseded(
        id_bytes(fields["new_version_id"]),
        id_bytes(fields["old_version_id"]),
        _bound(fields["effective_at"]),
        _MODES[fields["mode"]],
        _optional(fields["reason"]),
    )


def _ended_of(fields: dict[str, Any]) -> FactEnded:
    return FactEnded(id_bytes(fields["version_id"]), _moment(fields["effective_at"]), _optional(fields["reason"]))


def _revoked_of(fields: dict[str, Any]) -> FactRevoked:
    version_id, event_id = _optional_id(fields["version_id"]), _optional_id(fields["event_id"])
    if (version_id is None) == (event_id is None):
        raise ValueError("exactly one is named")
    return FactRevoked(version_id, event_id, _optional(fields["reason"]))


def _resolved_of(fields: dict[str, Any]) -> ConflictResolved:
    return ConflictResolved(
        id_bytes(fields["left_version_id"]),
        id_bytes(fields["right_version_id"]),
        _optional_id(fields["keep"]),
        _moment(fields["decided_at"]),
        _optional(fields["decided_by"]),
        _optional(fields["reason"]),
    )


def _relation_of(fields: dict[str, Any]) -> RelationDeclared:
    return RelationDeclared(
        id_bytes(fields["left_version_id"]),
        id_bytes(fields["right_version_id"]),
        Verdict(fields["relation"]),
        _optional_id(fields["newer_version_id"]),
        _moment(fields["decided_at"]),
        Decider(fields["decided_by"]),
        _optional(fields["reason"]),
        _flag(fields["llm_call_made"]),
        _optional(fields["model"]),
    )


def _checked_of(fields: dict[str, Any]) -> RelationsChecked:
    return RelationsChecked(
        id_bytes(fields["version_id"]),
        _count(fields["pairs"]),
        _count(fields["decided"]),
        _count(fields["pending"]),
        _optional(fields["reason"]),
        _flag(fields["llm_call_made"]),
    )


def _dropped_of(fields: dict[str, Any]) -> EventDropped:
    return EventDropped(
        _string(fields["topic_id"]),
        _count(fields["partition"]),
        _count(fields["offset"]),
        _string(fields["dropped_by"]),
        _string(fields["reason"]),
    )


def _bound(text: str | None) -> int | None:
    return None if text is None else _moment(text)


def _moment(text: str) -> int:
    found = _moments.get(text)
    if found is None:
        found = _read_moment(text)
        if len(_moments) >= _INSTANTS_KEPT:
            _moments.clear()
        _moments[text] = found
    return found


def _read_moment(text: str) -> int:
    if len(text) not in (20, 27) or text[-1] != "Z" or text[10] != "T":
        raise ValueError("not an instant in canonical form")
    return instant_of(datetime.fromisoformat(text))


def _string(text: str) -> str:
    if type(text) is not str:
        raise ValueError("not a text")
    return text


def _optional(text: str | None) -> str | None:
    return None if text is None else _string(text)


def _optional_id(text: str | None) -> bytes | None:
    return None if text is None else id_bytes(text)


def _hash(text: str) -> bytes:
    found = _from_hex(text)
    if len(found) != _HASH_BYTES:
        raise ValueError("not a SHA-256")
    return found


def _flag(statement: Any) -> bool:
    if type(statement) is not bool:
        raise ValueError("not a boolean")
    return statement


def _count(number: Any) -> int:
    if type(number) is not int or not 0 <= number <= SAFE_INTEGER:
        raise ValueError("not a count")
    return number


_LIFECYCLES: Final = {one.value: one for one in (Lifecycle.PROPOSED, Lifecycle.ACTIVE)}
_CARDINALITIES: Final = {one.value: one for one in Cardinality}
_SUCCESSIONS: Final = {one.value: one for one in Succession}
_MODES: Final[dict[str | None, Mode | None]] = {None: None, **{one.value: one for one in Mode}}

_READERS: Final[dict[str, Callable[..., Any]]] = {
    "FactAsserted": _asserted_of,
    "FactActivated": _activated_of,
    "FactSuperseded": _superseded_of,
    "FactEnded": _ended_of,
    "FactRevoked": _revoked_of,
    "ConflictResolved": _resolved_of,
    "RelationDeclared": _relation_of,
    "RelationsChecked": _checked_of,
    "EventDropped": _dropped_of,
}
_FIELDS: Final = {
    "FactAsserted": 12,
    "FactActivated": 2,
    "FactSuperseded": 5,
    "FactEnded": 3,
    "FactRevoked": 3,
    "ConflictResolved": 6,
    "RelationDeclared": 9,
    "RelationsChecked": 6,
    "EventDropped": 5,
}
