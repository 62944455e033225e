"""Lines of text memories as COPY takes them, each with its table's columns in order."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from struct import Struct
from typing import Final

from chronofact.contracts.derived import DIMENSIONS, EMBEDDING_BYTES

_NULL: Final = b"\xff\xff\xff\xff"
_TEXT_OID: Final = 25

_size = Struct("!i").pack
_start = Struct("!hiqiiiq").pack
_checked = Struct("!hiqi16siqi16siqiqiq").pack
_array = Struct("!iiiiii").pack  # bytes, dimensions, has nulls, element type, length, lower bound
_EMPTY_ARRAY: Final = Struct("!iiii").pack(12, 0, 0, _TEXT_OID)
_HALVES: Final = Struct("!ihh").pack(4 + EMBEDDING_BYTES, DIMENSIONS, 0)


def memory_line(
    fact_no: int,
    version_no: int,
    event_seq: int,
    text: str,
    extractor: str,
    frames: bytes,
    keys: Sequence[str],
    embedder: str | None,
    embedding: bytes | None,
) -> bytes:
    """A line of ``memory``; its last column makes itself."""
    return b"".join(
        (
            _start(9, 8, fact_no, 4, version_no, 8, event_seq),
            _text(text),
            _text(extractor),
            _size(len(frames)),
            frames,
            _texts(keys),
            _text(embedder),
            _NULL if embedding is None else _HALVES + high_first(embedding),
        )
    )


def checked_line(
    fact_no: int,
    event_id: bytes,
    event_seq: int,
    version_id: bytes,
    pairs: int,
    decided: int,
    pending: int,
    reason: str | None,
    llm_call_made: bool,
) -> bytes:
    """A line of ``checked``."""
    start = _checked(9, 8, fact_no, 16, event_id, 8, event_seq, 16, version_id, 8, pairs, 8, decided, 8, pending)
    return b"".join((start, _text(reason), b"\x00\x00\x00\x01", bytes((llm_call_made,))))


def high_first(halves: bytes) -> bytes:
    """The same numbers of 16 bits with their bytes the other way round."""
    swapped = array("H", halves)
    swapped.byteswap()
    return swapped.tobytes()


def _text(value: str | None) -> bytes:
    if value is None:
        return _NULL
    data = value.encode()
    return _size(len(data)) + data


def _texts(values: Sequence[str]) -> bytes:
    if not values:
        return _EMPTY_ARRAY
    spelled = b"".join([_text(one) for one in values])
    return _array(20 + len(spelled), 1, 0, _TEXT_OID, len(values), 1) + spelled
