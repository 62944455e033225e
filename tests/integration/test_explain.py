"""``/v1/explain`` over a real database: the answer that resolve gives, what made it so, and sentences."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import product
from random import Random
from typing import Any
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from chronofact.contracts.codec import decode_event
from chronofact.contracts.payload import happening_of
from chronofact.domain.events import (
    Cardinality,
    ConflictResolved,
    Event,
    EventDropped,
    FactEnded,
    FactRevoked,
    FactSuperseded,
)
from chronofact.domain.explain import explain
from chronofact.domain.interval import format_instant, parse_instant
from tests.integration.genuine import Genuine
from tests.integration.reading import NOW, ScopedFact, World, ids_of, world_on
from tests.integration.saying import Fact, Said
from tests.property.strategies import GRID, PROFILES, random_history
from tests.property.translate import story

MARCH, JUNE, JULY, AUGUST = (f"2026-{month}-01T00:00:00Z" for month in ("03", "06", "07", "08"))

FIRST, LAST = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"
END = parse_instant(LAST)


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database) as world:
        yield world


def known(text: str) -> dict[str, Any]:
    return {"import_time": parse_instant(text)}


async def explained(world: World, **asked: Any) -> Any:
    """An explanation, whose answer is what resolve says of the same instants."""
    asked = {"subject": "ada", "key": "package_manager", **asked}
    body = await world.get("/v1/explain", **asked)
    answer = await world.get("/v1/resolve", **asked)
    assert {**body["answer"], "freshness": None, "valid_at": None} == {**answer, "freshness": None, "valid_at": None}
    return body


def standings(body: Any) -> dict[str, str]:
    return {one["value"]: one["standing"] for one in body["versions"]}


async def test_what_holds_is_explained_in_sentences(world: World) -> None:
    ada = Fact("ada")
    npm, pnpm = ada.asserts("npm", MARCH, **known(MARCH)), ada.asserts("pnpm", JULY, source="chat", **known(JULY))
    over = ada.says(FactSuperseded(pnpm.version_id or b"", npm.version_id or b"", reason="we moved"), **known(JULY))
    world.tell(npm, pnpm, over)
    body = await explained(world, valid_at=AUGUST)
    assert body["sentences"] == [
        "pnpm has held since 1 July 2026: it was said by source chat, and nothing supersedes it.",
        "npm is superseded by pnpm from 1 July 2026 on, by a supersession (“we moved”).",
        "From 1 March 2026 until 1 July 2026, npm holds.",
    ]
    (first, second), (npm_id, pnpm_id) = body["versions"], ids_of([npm, pnpm])
    assert (first["version_id"], first["standing"], first["superseded_by"]) == (pnpm_id, "eligible", [])
    (cover,) = second["superseded_by"]
    (hop,) = cover["path"]
    (edge,) = hop["edges"]
    assert (cover["version_id"], cover["only_way"]) == (pnpm_id, True)
    assert (hop["new_version_id"], hop["old_version_id"]) == (pnpm_id, npm_id)
    assert (edge["mode"], edge["effective_during"], edge["automatic"]) == (None, [JULY, None], False)
    told = {one["event_id"]: one for one in body["events"]}
    assert told[edge["event_id"]]["event_type"] == "FactSuperseded"
    assert told[edge["event_id"]]["reason"] == "we moved"
    assert [told[one]["event_seq"] for one in body["decided_by"]] == [2, 3]
    assert body["before"]["value"] == "npm"
    assert (body["after"], body["then"], body["left_out"]["events_count"]) == (None, None, 0)
    assert body["standings"] == {"eligible": 1, "superseded": 1}


async def test_what_was_learned_later_is_left_out_and_what_we_would_have_said_is_told(world: World) -> None:
    ada = Fact("ada")
    npm = ada.asserts("npm", MARCH, **known(MARCH))
    bun = ada.asserts("bun", MARCH, source="wiki", **known(JULY))
    world.tell(npm, bun, ada.says(FactRevoked(version_id=npm.version_id, reason="a joke"), **known(AUGUST)))
    now = await explained(world, valid_at=JUNE)
    assert now["answer"]["value"] == "bun"
    assert "On 1 June 2026 we would have said that npm holds." in now["sentences"]
    assert now["then"]["value"] == "npm"
    assert "npm was taken back (“a joke”)." in now["sentences"]
    then = await explained(world, valid_at=JUNE, as_of=JUNE)
    assert standings(then) == {"npm": "eligible"}
    assert "2 events were learned after 1 June 2026 and left out, with 1 new version." in then["sentences"]
    assert then["left_out"]["versions_count"] == 1
    assert then["left_out"]["version_ids"] == ids_of([bun])
    assert [one["event_type"] for one in then["left_out"]["events"]] == ["FactAsserted", "FactRevoked"]
    assert then["then"] is None
    before = await explained(world, valid_at=JUNE, as_of="2026-01-01T00:00:00Z")
    assert before["answer"]["reason"] == "not_yet_known"
    assert before["left_out"]["events_count"] == 3
    never = await explained(world, key="nothing")
    assert never["sentences"] == ["Nothing is known to hold: nothing was ever said about it."]
    assert (never["versions"], never["events_count"]) == ([], 0)


async def test_every_standing_and_what_does_not_count_is_named(world: World) -> None:
    ada = Fact("ada")
    npm, yarn, old, later, never = (
        ada.asserts("npm", MARCH), ada.asserts("yarn", MARCH), ada.asserts("old", MARCH, JUNE),
        ada.asserts("later", AUGUST), ada.asserts("never", JUNE),
    )  # fmt: skip
    left, right = sorted((npm.version_id or b"", yarn.version_id or b""))
    decided = parse_instant(JUNE)
    first = ada.says(ConflictResolved(left, right, yarn.version_id, decided - 1, "bob"))
    keep = ada.says(ConflictResolved(left, right, npm.version_id, decided, "ada", "npm it is"))
    ends = ada.says(FactEnded(never.version_id or b"", parse_instant(MARCH)))
    dangling = ada.says(FactSuperseded(bytes(16), npm.version_id or b""))
    world.tell(npm, yarn, old, later, never, first, keep, ends, dangling)
    body = await explained(world, valid_at=JULY)
    assert standings(body) == {
        "npm": "eligible", "yarn": "excluded", "old": "ended", "later": "later", "never": "never_holds",
    }  # fmt: skip
    told = {one["event_id"]: one for one in body["events"]}
    by_value = {one["value"]: one for one in body["versions"]}
    (excluding,) = by_value["yarn"]["excluded_by"]
    assert (told[excluding]["decided_by"], told[excluding]["reason"]) == ("ada", "npm it is")
    assert by_value["npm"]["kept_by"] == [excluding]
    assert {one["why"] for one in body["ignored"]} == {"overridden", "version_unknown"}
    overridden = next(one for one in body["ignored"] if one["why"] == "overridden")
    assert overridden["by"] == excluding
    assert "yarn does not count: the decision of 1 June 2026 by ada (“npm it is”) judged it wrong." in body["sentences"]


async def test_a_chain_says_which_scope_answered_and_why_nearer_ones_did_not(world: World) -> None:
    in_repo = ScopedFact("ada", ("repo", "acme/web"))
    world.tell(in_repo.asserts("npm", JUNE), Fact("ada").asserts("pip", JUNE))
    body = await explained(world, scope=["task:t1", "repo:acme/web", "user:self"], valid_at=JULY)
    assert [(one["scope"], one["answers"], one["reason"]) for one in body["scopes"]] == [
        ("task:t1", False, "never_recorded"),
        ("repo:acme/web", True, None),
        ("user:self", False, None),
    ]
    assert body["sentences"][1] == (
        "task:t1 answers nothing (nothing was ever said about it), so repo:acme/web was asked."
    )
    assert standings(body) == {"npm": "eligible"}


async def test_unread_events_are_explained_too(world: World) -> None:
    ada = Fact("ada")
    npm = ada.asserts("npm", MARCH)
    world.tell(npm)
    position = world.say(ada.says(FactRevoked(version_id=npm.version_id, reason="no")), appended_at=NOW + 1)
    body = await explained(world, valid_at=JULY, after=position, wait_ms=0)
    assert standings(body) == {"npm": "revoked"}
    assert body["freshness"]["stale"] is False


async def test_random_histories_are_explained_as_they_resolve(world: World) -> None:
    histories: dict[str, list[Event]] = {}
    for profile, number in product(PROFILES, range(5)):
        subject = f"{profile} {number}"
        drawn = random_history(Random(f"explained {subject}"), 9, profile)
        said = [event for event in drawn if not isinstance(event.what, EventDropped)]
        genuine = Genuine(Fact(subject), said)
        for event in said:
            message = genuine.message(event, label=None)
            world.topic.append([message], appended_at=event.recorded_at)
            sent = decode_event(message.value)
            what = happening_of(sent.kind, sent.payload)
            histories.setdefault(subject, []).append(Event(sent.event_id, what, event.recorded_at))
    world.project()
    with capture_logs() as logs:
        for subject, events in histories.items():
            rng = Random(subject)
            times = sorted({event.recorded_at for event in events})
            for at, as_of in product(rng.sample(GRID, 2), [rng.choice(times), None]):
                asked = {"valid_at": format_instant(at), **({} if as_of is None else {"as_of": format_instant(as_of)})}
                body = await explained(world, subject=subject, **asked)
                told = explain(events, valid_at=at, system_as_of=as_of)
                assert {one["version_id"]: one["standing"] for one in body["versions"]} == {
                    str(UUID(bytes=one.version_id)): one.stands.value for one in told.versions
                }, story(events)
                assert body["left_out"]["events_count"] == len(told.left_out), story(events)
                start, end = body["answer"]["valid_during"]
                assert body["before"] is None or body["before"]["valid_during"][1] == start
                assert body["after"] is None or body["after"]["valid_during"][0] == end
    assert [one for one in logs if one["event"] == "explanation_differs"] == []


async def test_many_versions_are_counted_and_a_thousand_listed(world: World) -> None:
    ada = Fact("ada", "likes")
    said: list[Said] = [ada.asserts(number, MARCH, cardinality=Cardinality.MANY) for number in range(2_000)]
    world.tell(*said)
    body = await world.get("/v1/explain", subject="ada", key="likes", valid_at=JULY)
    assert (len(body["versions"]), body["versions_count"]) == (1_000, 2_000)
    assert body["standings"] == {"eligible": 2_000}
    assert (len(body["events"]), body["events_count"]) == (1_000, 2_000)


async def test_the_ends_of_time_are_instants_and_other_tenants_see_nothing(world: World) -> None:
    ada = Fact("ada")
    world.tell(ada.asserts("npm", FIRST), ada.says(FactEnded(ada.asserts("npm", FIRST).version_id or b"", END)))
    assert (await explained(world, valid_at=FIRST))["answer"]["valid_during"] == [FIRST, LAST]
    assert (await explained(world, valid_at=FIRST))["before"] is None
    over = await explained(world, valid_at=LAST, as_of=LAST)
    assert (over["answer"]["reason"], over["before"]["value"], over["after"]) == ("ended", "npm", None)
    assert (await explained(world, valid_at=LAST, as_of=FIRST))["answer"]["reason"] == "not_yet_known"
    asked = {"subject": "ada", "key": "package_manager"}
    response = await world.http.get("/v1/explain", params=asked, headers={"X-Tenant-Id": "another"})
    body = response.json()
    assert (body["answer"]["reason"], body["versions"], body["events"]) == ("never_recorded", [], [])


async def test_what_is_asked_wrongly_is_refused_by_name(world: World) -> None:
    missing = await world.refusal("/v1/explain", 400, subject="ada")
    assert (missing["code"], missing["field"]) == ("parameter_missing", "key")
    malformed = await world.refusal("/v1/explain", 422, subject="ada", key="likes", valid_at="yesterday")
    assert (malformed["code"], malformed["field"]) == ("instant_malformed", "valid_at")
    unknown = await world.refusal("/v1/explain", 400, subject="ada", key="likes", cursor="x")
    assert (unknown["code"], unknown["field"]) == ("parameter_unknown", "cursor")
