"""Conflicts as work: listed oldest first with both sides and how to settle them; what decisions do, in any order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import pytest

from chronofact.domain.events import (
    Cardinality,
    ConflictResolved,
    Decider,
    FactRevoked,
    RelationDeclared,
    Verdict,
)
from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.domain.interval import parse_instant
from chronofact.postgres.conflict_counts import ConflictCounts
from tests.integration.reading import NOW, ScopedFact, World, ids_of, world_on
from tests.integration.saying import Fact, Said

JUNE, JULY = "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"
SECOND = 1_000_000


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database) as world:
        yield world


def decides(fact: Fact, pair: Sequence[Said], keep: Said | None, *, at: str = JULY, why: str | None = None) -> Said:
    left, right = sorted(said.version_id or b"" for said in pair)
    kept = keep and keep.version_id
    return fact.says(ConflictResolved(left, right, kept or None, parse_instant(at), "ada", why))


def sides(edge: Any) -> list[str]:
    return [edge["left"]["version_id"], edge["right"]["version_id"]]


async def edges(world: World, **asked: Any) -> list[Any]:
    found: list[Any] = (await world.get("/v1/conflicts", **asked))["conflicts"]
    return found


# -- the list


async def test_the_oldest_conflict_comes_first_with_both_sides_and_the_command(world: World) -> None:
    facts = [Fact(f"person {number}", "lives_in") for number in range(5)]
    for age, fact in enumerate(reversed(facts)):
        world.tell(
            fact.asserts("Paris", JUNE), fact.asserts("Rome", JULY, source="letter"), appended_at=NOW + age * SECOND
        )
    found = await edges(world)
    assert [one["fact"]["subject"] for one in found] == [fact.label for fact in reversed(facts)]
    assert all(one["recorded_at"] < two["recorded_at"] for one, two in pairwise(found))
    first = found[0]
    assert {
        (side["value"], side["source_id"], side["valid_during"][0]) for side in (first["left"], first["right"])
    } == {
        ("Paris", "test", JUNE),
        ("Rome", "letter", JULY),
    }
    assert first["settle"] == {
        "type": "resolve_conflict",
        "subject": str(facts[4].identity.subject_id),
        "scope": "user:self",
        "key": "lives_in",
        "left_version_id": first["left"]["version_id"],
        "right_version_id": first["right"]["version_id"],
        "keep": None,
        "decided_at": None,
    }
    left, right = sides(first)
    command = f"chronofact conflicts settle --fact {first['fact']['fact_id']} --left {left} --right {right}"
    assert first["settle_command"] == command
    assert await world.pages("/v1/conflicts", "conflicts", limit=2) == [
        {**one, "age_s": pytest.approx(one["age_s"], abs=30)} for one in found
    ]
    assert await world.pages("/v1/conflicts", "conflicts", limit=1, relation="OPEN") == [
        {**one, "age_s": pytest.approx(one["age_s"], abs=30)} for one in found
    ]


async def test_edges_of_one_version_are_found_by_it(world: World) -> None:
    ada = Fact("ada")
    said = [ada.asserts(one, JUNE) for one in ("npm", "pnpm", "yarn")]
    world.tell(*said, decides(ada, said[:2], said[0]))
    ids = ids_of(said)
    for relation, count in ((None, 2), ("OPEN", 1), ("RESOLVED", 1)):
        asked = {} if relation is None else {"relation": relation}
        found = await edges(world, version_id=ids[0], **asked)
        assert len(found) == count
        assert all(ids[0] in sides(one) for one in found)
    error = await world.refusal("/v1/conflicts", 422, version_id="x")
    assert (error["code"], error["field"]) == ("id_malformed", "version_id")


# -- decisions


async def test_a_decision_is_told_with_who_and_why_and_a_later_one_undoes_it(world: World) -> None:
    ada = Fact("ada")
    npm, pnpm = ada.asserts("npm", JUNE), ada.asserts("pnpm", JUNE)
    asked = {"subject": "ada", "key": "package_manager"}
    world.tell(npm, pnpm)
    assert (await world.get("/v1/resolve", **asked))["kind"] == "conflict"
    first = decides(ada, [npm, pnpm], npm, why="the lock file")
    world.tell(first)
    (edge,) = await edges(world)
    assert edge["relation"] == "RESOLVED"
    assert edge["decision"] == {
        "event_id": str(UUID(bytes=first.event_id)),
        "keep": ids_of([npm])[0],
        "decided_at": JULY,
        "decided_by": "ada",
        "reason": "the lock file",
    }
    assert edge["settle_command"].endswith("--again")
    assert (await world.get("/v1/resolve", **asked))["value"] == "npm"
    world.tell(decides(ada, [npm, pnpm], pnpm, at="2026-07-02T00:00:00Z"))
    assert (await world.get("/v1/resolve", **asked))["value"] == "pnpm"
    world.tell(decides(ada, [npm, pnpm], None, at="2026-07-01T12:00:00Z"))
    (edge,) = await edges(world)
    assert edge["decision"]["keep"] == ids_of([pnpm])[0], "one decided earlier counts no more, whenever it comes"
    assert (await world.get("/v1/resolve", **asked))["value"] == "pnpm"


async def test_neither_is_kept(world: World) -> None:
    ada = Fact("ada")
    npm, pnpm = ada.asserts("npm", JUNE), ada.asserts("pnpm", JUNE)
    world.tell(npm, pnpm, decides(ada, [npm, pnpm], None))
    found = await world.get("/v1/resolve", subject="ada", key="package_manager")
    assert (found["kind"], found["reason"]) == ("unknown", "excluded")
    (edge,) = await edges(world)
    assert (edge["relation"], edge["decision"]["keep"]) == ("RESOLVED", None)


async def test_a_decision_that_comes_before_its_versions_applies_once_they_are_there(world: World) -> None:
    ada = Fact("ada")
    npm, pnpm = ada.asserts("npm", JUNE), ada.asserts("pnpm", JUNE)
    world.tell(decides(ada, [npm, pnpm], npm))
    assert await edges(world) == []
    world.tell(npm)
    assert await edges(world) == []
    assert (await world.get("/v1/resolve", subject="ada", key="package_manager"))["value"] == "npm"
    world.tell(pnpm)
    (edge,) = await edges(world)
    assert edge["relation"] == "RESOLVED"
    assert (await world.get("/v1/resolve", subject="ada", key="package_manager"))["value"] == "npm"


async def test_a_decision_that_is_taken_back_never_counted(world: World) -> None:
    ada = Fact("ada")
    npm, pnpm = ada.asserts("npm", JUNE), ada.asserts("pnpm", JUNE)
    earlier = decides(ada, [npm, pnpm], npm)
    later = decides(ada, [npm, pnpm], pnpm, at="2026-07-02T00:00:00Z")
    world.tell(npm, pnpm, earlier, later)
    world.tell(ada.says(FactRevoked(event_id=later.event_id)))
    (edge,) = await edges(world)
    assert edge["decision"]["keep"] == ids_of([npm])[0], "the one before it counts again"
    world.tell(ada.says(FactRevoked(event_id=earlier.event_id)))
    (edge,) = await edges(world)
    assert (edge["relation"], edge.get("decision")) == ("OPEN", None)
    assert (await world.get("/v1/resolve", subject="ada", key="package_manager"))["kind"] == "conflict"


# -- verdicts


async def test_a_contradiction_is_an_edge_whatever_the_values_and_names_the_side_under_review(world: World) -> None:
    ada = Fact("ada", "likes")
    said = [ada.asserts("tea", JUNE, cardinality=Cardinality.MANY, source=one) for one in "ab"]
    left, right = sorted(one.version_id or b"" for one in said)
    verdict = RelationDeclared(left, right, Verdict.CONTRADICTS, None, parse_instant(JULY), Decider.MODEL)
    world.tell(*said, ada.says(verdict))
    (edge,) = await edges(world, relation="OPEN")
    assert edge["pending_review"] == sides(edge)[1], "none is lowest; ties: the higher id"
    found = await world.get("/v1/resolve", subject="ada", key="likes")
    assert found["edges"] == [{"left": sides(edge)[0], "right": sides(edge)[1], "relation": "OPEN"}]
    assert [one.get("pending_review") for one in found["values"]] == [None, True]
    (listed,) = (await world.get("/v1/facts", subject="ada"))["facts"]
    assert (listed["edges"], listed["values"]) == (found["edges"], found["values"])
    world.tell(decides(ada, said, said[0]))
    settled = await world.get("/v1/resolve", subject="ada", key="likes")
    assert "edges" not in settled
    assert [one["version_id"] for one in settled["values"]] == ids_of(said[:1])


async def test_versions_in_conflict_that_agree_are_joined_by_a_verdict(world: World) -> None:
    ada = Fact("ada")
    said = [ada.asserts(value, JUNE, source=source) for value, source in (("npm", "a"), ("npm", "b"), ("pnpm", "c"))]
    left, right = sorted(one.version_id or b"" for one in said[:2])
    verdict = RelationDeclared(left, right, Verdict.CONTRADICTS, None, parse_instant(JULY), Decider.PERSON)
    world.tell(*said, ada.says(verdict))
    found = await world.get("/v1/resolve", subject="ada", key="package_manager")
    ids = sorted(ids_of(said))
    assert [(one["left"], one["right"]) for one in found["edges"]] == [
        (one, two) for at, one in enumerate(ids) for two in ids[at + 1 :]
    ]
    assert len(await edges(world, relation="OPEN")) == 3


# -- a fact that is held


async def test_the_conflict_of_a_held_fact_says_how_much_is_parked(world: World) -> None:
    ada = ScopedFact("ada", ("repo", "acme/web"))
    world.tell(ada.asserts("npm", JUNE), ada.asserts("pnpm", JUNE))
    world.topic.append_raw(ada.partition, ada.fact_id, b"no event", appended_at=NOW)
    world.project()
    (edge,) = await edges(world)
    assert edge["held"] == 1


# -- metrics


async def test_open_conflicts_are_counted_by_tenant(world: World, database: str) -> None:
    acme = uuid4()
    for tenant, subjects in ((acme, ("ada",)), (DEVELOPMENT_TENANT, ("bob", "cleo"))):
        for number, subject in enumerate(subjects):
            fact = Fact(subject, tenant=tenant)
            world.tell(*(fact.asserts(one, JUNE) for one in "abc"[: 2 + number]), appended_at=NOW + number * SECOND)
    settled = Fact("dora")
    pair = [settled.asserts(one, JUNE) for one in "ab"]
    world.tell(*pair, decides(settled, pair, None))
    found = {one.tenant_id: one for one in ConflictCounts(database).count()}
    assert {one: (counted.conflicts, counted.facts) for one, counted in found.items()} == {
        str(acme): (1, 1),
        str(DEVELOPMENT_TENANT): (4, 2),
    }
    ages = [one["age_s"] for one in await edges(world, relation="OPEN")]
    assert found[str(DEVELOPMENT_TENANT)].oldest_s == pytest.approx(max(ages), abs=60)
