"""Lines of a projection that only text memories have: what was derived from each, and what came of its check (ADR 35)."""

from __future__ import annotations

from typing import NamedTuple

from chronofact.contracts.derived import decode
from chronofact.domain.canonical import canonical
from chronofact.domain.errors import Rejected


class MemoryLine(NamedTuple):
    """A text and what was derived from it; ``frames`` is canonical JSON, ``embedding`` 384 float16 in little endian."""

    fact_no: int
    version_no: int
    event_seq: int
    text: str
    extractor: str
    frames: bytes
    keys: tuple[str, ...]
    embedder: str | None
    embedding: bytes | None


class CheckedLine(NamedTuple):
    """That a memory was held against the others of its fact."""

    fact_no: int
    event_id: bytes
    event_seq: int
    version_id: bytes
    pairs: int
    decided: int
    pending: int
    reason: str | None
    llm_call_made: bool


def memory_line(fact_no: int, version_no: int, event_seq: int, text: str, derived: bytes) -> MemoryLine | None:
    """None where ``derived`` is no ``Derived``, or nothing that a projection can hold: the memory stays, without it."""
    found = decode(derived)
    if found is None:
        return None
    try:
        frames = canonical(found.frames)  # type: ignore[arg-type]
    except Rejected:
        return None
    return MemoryLine(
        fact_no,
        version_no,
        event_seq,
        text,
        found.extractor,
        frames,
        tuple(found.keys),
        found.embedder,
        found.embedding,
    )
