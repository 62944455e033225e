"""Changed answers as they come over the wire: each once, in order, to whom they concern, from any id on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from hashlib import sha256
from typing import Any
from uuid import UUID

import httpx
import orjson
import psycopg
import pytest
from typer.testing import CliRunner

from chronofact.cli.__main__ import app
from chronofact.client import AsyncClient
from chronofact.contracts.position import Position
from chronofact.domain.events import Cardinality, FactRevoked
from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.reader import changes_hub
from chronofact.runtime.auth import Role, TokenCredentials
from tests.integration.changing import ChangesReader, Sent, changes_reader, listening, place_of, tenant_header
from tests.integration.reading import NOW, ScopedFact, World, world_on
from tests.integration.saying import Fact, Said

DAY = 86_400_000_000
OTHER_TENANT = UUID(int=7)


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database) as made:
        yield made


@pytest.fixture
async def reader(database: str, world: World) -> AsyncIterator[ChangesReader]:
    world.project()
    async with changes_reader(database) as made:
        yield made


def claims(number: int, *, facts: int = 40, named: str = "someone") -> list[Said]:
    """So many assertions, each painting something, over some facts in all partitions."""
    return [
        Fact(f"{named} {at % facts}").asserts(f"value {at}", NOW + at * DAY, source=f"{named} {at}")
        for at in range(number)
    ]


def ids(said: list[Said]) -> list[str]:
    return [str(UUID(bytes=one.event_id)) for one in said]


async def test_a_change_says_what_the_answer_is_from_now_on(world: World, reader: ChangesReader) -> None:
    fact = Fact("ada", "editor")
    async with listening(reader) as listener:
        first = fact.asserts("vim", "2026-01-01T00:00:00Z")
        world.tell(first)
        (change,) = await listener.until(1)
        assert change["fact"] == {
            "fact_id": str(UUID(bytes=fact.fact_id)), "subject": "ada", "scope": "user:self", "key": "editor",
        }  # fmt: skip
        version_id = str(UUID(bytes=first.version_id or b""))
        assert change["changed"] == [
            {"kind": "unknown", "valid_during": [None, "2026-01-01T00:00:00Z"], "reason": "not_yet_valid"},
            {
                "kind": "value", "valid_during": ["2026-01-01T00:00:00Z", None], "value": "vim",
                "version_id": version_id, "agreeing": [version_id],
            },
        ]  # fmt: skip
        assert (change["event_seq"], change["event_type"]) == (1, "FactAsserted")
        world.tell(fact.asserts("emacs", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"))
        (_, change) = await listener.until(2)
        (stretch,) = change["changed"]
        assert (stretch["kind"], stretch["valid_during"]) == (
            "conflict",
            ["2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"],
        )
        assert sorted(one["value"] for one in stretch["versions"]) == ["emacs", "vim"]


async def test_a_change_is_what_resolve_answers_then(world: World, reader: ChangesReader) -> None:
    fact = Fact("ada", "editor")
    async with listening(reader) as listener:
        for at, value in enumerate(("vim", "emacs", "ed")):
            world.tell(fact.asserts(value, NOW + at * DAY, NOW + (at + 2) * DAY), appended_at=NOW + at)
        for change in await listener.until(3):
            for stretch in change["changed"]:
                inside = stretch["valid_during"][0] or "0001-01-01T00:00:00Z"
                told = await world.get(
                    "/v1/resolve", subject="ada", key="editor", valid_at=inside, as_of=change["recorded_at"]
                )
                assert told["kind"] == stretch["kind"]
                assert told.get("value") == stretch.get("value")
                assert told.get("reason") == stretch.get("reason")
                listed = [{one["version_id"] for one in body.get("versions", ())} for body in (told, stretch)]
                assert listed[0] == listed[1]


async def test_an_event_that_changes_no_answer_is_not_told(world: World, reader: ChangesReader) -> None:
    fact, other = Fact("ada"), Fact("bob")
    async with listening(reader) as listener:
        said = fact.asserts("npm")
        world.tell(said, said, fact.says(FactRevoked(bytes(16))), other.asserts("yarn"))
        changes = await listener.until(2)
        assert [one["fact"]["subject"] for one in changes] in (["ada", "bob"], ["bob", "ada"])
        world.tell(fact.asserts("pnpm"))
        await listener.until(3)
        assert len(listener.changes) == 3


async def test_many_values_are_listed_and_too_many_are_not(world: World, reader: ChangesReader) -> None:
    fact = Fact("ada", "likes")
    liked = [fact.asserts(f"thing {at}", NOW, cardinality=Cardinality.MANY, source=str(at)) for at in range(230)]
    async with listening(reader) as listener:
        world.tell(*liked[:3])
        changes = await listener.until(3)
        assert [len(one["changed"][-1]["values"]) for one in changes] == [1, 2, 3]
        world.tell(*liked[3:])
        changes = await listener.until(230)
        assert changes[-1]["changed"] == [{"kind": "unlisted", "valid_during": [None, None]}]


async def test_each_of_many_comes_once_and_in_order(world: World, reader: ChangesReader) -> None:
    said = claims(600)
    async with listening(reader) as listener:
        for start in range(0, 600, 50):
            world.tell(*said[start : start + 50])
        Sent().add(await listener.until(600)).check(ids(said))


async def test_whoever_comes_again_with_the_last_id_misses_nothing_and_gets_nothing_twice(
    world: World, reader: ChangesReader
) -> None:
    said = claims(300)
    sent = Sent()
    async with listening(reader) as listener:
        last = listener.last_id
    for start in range(0, 300, 30):
        world.tell(*said[start : start + 15])
        async with listening(reader, after=last) as listener:
            world.tell(*said[start + 15 : start + 30])
            await listener.until(7 if start < 270 else 300 - len(sent.changes))
            taken = len(listener.changes)
            last = listener.ids[taken - 1]
            sent.add(listener.changes[:taken])
    sent.check(ids(said))


async def test_every_id_is_a_place_to_go_on_from(world: World, reader: ChangesReader) -> None:
    said = claims(60, facts=12)
    async with listening(reader) as listener:
        world.tell(*said[:40])
        world.tell(*said[40:])
        await listener.until(60)
        for at in (*range(0, 60, 9), 59):
            async with listening(reader, after=listener.ids[at]) as again:
                rest = await again.until(59 - at)
                assert len(rest) == 59 - at
                assert {one["event_id"] for one in rest} == set(listener.event_ids[at + 1 :])


async def test_a_position_of_a_write_and_nothing_at_all(world: World, reader: ChangesReader) -> None:
    before, later = Fact("ada").asserts("npm"), Fact("ada").asserts("pnpm")
    position = world.tell(before)
    world.tell(later)
    async with listening(reader, after=position) as listener, listening(reader) as fresh:
        assert [one["event_id"] for one in await listener.until(1)] == ids([later])
        world.tell(last := Fact("ada").asserts("yarn"))
        assert [one["event_id"] for one in await fresh.until(1)] == ids([last])


async def test_another_reader_that_lags_repeats_nothing(
    database: str, world: World, reader: ChangesReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sees_nothing() -> bool:
        return False

    said = claims(200)
    async with changes_reader(database) as other, listening(other) as unhurried:
        (hub,) = other.changes.hubs.values()
        monkeypatch.setattr(hub, "look", sees_nothing)
        async with listening(reader) as listener:
            world.tell(*said[:100])
            sent = Sent().add(await listener.until(100))
        async with listening(other, after=listener.ids[-1]) as again:
            monkeypatch.undo()
            world.tell(*said[100:])
            sent.add(await again.until(100)).check(ids(said))
        await unhurried.until(200)
        Sent().add(unhurried.changes).check(ids(said))


async def test_only_whom_they_concern_hear_of_changes(world: World, reader: ChangesReader) -> None:
    mine, theirs = Fact("ada"), Fact("ada", tenant=OTHER_TENANT)
    scoped = ScopedFact("ada", ("repo", "acme/web"), "editor")
    async with (
        listening(reader) as everything,
        listening(reader, headers=tenant_header(OTHER_TENANT)) as foreign,
        listening(reader, subject="bob") as bob,
        listening(reader, scope="repo:acme/web") as repo,
        listening(reader, key="editor") as key,
        listening(reader, prefix="pack") as prefix,
    ):
        said = [mine.asserts("npm"), theirs.asserts("secret"), scoped.asserts("vim"), Fact("bob").asserts("yarn")]
        world.tell(*said)
        own = ids([said[0], said[2], said[3]])
        assert sorted(one["event_id"] for one in await everything.until(3)) == sorted(own)
        for listener, wanted in (
            (foreign, [said[1]]),
            (bob, [said[3]]),
            (repo, [said[2]]),
            (key, [said[2]]),
            (prefix, [said[0], said[3]]),
        ):
            await listener.until(len(wanted))
            assert sorted(listener.event_ids) == sorted(ids(wanted))
        beginning = everything.ids[0]
    async with listening(reader, after=beginning, headers=tenant_header(OTHER_TENANT)) as foreign:
        world.tell(more := theirs.asserts("more"))
        await foreign.until(1)
        assert set(foreign.event_ids) <= set(ids([said[1], more])), "another tenant's id opens nothing"


async def test_a_credential_hears_its_scopes_only_live_and_from_the_past(database: str, world: World) -> None:
    token = "hush"
    listed = {sha256(token.encode()).digest(): (DEVELOPMENT_TENANT, frozenset({Role.READ}), ("repo:acme/*",))}
    covered = ScopedFact("ada", ("repo", "acme/web"))
    hidden = ScopedFact("ada", ("repo", "other/web"))
    world.project()
    async with changes_reader(database, credentials=TokenCredentials(listed)) as reader:
        headers = {"Authorization": f"Bearer {token}"}
        async with listening(reader, headers=headers) as listener:
            start = listener.last_id
            world.tell(hidden.asserts("secret"), seen := covered.asserts("open"))
            await listener.until(1)
            assert listener.event_ids == ids([seen])
        async with listening(reader, headers=headers, after=start) as listener:
            world.tell(hidden.asserts("more"), more := covered.asserts("again"))
            await listener.until(2)
            assert listener.event_ids == ids([seen, more])
        async with httpx.AsyncClient(headers=headers) as http:
            refused = await http.get(reader.url, params={"scope": "repo:other/web"})
            assert (refused.status_code, refused.json()["error"]["code"]) == (422, "scope_not_covered")


async def test_silence_is_filled_with_heartbeats_that_say_where_one_is(world: World, reader: ChangesReader) -> None:
    async with listening(reader, subject="nobody") as listener:
        first = place_of(await listener.until_id())
        world.tell(*claims(40))
        before = listener.heartbeats
        while listener.heartbeats < before + 3:
            listener.came.clear()
            await listener.came.wait()
        assert listener.changes == []
        assert place_of(listener.last_id or "").is_past(first)
        assert sum(one.next_offset for one in place_of(listener.last_id or "").reached.values()) == 40


async def test_stopping_ends_each_stream_with_an_id_to_go_on_from(database: str, world: World) -> None:
    said = claims(20)
    world.project()
    async with changes_reader(database) as first, listening(first) as listener, listening(first) as idle:
        world.tell(*said[:10])
        await listener.until(10)
        first.changes.close()
        await listener.until_ended()
        await idle.until_ended()
        async with httpx.AsyncClient() as http:
            assert (await http.get(first.url)).json()["error"]["code"] == "shutting_down"
    world.tell(*said[10:])
    async with changes_reader(database) as second, listening(second, after=listener.last_id) as again:
        sent = Sent().add(listener.changes)
        sent.add(await again.until(10)).check(ids(said))


async def test_there_are_no_more_listeners_than_may_be(database: str, world: World) -> None:
    world.project()
    async with changes_reader(database, listeners_max=2) as reader, httpx.AsyncClient() as http:
        async with listening(reader), listening(reader):
            refused = await http.get(reader.url)
            assert refused.status_code == 429
            assert refused.json()["error"]["code"] == "listeners_too_many"
            assert "retry-after" in refused.headers
        async with listening(reader):
            pass


REFUSED = (
    ({"after": "nonsense"}, 400, "position_malformed", "after"),
    ({"after": "gQ"}, 400, "position_malformed", "after"),
    ({"after": "AQ" + "A" * 21}, 400, "position_of_other_topic", "after"),
    ({"wait_ms": "5"}, 400, "parameter_unknown", "wait_ms"),
    ({"limit": "5"}, 400, "parameter_unknown", "limit"),
    ({"subject": ""}, 422, "field_empty", "subject"),
    ({"key": "NOT A KEY"}, 422, "key_malformed", "key"),
    ({"scope": "nonsense"}, 422, "scope_kind_unknown", "scope"),
    ({"prefix": "x" * 201}, 400, "parameter_malformed", "prefix"),
    ({"prefix": "ABC"}, 400, "parameter_malformed", "prefix"),
)


async def test_what_can_not_be_followed_is_refused_by_name(world: World, reader: ChangesReader) -> None:
    world.tell(Fact("ada").asserts("npm"))
    async with httpx.AsyncClient() as http:
        for params, status, code, field in REFUSED:
            response = await http.get(reader.url, params=params)
            error = response.json()["error"]
            assert (response.status_code, error["code"], error["field"]) == (status, code, field), params


@pytest.mark.parametrize(
    ("named", "code"),
    [("rubbish", "position_malformed"), (Position(bytes(16), {0: 1}).encode(), "position_of_other_topic")],
)
async def test_a_bad_id_is_refused_under_the_name_that_it_came_by(
    world: World, reader: ChangesReader, named: str, code: str
) -> None:
    world.tell(Fact("ada").asserts("npm"))
    calls: tuple[dict[str, Any], ...] = (
        {"headers": {"Last-Event-ID": named}},
        {"headers": {"Last-Event-ID": named}, "params": {"after": named}},
        {"params": {"after": named}},
    )
    async with httpx.AsyncClient() as http:
        errors = [(await http.get(reader.url, **call)).json()["error"] for call in calls]
    assert [one["field"] for one in errors] == ["Last-Event-ID", "Last-Event-ID", "after"]
    assert {one["code"] for one in errors} == {code}


async def test_a_projection_that_nobody_fills_is_named(database: str) -> None:
    async with changes_reader(database) as reader, httpx.AsyncClient() as http:
        response = await http.get(reader.url)
        assert (response.status_code, response.json()["error"]["code"]) == (503, "projection_idle")


async def test_a_listener_whose_tenant_is_routed_elsewhere_is_let_go(
    database: str, world: World, reader: ChangesReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes_hub, "ROUTES_S", 0.2)
    async with listening(reader) as listener:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("insert into chronofact.projection (name, rule, state) values ('p2', 1, 'live')")
            connection.execute("update chronofact.tenant_route set projection = 'p2'")
        await listener.until_ended()


async def test_the_client_in_an_event_loop_follows(world: World, reader: ChangesReader) -> None:
    said = [Fact("ada", "editor").asserts(one, at) for at, one in enumerate(("vim", "emacs", "ed"))]
    url = reader.url.removesuffix("/v1/changes")
    world.tell(said[0])

    async with AsyncClient(reader=url) as client:
        following = client.changes(subject="ada")
        coming = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0.3)
        world.tell(said[1])
        change = await coming
        assert [one.kind for one in change.changed] == ["conflict"]
        coming = asyncio.ensure_future(anext(following))
        world.tell(said[2])
        assert (await coming).event_seq == 3


async def test_the_command_follows_and_says_where_to_go_on(world: World, reader: ChangesReader) -> None:
    async with listening(reader) as listener:
        start = await listener.until_id()
    fact = Fact("ada", "editor")
    world.tell(fact.asserts("vim"), fact.asserts("emacs"))
    options = ["--reader", reader.url.removesuffix("/v1/changes"), "--subject", "ada", "--after"]

    async def run(*arguments: str) -> tuple[str, str]:
        told = await asyncio.to_thread(lambda: CliRunner().invoke(app, arguments))
        assert told.exit_code == 0, told.output
        return told.stderr, told.stdout

    on, _ = await run("changes", *options, start, "--limit", "1")
    after = on.split()[-1]
    _, told = await run("changes", *options, after, "--limit", "1", "--json")
    assert orjson.loads(told)["event_seq"] == 2
    _, told = await run("changes", *options, start, "--limit", "2")
    assert "editor of ada in user:self" in told
    assert "in conflict: emacs or vim?" in told
    _, told = await run("changes", *options, start, "--limit", "1", "--json")
    first = orjson.loads(told)
    assert first["event_seq"] == 1
    _, told = await run("changes", *options, first["id"], "--limit", "1", "--json")
    assert orjson.loads(told)["event_seq"] == 2
