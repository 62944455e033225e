"""The two rules over HTTP and in SQL: the page's example, and a folded tail that says what the projection will say."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from chronofact.postgres.session import connect
from tests.contract.checking import folded_by
from tests.integration.reading import World, world_on
from tests.integration.saying import Fact
from tests.integration.test_freshness_fold import CHAIN, judge
from tests.property.spelled import spelled
from tests.property.strategies import PROFILES, random_history

NFC, NFD = "caf\u00e9", "cafe\u0301"
MAY = "2026-05-01T00:00:00Z"
rules = pytest.mark.parametrize("rule", [1, 2])


def by_rule(database: str, rule: int) -> None:
    with connect(database, "test") as connection:
        folded_by(connection, rule)


async def told(world: World, fact: Fact, **read: Any) -> dict[str, Any]:
    asked = {"subject": fact.label, "key": "package_manager", **read}
    return {
        "resolve": await world.get("/v1/resolve", **asked, valid_at=MAY),
        "explain": await world.get("/v1/explain", **asked, valid_at=MAY),
    }


@rules
@pytest.mark.parametrize("is_projected", [False, True])
async def test_cafe_spelled_twice_is_a_conflict_by_rule_1_and_a_value_by_rule_2(
    database: str, rule: int, *, is_projected: bool
) -> None:
    by_rule(database, rule)
    fact = Fact("ana")
    async with world_on(database) as world:
        world.tell(Fact("somebody").asserts("x"))
        after = world.say(
            fact.asserts(NFC, "2026-01-01T00:00:00Z", source="menu"),
            fact.asserts(NFD, "2026-02-01T00:00:00Z", source="website"),
        )
        if is_projected:
            world.project()
        found = await told(world, fact, after=after, wait_ms=0)
        resolved, explained = found["resolve"], found["explain"]
        assert resolved["freshness"]["rule"] == rule
        assert ("tail_events" in resolved["freshness"]) is not is_projected
        assert explained["answer"]["kind"] == resolved["kind"]
        if rule == 1:
            assert (resolved["kind"], len(resolved["edges"])) == ("conflict", 1)
            first = explained["sentences"][0]
            assert first.startswith("It is not settled since 1 February 2026: ")
            assert "said by menu" in first
            assert "said by website" in first
            return
        assert (resolved["kind"], resolved["value"], len(resolved["agreeing"])) == ("value", NFD, 2)
        assert resolved["valid_during"] == ["2026-01-01T00:00:00Z", None]
        assert "by the sources website and menu" in explained["sentences"][0]
        if is_projected:
            context = await world.get("/v1/context", subject="ana", scope="user:self", wait_ms=0)
            assert [len(one["sources"]) for one in context["settled"]] == [2]
            assert context["questions_count"]["conflict"] == 0
            assert (await world.get("/v1/conflicts"))["conflicts"] == []


@rules
async def test_sql_says_what_http_says(database: str, rule: int) -> None:
    by_rule(database, rule)
    fact = Fact("ana")
    async with world_on(database) as world:
        world.tell(fact.asserts(NFC, "2026-01-01T00:00:00Z"), fact.asserts([NFD], "2026-02-01T00:00:00Z", source="b"))
        world.tell(fact.asserts(NFD, "2026-01-01T00:00:00Z", source="c"), fact.asserts([NFC], source="d"))
        with connect(database, "test") as connection:
            for at in ("2025-01-01T00:00:00Z", "2026-01-15T00:00:00Z", MAY):
                http = await world.get("/v1/resolve", subject="ana", key="package_manager", valid_at=at)
                line = connection.execute(
                    "select kind, cardinality(version_ids), lower(valid_during), upper(valid_during)"
                    " from chronofact.resolve((select fact_id from p1.fact), %s)",
                    (at,),
                ).fetchone()
                count = len(http["agreeing"] if http["kind"] == "value" else http["versions"])
                assert line is not None
                assert line[:2] == (http["kind"], count)
                bounds = [None if one is None else f"{one:%Y-%m-%dT%H:%M:%SZ}" for one in line[2:]]
                assert bounds == http["valid_during"]


@rules
async def test_a_folded_tail_of_spelled_histories_says_what_the_projection_will_say(database: str, rule: int) -> None:
    by_rule(database, rule)
    async with world_on(database) as world:
        for profile in PROFILES:
            rng = Random(f"spelled tail {profile}")
            chains = [
                [spelled(random_history(rng, rng.randint(2, 10), profile)) for _ in range(rng.randint(1, len(CHAIN)))]
                for _ in range(rule)  # by rule 1 nothing is done about spelling: test_freshness_fold.py has more of it
            ]
            assert await judge(world, f"{profile} by rule {rule}", chains) > 0


async def test_a_projection_of_a_rule_that_nobody_knows_is_not_read(database: str) -> None:
    async with world_on(database) as world:
        world.tell(Fact("ana").asserts("npm"))
        with connect(database, "test") as connection:
            connection.execute("update chronofact.projection set rule = 9 where name = 'p1'")
        for path in ("/v1/resolve", "/v1/explain"):
            refused = await world.refusal(path, 503, subject="ana", key="package_manager")
            assert refused["code"] == "rule_unknown"
