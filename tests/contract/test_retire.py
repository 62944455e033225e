"""A projection is let go only when nobody reads it and nobody may go back to it."""

from __future__ import annotations

from uuid import UUID

import psycopg
import pytest

from chronofact.postgres.projections import create_projection, publish
from chronofact.postgres.retire_store import NotRetirable, RetireStore
from chronofact.postgres.session import connect

TENANT = UUID(int=7)


@pytest.fixture
def p2(database: str) -> str:
    with connect(database, "test", autocommit=True) as connection:
        create_projection(connection, "p2", rule=1, state="ready")
        publish(connection)
    return database


def refused(database: str, name: str, *, is_forced: bool = False) -> str:
    with pytest.raises(NotRetirable) as found:
        RetireStore(database, window_s=60).retire(name, is_forced=is_forced)
    return found.value.code


def told(database: str, statement: str) -> object:
    with psycopg.connect(database, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else None


def test_what_is_read_stays_whatever_the_reason(p2: str) -> None:
    assert refused(p2, "p1", is_forced=True) == "retire_routed"
    with connect(p2, "test", autocommit=True) as connection:
        connection.execute("insert into chronofact.tenant_route (tenant_id, projection) values (%s, 'p2')", (TENANT,))
    assert refused(p2, "p2", is_forced=True) == "retire_routed"
    assert refused(p2, "p9") == "projection_unknown"


def test_within_the_rollback_window_it_takes_a_reason(p2: str) -> None:
    told(
        p2, "update chronofact.projection set state = 'live', left_at = now() - interval '59 seconds' where name = 'p2'"
    )
    assert refused(p2, "p2") == "retire_window"
    RetireStore(p2, window_s=60).retire("p2", is_forced=True, reason="out of disk")
    assert told(p2, "select state, retired_why from chronofact.projection where name = 'p2'") == [
        ("retired", "out of disk")
    ]


def test_once_the_window_is_over_it_leaves_the_views_and_can_be_dropped(p2: str) -> None:
    told(
        p2, "update chronofact.projection set state = 'live', left_at = now() - interval '61 seconds' where name = 'p2'"
    )
    store = RetireStore(p2, window_s=60)
    store.retire("p2")
    store.retire("p2")
    assert "p2" not in str(told(p2, "select pg_get_viewdef('chronofact.memory_current')"))
    store.drop("p2")
    assert told(p2, "select to_regnamespace('p2') is null, count(*) from chronofact.projection") == [(True, 1)]
    assert told(p2, "select kind from chronofact.resolve(gen_random_uuid())") == [("unknown",)]


def test_what_is_being_rebuilt_is_cancelled_and_not_retired(p2: str) -> None:
    told(p2, "update chronofact.projection set state = 'catching_up' where name = 'p2'")
    assert refused(p2, "p2", is_forced=True) == "retire_unfinished"
