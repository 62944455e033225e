"""Connections that speak UTC, whatever the server's or the user's settings say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from psycopg import AsyncConnection, Connection, ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool

from chronofact.postgres.errors import failures_named
from chronofact.runtime.failures import Unfit

CONNECT_TIMEOUT_S = 5
KEPT_ALIVE: Final = {
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""A server whose machine is gone says nothing: libpq's defaults would wait for it for two hours."""
MISSED: Final = {"tcp_keepalives_idle": 5, "tcp_keepalives_interval": 2, "tcp_keepalives_count": 3}
"""The same of us: the server would keep the locks of a machine that is gone for as long."""
IDLE_IN_TRANSACTION_MS = 60_000

LOOK_UPS: Final = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_sort": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}
"""Every read is a few look-ups in an index: planned once, and not otherwise because some fact is young and small."""


def conninfo_for(conninfo: str, name: str, **settings: str | int) -> str:
    """The conninfo with our session settings on top of the options that it already has.

    Raises:
        Unfit: libpq can't read it.
    """
    try:
        given = conninfo_to_dict(conninfo)
    except ProgrammingError:
        # whose message repeats a part of it, the password perhaps
        raise Unfit(
            "postgres_refuses",
            "the address of Postgres can't be read",
            remedy="say it like postgresql://USER:PASSWORD@HOST:5432/NAME",
        ) from None
    wanted: dict[str, str | int] = {
        "timezone": "UTC",
        "datestyle": "ISO",
        "idle_in_transaction_session_timeout": IDLE_IN_TRANSACTION_MS,
        **MISSED,
        **settings,
    }
    # who takes nothing of what it is sent is gone as surely as who asks for nothing, and no idle session
    wanted.setdefault("tcp_user_timeout", wanted["idle_in_transaction_session_timeout"])
    options = " ".join([str(given.get("options") or ""), *(f"-c {key}={value}" for key, value in wanted.items())])
    return make_conninfo(
        conninfo,
        **{name: given.get(name) or value for name, value in KEPT_ALIVE.items()},
        options=options.strip(),
        application_name=f"chronofact {name}",
        connect_timeout=given.get("connect_timeout") or CONNECT_TIMEOUT_S,
        client_encoding="UTF8",
    )


def address_of(conninfo: str) -> str:
    """The server and the database, without a credential."""
    given = conninfo_to_dict(conninfo)
    where = given.get("host") or given.get("hostaddr") or "localhost"
    return f"{where}:{given.get('port') or 5432}/{given.get('dbname') or ''}"


def connect(conninfo: str, name: str, *, autocommit: bool = False, **settings: str | int) -> Connection[Any]:
    """One connection.

    Raises:
        Transient: Postgres can't be reached.
        Unfit: it refuses the credentials or has no such database.
    """
    with failures_named():
        return Connection.connect(conninfo_for(conninfo, name, **settings), autocommit=autocommit)


def reading_pool(
    conninfo: str,
    name: str,
    *,
    connections_max: int,
    statement_timeout_ms: int,
    configure: Callable[[AsyncConnection[Any]], Awaitable[None]],
) -> AsyncConnectionPool[AsyncConnection[Any]]:
    """A pool, not yet open, of connections that can only read; it heals by itself when Postgres was away."""
    settings: dict[str, str | int] = {
        "default_transaction_read_only": "on",
        "statement_timeout": statement_timeout_ms,
        "jit": "off",
        **LOOK_UPS,
    }
    return AsyncConnectionPool(
        conninfo_for(conninfo, name, **settings),
        min_size=1,
        max_size=connections_max,
        open=False,
        name=name,
        timeout=CONNECT_TIMEOUT_S,
        max_waiting=512,
        max_idle=300,
        reconnect_timeout=10,
        check=None,
        configure=configure,
        kwargs={"autocommit": True},
    )
