"""A second projection beside the first: filled from the same log by a projector of its own, and routed to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg

from chronofact.contracts.routing import Routed, RouteWanted
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.postgres.projections import create_projection, publish
from chronofact.postgres.route_store import RouteStore
from chronofact.postgres.session import connect
from chronofact.reconciler.routing import Router
from tests.contract.memory_log import MemoryTopic
from tests.contract.projecting import projector_on, run_until_idle


class Side:
    """A projection that is fed when it is told to."""

    def __init__(self, database: str, topic: MemoryTopic, name: str) -> None:
        self.name = name
        twin = MemoryTopic(topic.topic_id)
        twin.partitions, twin.low = topic.partitions, topic.low  # the same log, for another group
        self._store = ProjectionStore(database, name)
        self._projector, _ = projector_on(twin.join(), self._store)

    def project(self) -> None:
        """All that was said so far."""
        run_until_idle(self._projector)

    def close(self) -> None:
        self._store.close()


@contextmanager
def side_of(
    database: str, topic: MemoryTopic, name: str = "p2", *, rule: int = 1, state: str = "ready"
) -> Iterator[Side]:
    """Makes a projection, and feeds it once."""
    with connect(database, "test", autocommit=True) as connection:
        create_projection(connection, name, rule=rule, state=state)
        publish(connection)
    side = Side(database, topic, name)
    try:
        side.project()
        yield side
    finally:
        side.close()


def router(database: str, *, lag_events_max: int = 1_000) -> Router:
    return Router(RouteStore(database), lag_events_max=lag_events_max)


def switch(database: str, to: str, *tenants: UUID, force: str | None = None, lag_events_max: int = 1_000) -> Routed:
    """All where no tenant is named; ``force`` is the reason."""
    wanted = RouteWanted(tenants, not tenants, "test", to, is_forced=force is not None, reason=force)
    return router(database, lag_events_max=lag_events_max).route(wanted)


def rollback(database: str, *tenants: UUID) -> Routed:
    return router(database).route(RouteWanted(tenants, not tenants, "test"))


def asked(database: str, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """The lines of a statement, or none where it has none."""
    with psycopg.connect(database, autocommit=True) as connection:
        cursor = connection.execute(statement, parameters)
        return cursor.fetchall() if cursor.description else []


def routes(database: str) -> dict[UUID | None, str]:
    return dict(asked(database, "select tenant_id, projection from chronofact.tenant_route"))


def state_of(database: str, name: str) -> tuple[str, bool, bool]:
    """Its state, whether it ever was live, and whether the last route has left it."""
    statement = "select state, live_since is not null, left_at is not null from chronofact.projection where name = %s"
    ((state, was_live, was_left),) = asked(database, statement, (name,))
    return state, was_live, was_left
