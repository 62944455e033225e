"""Text memories over HTTP: what holds is listed and found, what gave way or waits is left out, and says so when asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest

from chronofact.contracts.scope_kinds import ScopeKinds
from chronofact.domain.events import Cardinality, Decider, FactRevoked, Lifecycle, RelationsChecked, Verdict
from chronofact.runtime.auth import TokenCredentials
from chronofact.runtime.config import Settings
from tests.integration.reading import NOW, World, world_on
from tests.integration.saying import Fact, Said
from tests.integration.texts import Remembered, WordNearness, id_of

MARCH, APRIL, JUNE, JULY = (f"2026-{month:02d}-01T00:00:00Z" for month in (3, 4, 6, 7))
SECOND = 1_000_000


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database, nearness=WordNearness()) as world:
        yield world


async def texts(world: World, **asked: Any) -> list[str]:
    return [one["text"] for one in (await world.get("/v1/memories", subject="ada", **asked))["memories"]]


def text_id(said: Said) -> str:
    return str(UUID(bytes=id_of(said)))


# -- what holds


async def test_a_change_shows_from_its_instant_on_and_only_since_it_was_known(world: World) -> None:
    ada = Remembered("ada")
    python, go = ada.says_that("User prefers Python", MARCH), ada.says_that("User is switching to Go", JUNE)
    world.tell(python, go, ada.checked(python), appended_at=NOW)
    world.tell(ada.declares(Verdict.SUPERSEDES, python, go, newer=go), ada.checked(go), appended_at=NOW + SECOND)
    known_both = "2027-01-15T08:00:00Z"
    assert await texts(world, valid_at=APRIL) == ["User prefers Python"]
    assert await texts(world, valid_at=JULY) == ["User is switching to Go"]
    assert await texts(world, valid_at=JULY, as_of=known_both) == ["User is switching to Go", "User prefers Python"]
    body = await world.get("/v1/memories", subject="ada", valid_at=JULY, include="superseded")
    new, old = body["memories"]
    assert (new["standing"], new["superseded_by"], new["checked"]) == ("eligible", None, True)
    assert (old["standing"], old["superseded_by"], old["valid_during"]) == ("superseded", text_id(go), [MARCH, None])
    assert body["left_out"] == {"merged": 0, "pending_review": 0, "pending_pairs": 0}
    assert (await world.get("/v1/memories", subject="ada", valid_at=JULY))["left_out"]["superseded"] == 1


async def test_what_took_its_place_is_told_as_of_both_instants(world: World) -> None:
    ada = Remembered("ada")
    python, go = ada.says_that("User prefers Python", MARCH), ada.says_that("User switched to Go", JUNE, JULY)
    rust, again = ada.says_that("User switched to Rust", APRIL, JUNE), ada.says_that("User prefers Python!", APRIL)
    world.tell(python, go, rust, again)
    world.tell(
        ada.declares(Verdict.SUPERSEDES, python, go, newer=go),
        ada.declares(Verdict.SUPERSEDES, python, rust, newer=rust),
    )

    async def place_of_python(**asked: Any) -> tuple[str, str | None, str | None]:
        body = await world.get("/v1/memories", subject="ada", include=["superseded", "merged"], **asked)
        (old,) = (one for one in body["memories"] if one["version_id"] == text_id(python))
        return old["standing"], old["superseded_by"], old["merged_into"]

    assert await place_of_python(valid_at=APRIL) == ("superseded", text_id(rust), None)
    assert await place_of_python(valid_at=JUNE) == ("superseded", text_id(go), None)
    assert await place_of_python(valid_at=JULY) == ("eligible", None, None)
    early = ada.says_that("User has always preferred Python", "2026-01-01T00:00:00Z")
    world.tell(
        early,
        ada.declares(Verdict.NEAR_DUPLICATE, python, again, by=Decider.MODEL),
        ada.declares(Verdict.NEAR_DUPLICATE, python, early, by=Decider.MODEL),
        appended_at=NOW + SECOND,
    )
    assert await place_of_python(valid_at=JULY) == ("merged", None, text_id(early))
    assert await place_of_python(valid_at=JULY, as_of="2027-01-15T08:00:00Z") == ("eligible", None, None)


async def test_near_duplicates_are_one_memory_until_somebody_says_otherwise(world: World) -> None:
    ada = Remembered("ada")
    first, second, third = (
        ada.says_that(f"User likes green tea{'!' * n}", f"2026-03-0{n + 1}T00:00:00Z") for n in range(3)
    )
    world.tell(first, second, third)
    world.tell(
        ada.declares(Verdict.NEAR_DUPLICATE, first, second, by=Decider.MODEL),
        ada.declares(Verdict.NEAR_DUPLICATE, second, third, by=Decider.MODEL),
    )
    assert await texts(world, valid_at=JULY) == ["User likes green tea"]
    merged = (await world.get("/v1/memories", subject="ada", valid_at=JULY, include=["merged", "superseded"]))[
        "memories"
    ]
    assert [(one["text"], one["standing"], one["merged_into"]) for one in merged] == [
        ("User likes green tea!!", "merged", text_id(first)),
        ("User likes green tea!", "merged", text_id(first)),
        ("User likes green tea", "eligible", None),
    ]
    world.tell(ada.declares(Verdict.UNRELATED, first, second, by=Decider.PERSON, decided_at=MARCH))
    assert await texts(world, valid_at=JULY) == ["User likes green tea!", "User likes green tea"]
    world.tell(ada.says(FactRevoked(id_of(second))))
    assert await texts(world, valid_at=JULY) == ["User likes green tea!!", "User likes green tea"]


async def test_a_wish_that_nobody_admitted_is_no_merged_memory(world: World) -> None:
    ada = Remembered("ada")
    world.tell(ada.says_that("User likes tea"), ada.says_that("User likes coffee", lifecycle=Lifecycle.PROPOSED))
    assert await texts(world, include=["merged", "superseded", "pending_review", "pending_pairs"]) == ["User likes tea"]


# -- what waits


async def test_what_is_under_review_is_left_out_and_asked_about(world: World) -> None:
    ada = Remembered("ada")
    sure = ada.says_that("User is vegetarian", MARCH, confidence=0.9)
    unsure = ada.says_that("User had a steak and liked it", APRIL, confidence=0.4)
    world.tell(sure, unsure, ada.declares(Verdict.CONTRADICTS, sure, unsure, by=Decider.MODEL))
    assert await texts(world) == ["User is vegetarian"]
    shown = (await world.get("/v1/memories", subject="ada", include="pending_review"))["memories"]
    assert [(one["text"], one["pending_review"]) for one in shown] == [
        ("User had a steak and liked it", True),
        ("User is vegetarian", False),
    ]
    context = await world.get("/v1/context", subject="ada")
    assert "vegetarian" in context["text"]
    assert "steak" not in context["text"]
    (question,) = context["questions"]
    assert (question["kind"], question["pending_review"]) == ("review", text_id(unsure))


async def test_a_context_tells_which_memories_nobody_has_compared_yet(world: World) -> None:
    ada = Remembered("ada")
    old, new = ada.says_that("User lives in Rome", MARCH), ada.says_that("User owns a bike", JUNE)
    world.tell(old, new, Fact("ada", "editor").asserts("vim"), ada.checked(old), appended_at=NOW)
    context = await world.get("/v1/context", subject="ada")
    told = {one["value"]: one.get("checked") for one in context["settled"]}
    assert told == {"User lives in Rome": True, "User owns a bike": False, "vim": None}
    assert context["unchecked_count"] == 1
    world.tell(ada.checked(new), appended_at=NOW + SECOND)
    assert (await world.get("/v1/context", subject="ada"))["unchecked_count"] == 0
    past = await world.get("/v1/context", subject="ada", as_of="2027-01-15T08:00:00Z")
    assert past["unchecked_count"] == 1


async def test_a_pair_without_a_verdict_waits_until_something_is_declared_of_it(world: World) -> None:
    ada = Remembered("ada")
    old, new = ada.says_that("User lives in Rome", None), ada.says_that("User's home is Oslo", JUNE)
    other = ada.says_that("User owns a bike", MARCH)
    world.tell(old, other, new, ada.checked(old), appended_at=NOW)
    world.tell(ada.checked(new, [old]), appended_at=NOW + SECOND)
    assert await texts(world) == ["User owns a bike", "User lives in Rome"]
    assert "User's home is Oslo" in await texts(world, as_of="2027-01-15T08:00:00Z")
    shown = (await world.get("/v1/memories", subject="ada", include="pending_pairs"))["memories"]
    assert [one["text"] for one in shown if one["pending_pairs"]] == ["User's home is Oslo"]
    context = await world.get("/v1/context", subject="ada")
    assert "Oslo" not in context["text"]
    assert "Rome" in context["text"]
    assert "start unknown" in context["text"]
    (question,) = context["questions"]
    assert (question["kind"], question["reason"]) == ("relation", "model_unreachable")
    assert "Rome" in question["ask"]
    assert context["questions_count"]["relation"] == 1
    (settle,) = question["settle"]
    assert settle["command"]["type"] == "declare_relation"
    pending = (await world.get("/v1/relations", version_id=text_id(old)))["pending"]
    left, right = sorted((text_id(old), text_id(new)))
    assert [(one["left"], one["right"], one["reason"]) for one in pending] == [(left, right, "model_unreachable")]
    world.tell(ada.declares(Verdict.UNRELATED, old, new, by=Decider.PERSON), appended_at=NOW + 2 * SECOND)
    assert await texts(world) == ["User's home is Oslo", "User owns a bike", "User lives in Rome"]
    assert (await world.get("/v1/relations", version_id=text_id(new)))["pending"] == []
    assert (await world.get("/v1/context", subject="ada"))["questions"] == []


async def test_a_check_of_another_kind_of_text_still_says_that_pairs_wait(world: World) -> None:
    ada = Remembered("ada")
    said = ada.says_that("User owns a bike", MARCH)
    world.tell(said, ada.says(RelationsChecked(id_of(said), 2, 0, 2, 'x {"pending": 7}')))
    assert await texts(world) == []
    (pending,) = (await world.get("/v1/relations", subject="ada"))["pending"]
    assert (pending["left"], pending["right"], pending["reason"]) == (text_id(said), None, "not_told")
    (question,) = (await world.get("/v1/context", subject="ada"))["questions"]
    assert question["settle"] == []


# -- search


async def test_words_and_nearness_both_find(world: World) -> None:
    ada = Remembered("ada")
    world.tell(
        ada.says_that("User's favourite language is Go", MARCH),
        ada.says_that("Order QX-481 was late", MARCH, is_placed=False),
        ada.says_that("ユーザーは東京に住んでいます", MARCH, is_placed=False),
        ada.says_that("User owns two bikes", MARCH),
    )
    body = await world.get("/v1/memories", subject="ada", query="tongue", limit=1)
    assert body["searched"] == {"words": True, "nearness": True}
    (near,) = body["memories"]
    assert (near["text"], near["places"]) == (
        "User's favourite language is Go",
        {"words": None, "nearness": 1, "kind": None},
    )
    assert near["cosine"] > 0
    for query, wanted in (
        ("qx-481", "Order QX-481 was late"),
        ("東京", "ユーザーは東京に住んでいます"),
        ("a bike", "User owns two bikes"),
    ):
        assert wanted in (await texts(world, query=query))[:2]
    (worded, *_) = (await world.get("/v1/memories", subject="ada", query="bikes"))["memories"]
    assert worded["places"] == {"words": 1, "nearness": 1, "kind": None}


async def test_what_a_memory_tells_of_is_found_though_it_does_not_say_so(world: World) -> None:
    ada = Remembered("ada")
    language = ["slot|user|switch", "event-type|user|programming language"]
    world.tell(
        ada.says_that("User adopted two cats", MARCH, keys=["slot|user|have:cat", "state-value|user|two"]),
        ada.says_that("User is switching to Go", MARCH, is_placed=False, keys=language),
        ada.says_that(
            "User speaks Norwegian", MARCH, is_placed=False, keys=["slot|user|speak", "state-value|user|cat"]
        ),
    )
    body = await world.get("/v1/memories", subject="ada", query="Which programming languages?")
    assert [(one["text"], one["places"]["kind"]) for one in body["memories"] if one["places"]["kind"]] == [
        ("User is switching to Go", 1)
    ]
    assert body["memories"][0]["text"] == "User is switching to Go"
    assert [one["text"] for one in (await world.get("/v1/memories", subject="ada", query="cat"))["memories"]][:1] == [
        "User adopted two cats"
    ]


@pytest.mark.parametrize(
    "query",
    [
        "é ß naïve Ünïcode",
        "C++ c# (x [y a.b*c \\m \\ $^|?",
        "👍 ☃",
        "x_y-z 3.12.4",
        "word " * 399,
        "東京 タイ ภาษา",
        "{0}",
    ],
)
async def test_no_query_is_taken_for_a_pattern(world: World, query: str) -> None:
    ada = Remembered("ada")
    world.tell(ada.says_that("User likes C++", MARCH, keys=["slot|user|like", "state-type|user|é ß naïve c++ x_y"]))
    assert (await world.get("/v1/memories", subject="ada", query=query))["searched"]["words"]


@pytest.mark.parametrize("because", ["text_not_installed", "texts_off"])
async def test_without_the_model_a_search_is_of_words_and_says_so(
    database: str, monkeypatch: pytest.MonkeyPatch, because: str
) -> None:
    monkeypatch.setattr("chronofact.text.installed.missing", lambda: ("onnxruntime",))
    settings = Settings(auth="off", texts="off" if because == "texts_off" else "auto")
    async with world_on(database, settings=settings) as world:
        ada = Remembered("ada")
        world.tell(ada.says_that("User prefers tea", MARCH), ada.says_that("User owns a bike", MARCH))
        body = await world.get("/v1/memories", subject="ada", query="Who prefers what drink?")
    assert body["searched"] == {"words": True, "nearness": False, "because": because}
    assert [(one["text"], one["cosine"]) for one in body["memories"]] == [("User prefers tea", None)]


async def test_a_search_finds_nothing_that_does_not_hold(world: World) -> None:
    ada = Remembered("ada")
    tea, coffee = ada.says_that("User drinks tea", MARCH), ada.says_that("User drinks coffee", JUNE)
    world.tell(tea, coffee, ada.declares(Verdict.SUPERSEDES, tea, coffee, newer=coffee))
    assert await texts(world, query="drinks", valid_at=JULY) == ["User drinks coffee"]
    assert await texts(world, query="drinks", valid_at=APRIL) == ["User drinks tea"]
    assert set(await texts(world, query="drinks", valid_at=JULY, include="superseded")) == {
        "User drinks tea",
        "User drinks coffee",
    }
    assert await texts(world, query="drinks", valid_at="2026-01-01T00:00:00Z") == []


# -- lists


@pytest.mark.parametrize("asked", [{}, {"query": "blue note"}])
async def test_pages_hold_each_memory_once_while_others_are_written(world: World, asked: dict[str, str]) -> None:
    scopes = (("user", "self"), ("task", "t1"))
    facts = [Remembered("ada", category, scope=scope) for category in ("a", "b") for scope in scopes]
    world.tell(*(fact.says_that(f"note {number} is blue", MARCH) for fact in facts for number in range(5)))
    whole = await texts(world, **asked)
    first = await world.get("/v1/memories", subject="ada", limit=3, **asked)
    world.tell(*(fact.says_that("late note is blue", MARCH) for fact in facts), appended_at=NOW + SECOND)
    found, cursor = first["memories"], first["cursor"]
    while cursor:
        body = await world.get("/v1/memories", subject="ada", limit=3, cursor=cursor, **asked)
        found, cursor = found + body["memories"], body["cursor"]
    assert [one["text"] for one in found] == whole
    assert len({one["version_id"] for one in found}) == 20
    assert len(await texts(world, **asked)) == 24


async def test_scope_and_category_narrow(world: World) -> None:
    user, task = Remembered("ada", "work"), Remembered("ada", "home", scope=("task", "t1"))
    world.tell(
        user.says_that("User works at Acme"), task.says_that("Task is half done"), Fact("ada", "memo").asserts("x")
    )
    assert sorted(await texts(world)) == ["Task is half done", "User works at Acme"]
    assert await texts(world, category="work") == ["User works at Acme"]
    assert await texts(world, scope="task:t1") == ["Task is half done"]
    assert sorted(await texts(world, scope=["task:t1", "user:self"])) == ["Task is half done", "User works at Acme"]


async def test_a_credential_sees_its_scopes_alone(database: str, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.json"
    told = {"tenant": "acme", "roles": ["read"], "scopes": ["task:*"]}
    tokens.write_bytes(orjson.dumps({"tokens": [{"sha256": sha256(b"secret").hexdigest(), **told}]}))
    credentials = TokenCredentials.load(tokens, normalise_scope=ScopeKinds.load().pattern)
    tenant_id = credentials.caller("Bearer secret", None).tenant_id
    async with world_on(database, credentials=credentials, nearness=WordNearness()) as world:
        world.http.headers["authorization"] = "Bearer secret"
        user, task = (Remembered("ada", scope=scope, tenant=tenant_id) for scope in (("user", "self"), ("task", "t1")))
        one, two = user.says_that("User works at Acme"), user.says_that("User works at Initech")
        world.tell(one, two, task.says_that("Task is half done"), user.declares(Verdict.CONTRADICTS, one, two))
        assert await texts(world) == ["Task is half done"]
        assert (await world.get("/v1/relations", subject="ada"))["relations"] == []
        assert (await world.get("/v1/relations", version_id=text_id(one), wait_ms=0))["relations"] == []
        assert (await world.refusal("/v1/memories", 422, subject="ada", scope="user:self"))[
            "code"
        ] == "scope_not_covered"


async def test_a_memory_written_as_a_plain_fact_is_listed(world: World) -> None:
    plain = Remembered("ada")
    world.tell(plain.asserts("User works at Acme", MARCH, cardinality=Cardinality.MANY))
    assert await texts(world) == ["User works at Acme"]


@pytest.mark.parametrize(
    ("asked", "field", "code"),
    [
        ({}, "subject", "parameter_missing"),
        ({"subject": "ada", "include": "all"}, "include", "parameter_malformed"),
        ({"subject": "ada", "query": "  "}, "query", "field_empty"),
        ({"subject": "ada", "query": "x" * 2_001}, "query", "field_too_long"),
        ({"subject": "ada", "query": "a\x00b"}, "query", "nul_character"),
        ({"subject": "ada", "category": "No Such"}, "category", "key_malformed"),
        ({"subject": "ada", "key": "memory/x"}, "key", "parameter_unknown"),
    ],
)
async def test_what_can_not_be_asked_is_refused_by_name(
    world: World, asked: dict[str, str], field: str, code: str
) -> None:
    response = await world.http.get("/v1/memories", params=asked)
    error = response.json()["error"]
    assert (response.status_code in {400, 422}, error["field"], error["code"]) == (True, field, code)


@pytest.mark.parametrize("query", ["' | !!! :* \\", "🎉", "\u202eكتاب", "a" * 2_000, "the", "<-> & | !"])
async def test_any_words_may_be_asked_for(world: World, query: str) -> None:
    world.tell(Remembered("ada").says_that("User likes the party 🎉", MARCH))
    assert set(await texts(world, query=query)) <= {"User likes the party 🎉"}
