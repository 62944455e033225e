"""Projections as schemas of their own: made, routed to, and joined into what people read."""

from __future__ import annotations

import re
from time import sleep
from typing import Any, Final

from psycopg import Connection, sql

from chronofact.contracts.topics import facts_topic
from chronofact.postgres.errors import failures_named
from chronofact.postgres.rules import known_rule
from chronofact.postgres.template import script, scripts
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.fingerprint import fold_fingerprint

SERVING: Final = ("live", "ready")
"""States in which a projection can be routed to, so the views hold it."""
VIEWS: Final = (
    "memory_fact_event",
    "memory_fact_version",
    "memory_fact_edge",
    "memory_fact_conflict",
    "memory_relationship",
    "memory_text",
    "memory_current",
    "memory_timeline",
)
PARTITION_SHIFT: Final = 40
"""``fact_no`` has the Kafka partition above this bit and a counter from 1 below (schemas/postgres/projection)."""
PUBLISH_LOCK_TIMEOUT_MS: Final = 50
PUBLISH_TRIES: Final = 100

_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}", re.ASCII)


def create_projection(
    connection: Connection[Any], name: str, *, rule: int, state: str = "live", partitions: int | None = None
) -> bool:
    """Makes the projection's schema with every table and function; False where it is there already.

    Its big tables have a leaf for each partition of the facts topic, by default as many as the catalogue says.

    Raises:
        Unfit: the name is no schema name of ours, or ``rule_unknown``.
    """
    if _NAME.fullmatch(name) is None or name == "chronofact":
        raise Unfit("projection_name", "not a projection name", remedy="use letters, digits and _, like p1")
    with failures_named(), connection.transaction():
        made = connection.execute(
            "insert into chronofact.projection (name, rule, state, fingerprint) values (%s, %s, %s, %s)"
            " on conflict on constraint projection_pkey do nothing returning name",
            (name, known_rule(name, rule), state, fold_fingerprint(rule)),
        ).fetchone()
        if made is not None:
            leaves = facts_topic(partitions=partitions).partitions
            for one in scripts("projection"):
                connection.execute(one.filled(connection, schema=name, partitions=leaves, rule=rule))
        return made is not None


def leaves_of(connection: Connection[Any], name: str) -> int:
    """Of how many partitions a projection can hold facts; 0 where it has no tables."""
    with failures_named():
        found = connection.execute(
            "select count(*) from pg_inherits where inhparent = to_regclass(format('%%I.event', %s::text))", (name,)
        ).fetchone()
    return 0 if found is None else int(found[0])


def drop_projection(connection: Connection[Any], name: str) -> None:
    """Removes a projection that no tenant is routed to, checkpoints and parked events with it; drops outlive it."""
    with failures_named(), connection.transaction():
        for table in ("checkpoint", "parked_event", "released_event"):
            connection.execute(
                sql.SQL("delete from chronofact.{} where projection = %s").format(sql.Identifier(table)), (name,)
            )
        connection.execute("delete from chronofact.projection where name = %s", (name,))
        connection.execute(sql.SQL("drop schema {} cascade").format(sql.Identifier(name)))


def route_default(connection: Connection[Any], name: str) -> None:
    """Routes all tenants without a line of their own, unless a default is there already."""
    with failures_named():
        connection.execute(
            "insert into chronofact.tenant_route (tenant_id, projection) values (null, %s)"
            " on conflict on constraint tenant_route_one_a_tenant do nothing",
            (name,),
        )


def publish(connection: Connection[Any]) -> None:
    """Makes ``chronofact.memory_*`` and the functions anew, from the projections that serve.

    Raises:
        Transient: readers held the views for longer than the tries last.
    """
    for tries_left in reversed(range(PUBLISH_TRIES)):
        try:
            with failures_named(), connection.transaction():
                connection.execute(f"set local lock_timeout = {PUBLISH_LOCK_TIMEOUT_MS}")
                publish_within(connection)
        except Transient:
            if tries_left == 0:
                raise
            sleep(PUBLISH_LOCK_TIMEOUT_MS / 1_000)
        else:
            return


def publish_within(connection: Connection[Any]) -> None:
    """The same within a transaction of the caller's, once, under its lock timeout."""
    rows = connection.execute(
        "select name from chronofact.projection where state = any(%s) order by name", (list(SERVING),)
    ).fetchall()
    serving = [str(name) for (name,) in rows]
    connection.execute(script("read_api", "routing").filled(connection))
    resolve_shares = _shares(connection, "share_of_resolve", serving)
    connection.execute(script("read_api", "resolve").filled(connection, shares=sql.SQL("").join(resolve_shares)))
    if not serving:
        return  # a view without a share would be no statement; the first projection that serves makes them
    for view in VIEWS:
        shares = sql.SQL(" union all ").join(_shares(connection, "share_of_view", serving, view=view))
        connection.execute(sql.SQL("create or replace view chronofact.{} as {}").format(sql.Identifier(view), shares))


def _shares(connection: Connection[Any], name: str, serving: list[str], **slots: str) -> list[sql.SQL]:
    share = script("read_api", name)
    return [share.filled(connection, schema=one, projection=sql.Literal(one), **slots) for one in serving]
