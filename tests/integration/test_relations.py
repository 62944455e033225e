"""Relations of text memories over HTTP: what counts for a pair, what waits, and a read that waits for a check."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest

from chronofact.domain.events import Decider, FactEnded, FactRevoked, Verdict
from chronofact.domain.interval import format_instant, parse_instant
from tests.integration.reading import NOW, World, world_on
from tests.integration.saying import Said
from tests.integration.texts import Remembered, WordNearness, id_of

MARCH, APRIL, JUNE, JULY = (f"2026-{month:02d}-01T00:00:00Z" for month in (3, 4, 6, 7))
DAY, SECOND = 86_400_000_000, 1_000_000


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database, nearness=WordNearness()) as world:
        yield world


def text_id(said: Said) -> str:
    return str(UUID(bytes=id_of(said)))


async def test_a_read_waits_until_a_memory_was_checked(world: World) -> None:
    ada = Remembered("ada")
    python, go = ada.says_that("User prefers Python", MARCH), ada.says_that("User is switching to Go", JUNE)
    world.tell(python, ada.checked(python), go)
    early = await world.get("/v1/relations", version_id=text_id(go), wait_ms=50)
    assert (early["relations"], early["pending"], early["checked"]) == ([], [], False)
    waiting = asyncio.create_task(world.get("/v1/relations", version_id=text_id(go), wait_ms=10_000))
    await asyncio.sleep(0.1)
    assert not waiting.done()
    began = time.monotonic()
    declared = ada.declares(Verdict.SUPERSEDES, python, go, newer=go)
    await asyncio.to_thread(world.tell, declared, ada.checked(go, pairs=1))
    body = await waiting
    assert time.monotonic() - began < 5
    (relation,) = body["relations"]
    assert body["checked"] is True
    assert {relation["left"], relation["right"]} == {text_id(python), text_id(go)}
    assert (relation["relation"], relation["newer"], relation["decided_by"]) == ("supersedes", text_id(go), "rule")
    assert (relation["reason"], relation["llm_call_made"]) == ("slot_changed", False)
    assert {relation["left_text"], relation["right_text"]} == {"User prefers Python", "User is switching to Go"}
    assert (await world.get("/v1/relations", version_id=text_id(python)))["relations"] == [relation]


async def test_a_person_outranks_and_only_what_counts_is_told(world: World) -> None:
    ada = Remembered("ada")
    one, other = ada.says_that("User likes tea", MARCH), ada.says_that("User adores tea", JUNE)
    world.tell(
        one,
        other,
        ada.declares(Verdict.NEAR_DUPLICATE, one, other, by=Decider.PERSON, decided_at=MARCH),
        ada.declares(Verdict.CONTRADICTS, one, other, by=Decider.MODEL, decided_at=JUNE),
        ada.declares(Verdict.SUPERSEDES, one, other, newer=other, decided_at=JULY),
    )
    (relation,) = (await world.get("/v1/relations", subject="ada"))["relations"]
    assert (relation["relation"], relation["decided_by"], relation["newer"]) == ("near_duplicate", "person", None)
    assert (await world.get("/v1/relations", subject="ada", relation="contradicts"))["relations"] == []
    world.tell(ada.declares(Verdict.SUPERSEDES, one, other, newer=one, by=Decider.PERSON, decided_at=APRIL))
    (relation,) = (await world.get("/v1/relations", subject="ada", relation="supersedes"))["relations"]
    assert relation["newer"] == text_id(one)


async def test_a_subjects_relations_come_by_pages_and_say_whether_all_is_checked(world: World) -> None:
    ada = Remembered("ada")
    said = [ada.says_that(f"note {number}", MARCH) for number in range(8)]
    world.tell(*said, *(ada.checked(one) for one in said[:-1]))
    world.tell(*(ada.declares(Verdict.UNRELATED, said[0], one) for one in said[1:]))
    assert len(await world.pages("/v1/relations", "relations", subject="ada", limit=3)) == 7
    assert (await world.get("/v1/relations", subject="ada"))["checked"] is False
    world.tell(ada.says(FactRevoked(id_of(said[-1]))))
    assert (await world.get("/v1/relations", subject="ada"))["checked"] is True
    assert (await world.get("/v1/relations", subject="bob"))["relations"] == []


@pytest.mark.parametrize(
    ("asked", "field", "code"),
    [
        ({}, "version_id", "parameter_missing"),
        ({"version_id": "x"}, "version_id", "id_malformed"),
        ({"subject": "ada", "relation": "OPEN"}, "relation", "parameter_malformed"),
        ({"subject": "ada", "wait_ms": "30001"}, "wait_ms", "parameter_malformed"),
    ],
)
async def test_what_can_not_be_asked_is_refused(world: World, asked: dict[str, str], field: str, code: str) -> None:
    response = await world.http.get("/v1/relations", params=asked)
    error = response.json()["error"]
    assert (error["field"], error["code"]) == (field, code)


async def test_a_pair_that_waits_comes_with_what_a_person_needs(world: World) -> None:
    ada = Remembered("ada")
    one, other = ada.says_that("User likes " + "tea " * 100, MARCH), ada.says_that("User adores tea")
    world.tell(one, ada.checked(one), other, ada.checked(other, [one], why="model_not_configured"))
    (pair,) = (await world.get("/v1/relations", subject="ada"))["pending"]
    sides = {pair[side]: (pair[f"{side}_text"], pair[f"{side}_valid_from"]) for side in ("left", "right")}
    assert sides == {
        text_id(one): (("User likes " + "tea " * 100)[:280], MARCH),
        text_id(other): ("User adores tea", None),
    }
    assert pair["reason"] == "model_not_configured"
    assert abs(pair["age_s"] - (time.time() - parse_instant(pair["since"]) / 1_000_000)) < 60
    assert (pair["fact"]["subject"], pair["fact"]["key"]) == ("ada", "memory/preferences")
    assert pair["decide_command"] == f"chronofact decide {pair['left']} {pair['right']}"
    of_one = await world.get("/v1/relations", version_id=text_id(one))
    assert (of_one["fact"], of_one["pending"][0]["left_text"]) == (pair["fact"], pair["left_text"])
    world.tell(ada.declares(Verdict.UNRELATED, one, other, by=Decider.PERSON))
    (relation,) = (await world.get("/v1/relations", subject="ada"))["relations"]
    assert {relation["left_valid_from"], relation["right_valid_from"]} == {MARCH, None}


@pytest.mark.parametrize("is_new_revoked", [True, False])
async def test_nothing_waits_for_what_was_revoked(world: World, is_new_revoked: bool) -> None:
    ada = Remembered("ada")
    old, new, other = (ada.says_that(f"User likes tea {number}", MARCH) for number in range(3))
    world.tell(old, ada.checked(old), other, ada.checked(other), new, ada.checked(new, [old, other]))
    known = (await world.get("/v1/relations", subject="ada"))["pending"][0]["since"]
    world.tell(ada.says(FactRevoked(id_of(new if is_new_revoked else old))), appended_at=NOW + SECOND)
    pending = (await world.get("/v1/relations", subject="ada"))["pending"]
    left_out = (await world.get("/v1/memories", subject="ada"))["left_out"]
    assert [{one["left"], one["right"]} for one in pending] == [{text_id(new), text_id(other)}] * (not is_new_revoked)
    assert left_out["pending_pairs"] == (not is_new_revoked)
    world.tell(ada.says(FactRevoked(id_of(other))), appended_at=NOW + 2 * SECOND)
    assert (await world.get("/v1/relations", subject="ada"))["pending"] == []
    then = await world.get("/v1/memories", subject="ada", as_of=known)
    assert then["left_out"]["pending_pairs"] == 1, "that it was revoked was not known then"


async def test_a_memory_that_nobody_knows_is_unchecked(world: World) -> None:
    body = await world.get("/v1/relations", version_id=str(uuid4()), wait_ms=0)
    assert (body["relations"], body["pending"], body["checked"]) == ([], [], False)


async def test_lists_that_may_lack_what_is_parked_say_so(world: World) -> None:
    ada, other, bob = Remembered("ada"), Remembered("ada", "work"), Remembered("bob")
    said, elsewhere = ada.says_that("User likes tea"), bob.says_that("User likes tea")
    poison = Said(ada.partition, ada.fact_id, b"\xc3\x01 no event", b"", None)
    world.tell(said, ada.checked(said), other.says_that("User works"), elsewhere, bob.checked(elsewhere), poison)
    for path, asked, held in (
        ("/v1/memories", {"subject": "ada"}, 1),
        ("/v1/memories", {"subject": "ada", "query": "tea"}, 1),
        ("/v1/memories", {"subject": "ada", "category": "work"}, None),
        ("/v1/memories", {"subject": "bob"}, None),
        ("/v1/relations", {"subject": "ada"}, 1),
        ("/v1/relations", {"subject": "bob"}, None),
        ("/v1/relations", {"version_id": text_id(said)}, 1),
        ("/v1/relations", {"version_id": text_id(elsewhere)}, None),
    ):
        freshness = (await world.get(path, **asked))["freshness"]
        assert (freshness["stale"], freshness.get("held")) == (held is not None, held), (path, asked)


async def test_a_list_that_is_behind_says_so(world: World) -> None:
    ada = Remembered("ada")
    world.tell(ada.says_that("User likes tea"))
    after = world.say(ada.says_that("User likes coffee"))
    for path in ("/v1/memories", "/v1/relations"):
        body = await world.get(path, subject="ada", after=after, wait_ms=0)
        assert (body["freshness"]["stale"], body["freshness"]["because"]) == (True, "behind")
    world.project()
    body = await world.get("/v1/memories", subject="ada", after=after)
    assert (len(body["memories"]), body["freshness"]["stale"]) == (2, False)


# -- whatever happens, a search finds nothing that does not hold


async def told(world: World, dice: Random, ada: Remembered) -> list[int]:
    """A random history in five steps; when each was recorded."""
    said: list[Said] = []
    instants = []
    for step in range(5):
        batch: list[Said] = []
        for _ in range(dice.randrange(1, 5)):
            number = len(said)
            since = None if dice.random() < 0.2 else format_instant(parse_instant(MARCH) + dice.randrange(120) * DAY)
            until = format_instant(parse_instant(JULY) + 60 * DAY) if dice.random() < 0.2 else None
            said.append(ada.says_that(f"note {number} is blue", since, until, confidence=dice.choice([None, 0.3, 0.8])))
            batch.append(said[-1])
        for _ in range(dice.randrange(4)):
            one, other = dice.choice(said), dice.choice(said)
            verdict, at = dice.choice(list(Verdict)), format_instant(parse_instant(MARCH) + dice.randrange(200) * DAY)
            newer = one if verdict is Verdict.SUPERSEDES else None
            by = dice.choice(list(Decider))
            batch.append(ada.declares(verdict, one, other, newer=newer, decided_at=at, by=by))
            batch.append(ada.checked(one, [other]) if dice.random() < 0.3 else ada.checked(one))
        if dice.random() < 0.3:
            batch.append(ada.says(FactRevoked(id_of(dice.choice(said)))))
        if dice.random() < 0.3:
            batch.append(ada.says(FactEnded(id_of(dice.choice(said)), parse_instant(JUNE))))
        dice.shuffle(batch)
        instants.append(NOW + step * SECOND)
        world.tell(*batch, appended_at=instants[-1])
    return instants


@pytest.mark.parametrize("seed", range(3))
async def test_what_is_found_is_among_the_answers_of_resolve(world: World, seed: int) -> None:
    dice = Random(seed)
    ada = Remembered("ada")
    instants: list[int | None] = [*await told(world, dice, ada), None]
    pending = {"include": ["pending_review", "pending_pairs"]}
    for as_of in instants:
        for valid_at in (MARCH, APRIL, JUNE, JULY, "2026-09-15T00:00:00Z"):
            known: dict[str, Any] = {} if as_of is None else {"as_of": format_instant(as_of)}
            answer = await world.get("/v1/resolve", subject="ada", key="memory/preferences", valid_at=valid_at, **known)
            holding = {one["version_id"] for one in answer.get("values", [])}
            asked = {"subject": "ada", "valid_at": valid_at, **known}
            shown = (await world.get("/v1/memories", **asked, **pending))["memories"]
            assert {one["version_id"] for one in shown} == holding
            found = (await world.get("/v1/memories", **asked, query="blue note"))["memories"]
            in_review = {one["version_id"] for one in answer.get("values", []) if one.get("pending_review")}
            waiting = {one["version_id"] for one in shown if one["pending_pairs"]}
            assert {one["version_id"] for one in found} == holding - in_review - waiting
