"""What a projection keeps of the log, read in one snapshot in the order of the log (ADR 34)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from heapq import merge
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

import orjson
from psycopg import Connection

from chronofact.contracts.derived import Derived, encode
from chronofact.contracts.payload import id_text
from chronofact.contracts.position import Position
from chronofact.contracts.refilling import Gap, KeptEvent, KeptMessage, PartKept, Source
from chronofact.domain.canonical import canonical_text
from chronofact.postgres.errors import failures_named
from chronofact.postgres.holding import snapshot
from chronofact.postgres.memory_lines import high_first
from chronofact.postgres.projections import PARTITION_SHIFT
from chronofact.postgres.raw_loaders import MicrosLoader, RawLoader
from chronofact.postgres.template import script
from chronofact.runtime.failures import Unfit

FETCHED: Final = 5_000
IDENTITIES_KEPT: Final = 50_000
_HALVES_AT: Final = 4
"""Where the numbers begin of a vector as Postgres sends it."""
SETTINGS: Final[dict[str, str | int]] = {
    "client_connection_check_interval": 2_000,
    "jit": "off",
    "work_mem": "64MB",
}


class RefillSource:
    """One projection as it is in one snapshot."""

    def __init__(self, connection: Connection[Any], projection: str) -> None:
        self._connection = connection
        self._projection = projection
        self.found = self._look()

    def gaps(self) -> tuple[int, list[Gap]]:
        """How many facts lack events or have them in another order than the log, and the first of them."""
        found = self._lines("gaps")
        return (found[0][2] if found else 0), [Gap(fact_no, fact_id) for fact_no, fact_id, _ in found]

    def kept(self, partition: int) -> Iterator[KeptEvent | KeptMessage]:
        """All of a partition in the order of the log.

        Raises:
            Unfit: ``refill_source_damaged``: two things lie at one offset.
        """
        before = -1
        both: Iterator[KeptEvent | KeptMessage] = merge(
            self._events(partition), self._parked(partition), key=attrgetter("offset")
        )
        for one in both:
            if one.offset <= before:
                raise Unfit(
                    "refill_source_damaged",
                    f"{self._projection} has two things at offset {one.offset} of partition {partition}",
                    remedy="refill from another projection of the topic, or restore the database",
                )
            before = one.offset
            yield one

    def _look(self) -> Source:
        found = self._lines("standing")
        if not found or not found[0][1]:
            raise Unfit(
                "projection_missing",
                f"there is no projection {self._projection} with its tables",
                remedy="name one that `chronofact rebuild list` or `chronofact routes` tells",
            )
        ((state, leaves, topic_ids, partitions, next_offsets),) = found
        if len(set(topic_ids)) != 1:
            what = "of no topic: nothing was ever applied to it" if not topic_ids else "of more than one topic"
            raise Unfit("refill_source_unfit", f"{self._projection} is {what}", remedy="name another projection")
        topic_id: UUID = topic_ids[0]
        named = {"projection": self._projection, "topic_id": topic_id}
        reached = dict(zip(partitions, next_offsets, strict=True))
        return Source(
            self._projection,
            state,
            leaves,
            Position(topic_id.bytes, reached),
            Position(topic_id.bytes, {**reached, **dict(self._lines("known_ends", named))}),
            dict(self._lines("ahead", named)),
            {line[0]: PartKept(*line[1:]) for line in self._lines("counts", named)},
        )

    def _events(self, partition: int) -> Iterator[KeptEvent]:
        base = partition << PARTITION_SHIFT
        named = {"first": base, "last": base + (1 << PARTITION_SHIFT) - 1}
        for line in self._streamed("events", f"events_{partition}", named):
            offset, _, event_id, kind, recorded_at, payload, payload_hash, fact_id, *parts, label, derived = line
            told = None if label is None else label.decode()
            yield KeptEvent(
                offset,
                fact_id,
                _identity(*parts),
                told,
                event_id,
                kind.decode(),
                recorded_at,
                payload,
                bytes(payload_hash),
                None if derived is None else _derived(*derived),
            )

    def _parked(self, partition: int) -> Iterator[KeptMessage]:
        named = {"projection": self._projection, "topic_id": UUID(bytes=self.found.reached.topic_id)}
        for offset, key, value, appended_at in self._streamed(
            "parked", f"parked_{partition}", {**named, "partition": partition}
        ):
            yield KeptMessage(offset, key, value, appended_at)

    def _streamed(self, name: str, cursor_name: str, named: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
        statement = script("refill", name).filled(self._connection, schema=self._projection)
        with failures_named(), self._connection.cursor(cursor_name) as cursor:
            cursor.itersize = FETCHED
            cursor.adapters.register_loader("timestamptz", MicrosLoader)
            for plain in ("uuid", "text", "bytea"):
                cursor.adapters.register_loader(plain, RawLoader)
            cursor.execute(statement, named, binary=True)
            yield from cursor

    def _lines(self, name: str, named: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        with failures_named():
            statement = script("refill", name).filled(self._connection, schema=self._projection)
            return self._connection.execute(statement, named or {"projection": self._projection}).fetchall()


@lru_cache(IDENTITIES_KEPT)
def _identity(tenant_id: bytes, subject_id: bytes, scope_kind: bytes, scope_key: bytes, fact_key: bytes) -> bytes:
    """The canonical form of a fact's five parts."""
    named = ",".join(canonical_text(part.decode()) for part in (scope_kind, scope_key, fact_key))
    return f'["{id_text(tenant_id)}","{id_text(subject_id)}",{named}]'.encode()


def _derived(extractor: bytes, frames: bytes, keys: bytes, embedder: bytes | None, embedding: bytes | None) -> bytes:
    """As the event carried it: its canonical form."""
    return encode(
        Derived(
            extractor.decode(),
            orjson.loads(frames),
            orjson.loads(keys),
            None if embedder is None else embedder.decode(),
            None if embedding is None else high_first(embedding[_HALVES_AT:]),
        )
    )


@contextmanager
def refill_source(conninfo: str, projection: str) -> Iterator[RefillSource]:
    """The projection as it is now, whatever goes on meanwhile.

    Raises:
        Transient: Postgres is away.
        Unfit: ``projection_missing``, ``refill_source_unfit``.
    """
    with snapshot(conninfo, "refill", **SETTINGS) as connection:
        yield RefillSource(connection, projection)
