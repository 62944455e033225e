"""Text memories as a projection keeps them: one by its id, those it is to be held against, and what was decided (ADR 35).

Ids are 16 raw bytes, instants microseconds since 1970, embeddings 384 float16 in little endian as ``Derived`` has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from struct import Struct
from typing import Any, Final, NamedTuple

import orjson
from psycopg import AsyncConnection
from psycopg.adapt import Dumper
from psycopg.pq import Format

from chronofact.contracts.derived import DIMENSIONS
from chronofact.postgres.errors import failures_named
from chronofact.postgres.memory_lines import high_first
from chronofact.postgres.raw_loaders import MicrosLoader, RawLoader
from chronofact.postgres.spelling import Instant, UuidArray, take_parameters
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


async def memory(
    connection: AsyncConnection[Any], projection: str, fact_id: bytes, version_id: bytes
) -> StoredMemory | None:
    """One memory; None where the projection has none of that id, or nothing derived from it."""
    lines = await _lines(connection, projection, "memory", {"fact_id": _Id(fact_id), "version_id": _Id(version_id)})
    for *told, extractor, frames, keys, embedder, embedding in lines:
        return StoredMemory._make((*told, extractor, orjson.loads(frames), keys, embedder, _little(embedding)))
    return None


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
    named = {
        "fact_no": fact_no,
        "before_seq": before_seq,
        "keys": list(lookup_keys),
        "embedding": None if embedding is None else Halves(embedding),
        "near": near,
        "nearest": nearest,
    }
    return [
        Candidate._make((*told, orjson.loads(frames), cosine, tuple(how), lifecycle, merged_into))
        for *told, frames, cosine, how, lifecycle, merged_into in await _lines(
            connection, projection, "candidates", named
        )
    ]


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


async def relations_of(
    connection: AsyncConnection[Any], projection: str, fact_no: int, version_ids: Sequence[bytes] | None = None
) -> list[Counting]:
    """What counts for each pair of a fact that has a declaration, or of the pairs of some memories."""
    named = {"fact_no": fact_no, "version_ids": None if version_ids is None else UuidArray.of(version_ids)}
    return [Counting(*line) for line in await _lines(connection, projection, "relations_of", named)]


async def checks_of(
    connection: AsyncConnection[Any], projection: str, fact_no: int, version_ids: Sequence[bytes]
) -> list[Check]:
    """The newest check of each of these memories that has one."""
    named = {"fact_no": fact_no, "version_ids": UuidArray.of(version_ids)}
    return [Check(*line) for line in await _lines(connection, projection, "checks_of", named)]


async def _lines(
    connection: AsyncConnection[Any], projection: str, name: str, named: Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """What a statement answers, however the connection reads its values elsewhere."""
    with failures_named():
        async with connection.cursor(binary=True) as cursor:
            take_parameters(cursor.adapters)
            cursor.adapters.register_dumper(Halves, _HalvesDumper)
            cursor.adapters.register_dumper(_Id, _IdDumper)
            cursor.adapters.register_loader("timestamptz", MicrosLoader)
            for plain in ("uuid", "json", "bytea"):
                cursor.adapters.register_loader(plain, RawLoader)
            await cursor.execute(_script(name).filled(connection, schema=projection), named)
            return await cursor.fetchall()


@cache
def _script(name: str) -> Script:
    return script("memories", name)


def _little(sent: bytes | None) -> bytes | None:
    """An embedding as Postgres sends it: two numbers of 16 bits, then the halves, high byte first."""
    return None if sent is None else high_first(sent[4:])


class _HalvesDumper(Dumper):
    """What the statement casts to ``halfvec``, as that type is sent."""

    format = Format.BINARY

    def dump(self, obj: Halves) -> bytes:
        return _HEAD + high_first(bytes(obj))


class _Id(bytes):
    """One ``uuid``."""

    __slots__ = ()


class _IdDumper(Dumper):
    format = Format.BINARY
    oid = 2950

    def dump(self, obj: _Id) -> bytes:
        return bytes(obj)
