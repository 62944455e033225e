"""Reads while their tenant is switched back and forth: none fails, and each is what the side that it names says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from chronofact.postgres.projections import drop_projection, publish
from chronofact.postgres.session import connect
from chronofact.reader import changes_hub
from tests.integration.changing import Sent, changes_reader, listening, tenant_header
from tests.integration.reading import NOW, World, world_on
from tests.integration.saying import Fact
from tests.integration.switching import Reads, TwoSides, back_and_forth
from tests.integration.two_sides import side_of, switch

TENANT = UUID(int=7)
DAY = 86_400_000_000


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database) as made:
        yield made


@pytest.mark.parametrize("switches", [100, pytest.param(1_000, marks=[pytest.mark.soak, pytest.mark.timeout(900)])])
async def test_no_read_fails_while_its_tenant_is_switched_to_and_fro(
    world: World, database: str, switches: int
) -> None:
    sides = TwoSides(TENANT)
    sides.tell_both(world)
    with side_of(database, world.topic, rule=2):
        sides.tell_first(world)
        reads = Reads(world, database, sides)
        reading = asyncio.create_task(reads.run())
        await asyncio.to_thread(back_and_forth, database, TENANT, switches)
        reads.stopping.set()
        await reading
    assert reads.seen.faults == []
    assert min(reads.seen.reads.values()) > switches // 50, reads.seen
    assert reads.seen.sides["p1"] > switches // 10 < reads.seen.sides["p2"], reads.seen


async def test_a_listener_misses_nothing_and_gets_nothing_twice_while_its_tenant_is_switched(
    world: World, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes_hub, "ROUTES_S", 0.02)
    facts = [Fact(f"someone {number}", tenant=TENANT) for number in range(20)]
    said = [facts[at % 20].asserts(f"v{at}", NOW + at * DAY, source=str(at)) for at in range(400)]
    world.project()
    with side_of(database, world.topic) as p2:

        def live() -> None:
            for start in range(0, 400, 5):
                world.say(*said[start : start + 5])
                for one in (world, p2) if start % 10 else (p2, world):
                    one.project()
                    switch(database, "p2" if start % 10 else "p1", TENANT)

        async with changes_reader(database) as reader:
            living = asyncio.create_task(asyncio.to_thread(live))
            sent, last, streams = Sent(), None, 0
            async with asyncio.timeout(90):
                while len(sent.changes) < 400:
                    async with listening(reader, after=last, headers=tenant_header(TENANT)) as listener:
                        streams += 1
                        while not listener.has_ended and len(sent.changes) + len(listener.changes) < 400:  # noqa: ASYNC110 - it ends in two ways
                            await asyncio.sleep(0.01)
                        last = listener.last_id
                        sent.add(listener.changes)
            await living
    sent.check([str(UUID(bytes=one.event_id)) for one in said])
    assert streams > 5, "it was hardly ever handed over"


async def test_a_remembered_route_to_what_is_dropped_costs_no_read(world: World, database: str) -> None:
    world.tell(Fact("ada").asserts("npm"))
    question = {"subject": "ada", "key": "package_manager"}
    with side_of(database, world.topic):
        assert (await world.get("/v1/resolve", **question))["freshness"]["projection"] == "p1"
        switch(database, "p2")
        world.close()
        with connect(database, "test", autocommit=True) as connection:
            connection.execute("update chronofact.projection set state = 'retired' where name = 'p1'")
            publish(connection)
            drop_projection(connection, "p1")
        assert (await world.get("/v1/resolve", **question))["freshness"]["projection"] == "p2"
        assert (await world.ask([question]))["answers"][0]["value"] == "npm"


async def test_a_wait_goes_on_where_the_tenant_was_switched_to(world: World, database: str) -> None:
    ada = Fact("ada", tenant=TENANT)
    world.http.headers["x-tenant-id"] = str(TENANT)
    world.tell(ada.asserts("npm", "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"))
    with side_of(database, world.topic) as p2:
        after = world.tell(ada.asserts("pnpm", "2026-07-01T00:00:00Z"))
        asked = {"after": after, "wait_ms": 10_000}
        question = {"subject": "ada", "key": "package_manager"}
        for name in ("p1", "p2"):
            if name == "p2":
                switch(database, "p2", TENANT)
            reads = [
                asyncio.create_task(world.get("/v1/resolve", **question, **asked)),
                asyncio.create_task(world.get("/v1/facts", subject="ada", **asked)),
                asyncio.create_task(world.ask({**asked, "queries": [question]})),
            ]
            await asyncio.sleep(0.1)
            assert [one.done() for one in reads] == [name == "p1"] * 3, "p2 has not come so far yet"
            if name == "p2":
                await asyncio.to_thread(p2.project)
            for one in reads:
                freshness = (await one)["freshness"]
                assert (freshness["projection"], freshness["stale"]) == (name, False)


async def test_a_timeline_is_not_drawn_half_by_one_rule_and_half_by_another(world: World, database: str) -> None:
    ada = Fact("ada", tenant=TENANT)
    world.http.headers["x-tenant-id"] = str(TENANT)
    world.tell(*(ada.asserts(f"v{at}", NOW + at * DAY, NOW + (at + 1) * DAY) for at in range(6)))
    address = f"/v1/facts/{UUID(bytes=ada.fact_id)}/timeline"
    with side_of(database, world.topic), side_of(database, world.topic, "p3", rule=2):
        whole = (await world.get(address))["timeline"]
        first = await world.get(address, limit=2)
        switch(database, "p2", TENANT)
        second = await world.get(address, limit=2, cursor=first["cursor"])
        assert [*first["timeline"], *second["timeline"]] == whole[:4]
        switch(database, "p3", TENANT, force="a test")
        error = await world.refusal(address, 409, limit=2, cursor=second["cursor"])
        assert error["code"] == "cursor_of_other_rule"
        for what in ("events", "versions"):
            found = await world.pages(f"/v1/facts/{UUID(bytes=ada.fact_id)}/{what}", what, limit=2)
            assert len(found) == 6
