"""How far projections have come and which are asked, for a doctor's look."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from chronofact.postgres.errors import failures_named
from chronofact.postgres.session import connect
from chronofact.postgres.template import script


class Standing:
    """Looks once, over a connection of its own.

    Raises:
        Transient: Postgres is away.
        Unfit: it refuses, or is not migrated.
    """

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo

    def checkpoints(self, projection: str, topic_id: bytes) -> dict[int, int]:
        """The next offset to apply of each partition that was ever claimed."""
        named = {"projection": projection, "topic_id": UUID(bytes=topic_id)}
        return dict(self._lines("checkpoints", named))

    def made_of(self) -> dict[str, bytes]:
        """The id of the topic that each projection was made from, of those of which anything was applied."""
        return {name: topic_id.bytes for name, topic_id in self._lines("made_of", {})}

    def routed(self) -> list[str]:
        """The projections that reads go to, that of all tenants without a line of their own first."""
        return [name for (name,) in self._lines("routed", {})]

    def projections(self) -> list[tuple[str, str, int, int, datetime | None]]:
        """Of each that there is: name, state, rule, how many routes name it, and since when none does."""
        return self._lines("projections", {})

    def folds(self) -> list[tuple[str, int, str | None]]:
        """Name and rule of each projection that may answer or is fed, and the fingerprint of the fold that filled it."""
        return self._lines("folds", {})

    def long_sessions(self, seconds: float) -> list[tuple[str, datetime, int]]:
        """Of ours, that have kept vacuum from its work for so long: name, since when, and Postgres' number."""
        return self._lines("long_sessions", {"seconds": seconds})

    def _lines(self, name: str, named: dict[str, Any]) -> list[tuple[Any, ...]]:
        with failures_named(), connect(self._conninfo, "doctor", autocommit=True) as connection:
            return connection.execute(script("doctor", name).filled(connection), named).fetchall()
