"""Text memories as a projection keeps them: one by its id, those it is to be held against, and what was decided (ADR 35).

Ids are 16 raw bytes, instants microseconds since 1970, embeddings 384 float16 in little endian as ``Derived`` has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from struct import Struct
from typing import Any, Final, NamedTuple

import orjson
from psycopg import AsyncConnection, AsyncCursor, sql
from psycopg.adapt import Dumper
from psycopg.pq import Format

from chronofact.contracts.derived import DIMENSIONS
from chronofact.postgres.errors import failures_named
from chronofact.postgres.memory_lines import high_first
from chronofact.postgres.raw_loaders import MicrosLoader, RawLoader
from chronofact.postgres.spelling import Instant, Int8Array, take_parameters
from chronofact.postgres.template import Script, script

_HEAD: Final = Struct("!hh").pack(DIMENSIONS, 0)


class Candidate(NamedTuple):
    """An earlier memory that a new one is to be held against."""

    version_id: bytes
    event_seq: int
    text: str
    valid_from: int | None
    valid_to: int | None
    """The earlier of what was asserted and the first end that counts."""
    frames: list[dict[str, Any]]
    cosine: float | None
    """None where either has no embedding."""
    how: tuple[str, ...]
    """``keys``, ``cosine`` (nearest of all), ``cosine_of_standing`` (nearest of those that neither gave way nor were merged)."""
    lifecycle: str
    merged_into: bytes | None

    @property
    def valid_from_known(self) -> bool:
        """A text memory whose start is open does not say since when it holds."""
        return self.valid_from is not None


class StoredMemory(NamedTuple):
    """A memory with all that was derived from it."""

    fact_no: int
    version_id: bytes
    event_seq: int
    recorded_at: int
    text: str
    valid_from: int | None
    valid_to: int | None
    lifecycle: str
    extractor: str
    frames: list[dict[str, Any]]
    keys: list[str]
    embedder: str | None
    embedding: bytes | None

    @property
    def valid_from_known(self) -> bool:
        """As of a candidate."""
        return self.valid_from is not None


class Unchecked(NamedTuple):
    """A memory that nobody has looked at; ``place`` is where the next page goes on."""

    fact_id: bytes
    tenant_id: bytes
    version_id: bytes
    recorded_at: int
    place: tuple[int, int]


class Window(NamedTuple):
    """Offsets of a partition, the end not among them."""

    partition: int
    first: int
    end: int


class Counting(NamedTuple):
    """The declaration that counts for a pair (semantics §3); left is the lower id."""

    left: bytes
    right: bytes
    relation: str
    newer: bytes | None
    decided_at: int
    decided_by: str
    reason: str | None
    llm_call_made: bool
    model: str | None
    event_id: bytes
    event_seq: int


class Check(NamedTuple):
    """A memory's newest ``RelationsChecked``."""

    version_id: bytes
    event_id: bytes
    event_seq: int
    recorded_at: int
    pairs: int
    decided: int
    pending: int
    reason: str | None
    llm_call_made: bool


class Halves(bytes):
    """An embedding as a parameter."""

    __slots__ = ()


async def candidates(
    connection: AsyncConnection[Any],
    projection: str,
    fact_no: int,
    before_seq: int,
    lookup_keys: Sequence[str],
    embedding: bytes | None,
    *,
    near: float = 0.40,
    nearest: int = 20,
) -> list[Candidate]:
    """The fact's memories with a lower ``event_seq`` that share a key, and the nearest by cosine, in order of arrival.

    Whether one holds makes no difference, unless it was revoked: each pair is judged once, in whichever order it came.
    """
    named = around(fact_no, before_seq, lookup_keys, embedding, near=near, nearest=nearest)
    return [candidate_of(line) for line in await _lines(connection, projection, "candidates", named)]


def around(
    fact_no: int, before_seq: int, lookup_keys: Sequence[str], embedding: bytes | None, *, near: float, nearest: int
) -> dict[str, Any]:
    """What the statement of ``candidates`` takes."""
    return {
        "fact_no": fact_no,
        "before_seq": before_seq,
        "keys": list(lookup_keys),
        "embedding": None if embedding is None else Halves(embedding),
        "near": near,
        "nearest": nearest,
    }


def candidate_of(line: Sequence[Any]) -> Candidate:
    """One of what it answers."""
    *told, frames, cosine, how, lifecycle, merged_into = line
    return Candidate._make((*told, orjson.loads(frames), cosine, tuple(how), lifecycle, merged_into))


async def unchecked(
    connection: AsyncConnection[Any],
    projection: str,
    *,
    older_than: int,
    limit: int,
    after: tuple[int, int] = (0, 0),
) -> list[Unchecked]:
    """Memories recorded at or before an instant that have no ``RelationsChecked``, behind a place."""
    named = {
        "older_than": Instant(older_than),
        "memories_max": limit,
        "after_fact_no": after[0],
        "after_version_no": after[1],
    }
    return [
        Unchecked._make((*told, (fact_no, version_no)))
        for *told, fact_no, version_no in await _lines(connection, projection, "unchecked", named)
    ]


async def unchecked_within(
    connection: AsyncConnection[Any], projection: str, windows: Sequence[Window]
) -> list[Unchecked]:
    """Memories that came with an event of these windows and have no ``RelationsChecked``."""
    partitions, firsts, ends = (Int8Array.of(list(one)) for one in zip(*windows, strict=True))
    named = {"partitions": partitions, "firsts": firsts, "ends": ends}
    return [
        Unchecked._make((*told, (fact_no, version_no)))
        for *told, fact_no, version_no in await _lines(connection, projection, "unchecked_within", named)
    ]


async def _lines(
    connection: AsyncConnection[Any], projection: str, name: str, named: Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """What a statement answers, however the connection reads its values elsewhere."""
    with failures_named():
        async with speaking(connection) as cursor:
            await cursor.execute(statement(connection, name, projection), named)
            return await cursor.fetchall()


def speaking(connection: AsyncConnection[Any]) -> AsyncCursor[Any]:
    """A cursor that answers ids and texts as bytes and instants as microseconds."""
    cursor = connection.cursor(binary=True)
    adapters = cursor.adapters
    take_parameters(adapters)
    adapters.register_dumper(Halves, _HalvesDumper)
    adapters.register_loader("timestamptz", MicrosLoader)
    for plain in ("uuid", "json", "bytea"):
        adapters.register_loader(plain, RawLoader)
    return cursor


def statement(connection: AsyncConnection[Any], name: str, projection: str) -> sql.SQL:
    """One of ours, over a projection."""
    return _script(name).filled(connection, schema=projection)


@cache
def _script(name: str) -> Script:
    return script("memories", name)


def little(sent: bytes | None) -> bytes | None:
    """An embedding as Postgres sends it: two numbers of 16 bits, then the halves, high byte first."""
    return None if sent is None else high_first(sent[4:])


class _HalvesDumper(Dumper):
    """What the statement casts to ``halfvec``, as that type is sent."""

    format = Format.BINARY

    def dump(self, obj: Halves) -> bytes:
        return _HEAD + high_first(bytes(obj))
