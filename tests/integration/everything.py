"""Facts of which each kind of event was said, for several tenants; and what a projection makes of a log, in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final
from uuid import UUID

import psycopg
from psycopg import sql

from chronofact.domain.events import (
    Cardinality,
    ConflictResolved,
    Decider,
    FactActivated,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    Lifecycle,
    Mode,
    RelationDeclared,
    RelationsChecked,
    Verdict,
)
from chronofact.postgres.projections import PARTITION_SHIFT
from chronofact.postgres.template import scripts
from tests.integration.saying import Fact, Said

DAY_US: Final = 86_400_000_000
JUNE, JULY, MAY_US = "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z", 1_777_593_600_000_000
OF_FACT: Final = {
    "key": "(select uuid_hash_extended(f.fact_id, 0) from {} as f where f.fact_no = t.fact_no)",
    "events": "(select f.event_seq from {} as f where f.fact_no = t.fact_no)",
    "versions": "(select f.versions from {} as f where f.fact_no = t.fact_no)",
}
ANSWERS: Final = """
    select f.fact_id, v.valid_at, k.as_of, to_jsonb(r)::text
    from p1.fact as f cross join unnest(%(as_of)s::timestamptz[]) as k (as_of)
    cross join (
        values ('2019-05-05'::timestamptz), ('2021-01-01'), ('2023-03-03'), ('2026-06-15'), ('2027-01-01')
    ) as v (valid_at)
    cross join lateral chronofact.resolve(f.fact_id, v.valid_at, k.as_of) as r
    order by 1, 2, 3
"""


def everything(tenant: UUID, subjects: int = 4) -> Iterator[Said]:
    """A tenant's facts: proposed and activated, superseded, overridden, ended, revoked, decided, related, imported."""
    for number in range(subjects):
        subject = f"subject {number}"
        yield from _single(Fact(subject, "package_manager", tenant=tenant))
        yield from _memories(Fact(subject, "memory/preference", tenant=tenant))
        imported = Fact(subject, "city", tenant=tenant)
        for year in range(4):
            at = MAY_US - year * 365 * DAY_US
            yield imported.asserts(f"city {year}", at, source=f"import {year}", import_time=at)


def _single(fact: Fact) -> Iterator[Said]:
    said = [
        fact.asserts("npm", JUNE),
        fact.asserts("pnpm", JUNE, source="other"),
        fact.asserts("yarn", JULY, lifecycle=Lifecycle.PROPOSED),
        fact.asserts("deno", JULY, "2026-07-05T00:00:00Z"),
        fact.asserts("bun", "2020-01-01T00:00:00Z", JUNE),
    ]
    npm, pnpm, yarn, deno, bun = (_version(one) for one in said)
    yield from said
    left, right = sorted((npm, pnpm))
    yield fact.says(ConflictResolved(left, right, npm, MAY_US, "ada", "she said so"))
    yield fact.says(FactActivated(yarn, "admitted"))
    yield fact.says(FactSuperseded(yarn, npm, reason="moved on"))
    yield fact.says(FactSuperseded(deno, yarn, mode=Mode.OVERRIDE, reason="for a while"))
    ended = fact.says(FactEnded(yarn, MAY_US + 90 * DAY_US, "left"))
    yield ended
    yield fact.says(FactRevoked(bun, reason="a lie"))
    yield fact.says(FactRevoked(event_id=ended.event_id, reason="stayed after all"))


def _memories(fact: Fact) -> Iterator[Said]:
    said = [fact.asserts({"text": f"likes {what}"}, JUNE, cardinality=Cardinality.MANY) for what in "abcd"]
    yield from said
    ids = [_version(one) for one in said]
    for (one, other), verdict in zip(
        pairwise(ids),
        (Verdict.SUPERSEDES, Verdict.CONTRADICTS, Verdict.NEAR_DUPLICATE),
        strict=True,
    ):
        left, right = sorted((one, other))
        newer = other if verdict is Verdict.SUPERSEDES else None
        yield fact.says(RelationDeclared(left, right, verdict, newer, MAY_US, Decider.MODEL, "as it reads", True, "m"))
    yield fact.says(RelationsChecked(ids[0], 3, 3, 0))
    yield fact.says(FactEnded(ids[3], MAY_US + 80 * DAY_US, "no more"))


def _version(said: Said) -> bytes:
    assert said.version_id is not None
    return said.version_id


def states(database: str, projection: str) -> list[tuple[Any, ...]]:
    """Each fact's state hash."""
    with psycopg.connect(database) as connection:
        query = sql.SQL("select fact_id, state_hash from {} order by 1").format(sql.Identifier(projection, "fact"))
        return connection.execute(query).fetchall()


def row_hashes(database: str, projection: str) -> dict[str, list[tuple[Any, ...]]]:
    """What `chronofact verify` compares: a hash of each line of each table, by fact."""
    head = sql.Identifier(projection, "fact")
    slots: dict[str, Any] = {name: sql.SQL(text).format(head) for name, text in OF_FACT.items()}
    slots |= {"schema": projection, "which": sql.SQL("true"), "newest": sql.SQL("true"), "shift": PARTITION_SHIFT}
    whole = sql.SQL("select f.fact_id, r.h from ({}) as r left join {} as f using (fact_no) order by 1, 2")
    with psycopg.connect(database) as connection:
        return {
            one.name: connection.execute(whole.format(one.filled(connection, **slots), head)).fetchall()
            for one in scripts("verify", "rows")
        }


def moments(database: str) -> list[datetime]:
    """When something was learned, first, last and between."""
    statement = "select percentile_disc(array[0, 0.25, 0.5, 0.75, 1]) within group (order by recorded_at) from p1.event"
    with psycopg.connect(database) as connection:
        found = connection.execute(statement).fetchone()
    assert found is not None
    return [*found[0]]


def answers(database: str, as_of: Sequence[datetime]) -> list[tuple[Any, ...]]:
    """What every fact answers at some instants of valid time, as known at these."""
    with psycopg.connect(database) as connection:
        return connection.execute(ANSWERS, {"as_of": [*as_of]}).fetchall()
