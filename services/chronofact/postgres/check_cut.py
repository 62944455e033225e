"""One worker's look at the snapshot of a check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from psycopg import Connection

from chronofact.contracts.checking import CheckWanted


class CheckCut:
    """A connection whose transaction sees the snapshot."""

    def __init__(
        self,
        connection: Connection[Any],
        wanted: CheckWanted,
        next_offsets: Mapping[int, int],
        topic_id: UUID | None,
    ) -> None:
        self._connection = connection
        self._wanted = wanted
        self._next_offsets = next_offsets
        self._topic_id = topic_id
