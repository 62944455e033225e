"""Reads that name a position: waited for, folded over, or stale by name; never older in silence."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from random import Random
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from chronofact.contracts.codec import FactEvent, encode_event
from chronofact.contracts.payload import payload_of
from chronofact.contracts.position import Position
from chronofact.contracts.tail import Stretch, Tail, TailBounds
from chronofact.domain.events import EventDropped
from chronofact.domain.identity import event_id_of
from chronofact.reader.folding import ROUTES_MAX
from chronofact.runtime.config import Settings
from chronofact.runtime.failures import Transient
from tests.contract.memory_log import MemoryTopic
from tests.integration.cut_wire import wire_to
from tests.integration.reading import NOW, ScopedFact, World, world_on
from tests.integration.saying import PARTITIONS, Fact, Said

JUNE, JULY = "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"
ADA = Fact("ada")
ADAS = {"subject": "ada", "key": "package_manager", "valid_at": "2026-08-01T00:00:00Z"}
AWAY = next(fact for n in range(100) if (fact := Fact(f"away {n}")).partition != ADA.partition)
POISON = Said(ADA.partition, ADA.fact_id, b"\xc3\x01 no event", b"", None)
NAMED = ("/v1/resolve", "/v1/facts/{fact}/events", "/v1/facts/{fact}/versions", "/v1/facts/{fact}/timeline")
LISTS = ("/v1/facts", "/v1/conflicts", "/v1/memories", "/v1/relations")


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database) as world:
        yield world


def asked(path: str) -> tuple[str, dict[str, str]]:
    """A call about Ada."""
    address = path.format(fact=ScopedFact("ada", ("user", "self")).id_text)
    return address, ADAS if path == "/v1/resolve" else {"subject": "ada"} if path in LISTS else {}


async def read(world: World, path: str = "/v1/resolve", **more: Any) -> Any:
    address, parameters = asked(path)
    return await world.get(address, **{"wait_ms": 0, **parameters, **more})


async def refused(world: World, path: str, after: Position, **more: Any) -> str:
    address, parameters = asked(path)
    error = await world.refusal(address, 400, after=after.encode(), **{"wait_ms": 0, **parameters, **more})
    assert error["field"] == "after"
    return str(error["code"])


def within(position: str, after: str) -> bool:
    return Position.parse(after).is_passed_by(Position.parse(position).next_offsets)


def dropping(topic: MemoryTopic, offset: int, *, key: bytes = ADA.fact_id, partition: int = ADA.partition) -> Said:
    """An EventDropped, as the writer produces it."""
    what = EventDropped(str(uuid_of(topic)), partition, offset, "an operator", "it is broken")
    payload = payload_of(what)
    event_id = event_id_of(key, "EventDropped", payload)
    return Said(partition, key, encode_event(FactEvent(event_id, "EventDropped", b"", None, payload)), event_id, None)


def uuid_of(topic: MemoryTopic) -> Any:
    from uuid import UUID

    return UUID(bytes=topic.topic_id)


# -- read-your-writes with the projector stopped


async def test_what_was_written_is_read_though_nothing_projects(world: World) -> None:
    world.tell(ADA.asserts("npm", JUNE))
    after = world.say(ADA.asserts("pnpm", JULY, supersedes=()), AWAY.asserts("pip"))
    body = await read(world, after=after)
    assert {one["value"] for one in body["versions"]} == {"npm", "pnpm"}
    freshness = body["freshness"]
    assert (freshness["stale"], freshness["tail_events"], freshness["lag_events"]) == (False, 1, 0)
    assert within(freshness["position"], after)
    assert len((await read(world, NAMED[1], after=after))["events"]) == 2
    assert len((await read(world, NAMED[2], after=after))["versions"]) == 2
    assert len((await read(world, NAMED[3], after=after))["timeline"]) > 2
    unasked = await read(world)
    assert (unasked["value"], "tail_events" in unasked["freshness"]) == ("npm", False)


async def test_a_fact_that_no_projection_has_seen_is_read(world: World) -> None:
    after = world.say(ADA.asserts("npm", JUNE))
    assert (await read(world, after=after))["value"] == "npm"
    assert (await read(world, after=after))["fact"]["subject"] == "ada"
    events = await read(world, NAMED[1], after=after)
    assert (events["fact"]["subject"], events["fact"]["scope"]) == ("ada", "user:self")
    batch = await world.ask({"queries": [ADAS, {**ADAS, "key": "other"}], "after": after, "wait_ms": 0})
    assert [one["kind"] for one in batch["answers"]] == ["value", "unknown"]
    assert batch["freshness"]["tail_events"] == 1


async def test_only_the_partitions_of_the_named_facts_count(world: World) -> None:
    world.tell(ADA.asserts("npm", JUNE))
    after = world.say(AWAY.asserts("pip"))
    body = await read(world, after=after)
    assert (body["value"], body["freshness"]["stale"], world.tail.reads) == ("npm", False, 0)
    assert within(body["freshness"]["position"], after), "it is as of there too: nothing of the fact lies between"
    assert (await read(world, LISTS[0], after=after))["freshness"]["stale"] is True


async def test_lists_say_how_far_behind_they_are(world: World) -> None:
    world.tell(ADA.asserts("npm", JUNE))
    after = world.say(ADA.asserts("pnpm", JULY), AWAY.asserts("pip"))
    await asyncio.sleep(1.1)
    for path in LISTS:
        freshness = (await read(world, path, after=after))["freshness"]
        assert (freshness["stale"], freshness["because"], freshness["lag_events"]) == (True, "behind", 2)
        assert not within(freshness["position"], after)


async def test_a_wait_that_is_long_enough_needs_no_fold(world: World) -> None:
    after = world.say(ADA.asserts("npm", JUNE))
    asking = asyncio.create_task(read(world, after=after, wait_ms=10_000))
    await asyncio.sleep(0.1)
    await asyncio.to_thread(world.project)
    body = await asking
    assert (body["value"], world.tail.reads, "tail_events" in body["freshness"]) == ("npm", 0, False)


# -- tokens that make no sense


async def test_positions_that_no_write_gave_are_refused_by_name(world: World) -> None:
    world.tell(ADA.asserts("npm", JUNE))
    topic, end = world.topic.topic_id, len(world.topic.partitions[ADA.partition])
    for path in (*NAMED, *LISTS):
        assert await refused(world, path, Position(bytes(16), {ADA.partition: 1})) == "position_of_other_topic"
        for partition in (PARTITIONS, 2**31 - 1):
            assert await refused(world, path, Position(topic, {partition: 1})) == "position_partition_unknown"
        for offset in (end + 1, 2**62):
            assert await refused(world, path, Position(topic, {ADA.partition: offset})) == "position_beyond_log"


async def test_a_position_beyond_the_log_is_not_waited_for(world: World) -> None:
    world.tell(ADA.asserts("npm", JUNE))
    beyond = Position(world.topic.topic_id, {ADA.partition: 99})
    started = time.monotonic()
    assert await refused(world, "/v1/resolve", beyond, wait_ms=30_000) == "position_beyond_log"
    assert await refused(world, "/v1/facts", beyond, wait_ms=30_000) == "position_beyond_log"
    assert time.monotonic() - started < 6


async def test_a_position_beyond_the_log_in_a_partition_of_other_facts_is_not_believed_either(world: World) -> None:
    world.tell(ADA.asserts("npm", JUNE))
    elsewhere = (ADA.partition + 1) % PARTITIONS
    made_up = Position(world.topic.topic_id, {elsewhere: 65_535})
    assert await refused(world, "/v1/resolve", made_up) == "position_beyond_log"
    reached = Position(world.topic.topic_id, {ADA.partition: 1, elsewhere: 0})
    answer = await world.get("/v1/resolve", subject="ada", key="package_manager", after=reached.encode())
    assert answer["freshness"]["stale"] is False


async def test_a_topic_made_anew_is_neither_read_nor_trusted(world: World) -> None:
    world.tell(ADA.asserts("npm", JUNE))
    old = world.say(ADA.asserts("pnpm", JULY))
    world.topic.topic_id = bytes(15) + b"\x07"
    body = await read(world, after=old)
    assert (body["freshness"]["stale"], body["freshness"]["because"]) == (True, "topic_recreated")
    assert await refused(world, "/v1/resolve", Position.parse(world.position())) == "position_of_other_topic"
    await asyncio.sleep(1.2)
    freshness = (await read(world))["freshness"]
    assert (freshness["stale"], freshness["because"], freshness["lag_events"]) == (True, "topic_recreated", None)


# -- limits


async def test_a_thousand_unread_events_are_folded_and_one_more_is_not(world: World) -> None:
    after = world.say(*(ADA.asserts(n, JUNE, source=str(n)) for n in range(1_000)))
    assert (await read(world, NAMED[1], after=after, limit=1))["freshness"]["tail_events"] == 1_000
    after = world.say(ADA.asserts("one more", JUNE))
    freshness = (await read(world, after=after))["freshness"]
    assert (freshness["stale"], freshness["because"]) == (True, "tail_too_long")


@pytest.mark.parametrize(
    ("setting", "because"),
    [({"tail_scan_messages_max": 20}, "tail_too_long"), ({"tail_stored_events_max": 5}, "history_too_long")],
)
async def test_what_costs_too_much_is_stale_instead(database: str, setting: dict[str, int], because: str) -> None:
    async with world_on(database, settings=Settings(auth="off", **setting)) as world:  # type: ignore[arg-type]
        world.tell(*(ADA.asserts(n, JUNE, source=str(n)) for n in range(10)))
        beside = next(fact for n in range(999) if (fact := Fact(f"b {n}")).partition == ADA.partition)
        after = world.say(*(beside.asserts(n, source=str(n)) for n in range(30)), ADA.asserts("pnpm", JULY))
        body = await read(world, after=after)
        assert (body["freshness"]["stale"], body["freshness"]["because"]) == (True, because)
        assert not within(body["freshness"]["position"], after)


class StuckTail:
    """Stands in the way of every reading until it is let go."""

    def __init__(self, world: World) -> None:
        self._read: Callable[..., Tail] = world.tail.read
        self.goes_on = threading.Event()
        world.tail.read = self  # type: ignore[method-assign]

    def __call__(self, wanted: Sequence[Stretch], keys: Collection[bytes], bounds: TailBounds) -> Tail:
        assert self.goes_on.wait(60)
        return self._read(wanted, keys, bounds)


async def test_many_folds_at_once_take_turns_and_starve_nobody(database: str) -> None:
    async with world_on(database, settings=Settings(auth="off", tail_reads_max=2, tail_queue_ms=300)) as world:
        world.tell(ADA.asserts("npm", JUNE))
        after = world.say(ADA.asserts("pnpm", JULY))
        stuck = StuckTail(world)
        folds = [asyncio.create_task(read(world, after=after)) for _ in range(40)]
        done, _ = await asyncio.wait(folds, return_when=asyncio.FIRST_COMPLETED)
        for _ in range(20):
            assert (await read(world))["value"] == "npm", "who asks for no position waits for no fold"
        while len(done) < 38:
            done, _ = await asyncio.wait(folds, timeout=0.1)
        stuck.goes_on.set()
        found = [one["freshness"] for one in await asyncio.gather(*folds)]
        assert sum(not one["stale"] for one in found) == 2
        assert {one["because"] for one in found if one["stale"]} == {"tail_busy"}


# -- surroundings that fail


async def test_a_log_that_can_not_be_read_makes_the_answer_stale_by_name(world: World) -> None:
    world.tell(ADA.asserts("npm", JUNE))
    after = world.say(ADA.asserts("pnpm", JULY))
    world.tail.failures.append(Transient("kafka_unreachable", "away"))
    body = await read(world, after=after)
    assert (body["value"], body["freshness"]["stale"], body["freshness"]["because"]) == (
        *("npm", True),
        "kafka_unreachable",
    )
    assert (await read(world, after=after))["kind"] == "conflict", "once it can, it is folded"


async def test_without_postgres_it_says_so(database: str) -> None:
    async with wire_to(database) as (wire, reading), world_on(database, reading=reading) as world:
        after = world.say(ADA.asserts("npm", JUNE))
        assert (await read(world, after=after))["value"] == "npm"
        wire.cut()
        for path in (NAMED[0], LISTS[0]):
            address, parameters = asked(path)
            error = await world.refusal(address, 503, after=after, wait_ms=0, **parameters)
            assert error["code"] == "postgres_away"


# -- what moves meanwhile


async def test_what_is_projected_while_the_tail_is_read_counts_once(world: World) -> None:
    world.tell(ADA.asserts("npm", JUNE))
    after = world.say(*(ADA.asserts(n, JULY, source=str(n)) for n in range(6)))
    reads = world.tail.read

    def then_project_some(*given: Any) -> Tail:
        found = reads(*given)
        whole, world.topic.partitions[ADA.partition] = (
            world.topic.partitions[ADA.partition],
            world.topic.partitions[ADA.partition][:3],
        )
        world.project()
        world.topic.partitions[ADA.partition] = whole
        return found

    world.tail.read = then_project_some  # type: ignore[assignment, method-assign]
    body = await read(world, NAMED[1], after=after)
    assert [one["event_seq"] for one in body["events"]] == [1, 2, 3, 4, 5, 6, 7]
    assert body["freshness"]["tail_events"] == 4


def goes_back(world: World, database: str, next_offsets: Iterable[int]) -> None:
    """From now on the projection is restored from an older copy while a tail is read, once for each."""
    reads, older = world.tail.read, iter(next_offsets)

    def then_restore(*given: Any) -> Tail:
        found = reads(*given)
        move = "update chronofact.checkpoint set next_offset = coalesce(%s, next_offset) where partition = %s"
        with psycopg.connect(database) as connection:
            connection.execute(move, [next(older, None), ADA.partition])
        return found

    world.tail.read = then_restore  # type: ignore[assignment, method-assign]


async def test_a_projection_that_went_back_meanwhile_is_folded_from_there(world: World, database: str) -> None:
    world.tell(ADA.asserts("npm", JUNE), ADA.asserts("yarn", JUNE))
    after = world.say(ADA.asserts("pnpm", JULY))
    goes_back(world, database, [1])
    body = await read(world, NAMED[1], after=after)
    assert [one["event_seq"] for one in body["events"]] == [1, 2, 3]
    assert not body["freshness"]["stale"]


async def test_a_projection_that_goes_back_each_time_is_not_folded_over_a_gap(world: World, database: str) -> None:
    world.tell(*(ADA.asserts(n, JUNE, source=str(n)) for n in range(ROUTES_MAX)))
    after = world.say(ADA.asserts("pnpm", JULY))
    goes_back(world, database, reversed(range(ROUTES_MAX)))
    freshness = (await read(world, after=after))["freshness"]
    assert (freshness["stale"], freshness["because"]) == (True, "projection_changed")


# -- held facts


async def test_a_held_fact_is_stale_and_the_tail_behind_it_waits(world: World) -> None:
    world.tell(ADA.asserts("npm", JUNE), POISON)
    after = world.say(ADA.asserts("pnpm", JULY))
    body = await read(world, after=after)
    freshness = body["freshness"]
    assert (body["value"], freshness["stale"], freshness["because"], freshness["held"]) == ("npm", True, "held", 2)
    world.project()
    assert {**(await read(world, after=after)), "freshness": 0} == {**body, "freshness": 0}


@pytest.mark.parametrize("is_parked", [True, False])
async def test_what_was_given_up_holds_nothing_any_more(world: World, is_parked: bool) -> None:
    world.say(ADA.asserts("npm", JUNE), POISON)
    if is_parked:
        world.project()
    after = world.say(ADA.asserts("pnpm", JULY), dropping(world.topic, 1), ADA.asserts("yarn", JULY))
    folded = await read(world, NAMED[1], after=after)
    assert ("held" in folded["freshness"], len(folded["events"])) == (False, 3)
    world.project()
    projected = await read(world, NAMED[1], after=after)
    assert {**folded, "freshness": 0} == {**projected, "freshness": 0}


async def test_drops_that_do_not_count_hold_nothing(world: World) -> None:
    world.tell(ADA.asserts("npm", JUNE))
    after = world.say(dropping(world.topic, 0), dropping(world.topic, 7), POISON, dropping(world.topic, 3, partition=2))
    folded = await read(world, after=after)
    world.project()
    projected = await read(world, after=after)
    assert {**folded, "freshness": 0} == {**projected, "freshness": 0}
    assert folded["freshness"]["held"] == projected["freshness"]["held"] == 1


async def test_what_another_projection_gave_up_is_skipped(world: World, database: str) -> None:
    world.project()
    with psycopg.connect(database) as connection:
        connection.execute(
            "insert into chronofact.dropped_event values ('p9', %s, %s, 1, null, 5, 'someone', 'broken', now())",
            [uuid_of(world.topic), ADA.partition],
        )
    after = world.say(ADA.asserts("npm", JUNE), POISON, ADA.asserts("pnpm", JULY))
    body = await read(world, NAMED[1], after=after)
    assert ("held" in body["freshness"], len(body["events"])) == (False, 2)


# -- a client that carries positions


async def test_a_client_that_carries_positions_never_sees_older_than_it_saw(database: str) -> None:
    """Two readers, a projector that moves when it likes, one client that gives each answer's position to the next read."""
    rng = Random(f"carry {uuid4()}")
    facts = [Fact(f"carried {n}") for n in range(4)]
    async with world_on(database) as one, world_on(database, topic=one.topic) as other:
        said = dict.fromkeys(range(len(facts)), 0)
        seen = dict.fromkeys(range(len(facts)), 0)
        position: str | None = None
        for step in range(70):
            number = rng.randrange(len(facts))
            if rng.random() < 0.5:
                said[number] += 1
                written = one.say(
                    facts[number].asserts(said[number], JUNE, source=str(said[number])), appended_at=NOW + step
                )
                if rng.random() < 0.5:
                    position, seen[number] = written, said[number]
                    seen = dict(said)
            if rng.random() < 0.3:
                one.project()
            reader = rng.choice((one, other))
            parameters = {"subject": facts[number].label, "key": "package_manager", "wait_ms": 0}
            if position is not None:
                parameters["after"] = position
            body = await reader.get("/v1/resolve", **parameters)
            values = [one["value"] for one in body.get("versions", [])] or [body.get("value", 0)]
            assert max(values) >= seen[number], f"{rng} at {step}"
            assert body["freshness"]["stale"] is False
            seen[number] = max(values)
            position = body["freshness"]["position"]
