"""Binary COPY lines from the projector's plain values: no datetime, UUID or JSON object is ever built.

Instants are microseconds since 1970, ids 16 raw bytes, hashes 32; each ``*_line`` takes its table's columns in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from struct import Struct
from typing import Any, Final

from psycopg import Connection, sql

from chronofact.postgres.errors import failures_named

HEADER: Final = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
TRAILER: Final = b"\xff\xff"
BLOCK_BYTES: Final = 128 * 1024

_EPOCH: Final = 946_684_800_000_000  # 2000-01-01 in microseconds since 1970
_NULL: Final = b"\xff\xff\xff\xff"
_UUID_OID: Final = 2950
_INT4_OID: Final = 23

_size = Struct("!i").pack
_int2 = Struct("!ih").pack
_int4 = Struct("!ii").pack
_int8 = Struct("!iq").pack
_float8 = Struct("!id").pack
_array = Struct("!iiiiii").pack  # bytes, dimensions, has nulls, element type, length, lower bound
_UUID: Final = _size(16)
_HASH: Final = _size(32)
_EMPTY_UUIDS: Final = Struct("!iiii").pack(12, 0, 0, _UUID_OID)
_ONE_UUID: Final = _array(40, 1, 0, _UUID_OID, 1, 1) + _UUID
_WORDS_KEPT: Final = 256
_words: Final[dict[str, bytes]] = {}
"""Texts of a closed set, as spelled: kinds of events, lifecycles."""
_SIZES: Final = [_size(size) for size in range(2_048)]
_NO_INT4S: Final = _array(20, 1, 0, _INT4_OID, 0, 1)
_REASONS: Final = 8
_ANSWERS: Final = [
    _int2(2, kind) + (_int2(2, reason) if reason else _NULL) for kind in range(4) for reason in range(_REASONS)
]
"""Kind and reason of a stretch, by both."""
_INT4S: Final = [_int4(4, number) for number in range(64)]
_ALONE: Final = [_array(28, 1, 0, _INT4_OID, 1, 1) + _int4(4, no) + _int4(4, no) for no in range(64)]
"""One version, which answers too."""

_fact_no_id = Struct("!hiqiii").pack
_two = Struct("!iqiq").pack
_fact_seq_event = Struct("!hiqiqi16siq").pack
_fact_no_seq = Struct("!hiqiiiq").pack
_fact_event_seq = Struct("!hiqi16siq").pack
_pair = Struct("!i16si16s").pack
_place = Struct("!i32sihiq").pack
_timeline = Struct("!hiqiiiqiq").pack


def event_line(
    fact_no: int,
    event_seq: int,
    event_id: bytes,
    recorded_at: int,
    event_type: str,
    version_ids: Sequence[bytes],
    canonical_payload: bytes,
    payload_hash: bytes,
    kafka_partition: int,
    kafka_offset: int,
) -> bytes:
    """A line of ``event``."""
    return b"".join(
        (
            _fact_seq_event(10, 8, fact_no, 8, event_seq, 16, event_id, 8, recorded_at - _EPOCH),
            _word(event_type),
            _uuids(version_ids),
            _sized(len(canonical_payload)),
            canonical_payload,
            _place(32, payload_hash, 2, kafka_partition, 8, kafka_offset),
        )
    )


def version_line(
    fact_no: int,
    version_no: int,
    version_id: bytes,
    value_json: bytes,
    value_hash: bytes,
    valid_from: int | None,
    valid_to: int | None,
    recorded_at: int,
    event_seq: int,
    source_id: str,
    source_hash: bytes,
    confidence: float | None,
    lifecycle: str,
    supersedes_id: bytes | None,
    superseded_by_id: bytes | None,
    merged_into_id: bytes | None,
) -> bytes:
    """A line of ``version``."""
    source = source_id.encode()
    return b"".join(
        (
            _fact_no_id(16, 8, fact_no, 4, version_no, 16),
            version_id,
            _sized(len(value_json)),
            value_json,
            _HASH,
            value_hash,
            _bound(valid_from),
            _bound(valid_to),
            _two(8, recorded_at - _EPOCH, 8, event_seq),
            _sized(len(source)),
            source,
            _HASH,
            source_hash,
            _NULL if confidence is None else _float8(8, confidence),
            _word(lifecycle),
            _id(supersedes_id),
            _id(superseded_by_id),
            _id(merged_into_id),
        )
    )


def version_label_line(
    fact_no: int,
    version_no: int,
    event_seq: int,
    lifecycle: str,
    supersedes_id: bytes | None,
    superseded_by_id: bytes | None,
    merged_into_id: bytes | None,
    confidence: float | None,
) -> bytes:
    """A line of ``version_label``."""
    return b"".join(
        (
            _fact_no_seq(8, 8, fact_no, 4, version_no, 8, event_seq),
            _word(lifecycle),
            _id(supersedes_id),
            _id(superseded_by_id),
            _id(merged_into_id),
            _NULL if confidence is None else _float8(8, confidence),
        )
    )


def edge_line(
    fact_no: int,
    event_id: bytes,
    ordinal: int,
    event_seq: int,
    new_version_id: bytes,
    old_version_id: bytes,
    effective_at: int | None,
    mode: str | None,
) -> bytes:
    """A line of ``edge``."""
    return b"".join(
        (
            _fact_event_seq(8, 8, fact_no, 16, event_id, 8, 0)[:-12],
            _int2(2, ordinal),
            _int8(8, event_seq),
            _pair(16, new_version_id, 16, old_version_id),
            _bound(effective_at),
            _text(mode),
        )
    )


def ending_line(fact_no: int, event_id: bytes, event_seq: int, version_id: bytes, effective_at: int) -> bytes:
    """A line of ``ending``."""
    return b"".join(
        (
            _fact_event_seq(5, 8, fact_no, 16, event_id, 8, event_seq),
            _UUID,
            version_id,
            _int8(8, effective_at - _EPOCH),
        )
    )


def decision_line(
    fact_no: int,
    event_id: bytes,
    event_seq: int,
    left_version_id: bytes,
    right_version_id: bytes,
    keep: bytes | None,
    decided_at: int,
    decided_by: str | None,
    reason: str | None,
) -> bytes:
    """A line of ``decision``."""
    return b"".join(
        (
            _fact_event_seq(9, 8, fact_no, 16, event_id, 8, event_seq),
            _pair(16, left_version_id, 16, right_version_id),
            _id(keep),
            _int8(8, decided_at - _EPOCH),
            _text(decided_by),
            _text(reason),
        )
    )


def relation_line(
    fact_no: int,
    event_id: bytes,
    event_seq: int,
    left_version_id: bytes,
    right_version_id: bytes,
    relation: str,
    newer_version_id: bytes | None,
    decided_at: int,
    decided_by: str,
    reason: str | None,
    llm_call_made: bool,
    model: str | None,
) -> bytes:
    """A line of ``relation``."""
    return b"".join(
        (
            _fact_event_seq(12, 8, fact_no, 16, event_id, 8, event_seq),
            _pair(16, left_version_id, 16, right_version_id),
            _text(relation),
            _id(newer_version_id),
            _int8(8, decided_at - _EPOCH),
            _text(decided_by),
            _text(reason),
            b"\x00\x00\x00\x01" + bytes((llm_call_made,)),
            _text(model),
        )
    )


def conflict_line(
    fact_no: int, left_version_id: bytes, right_version_id: bytes, relation: str, event_seq: int, recorded_at: int
) -> bytes:
    """A line of ``conflict``; the pair is sorted."""
    return b"".join(
        (
            Struct("!hiq").pack(6, 8, fact_no),
            _pair(16, left_version_id, 16, right_version_id),
            _text(relation),
            _int8(8, event_seq),
            _int8(8, recorded_at - _EPOCH),
        )
    )


def timeline_line(
    fact_no: int,
    lane: int,
    known_from: int,
    event_seq: int,
    valid_from: int | None,
    valid_to: int | None,
    kind: int,
    reason: int | None,
    answer_key: bytes | None,
    versions: Sequence[int] | None,
    winner: int | None,
) -> bytes:
    """A line of ``timeline``."""
    return b"".join(
        (
            _timeline(11, 8, fact_no, 4, lane, 8, known_from - _EPOCH, 8, event_seq),
            _bound(valid_from),
            _bound(valid_to),
            _answer(kind, reason),
            _NULL if answer_key is None else _UUID,
            answer_key or b"",
            _behind(versions, winner),
        )
    )


def blocks(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The stream of one COPY in pieces that are worth a write each."""
    pending: list[bytes] = [HEADER]
    size = 0
    for line in lines:
        pending.append(line)
        size += len(line)
        if size >= BLOCK_BYTES:
            yield b"".join(pending)
            pending.clear()
            size = 0
    pending.append(TRAILER)
    yield b"".join(pending)


def copy_statement(schema: str, table: str) -> sql.Composed:
    """``COPY schema.table FROM STDIN``, every column, binary."""
    return sql.SQL("copy {}.{} from stdin (format binary)").format(sql.Identifier(schema), sql.Identifier(table))


def copy_lines(connection: Connection[Any], schema: str, table: str, lines: Iterable[bytes]) -> None:
    """Adds the lines to a projection's table, within the caller's transaction.

    Raises:
        ConstraintBroken: some line breaks a constraint; nothing of the transaction stays.
        Transient: the database is away or busy.
    """
    with failures_named(), connection.cursor() as cursor, cursor.copy(copy_statement(schema, table)) as copy:
        for block in blocks(lines):
            copy.write(block)


def _bound(instant: int | None) -> bytes:
    return _NULL if instant is None else _int8(8, instant - _EPOCH)


def _sized(size: int) -> bytes:
    return _SIZES[size] if size < len(_SIZES) else _size(size)


def _word(value: str) -> bytes:
    """A text that is one of few."""
    found = _words.get(value)
    if found is None:
        found = _text(value)
        if len(_words) < _WORDS_KEPT:
            _words[value] = found
    return found


def _answer(kind: int, reason: int | None) -> bytes:
    if reason is None:
        return _ANSWERS[kind * _REASONS] if 0 <= kind < 4 else _int2(2, kind) + _NULL
    if 0 <= kind < 4 and 0 < reason < _REASONS:
        return _ANSWERS[kind * _REASONS + reason]
    return _int2(2, kind) + _int2(2, reason)


def _behind(versions: Sequence[int] | None, winner: int | None) -> bytes:
    """Who is behind an answer, and which of them answers."""
    if versions is None:
        return _NULL + (_NULL if winner is None else _int4(4, winner))
    if winner is not None and len(versions) == 1 and versions[0] == winner and 0 <= winner < len(_ALONE):
        return _ALONE[winner]
    return _int4s(versions) + (_NULL if winner is None else _int4(4, winner))


def _id(value: bytes | None) -> bytes:
    return _NULL if value is None else _UUID + value


def _text(value: str | None) -> bytes:
    if value is None:
        return _NULL
    data = value.encode()
    return _size(len(data)) + data


def _uuids(ids: Sequence[bytes]) -> bytes:
    if not ids:
        return _EMPTY_UUIDS
    count = len(ids)
    if count == 1:
        return _ONE_UUID + ids[0]
    head = _array(20 + 20 * count, 1, 0, _UUID_OID, count, 1)
    return head + b"".join([_UUID + one for one in ids])


def _int4s(numbers: Sequence[int]) -> bytes:
    if not numbers:
        return _NO_INT4S
    count = len(numbers)
    head = _array(20 + 8 * count, 1, 0, _INT4_OID, count, 1)
    known = len(_INT4S)
    return head + b"".join([_INT4S[number] if 0 <= number < known else _int4(4, number) for number in numbers])
