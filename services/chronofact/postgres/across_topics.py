"""Two projections of different topics held against each other, where offsets say nothing (ADR 34)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from psycopg import Connection

from chronofact.postgres.errors import failures_named
from chronofact.postgres.session import connect
from chronofact.postgres.template import script
from chronofact.runtime.failures import Unfit

SETTINGS: Final[dict[str, str | int]] = {
    "client_connection_check_interval": 2_000,
    "jit": "off",
    "work_mem": "64MB",
    "hash_mem_multiplier": 4,
}
_WHOLE: Final = frozenset({"catching_up", "verifying", "ready", "live", "retired"})


class Cut(NamedTuple):
    """How far a projection had come in its own topic."""

    topic_id: UUID | None
    next_offsets: Sequence[int]
    """By partition from 0."""


class Across(NamedTuple):
    """What was compared, and what differs."""

    facts: int
    events: int
    further: int
    """Facts of which one side has more events; of those only what both have was compared."""
    differences: int
    samples: Sequence[str]
    """The first facts that differ, each with what of it does."""
    parked: int
    """Messages that only one side has parked, or more often."""
    cuts: tuple[Cut, Cut]
    """How far either had come."""
    looked_at: datetime
    """Not later than the snapshot: what began since was not compared, whenever this is kept."""

    @property
    def identical(self) -> bool:
        """Whether nothing differs."""
        return not self.differences and not self.parked and not self.further


def compare_across(conninfo: str, left: str, right: str, *, samples: int) -> Across:
    """Every fact by its id: its events, each with id, instant and payload, and the state that they come to.

    Raises:
        Transient: Postgres is away.
        Unfit: ``projection_missing``, ``rules_differ``, ``projection_not_fed``.
    """
    with connect(conninfo, "verify", autocommit=False, **SETTINGS) as connection:
        with failures_named():
            connection.execute("set transaction isolation level repeatable read, read only")
        return across(connection, left, right, samples=samples)


def across(connection: Connection[Any], left: str, right: str, *, samples: int) -> Across:
    """The same, as the connection's transaction sees them."""
    with failures_named():
        cuts = connection.execute(script("verify", "cut").filled(connection), {"projections": [left, right]}).fetchall()
        _refuse(left, right, {line[0]: (line[1], line[2]) for line in cuts if line[-1]})
        reached = {line[0]: _cut(*line[4:7]) for line in cuts}
        compared = script("verify", "across").filled(connection, schema=left, other_schema=right)
        found = connection.execute(compared, {"samples": samples}).fetchall()
        ((facts, events, further, differences, told, looked_at),) = found
        parked = script("verify", "across_parked").filled(connection)
        (apart,) = connection.execute(parked, {"projection": left, "other_projection": right}).fetchall()
    both = reached[left], reached[right]
    return Across(facts, events, further, differences, told, apart[0], both, looked_at)


def keep(conninfo: str, left: str, right: str, found: Across) -> int | None:
    """Keeps what was found beside other verifications, for a switch to ask; its number.

    None, and nothing, where all that was compared is the same, and one side has more: that says neither the one nor the other.

    Raises:
        Transient: Postgres is away.
    """
    differences = found.differences + found.parked
    if found.further and not differences:
        return None
    here, there = found.cuts
    kept = {
        "left_projection": left,
        "right_projection": right,
        "looked_at": found.looked_at,
        "topic_id": here.topic_id,
        "next_offsets": [*here.next_offsets],
        "right_topic_id": there.topic_id,
        "right_next_offsets": [*there.next_offsets],
        "facts": found.facts,
        "events": found.events,
        "differences": differences,
    }
    with failures_named(), connect(conninfo, "verify", autocommit=True) as connection:
        line = connection.execute(script("verify", "keep_across").filled(connection), kept).fetchone()
    return None if line is None else int(line[0])


def _cut(topic_id: UUID | None, partitions: Sequence[int], next_offsets: Sequence[int]) -> Cut:
    reached = dict(zip(partitions, next_offsets, strict=True))
    return Cut(topic_id, [reached.get(one, 0) for one in range(max(reached, default=-1) + 1)])


def _refuse(left: str, right: str, standing: dict[str, tuple[int, str]]) -> None:
    for one in (left, right):
        if one not in standing:
            raise Unfit("projection_missing", f"there is no projection {one}", remedy="name another")
        if standing[one][1] not in _WHOLE:
            told = f"{one} is {standing[one][1]}: its tables are not whole"
            raise Unfit("projection_not_fed", told, remedy="compare with one that is")
    if standing[left][0] != standing[right][0]:
        raise Unfit(
            "rules_differ",
            f"{left} is folded by rule {standing[left][0]}, {right} by rule {standing[right][0]}",
            remedy="rebuild by the same rule first: chronofact rebuild start --rule",
        )
