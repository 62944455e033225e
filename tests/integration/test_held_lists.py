"""Lists that may lack what is parked say so, whatever they are asked by; those that lack nothing do not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from chronofact.contracts.reading import Scopes
from chronofact.domain.events import Cardinality
from chronofact.postgres import reading_store
from chronofact.reader.held import Covered
from tests.integration.reading import ScopedFact, World, world_on
from tests.integration.saying import Fact, Said

ADA = ScopedFact("ada", ("user", "self"))
LIKING = ScopedFact("ada", ("user", "self"), "memory/preference")
LISTS = ("/v1/facts", "/v1/context", "/v1/conflicts")
OF_MEMORIES = ("/v1/memories", "/v1/relations")
OTHER_TENANT = uuid4()


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database) as world:
        yield world


def poison_of(fact: Fact) -> Said:
    return Said(fact.partition, fact.fact_id, b"\xc3\x01 no event", b"", None)


async def told(world: World, path: str, **asked: Any) -> tuple[bool, str | None, int | None]:
    freshness = (await world.get(path, **asked))["freshness"]
    return freshness["stale"], freshness.get("because"), freshness.get("held")


HELD = (True, "held", 2)
FRESH = (False, None, None)


@pytest.mark.parametrize("is_known", [True, False])
async def test_every_list_that_covers_a_held_fact_says_so(world: World, is_known: bool) -> None:
    first = [ADA.asserts("npm")] if is_known else []
    after = world.tell(*first, poison_of(ADA), ADA.asserts("pnpm"), Fact("bob").asserts("npm"))
    for path in LISTS:
        assert await told(world, path, subject="ada", after=after) == HELD, path
        assert await told(world, path, subject="bob", after=after) == FRESH, path
    assert await told(world, "/v1/conflicts", after=after) == HELD
    assert await told(world, "/v1/conflicts", fact_id=ADA.id_text, after=after) == HELD
    assert await told(world, "/v1/conflicts", fact_id=str(UUID(bytes=Fact("bob").fact_id)), after=after) == FRESH


async def test_lists_of_memories_are_held_by_memories_alone(world: World) -> None:
    liking = [LIKING.asserts(text, cardinality=Cardinality.MANY) for text in ("likes tea", "likes coffee")]
    after = world.tell(poison_of(ADA), ADA.asserts("pnpm"), liking[0], poison_of(LIKING), liking[1])
    for path in OF_MEMORIES:
        assert await told(world, path, subject="ada", after=after) == HELD, path
        assert await told(world, path, subject="bob", after=after) == FRESH, path


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_list_narrowed_to_other_facts_lacks_nothing(world: World, is_known: bool) -> None:
    world.tell(*([ADA.asserts("npm")] if is_known else []), poison_of(ADA), ADA.asserts("pnpm"))
    for narrowed in ({"scope": "repo:a/b"}, {"prefix": "editor"}):
        for path in ("/v1/facts", "/v1/context"):
            assert await told(world, path, subject="ada", **narrowed) == FRESH, (path, narrowed)
    assert await told(world, "/v1/conflicts", key="editor") == FRESH
    headers = {"X-Tenant-Id": str(OTHER_TENANT)}
    for path in LISTS:
        response = await world.http.get(path, params={"subject": "ada"}, headers=headers)
        assert response.json()["freshness"]["stale"] is False, path


async def test_what_nobody_can_say_whose_it_is_makes_every_list_stale(world: World) -> None:
    world.tell(poison_of(ADA), Fact("bob").asserts("npm"))
    for path in LISTS:
        assert await told(world, path, subject="bob") == (True, "held", 1), path


async def test_more_than_a_list_looks_at_is_never_called_fresh(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_store, "HELD_MESSAGES_MAX", 1)
    world.tell(poison_of(ADA), ADA.asserts("pnpm"), Fact("bob").asserts("npm"))
    for path in LISTS:
        assert (await told(world, path, subject="bob"))[:2] == (True, "held"), path


@pytest.mark.parametrize("what", ["events", "versions", "timeline"])
@pytest.mark.parametrize("is_projected", [True, False])
async def test_a_fact_of_which_nothing_could_be_applied_is_held_not_unknown(
    world: World, what: str, is_projected: bool
) -> None:
    after = world.say(poison_of(ADA), ADA.asserts("pnpm"))
    if is_projected:
        world.project()
    error = await world.refusal(f"/v1/facts/{ADA.id_text}/{what}", 409, after=after, wait_ms=0)
    assert (error["code"], error["field"]) == ("fact_held", "fact_id")
    assert "2 messages" in error["message"]


async def test_a_held_fact_of_another_tenant_is_unknown(world: World) -> None:
    world.tell(poison_of(ADA), ADA.asserts("pnpm"))
    headers = {"X-Tenant-Id": str(OTHER_TENANT)}
    response = await world.http.get(f"/v1/facts/{ADA.id_text}/events", headers=headers)
    assert response.status_code == 404


def test_a_list_covers_what_its_parameters_and_its_credential_let_in() -> None:
    fact = ADA.identity
    of_all = Covered(fact.tenant_id)
    assert of_all.covers(fact)
    let_in: tuple[dict[str, Any], ...] = (
        {"subject_id": fact.subject_id},
        {"chain": (("repo", "a/b"), ("user", "self"))},
        {"key": "package_manager"},
        {"prefix": "package_"},
        {"scopes": Scopes(("user:self",), ())},
        {"scopes": Scopes((), ("user:",))},
    )
    left_out: tuple[dict[str, Any], ...] = (
        {"tenant_id": OTHER_TENANT},
        {"subject_id": OTHER_TENANT},
        {"chain": (("repo", "a/b"),)},
        {"key": "package"},
        {"prefix": "editor"},
        {"scopes": Scopes(("user",), ("repo:",))},
    )
    assert all(replace(of_all, **one).covers(fact) for one in let_in)
    assert not any(replace(of_all, **one).covers(fact) for one in left_out)
