"""The reader over a real database: what it answers, how fresh it says that is, and to whom."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import psycopg
import pytest

from chronofact.contracts.position import Position
from chronofact.contracts.reading import Ask
from chronofact.domain.events import Cardinality, FactEnded, FactRevoked
from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.domain.interval import parse_instant
from tests.integration.cut_wire import wire_to
from tests.integration.reading import NOW, ScopedFact, World, ids_of, spelled, until, world_on
from tests.integration.saying import Fact

JUNE, JULY, AUGUST = "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z", "2026-08-01T00:00:00Z"


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database) as world:
        yield world


def fact_id(fact: Fact) -> str:
    return str(UUID(bytes=fact.fact_id))


# -- answers


async def test_a_value_says_what_the_contract_says(world: World) -> None:
    ada = Fact("ada")
    npm, pnpm = ada.asserts("npm", JUNE, JULY), ada.asserts("pnpm", JULY)
    again = ada.asserts("pnpm", AUGUST, source="another")
    position = world.tell(npm, pnpm, again)
    first, second, third = ids_of([npm, pnpm, again])
    body = await world.get("/v1/resolve", subject="ada", key="package_manager", valid_at="2026-07-15T02:00:00+02:00")
    freshness = body.pop("freshness")
    assert body == {
        "kind": "value",
        "value": "pnpm",
        "version_id": second,
        "agreeing": [second],
        "valid_during": [JULY, None],
        "recorded_at": "2027-01-15T08:00:00Z",
        "fact": {"fact_id": fact_id(ada), "subject": "ada", "scope": "user:self", "key": "package_manager"},
        "valid_at": "2026-07-15T00:00:00Z",
        "as_of": None,
    }
    assert (freshness["projection"], freshness["rule"], freshness["stale"]) == ("p1", 1, False)
    assert Position.parse(position).is_passed_by(Position.parse(freshness["position"]).next_offsets)
    later = await world.get("/v1/resolve", subject="ada", key="package_manager", valid_at=AUGUST)
    assert (later["version_id"], later["agreeing"]) == (third, sorted([second, third]))
    assert later["valid_during"] == [JULY, None]
    before = await world.get(
        "/v1/resolve", subject="ada", key="package_manager", valid_at="2026-06-30T23:59:59.999999Z"
    )
    assert (before["version_id"], before["valid_during"]) == (first, [JUNE, JULY])


async def test_values_and_conflicts_list_their_versions(world: World) -> None:
    likes, lives = Fact("ada", "likes"), Fact("ada", "lives_in")
    said = [likes.asserts(one, JUNE, cardinality=Cardinality.MANY) for one in ("tea", "jazz", "fog")]
    paris, rome = lives.asserts("Paris", JUNE), lives.asserts("Rome", JULY)
    world.tell(*said, paris, rome)
    world.tell(lives.says(FactEnded(rome.version_id or b"", parse_instant(AUGUST))), appended_at=NOW + 1_000_000)
    many = await world.get("/v1/resolve", subject="ada", key="likes", valid_at=JULY)
    assert many["kind"] == "values"
    assert [one["version_id"] for one in many["values"]] == sorted(ids_of(said))
    assert {one["value"] for one in many["values"]} == {"tea", "jazz", "fog"}
    assert many["valid_during"] == [JUNE, None]
    torn = await world.get("/v1/resolve", subject="ada", key="lives_in", valid_at="2026-07-15T00:00:00Z")
    assert torn["kind"] == "conflict"
    left, right = sorted(ids_of([paris, rome]))
    assert torn["edges"] == [{"left": left, "right": right, "relation": "OPEN"}]
    assert torn["valid_during"] == [JULY, AUGUST]
    sides = {one["value"]: one for one in torn["versions"]}
    assert sides["Paris"]["valid_during"] == [JUNE, None]
    assert sides["Rome"]["valid_during"] == [JULY, AUGUST]
    assert sides["Rome"]["source_id"] == "test"
    then = await world.get(
        "/v1/resolve", subject="ada", key="lives_in", valid_at=JULY, as_of="2027-01-15T08:00:00.500000Z"
    )
    assert {one["value"]: one["valid_during"] for one in then["versions"]}["Rome"] == [JULY, None]


async def test_a_withdrawn_winner_gives_the_loser_back_but_not_as_known_then(world: World) -> None:
    ada = Fact("ada")
    npm = ada.asserts("npm", JUNE, import_time=parse_instant(JUNE))
    pnpm = ada.asserts("pnpm", JUNE, JULY, source="chat", import_time=parse_instant(JULY))
    world.tell(npm, pnpm, ada.says(FactRevoked(version_id=npm.version_id), import_time=parse_instant(AUGUST)))
    asked = {"subject": "ada", "key": "package_manager", "valid_at": "2026-06-15T00:00:00Z"}
    assert (await world.get("/v1/resolve", **asked))["value"] == "pnpm"
    assert (await world.get("/v1/resolve", **asked, as_of="2026-07-15T00:00:00Z"))["kind"] == "conflict"
    assert (await world.get("/v1/resolve", **asked, as_of="2026-06-15T00:00:00Z"))["value"] == "npm"
    assert (await world.get("/v1/resolve", **asked, as_of="2026-05-15T00:00:00Z"))["reason"] == "not_yet_known"
    assert (await world.get("/v1/resolve", subject="ada", key="other"))["reason"] == "never_recorded"


async def test_the_nearest_scope_that_answers_answers_and_only_for_that_long(world: World) -> None:
    in_task, in_repo = ScopedFact("ada", ("task", "t1")), ScopedFact("ada", ("repo", "acme/web"))
    only_now = in_task.asserts("yarn", JULY, AUGUST)
    world.tell(only_now, in_repo.asserts("npm", JUNE), Fact("ada").asserts("pip", JUNE))
    chain = ["task:t1", "repo:Acme/Web", "user:self"]
    asked = {"subject": "ada", "key": "package_manager", "scope": chain}
    found = await world.get("/v1/resolve", **asked, valid_at="2026-07-15T00:00:00Z")
    assert (found["value"], found["fact"]["scope"], found["valid_during"]) == ("yarn", "task:t1", [JULY, AUGUST])
    found = await world.get("/v1/resolve", **asked, valid_at="2026-06-15T00:00:00Z")
    assert (found["value"], found["fact"]["scope"], found["valid_during"]) == ("npm", "repo:acme/web", [JUNE, JULY])
    found = await world.get("/v1/resolve", **asked, valid_at="2026-09-01T00:00:00Z")
    assert (found["value"], found["valid_during"]) == ("npm", [AUGUST, None])
    (found,) = (await world.ask([{**asked, "valid_at": "2020-01-01T00:00:00Z"}]))["answers"]
    assert (found["kind"], found["reason"], found["fact"]["scope"]) == ("unknown", "not_yet_valid", "task:t1")
    assert found["valid_during"] == [None, JUNE], "from June on a wider scope answers"
    found = await world.get("/v1/resolve", subject="ada", key="none", scope=chain)
    assert (found["reason"], found["fact"]["scope"]) == ("never_recorded", "task:t1")


async def test_the_instant_that_1970_began_is_an_instant_like_others(world: World) -> None:
    epoch = "1970-01-01T00:00:00Z"
    world.tell(Fact("ada").asserts("npm", None, "1970-01-02T00:00:00Z"))
    asked = {"subject": "ada", "key": "package_manager", "valid_at": epoch}
    (in_batch,) = (await world.ask([asked]))["answers"]
    alone = await world.get("/v1/resolve", **asked)
    (listed,) = (await world.get("/v1/facts", subject="ada", valid_at=epoch))["facts"]
    assert [(one["kind"], one["valid_at"]) for one in (in_batch, alone, listed)] == [("value", epoch)] * 3
    (before,) = (await world.ask([{**asked, "as_of": epoch}]))["answers"]
    assert (before["reason"], before["as_of"]) == ("not_yet_known", epoch)


async def test_ten_thousand_answers_come_in_order(world: World) -> None:
    facts = [Fact(f"person {number}") for number in range(300)]
    world.tell(*(fact.asserts(number, JUNE) for number, fact in enumerate(facts)))
    queries = [
        {"subject": f"person {number % 301}", "key": "package_manager", "valid_at": JULY} for number in range(10_000)
    ]
    body = await world.ask(queries)
    assert len(body["answers"]) == 10_000
    for number, answer in enumerate(body["answers"]):
        assert answer.get("value", "nobody") == (number % 301 if number % 301 < 300 else "nobody")
        assert answer["freshness"] == body["freshness"]


async def test_a_snapshot_does_not_move(world: World) -> None:
    ada = Fact("ada")
    world.tell(ada.asserts("npm", JUNE))
    ask = Ask(ada.fact_id, parse_instant(AUGUST), None)
    async with world.store.snapshot(DEVELOPMENT_TENANT) as snapshot:
        before = await snapshot.answers([ask])
        await asyncio.to_thread(world.tell, ada.asserts("pnpm", JULY))
        assert await snapshot.answers([ask]) == before
        assert (await snapshot.answers([ask]))[0].kind == 1
    _, after = await world.store.answer(DEVELOPMENT_TENANT, ask)
    assert after.kind == 2


async def test_what_starts_later_becomes_current_without_an_event(world: World, database: str) -> None:
    ada, start = Fact("ada"), time.time_ns() // 1_000 + 1_500_000
    old, new = ada.asserts("npm", JUNE, start), ada.asserts("pnpm", start)
    world.tell(old, new)
    current = "select value_json from chronofact.memory_current where fact_key = 'package_manager'"
    by_function = "select value_json from chronofact.current(%s::uuid)"
    with psycopg.connect(database, autocommit=True) as connection:
        for wanted in ("npm", "pnpm"):
            asked = await world.get("/v1/resolve", subject="ada", key="package_manager")
            assert asked["value"] == wanted
            assert connection.execute(current).fetchall() == [(wanted,)]
            assert connection.execute(by_function, (fact_id(ada),)).fetchone() == (wanted,)
            await asyncio.sleep(max(0.0, (start - time.time_ns() // 1_000) / 1e6) + 0.01)


# -- lists


async def test_facts_come_by_page_in_a_stable_order(world: World) -> None:
    keys = [f"k{number:02}" for number in range(25)]
    world.tell(
        *(Fact("ada", key).asserts(key, JUNE) for key in keys), ScopedFact("ada", ("task", "t"), "k00").asserts(1)
    )
    world.tell(Fact("bob", "k00").asserts("bob's"))
    whole = (await world.get("/v1/facts", subject="ada"))["facts"]
    assert [one["fact"]["key"] for one in whole] == ["k00", *keys]
    assert {one["fact"]["scope"] for one in whole} == {"task:t", "user:self"}
    assert await world.pages("/v1/facts", "facts", subject="ada", limit=7, valid_at=JULY) == [
        {**one, "valid_at": JULY, "freshness": one["freshness"]} for one in whole
    ]
    only = await world.get("/v1/facts", subject="ada", scope="user:self", prefix="k1", valid_at="2026-05-01T00:00:00Z")
    assert [one["fact"]["key"] for one in only["facts"]] == keys[10:20]
    assert {one["reason"] for one in only["facts"]} == {"not_yet_valid"}


async def test_a_fact_shows_its_events_versions_and_timeline(world: World) -> None:
    ada = Fact("ada")
    npm = ada.asserts("npm", JUNE, import_time=parse_instant(JUNE))
    pnpm = ada.asserts({"name": "pnpm"}, JULY, import_time=parse_instant(JULY))
    ended = ada.says(FactEnded(npm.version_id or b"", parse_instant(JULY)), import_time=parse_instant(AUGUST))
    world.tell(npm, pnpm, ended)
    address = f"/v1/facts/{fact_id(ada)}"
    events = (await world.get(f"{address}/events"))["events"]
    assert [one["event_type"] for one in events] == ["FactAsserted", "FactAsserted", "FactEnded"]
    assert [one["event_seq"] for one in events] == [1, 2, 3]
    assert events[1]["payload"]["value"] == {"name": "pnpm"}
    assert events[2]["recorded_at"] == AUGUST
    assert await world.pages(f"{address}/events", "events", limit=1) == events
    versions = (await world.get(f"{address}/versions"))["versions"]
    assert [(one["value"], one["lifecycle"]) for one in versions] == [("npm", "ACTIVE"), ({"name": "pnpm"}, "ACTIVE")]
    assert await world.pages(f"{address}/versions", "versions", limit=1) == versions
    timeline = (await world.get(f"{address}/timeline"))["timeline"]
    assert [(one["kind"], *one["valid_during"], *one["known_during"]) for one in timeline] == [
        ("unknown", None, JUNE, JUNE, None),
        ("value", JUNE, None, JUNE, JULY),
        ("value", JUNE, JULY, JULY, None),
        ("conflict", JULY, None, JULY, AUGUST),
        ("value", JULY, None, AUGUST, None),
    ]
    assert timeline[-1]["value"] == {"name": "pnpm"}
    assert await world.pages(f"{address}/timeline", "timeline", limit=2) == timeline


async def test_conflicts_are_listed_with_both_values_and_how_to_settle_them(world: World) -> None:
    ada, bob = Fact("ada"), Fact("bob", "lives_in")
    said = [ada.asserts(one, JUNE) for one in ("npm", "pnpm", "yarn")]
    world.tell(*said, bob.asserts("Paris"), bob.asserts("Rome"))
    edges = (await world.get("/v1/conflicts"))["conflicts"]
    assert len(edges) == 4
    assert await world.pages("/v1/conflicts", "conflicts", limit=1) == [
        {**one, "age_s": pytest.approx(one["age_s"], abs=30)} for one in edges
    ]
    mine = (await world.get("/v1/conflicts", subject="ada", relation="OPEN"))["conflicts"]
    assert [(one["left"]["version_id"], one["right"]["version_id"]) for one in mine] == [
        (a, b) for at, a in enumerate(sorted(ids_of(said))) for b in sorted(ids_of(said))[at + 1 :]
    ]
    assert {one["open_in_fact"] for one in mine} == {3}
    assert mine[0]["settle"]["left_version_id"] == mine[0]["left"]["version_id"]
    (his,) = (await world.get("/v1/conflicts", fact_id=fact_id(bob)))["conflicts"]
    assert {his["left"]["value"], his["right"]["value"]} == {"Paris", "Rome"}
    assert (await world.get("/v1/conflicts", key="lives_in", relation="RESOLVED"))["conflicts"] == []


# -- freshness


async def test_a_read_waits_until_the_projection_has_passed_a_position(world: World) -> None:
    ada = Fact("ada")
    world.tell(Fact("bob").asserts("npm"))
    after = world.say(ada.asserts("npm", JUNE))
    asked = {"subject": "ada", "key": "package_manager", "after": after}
    folded = await world.get("/v1/resolve", **asked, wait_ms=50)
    assert (folded["value"], folded["freshness"]["stale"], folded["freshness"]["tail_events"]) == ("npm", False, 1)
    assert (await world.get("/v1/facts", subject="ada", after=after, wait_ms=0))["freshness"]["stale"] is True
    waiting = asyncio.create_task(world.get("/v1/resolve", **asked, wait_ms=20_000))
    batch = asyncio.create_task(world.ask({"queries": [{"subject": "ada", "key": "package_manager"}], "after": after}))
    await asyncio.sleep(0.2)
    assert not waiting.done()
    await asyncio.to_thread(world.project)
    found = await waiting
    assert (found["value"], found["freshness"]["stale"]) == ("npm", False)
    assert (await batch)["answers"][0]["value"] == "npm"


async def test_the_lag_is_counted_and_timed(world: World) -> None:
    world.tell(Fact("bob").asserts("npm"))
    world.say(*(Fact("bob").asserts(number) for number in range(5)))
    asked = {"subject": "bob", "key": "package_manager"}

    async def lags() -> bool:
        found = (await world.get("/v1/resolve", **asked))["freshness"]
        return bool(found["lag_events"] == 5 and found["lag_s"] > 0.2)

    await until(lags)
    world.project()

    async def caught_up() -> bool:
        found = (await world.get("/v1/resolve", **asked))["freshness"]
        return bool(found["lag_events"] == 0 and found["lag_s"] == 0)

    await until(caught_up)


async def test_a_position_of_another_topic_can_t_be_waited_for(world: World) -> None:
    world.tell(Fact("ada").asserts("npm"))
    other = Position(bytes(16), {0: 1}).encode()
    error = await world.refusal("/v1/resolve", 400, subject="ada", key="k", after=other)
    assert (error["code"], error["field"]) == ("position_of_other_topic", "after")


async def test_answers_of_a_held_fact_say_so(world: World) -> None:
    ada, bob = Fact("ada"), Fact("bob")
    world.tell(ada.asserts("npm", JUNE), bob.asserts("npm", JUNE))
    world.topic.append_raw(ada.partition, ada.fact_id, b"no event", appended_at=NOW)
    world.tell(ada.asserts("pnpm", JUNE))
    found = await world.get("/v1/resolve", subject="ada", key="package_manager")
    assert found["value"] == "npm"
    assert (found["freshness"]["stale"], found["freshness"]["held"]) == (True, 2)
    other = await world.get("/v1/resolve", subject="bob", key="package_manager")
    assert other["freshness"]["stale"] is False
    assert (await world.get(f"/v1/facts/{fact_id(ada)}/events"))["freshness"]["held"] == 2


# -- who may


async def test_tenants_see_nothing_of_one_another(world: World) -> None:
    ada = Fact("ada")
    world.tell(ada.asserts("npm"), ada.asserts("pnpm"))
    world.http.headers["x-tenant-id"] = str(uuid4())
    assert (await world.get("/v1/resolve", subject="ada", key="package_manager"))["reason"] == "never_recorded"
    assert (await world.get("/v1/facts", subject=str(ada.identity.subject_id)))["facts"] == []
    assert (await world.get("/v1/conflicts"))["conflicts"] == []
    assert (await world.get("/v1/conflicts", fact_id=fact_id(ada)))["conflicts"] == []
    for what in ("events", "versions", "timeline"):
        error = await world.refusal(f"/v1/facts/{fact_id(ada)}/{what}", 404)
        assert error["code"] == "not_found"


# -- surroundings


async def test_postgres_away_is_named_and_comes_back_by_itself(database: str) -> None:
    async with wire_to(database) as (wire, reading), world_on(database, reading=reading) as world:
        world.tell(Fact("ada").asserts("npm"))
        asked = {"subject": "ada", "key": "package_manager"}
        assert (await world.get("/v1/resolve", **asked))["value"] == "npm"
        wire.cut()
        for call in ("/v1/resolve?subject=ada&key=package_manager", "/v1/facts?subject=ada", "/v1/conflicts"):
            response = await world.http.get(call)
            assert response.status_code == 503
            assert response.json()["error"]["code"] == "postgres_away"
            assert response.headers["retry-after"]
        reasons = spelled(await world.http.get("/readyz"), 503)["reasons"]
        assert [(one["part"], one["code"]) for one in reasons] == [("postgres", "postgres_away")]
        assert (await world.get("/livez"))["status"] == "alive"
        wire.mend()

        async def is_back() -> bool:
            ready = await world.http.get("/readyz")
            return ready.status_code == 200 and (await world.http.get("/v1/resolve", params=asked)).status_code == 200

        await until(is_back)


async def test_a_database_that_was_not_migrated_names_the_remedy(empty_database: str, database: str) -> None:
    async with world_on(database, reading=empty_database) as world:
        error = await world.refusal("/v1/resolve", 503, subject="ada", key="k")
        assert error["code"] == "postgres_not_migrated"
        (reason,) = spelled(await world.http.get("/readyz"), 503)["reasons"]
        assert "chronofact migrate" in reason["remedy"]
