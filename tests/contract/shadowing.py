"""Two projections of one topic over real Postgres, for tests that spoil one of them and compare."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql

from chronofact.contracts.shadow import Sample, Shadow, Swept
from chronofact.domain.identity import DEVELOPMENT_TENANT, FactIdentity, fact_id_of
from chronofact.kafka.partitioning import partition_of
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.postgres.projections import create_projection
from chronofact.postgres.session import connect
from chronofact.postgres.shadow_store import ShadowStore
from chronofact.reconciler.shadow import sweep
from tests.contract.memory_log import MemoryTopic
from tests.contract.projecting import projector_on, run_until_idle
from tests.integration.saying import PARTITIONS, Fact, Said

BASE = 1_796_000_000_000_000
WEEK_S = 7 * 86_400


class Scoped(Fact):
    """A fact of any scope."""

    def __init__(self, subject: str, key: str, scope: str, *, tenant: UUID = DEVELOPMENT_TENANT) -> None:
        super().__init__(subject, key, tenant=tenant)
        kind, _, name = scope.partition(":")
        self.identity = FactIdentity(tenant, self.identity.subject_id, kind, name, key)
        self.canonical = self.identity.canonical()
        self.fact_id = fact_id_of(self.identity)
        self.partition = partition_of(self.fact_id, PARTITIONS)


def project(address: str, topic: MemoryTopic, projection: str = "p1") -> None:
    """Feeds a projection all that the topic has."""
    store = ProjectionStore(address, projection)
    projector, _ = projector_on(topic.join(), store)
    run_until_idle(projector)
    projector.close()
    store.close()


def add_projection(address: str, topic: MemoryTopic, name: str = "p2", *, rule: int = 1) -> None:
    """Another projection, fed from the start."""
    with connect(address, "test", autocommit=True) as connection:
        create_projection(connection, name, rule=rule, state="ready")
    project(address, topic, name)


def fill(address: str, *said: list[Said]) -> MemoryTopic:
    """Both projections of one topic."""
    topic = MemoryTopic()
    for step, some in enumerate(said):
        topic.append(some, appended_at=BASE + step * 1_000_000)
    project(address, topic)
    add_projection(address, topic)
    return topic


class Compared:
    """A comparison of p2 with p1, and what it finds."""

    def __init__(self, address: str, *, window_s: float = WEEK_S) -> None:
        self.address = address
        self.store = ShadowStore(address)
        self.shadow: Shadow = self.store.open("p2", "p1", window_s=window_s)[0]

    def sweep(self, **limits: Any) -> Swept:
        return sweep(self.store, self.shadow, **limits)

    def samples(self, fact: Fact | None = None) -> list[Sample]:
        found = self.store.report(self.shadow, samples=1_000).samples
        return [one for one in found if fact is None or one.fact_id == UUID(bytes=fact.fact_id)]

    def sorts(self, fact: Fact) -> set[str]:
        return {one.sort.value for one in self.samples(fact)}

    def standing(self) -> tuple[bool, int]:
        """Whether its window is over, and how many unknown differences there are."""
        with psycopg.connect(self.address) as connection:
            found = connection.execute(
                "select is_over, unknown from chronofact.shadow_standing where projection = 'p2'"
            ).fetchone()
        assert found is not None
        return found


def spoil(address: str, projection: str, statement: str, fact: Fact | None = None, **values: Any) -> int:
    """Changes lines of a projection; ``{p}`` is its schema and ``{no}`` the fact's number. Its state hash goes, too."""
    with psycopg.connect(address) as connection:
        number = None
        if fact is not None:
            found = connection.execute(
                sql.SQL("select fact_no from {}.fact where fact_id = %s").format(sql.Identifier(projection)),
                (UUID(bytes=fact.fact_id),),
            ).fetchone()
            assert found is not None
            (number,) = found
        slots = {"p": sql.Identifier(projection), "no": sql.Literal(number)}
        changed = connection.execute(sql.SQL(statement).format(**slots), values).rowcount
        assert changed > 0
        if number is not None:
            connection.execute(
                sql.SQL("update {p}.fact set state_hash = sha256(state_hash) where fact_no = {no}").format(**slots)
            )
    return changed
