"""The versions of a source, as the projection that the tenant reads has them."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any, Final, NamedTuple, Self
from uuid import UUID

from psycopg import sql

from chronofact.contracts.codec import FactEvent, decode_event
from chronofact.contracts.position import Position
from chronofact.domain.errors import Rejected
from chronofact.postgres.errors import failures_named, not_routed
from chronofact.postgres.projections import leaves_of
from chronofact.postgres.session import connect
from chronofact.postgres.template import script

PAGE_VERSIONS: Final = 20_000
PARKED_MAX: Final = 10_000
"""Parked messages that are looked at."""
_PARTITION_BITS: Final = 40


class SourceWanted(NamedTuple):
    """Whose versions, by which evidence."""

    tenant_id: UUID
    source_id: str
    source_hash: bytes | None = None
    subject_id: UUID | None = None


class Sourced(NamedTuple):
    """How much of it there is; facts of which messages are parked are ``facts_held``."""

    versions: int = 0
    facts: int = 0
    facts_held: int = 0
    revoked: int = 0

    def plus(self, other: Sourced) -> Sourced:
        """Both; no fact lies in two leaves."""
        return Sourced(*map(sum, zip(self, other, strict=True)))


class SourcedVersion(NamedTuple):
    """One version that is not revoked, with its fact."""

    fact_no: int
    version_no: int
    version_id: UUID
    fact_id: UUID
    subject_id: UUID
    scope_kind: str
    scope_key: str
    fact_key: str


class ParkedMessage(NamedTuple):
    """A parked message that can be read."""

    partition: int
    offset: int
    event: FactEvent


class SourceStore:
    """One tenant's projection, over one connection.

    Raises:
        Transient: on opening, Postgres is away.
        Unfit: it refuses, is not migrated, or no projection serves the tenant.
    """

    def __init__(self, conninfo: str, tenant_id: UUID) -> None:
        self._connection = connect(conninfo, "sources", autocommit=True, default_transaction_read_only="on", jit="off")
        found = self._rows("reader", "route", {"tenant_id": tenant_id})
        if not found:
            raise not_routed()
        self.projection = str(found[0][0])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def leaves(self) -> range:
        """The partitions of the projection's big tables."""
        return range(leaves_of(self._connection, self.projection))

    def count(self, wanted: SourceWanted, partition: int) -> Sourced:
        """How much one leaf holds; reads all of it."""
        return Sourced._make(self._rows("sources", "count", _named(wanted, partition))[0])

    def versions(self, wanted: SourceWanted, partition: int) -> Iterator[list[SourcedVersion]]:
        """What one leaf holds that is not revoked, by page; what was said since may come, too."""
        after = (0, 0)
        while True:
            named = {**_named(wanted, partition), "after_fact_no": after[0], "after_version_no": after[1]}
            page = [SourcedVersion._make(one) for one in self._rows("sources", "versions", named)]
            if page:
                yield page
            if len(page) < PAGE_VERSIONS:
                return
            after = page[-1][:2]

    def parked(self) -> tuple[list[ParkedMessage], bool]:
        """The projection's parked messages that are events, and whether there are more than were looked at."""
        found = []
        rows = self._rows("sources", "parked", {"limit": PARKED_MAX + 1})
        for partition, offset, _, message in rows[:PARKED_MAX]:
            try:
                found.append(ParkedMessage(partition, offset, decode_event(message)))
            except Rejected:
                continue
        return found, len(rows) > PARKED_MAX

    def reached(self) -> Position | None:
        """How far the projection has come; None before a projector has begun with it."""
        rows = self._rows("sources", "reached", {})
        return Position(rows[0][0].bytes, {one: offset for _, one, offset in rows}) if rows else None

    def _rows(self, folder: str, name: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
        projection = getattr(self, "projection", "")
        statement = script(folder, name).filled(self._connection, schema=projection, projection=sql.Literal(projection))
        with failures_named():
            return self._connection.execute(statement, parameters).fetchall()


def _named(wanted: SourceWanted, partition: int) -> dict[str, Any]:
    return {
        **wanted._asdict(),
        "first": partition << _PARTITION_BITS,
        "last": ((partition + 1) << _PARTITION_BITS) - 1,
        "limit": PAGE_VERSIONS,
    }
