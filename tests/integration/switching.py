"""Every kind of read at once, each held to what the side that it names would have said."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any
from uuid import UUID

import psycopg

from chronofact.domain.events import Cardinality
from tests.integration.reading import World
from tests.integration.saying import Fact
from tests.integration.two_sides import switch

SUBJECT, FACTS = "ada", 12
JUNE, JULY = "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"
SQL_FUNCTION = "select value_json from chronofact.current(%s::uuid)"
SQL_VIEW = "select fact_key, value_json from chronofact.memory_current where tenant_id = %s and fact_key like 'k%%'"


class TwoSides:
    """Facts of which the new side has an older value, and one that only the old side knows to be in conflict."""

    def __init__(self, tenant: UUID) -> None:
        self.tenant = tenant
        self.facts = [Fact(SUBJECT, f"k{number:02}", tenant=tenant) for number in range(FACTS)]
        self.torn = Fact(SUBJECT, "torn", tenant=tenant)
        self.likes = Fact(SUBJECT, "likes", tenant=tenant)
        self.value = {"p1": "new", "p2": "old"}
        self.rule = {"p1": 1, "p2": 2}
        self.cafe = Fact(SUBJECT, "cafe", tenant=tenant)
        self.position = ""

    def tell_both(self, world: World) -> None:
        old = [one.asserts("old", JUNE) for one in self.facts]
        likes = [self.likes.asserts(one, JUNE, cardinality=Cardinality.MANY) for one in ("tea", "fog")]
        cafe = [self.cafe.asserts(one, JUNE) for one in ("caf\u00e9", "cafe\u0301")]  # one value by rule 2 alone
        world.tell(*old, self.torn.asserts("left", JUNE), *likes, *cafe)

    def tell_first(self, world: World) -> None:
        """What the second side is not given."""
        self.position = world.tell(
            *(one.asserts("new", JULY) for one in self.facts), *(self._closed(one) for one in self.facts),
            self.torn.asserts("right", JUNE),
        )  # fmt: skip

    @staticmethod
    def _closed(fact: Fact) -> Any:
        from chronofact.domain.events import FactEnded
        from chronofact.domain.interval import parse_instant

        old = fact.asserts("old", JUNE)
        return fact.says(FactEnded(old.version_id or b"", parse_instant(JULY)))


@dataclass
class Seen:
    """What reads were answered."""

    reads: Counter[str] = field(default_factory=Counter)
    sides: Counter[str] = field(default_factory=Counter)
    stale: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def fault(self, told: str) -> None:
        if len(self.faults) < 20:
            self.faults.append(told)


class Reads:
    """Asks again and again until it is told to stop."""

    def __init__(self, world: World, database: str, sides: TwoSides) -> None:
        self.world, self.database, self.sides, self.seen = world, database, sides, Seen()
        self.stopping = asyncio.Event()
        self.pause_s = 0.005
        world.http.headers["x-tenant-id"] = str(sides.tenant)

    def kinds(self) -> Mapping[str, Callable[[], Awaitable[None]]]:
        return {
            "single": self.single, "batch": self.batch, "list": self.listed, "context": self.context,
            "conflicts": self.conflicts, "history": self.history, "explain": self.explain, "after": self.after,
            "sql_function": self.sql_function, "sql_view": self.sql_view,
        }  # fmt: skip

    async def run(self, *kinds: str) -> None:
        """All kinds at once, each one after the other."""
        async with asyncio.TaskGroup() as group:
            for name, read in self.kinds().items():
                if not kinds or name in kinds:
                    group.create_task(self._again(name, read))

    async def _again(self, name: str, read: Callable[[], Awaitable[None]]) -> None:
        while not self.stopping.is_set():
            try:
                await read()
            except AssertionError as error:
                self.seen.fault(f"{name}: {error}")
            except (KeyError, ValueError, psycopg.Error) as error:
                self.seen.fault(f"{name}: {error!r}")
            self.seen.reads[name] += 1
            await asyncio.sleep(self.pause_s)

    def _side(self, freshness: Mapping[str, Any], name: str) -> str:
        self.seen.sides[freshness["projection"]] += 1
        self.seen.stale[name] += bool(freshness["stale"])
        assert freshness["rule"] == self.sides.rule[freshness["projection"]]
        return self.sides.value[freshness["projection"]]

    async def single(self) -> None:
        body = await self.world.get("/v1/resolve", subject=SUBJECT, key="k00")
        assert body["value"] == self._side(body["freshness"], "single")
        body = await self.world.get("/v1/resolve", subject=SUBJECT, key="cafe")
        assert body["kind"] == {1: "conflict", 2: "value"}[body["freshness"]["rule"]]

    async def batch(self) -> None:
        body = await self.world.ask([{"subject": SUBJECT, "key": f"k{at % FACTS:02}"} for at in range(40)])
        assert {one["value"] for one in body["answers"]} == {self._side(body["freshness"], "batch")}
        assert {one["freshness"]["projection"] for one in body["answers"]} == {body["freshness"]["projection"]}

    async def listed(self) -> None:
        found: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            body = await self.world.get("/v1/facts", subject=SUBJECT, prefix="k", limit=5, **cursor)
            values = {one["value"] for one in body["facts"]}
            assert values <= {"new", "old"}
            if not cursor:
                assert values == {self._side(body["freshness"], "list")}
            found += [one["fact"]["key"] for one in body["facts"]]
            if body["cursor"] is None:
                break
            cursor = {"cursor": body["cursor"]}
        assert found == [one.identity.fact_key for one in self.sides.facts]

    async def context(self) -> None:
        body = await self.world.get("/v1/context", subject=SUBJECT, prefix="k")
        values = {one["value"] for one in body["settled"]}
        assert values == {self._side(body["freshness"], "context")}

    async def conflicts(self) -> None:
        body = await self.world.get("/v1/conflicts", subject=SUBJECT)
        is_old = self._side(body["freshness"], "conflicts") == "new"
        assert {one["fact"]["key"] for one in body["conflicts"]} == ({"torn", "cafe"} if is_old else set()), body

    async def history(self) -> None:
        fact_id = str(UUID(bytes=self.sides.facts[0].fact_id))
        for what, many in (("events", {"new": 3, "old": 1}), ("versions", {"new": 2, "old": 1})):
            body = await self.world.get(f"/v1/facts/{fact_id}/{what}")
            assert len(body[what]) == many[self._side(body["freshness"], what)]
        body = await self.world.get(f"/v1/facts/{fact_id}/timeline")
        drawn = {one.get("value") for one in body["timeline"]}
        assert ("new" in drawn) == (self._side(body["freshness"], "timeline") == "new")

    async def explain(self) -> None:
        body = await self.world.get("/v1/explain", subject=SUBJECT, key="k01")
        assert body["answer"]["value"] == self._side(body["freshness"], "explain")

    async def after(self) -> None:
        asked = {"subject": SUBJECT, "key": "k02", "after": self.sides.position, "wait_ms": 20}
        body = await self.world.get("/v1/resolve", **asked)
        self._side(body["freshness"], "after")
        assert (body["value"], body["freshness"]["stale"]) == ("new", False), body["freshness"]

    async def sql_function(self) -> None:
        found = await asyncio.to_thread(self._sql, SQL_FUNCTION, [UUID(bytes=self.sides.facts[3].fact_id)])
        assert found in ([("new",)], [("old",)]), found

    async def sql_view(self) -> None:
        found = await asyncio.to_thread(self._sql, SQL_VIEW, [self.sides.tenant])
        assert len(found) == FACTS, found
        assert len({value for _, value in found}) == 1, found

    def _sql(self, statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database, autocommit=True) as connection:
            return connection.execute(statement, parameters).fetchall()


def back_and_forth(database: str, tenant: UUID, count: int) -> list[float]:
    """So many switches of a tenant; the seconds of each, with its connection."""
    took = []
    for _, to in zip(range(count), cycle(("p2", "p1")), strict=False):
        started = time.perf_counter()
        switch(database, to, tenant, force="no comparison of the rules was made for this test")
        took.append(time.perf_counter() - started)
    return took
