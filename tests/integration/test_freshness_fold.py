"""With the projector stopped, the unread tail folded by the reader says, byte for byte, what it says once projected."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from random import Random
from typing import Any
from uuid import UUID

import orjson
import pytest

from chronofact.domain.events import Event
from chronofact.domain.interval import format_instant
from tests.integration.genuine import Genuine
from tests.integration.reading import ScopedFact, World, world_on
from tests.integration.saying import Said
from tests.property.strategies import CROWD, GRID, PROFILES, Dice, history, random_history

HISTORIES = 3
"""For each profile."""
CHAIN = [("task", "t1"), ("repo", "acme/web"), ("user", "self")]
INSTANTS = [GRID[0] - 5, *GRID, *(at + 5 for at in GRID), GRID[-1] + 40]
POISON = b"\xc3\x01 no event at all"


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database) as world:
        yield world


def messages_of(fact: ScopedFact, events: Sequence[Event]) -> list[tuple[Said, int]]:
    """The events as messages of the fact, each with when the broker appended it."""
    genuine = Genuine(fact, events)
    return [
        (genuine.message(event, label=fact.label if event.recorded_at % 2 else None), event.recorded_at)
        for event in events
    ]


def append(world: World, messages: Iterable[tuple[Said, int]]) -> None:
    for said, appended_at in messages:
        world.topic.append([said], appended_at=appended_at)


def questions_of(facts: Sequence[ScopedFact], times: Sequence[int]) -> list[dict[str, Any]]:
    """Every fact alone and the chain, at every instant of interest, as known at each time and now."""
    found = []
    scopes = [f"{one.identity.scope_kind}:{one.identity.scope_key}" for one in facts]
    for scope in [*([one] for one in scopes), scopes]:
        for as_of in (None, *times):
            found += [
                {
                    "subject": facts[0].label,
                    "key": "package_manager",
                    "scope": scope,
                    "valid_at": format_instant(valid_at),
                    "as_of": None if as_of is None else format_instant(as_of),
                }
                for valid_at in INSTANTS
            ]
    return found


async def everything(world: World, subjects: Sequence[Sequence[ScopedFact]], times: Sequence[int], **read: Any) -> Any:
    """All that can be asked of the facts by name, as sent."""
    found: dict[str, Any] = {}
    for facts in subjects:
        asked = questions_of(facts, times)
        for at in range(0, len(asked), 10_000):
            body = await world.ask({"queries": asked[at : at + 10_000], **read})
            found[f"{facts[0].label} {at}"] = without_freshness(body["answers"])
        for question in Random(f"explain {facts[0].label}").sample(asked, 4):
            body = await world.get("/v1/explain", **{name: said for name, said in question.items() if said}, **read)
            found[f"explain {question}"] = without_freshness({**body, "answer": without_freshness(body["answer"])})
        for fact in facts:
            for what in ("events", "versions", "timeline"):
                for limit in (3, 1_000):
                    found[f"{fact.id_text} {what} {limit}"] = await pages(world, fact, what, limit, read)
    return found


async def pages(world: World, fact: ScopedFact, what: str, limit: int, read: dict[str, Any]) -> list[Any]:
    """A fact's history page by page; only the first page names the position."""
    found: list[Any] = []
    parameters = {"limit": limit, **read}
    while True:
        response = await world.http.get(f"/v1/facts/{fact.id_text}/{what}", params=parameters)
        body = orjson.loads(response.content)
        if response.status_code != 200:
            return [body]
        cursor = body["cursor"]
        found.append(without_freshness(body))
        if cursor is None:
            return found
        parameters = {"limit": limit, "cursor": cursor, "wait_ms": 0}


def without_freshness(body: Any) -> Any:
    """What is said, and how many messages are held, but not how fresh it is."""
    if isinstance(body, list):
        return [without_freshness(one) for one in body]
    freshness = body.pop("freshness")
    assert freshness["stale"] is ("held" in freshness), freshness
    body.pop("cursor", None)
    return {**body, "held": freshness.get("held")}


async def judge(world: World, name: str, histories: Sequence[Sequence[list[Event]]], *, poison: bool = False) -> int:
    """Each history's beginning is projected, the rest only said; then all is."""
    rng = Random(f"cut {name}")
    subjects, tails, times = [], [], set()
    for number, chain in enumerate(histories):
        facts = [ScopedFact(f"{name} {number}", scope) for scope in CHAIN[: len(chain)]]
        subjects.append(facts)
        for fact, events in zip(facts, chain, strict=True):
            cut = rng.randint(0, len(events)) if rng.random() < 0.8 else 0
            messages = messages_of(fact, events)
            if poison and rng.random() < 0.5:
                bad = Said(fact.partition, fact.fact_id, POISON, b"", None)
                messages.insert(rng.randint(0, len(messages)), (bad, 100))
            append(world, messages[:cut])
            tails.append(messages[cut:])
            times |= {event.recorded_at for event in events}
    world.project()
    rng.shuffle(tails)
    for tail in tails:
        append(world, tail)
    after, some = world.position(), sorted(times)
    chosen = sorted(rng.sample(some, min(len(some), 6)))
    folded = await everything(world, subjects, chosen, after=after, wait_ms=0)
    reads = world.tail.reads
    assert reads > 0
    world.project()
    projected = await everything(world, subjects, chosen, after=after, wait_ms=0)
    assert world.tail.reads == reads, "the projection has passed the position: nothing to fold"
    wrong = [key for key in projected if folded[key] != projected[key]]
    for key in wrong[:3]:
        print(name, key, first_difference(folded[key], projected[key]), sep="\n")
    assert not wrong, f"{name}: {wrong[:10]}"
    return sum(len(one) for one in projected.values())


def first_difference(folded: Any, projected: Any) -> str:
    if isinstance(folded, list) and isinstance(projected, list):
        for mine, theirs in zip(folded, projected, strict=False):
            if mine != theirs:
                return f"{mine}\n{theirs}"
    return f"{folded}\n{projected}"


@pytest.mark.parametrize("profile", PROFILES)
async def test_a_folded_tail_says_what_the_projection_will(world: World, profile: str) -> None:
    histories = [
        [random_history(Random(f"fold {profile} {number} {place}"), 10, profile) for place in range(1 + number % 3)]
        for number in range(HISTORIES)
    ]
    assert await judge(world, profile, histories) > 300


async def test_so_do_crowds(world: World) -> None:
    histories = [[history(Dice(Random(f"fold crowd {n}").randrange), 60, CROWD)] for n in range(1)]
    await judge(world, "crowd", histories)


async def test_what_is_poison_in_the_tail_holds_its_fact_and_no_other(world: World) -> None:
    histories = [
        [random_history(Random(f"fold poison {n} {place}"), 8, "all") for place in range(1 + n % 2)] for n in range(5)
    ]
    await judge(world, "poison", histories, poison=True)


async def test_a_fact_is_another_tenants_in_the_tail_too(world: World) -> None:
    theirs = ScopedFact("ada", ("user", "self"), tenant=UUID(int=7))
    after = world.say(theirs.asserts("npm"))
    error = await world.refusal(f"/v1/facts/{theirs.id_text}/events", 404, after=after, wait_ms=0)
    assert error["code"] == "not_found"


@pytest.mark.soak
@pytest.mark.timeout(0)
async def test_for_as_long_as_is_asked(world: World) -> None:
    deadline = time.monotonic() + float(os.environ.get("CHRONOFACT_SOAK_S", "60"))
    for number in itertools.count():
        if time.monotonic() > deadline:
            break
        dice = Random(f"fold soak {number}")
        profile = dice.choice([*PROFILES])
        histories = [
            [random_history(dice, dice.randint(1, 25), profile) for _ in range(dice.randint(1, 3))] for _ in range(6)
        ]
        await judge(world, f"soak {number} {profile}", histories, poison=dice.random() < 0.3)
    print(f"{number} rounds")
