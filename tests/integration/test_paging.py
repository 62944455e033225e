"""Pages belong together while writers go on: nothing is skipped, repeated, or newer than the first page; cursors are their call's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from chronofact.contracts.position import Position
from chronofact.domain.events import Cardinality, ConflictResolved, FactEnded
from chronofact.domain.interval import parse_instant
from chronofact.reader.cursors import Cursors, Place
from tests.integration.reading import NOW, ScopedFact, World, until, world_on
from tests.integration.saying import Fact, Said

JUNE, JULY = "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"
MILLISECOND = 1_000
ADA = "ada"


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database) as world:
        yield world


@asynccontextmanager
async def writers(world: World, saying: Callable[[int], list[Said]]) -> AsyncIterator[Callable[[], int]]:
    """A projector that is fed without end, from when the block begins; gives how many batches were applied."""
    done, stopping, applied = threading.Event(), threading.Event(), [0]

    def write() -> None:
        for number in count(1):
            if stopping.is_set():
                break
            world.tell(*saying(number), appended_at=NOW + number * MILLISECOND)
            applied[0] = number
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield lambda: applied[0]
    finally:
        stopping.set()
        await asyncio.to_thread(thread.join)
    assert done.is_set(), "the writer failed"


async def go_on(
    world: World, got: list[Any], path: str, applied: Callable[[], int], *, pages_max: int = 1_000, **asked: Any
) -> None:
    """The pages behind those that there are; the writers get something applied between any two."""
    while got[-1]["cursor"] is not None and len(got) < pages_max:
        await until_more(applied, applied() + 1)
        got.append(await world.get(path, **asked, cursor=got[-1]["cursor"]))


async def until_more(applied: Callable[[], int], batches: int) -> None:
    async def is_so() -> bool:
        return applied() >= batches

    await until(is_so)


def named(body: Any) -> str:
    return str(body["fact"]["fact_id"])


# -- under load


async def test_facts_are_those_of_the_first_page_each_once_as_they_were_then(world: World) -> None:
    facts = [Fact(ADA, f"k{number:03}") for number in range(0, 120, 2)]
    world.tell(*(fact.asserts("before", JUNE) for fact in facts))

    def saying(number: int) -> list[Said]:
        changed = facts[-1 - number % 40]
        between = Fact(ADA, f"k{(number * 7) % 120:03}x")
        return [
            between.asserts(number, JUNE),
            changed.asserts(f"after {number}", JULY),
            facts[number % 20].asserts("and", JUNE),
        ]

    first = await world.get("/v1/facts", subject=ADA, limit=7)
    async with writers(world, saying) as applied:
        got = [first]
        await go_on(world, got, "/v1/facts", applied, subject=ADA, limit=7)
        now = await world.get("/v1/facts", subject=ADA, limit=1_000)
    listed = [one for page in got for one in page["facts"]]
    assert [named(one) for one in listed] == [str(UUID(bytes=fact.fact_id)) for fact in facts]
    assert {one.get("value") for one in listed} == {"before"}
    assert {one["valid_at"] for one in listed} == {first["facts"][0]["valid_at"]}
    assert {page["freshness"]["position"] for page in got} == {first["freshness"]["position"]}
    assert len(now["facts"]) > len(facts)
    assert {one["kind"] for one in now["facts"]} >= {"conflict"}, "the writers did write"


async def test_a_context_goes_on_as_of_its_first_page(world: World) -> None:
    facts = [
        ScopedFact(ADA, ("repo", "acme/web") if number % 2 else ("user", "self"), f"k{number:02}")
        for number in range(40)
    ]
    world.tell(*(fact.asserts(f"before {fact.identity.fact_key}", JUNE) for fact in facts))

    def saying(number: int) -> list[Said]:
        return [
            facts[number % 40].asserts("after", JULY),
            ScopedFact(ADA, ("repo", "acme/web"), f"k{number % 40:02}x").asserts(number, JUNE),
            ScopedFact(ADA, ("repo", "acme/web"), f"k{2 * number % 40:02}").asserts("nearer", JUNE),
        ]

    asked: dict[str, Any] = {"subject": ADA, "scope": ["repo:acme/web", "user:self"], "budget": 700}
    whole = await world.get("/v1/context", **{**asked, "budget": 200_000})
    got = [await world.get("/v1/context", **asked)]
    async with writers(world, saying) as applied:
        await go_on(world, got, "/v1/context", applied, **asked)
    assert len(got) > 3
    assert [one for page in got for one in page["settled"]] == whole["settled"]
    assert "\n".join(page["text"] for page in got) == whole["text"]
    assert [page["left_out"] for page in got] == [
        len(whole["settled"]) - sum(len(page["settled"]) for page in got[: at + 1]) for at in range(len(got))
    ]
    assert all(len(page["text"]) == page["budget"]["used"] <= 700 for page in got)
    assert {page["valid_at"] for page in got} == {got[0]["valid_at"]}


async def test_conflicts_that_stood_at_the_first_page_come_once_and_newer_ones_not(world: World) -> None:
    facts = [Fact(f"person {number}", "lives_in") for number in range(30)]
    said = [[fact.asserts("Paris", JUNE), fact.asserts("Rome", JUNE)] for fact in facts]
    for number, pair in enumerate(said):
        world.tell(*pair, appended_at=NOW - (30 - number) * MILLISECOND)

    def saying(number: int) -> list[Said]:
        other = Fact(f"stranger {number}", "lives_in")
        told = [other.asserts("Paris", JUNE), other.asserts("Rome", JUNE)]
        if number <= 5:
            left, right = sorted(one.version_id or b"" for one in said[-number])
            told.append(facts[-number].says(ConflictResolved(left, right, left, parse_instant(JULY))))
        return told

    got = [await world.get("/v1/conflicts", limit=4)]
    async with writers(world, saying) as applied:
        await until_more(applied, 6)
        await go_on(world, got, "/v1/conflicts", applied, limit=4)
    subjects = [one["fact"]["subject"] for page in got for one in page["conflicts"]]
    assert subjects == [fact.label for fact in facts[:25]], "oldest first, without those settled meanwhile"


@pytest.mark.parametrize("what", ["events", "versions"])
async def test_a_history_that_grows_is_paged_without_gap_or_repeat(world: World, what: str) -> None:
    fact = Fact(ADA)
    world.tell(*(fact.asserts(number, JUNE, cardinality=Cardinality.MANY) for number in range(20)))
    path = f"/v1/facts/{UUID(bytes=fact.fact_id)}/{what}"
    got = [await world.get(path, limit=3)]
    async with writers(world, lambda n: [fact.asserts(f"more {n}", JUNE, cardinality=Cardinality.MANY)]) as applied:
        await go_on(world, got, path, applied, pages_max=12, limit=3)
    seqs = [one["event_seq"] for page in got for one in page[what]]
    assert seqs == list(range(1, len(seqs) + 1))
    assert len(seqs) > 25


async def test_a_timeline_is_drawn_as_it_was_known_at_its_first_page(world: World) -> None:
    fact = Fact(ADA)
    for number in range(12):
        world.tell(
            fact.asserts(f"v{number}", parse_instant(JUNE) + number * 86_400_000_000),
            appended_at=NOW - (20 - number) * MILLISECOND,
        )
    path = f"/v1/facts/{UUID(bytes=fact.fact_id)}/timeline"
    whole = (await world.get(path))["timeline"]
    ended = fact.asserts("v0", JUNE).version_id or b""

    def saying(number: int) -> list[Said]:
        return [
            fact.asserts(f"later {number}", parse_instant(JUNE) + number * 3_600_000_000),
            fact.says(FactEnded(ended, parse_instant(JULY), f"{number}")),
        ]

    got = [await world.get(path, limit=10)]
    async with writers(world, saying) as applied:
        await go_on(world, got, path, applied, limit=10)
    assert [one for page in got for one in page["timeline"]] == whole


# -- whose cursor it is


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("/v1/facts", {"subject": ADA, "limit": 1}),
    ("/v1/context", {"subject": ADA, "budget": 90}),
    ("/v1/conflicts", {"limit": 1}),
    ("/v1/facts/{fact}/events", {"limit": 1}),
    ("/v1/facts/{fact}/versions", {"limit": 1}),
    ("/v1/facts/{fact}/timeline", {"limit": 1}),
]


async def test_a_cursor_of_another_call_tenant_or_query_is_refused_by_name(world: World) -> None:
    torn, other = Fact(ADA, "torn"), Fact(ADA, "other")
    world.tell(*(torn.asserts(one, JUNE) for one in "abc"), *(other.asserts(one, JUNE) for one in "abc"))
    world.tell(*(Fact(ADA, key).asserts(key, JUNE) for key in ("one", "two", "three")))
    paths = {path: (path.replace("{fact}", str(UUID(bytes=torn.fact_id))), asked) for path, asked in CALLS}
    cursors = {}
    for name, (path, asked) in paths.items():
        cursors[name] = (await world.get(path, **asked))["cursor"]
        assert cursors[name], name
        assert await world.get(path, **asked, cursor=cursors[name]), "by the very call it is taken"
    for name, (path, asked) in paths.items():
        for given, cursor in cursors.items():
            if given != name:
                error = await world.refusal(path, 400, **asked, cursor=cursor)
                assert (error["code"], error["field"]) == ("cursor_of_other_call", "cursor"), (given, name)
    queries: list[tuple[str, dict[str, Any]]] = [
        ("/v1/facts", {"subject": "bob"}),
        ("/v1/facts", {"subject": ADA, "as_of": JULY}),
        ("/v1/facts", {"subject": ADA, "scope": "user:self"}),
        ("/v1/context", {"subject": ADA, "budget": 91}),
        ("/v1/context", {"subject": ADA, "budget": 90, "scope": "user:self"}),
        ("/v1/conflicts", {"relation": "OPEN"}),
    ]
    for path, asked in queries:
        error = await world.refusal(path, 400, **asked, cursor=cursors[path])
        assert (error["code"], error["field"]) == ("cursor_of_other_call", "cursor"), (path, asked)
    elsewhere = paths["/v1/facts/{fact}/events"][0].replace(
        str(UUID(bytes=torn.fact_id)), str(UUID(bytes=other.fact_id))
    )
    error = await world.refusal(elsewhere, 400, cursor=cursors["/v1/facts/{fact}/events"])
    assert error["code"] == "cursor_of_other_call"
    world.http.headers["x-tenant-id"] = str(uuid4())
    for name, (path, asked) in paths.items():
        error = await world.refusal(path, 400, **asked, cursor=cursors[name])
        assert error["code"] == "cursor_of_other_call", name


async def test_a_cursor_of_a_topic_that_is_no_more_is_refused(world: World) -> None:
    world.tell(*(Fact(ADA, key).asserts(key, JUNE) for key in ("one", "two")))
    cursors = Cursors("/v1/facts", ScopedFact(ADA, ("user", "self")).identity.tenant_id, [("subject", ADA)])
    gone = cursors.spell(Place(["user", "self", "one"], NOW, Position(bytes(16), {0: 1})))
    error = await world.refusal("/v1/facts", 400, subject=ADA, cursor=gone)
    assert (error["code"], error["field"]) == ("position_of_other_topic", "cursor")


async def test_a_page_begun_at_a_cut_that_the_projection_lacks_says_stale(world: World) -> None:
    world.tell(*(Fact(ADA, key).asserts(key, JUNE) for key in ("one", "two")))
    cursors = Cursors("/v1/facts", ScopedFact(ADA, ("user", "self")).identity.tenant_id, [("subject", ADA)])
    ahead = Position(world.topic.topic_id, dict.fromkeys(range(12), 1_000))
    body = await world.get("/v1/facts", subject=ADA, cursor=cursors.spell(Place(["user", "self", "one"], NOW, ahead)))
    assert (body["freshness"]["stale"], body["freshness"]["position"]) == (True, ahead.encode())
    assert [one["fact"]["key"] for one in body["facts"]] == ["two"]


# -- limits


async def test_limits_of_zero_and_a_million_name_the_field_and_its_bounds(world: World) -> None:
    fact = Fact(ADA)
    world.tell(fact.asserts("npm"))
    for path, asked in CALLS:
        field, most = ("budget", "200000") if path == "/v1/context" else ("limit", "1000")
        for given in ("0", "1000000", "-1", "1e3", "", "٣", str(10**30)):
            there = path.replace("{fact}", str(UUID(bytes=fact.fact_id)))
            error = await world.refusal(there, 400, **{**asked, field: given})
            assert (error["code"], error["field"]) == ("parameter_malformed", field), (path, given)
            assert f"from 1 to {most}" in error["message"]


# -- what is too large to draw


async def test_a_timeline_of_more_than_500_versions_side_by_side_is_refused_with_the_way_out(
    world: World, database: str
) -> None:
    likes, other = Fact(ADA, "likes"), Fact(ADA, "editor")
    world.tell(
        *(likes.asserts(number, JUNE, cardinality=Cardinality.MANY) for number in range(501)), other.asserts("vim")
    )
    path = f"/v1/facts/{UUID(bytes=likes.fact_id)}"
    error = await world.refusal(f"{path}/timeline", 422)
    assert (error["code"], error["field"]) == ("timeline_too_large", "fact_id")
    for way in ("/versions", "/events", "/v1/resolve"):
        assert way in error["message"]
    assert len(await world.pages(f"{path}/versions", "versions", limit=200)) == 501
    many = await world.get("/v1/resolve", subject=ADA, key="likes")
    assert len(many["values"]) == 501
    with psycopg.connect(database) as connection:
        drawn = connection.execute(
            "select fact_key, kind, reason, value_json from chronofact.memory_timeline order by fact_key, kind"
        ).fetchall()
    assert drawn == [("editor", "value", None, "vim"), ("likes", "not_drawn", "timeline_too_large", None)]
