"""Drops and releases on the twins: what is held follows in its order, in one piece, and never twice."""

from __future__ import annotations

import pytest

from chronofact.contracts.codec import FactEvent, encode_event
from chronofact.contracts.drops import Drop
from chronofact.contracts.log import Message
from chronofact.contracts.projection import HELD, Lines
from chronofact.domain.events import FactEnded
from chronofact.domain.identity import event_id_of
from chronofact.projecting.release import CHUNK_MESSAGES
from chronofact.projector.loop import Projector
from chronofact.runtime.failures import Transient
from tests.contract.memory_log import TOPIC_ID, MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import Witness, projector_on, run_until_idle
from tests.integration.saying import Fact

POISON = b"\xc3\x01 no event"
OTHER_TOPIC = bytes(range(1, 17))
ADA = Fact("ada")


class World:
    """A topic, a store and one projector, which stops before each step that is asked for."""

    def __init__(self) -> None:
        self.topic = MemoryTopic()
        self.store = MemoryStore()
        self.projector: Projector
        self.witness: Witness
        self.projector, self.witness = projector_on(self.topic.join(), self.store)

    def run(self) -> None:
        run_until_idle(self.projector, idle_steps=120)

    def restart(self) -> None:
        self.projector.close()
        self.projector, self.witness = projector_on(self.topic.join(), self.store)

    def says(self, *values: object, fact: Fact = ADA, appended_at: int = 1_000_000) -> list[int]:
        start = len(self.topic.partitions[fact.partition])
        self.topic.append([fact.asserts(value) for value in values], appended_at=appended_at)  # type: ignore[arg-type]
        return list(range(start, start + len(values)))

    def poisons(self, *, fact: Fact = ADA, appended_at: int = 1_000_000) -> int:
        self.topic.append_raw(fact.partition, fact.fact_id, POISON, appended_at=appended_at)
        return len(self.topic.partitions[fact.partition]) - 1

    def appends(self, message: Message) -> int:
        self.topic.append_raw(message.partition, message.key, message.value, appended_at=9_000_000)
        return len(self.topic.partitions[message.partition]) - 1

    def drops(self, offset: int, *, fact: Fact = ADA, key: bytes | None = None, topic_id: bytes = TOPIC_ID) -> int:
        drop = Drop(topic_id, fact.partition, offset, fact.fact_id if key is None else key, "no use", "ada")
        return self.appends(drop.message())

    def heals(self, offset: int, value: object, *, fact: Fact = ADA) -> None:
        """As new code would: what could not be read reads as this assertion."""
        place = (TOPIC_ID, fact.partition, offset)
        line = self.store.database.tables["parked"][place]
        self.store.database.tables["parked"][place] = line._replace(value=fact.asserts(value).value)  # type: ignore[arg-type]

    @property
    def codes(self) -> dict[int, str]:
        return {offset: line.code for (_, _, offset), line in sorted(self.store.tables.parked.items())}

    @property
    def offsets(self) -> list[int]:
        """Of the events that count, by event_seq; fails when they are not dense."""
        events = self.store.events()
        assert [line.event_seq for line in events] == list(range(1, len(events) + 1))
        return [line.kafka_offset for line in events]


@pytest.fixture
def world() -> World:
    return World()


def test_a_drop_lets_what_was_held_behind_it_follow_in_order(world: World) -> None:
    world.says("npm")
    poison = world.poisons()
    world.says("pnpm", "yarn", appended_at=2_000_000)
    world.run()
    drop = world.drops(poison)
    world.says("bun", appended_at=3_000_000)
    world.run()
    assert world.codes == {}
    assert world.offsets == [0, 2, 3, drop + 1]
    assert [line.recorded_at for line in world.store.events()] == [1_000_000, 2_000_000, 2_000_000, 3_000_000]
    assert list(world.store.tables.dropped) == [(TOPIC_ID, ADA.partition, poison)]
    assert [spot[2] for _, spot in sorted(world.store.tables.released.items())] == [2, 3]
    assert (world.witness.total.dropped, world.witness.total.released) == (1, 2)
    assert world.witness.parked_now == (0, 0)


def test_all_of_it_in_one_poll_ends_the_same(world: World) -> None:
    world.says("npm")
    poison = world.poisons()
    world.says("pnpm")
    world.drops(poison)
    world.says("bun")
    world.run()
    assert (world.codes, world.offsets) == ({}, [0, 2, 4])


def test_behind_a_dropped_message_the_next_bad_one_holds_the_rest(world: World) -> None:
    first = world.poisons()
    world.says("npm")
    second = world.poisons()
    world.says("pnpm")
    world.drops(first)
    world.run()
    assert world.codes == {second: "event_undecodable", second + 1: HELD}
    assert world.offsets == [1]
    assert world.witness.parked_now == (2, 1)
    world.drops(second)
    world.run()
    assert (world.codes, world.offsets) == ({}, [1, 3])


def test_a_drop_of_what_waits_behind_leaves_the_first_alone(world: World) -> None:
    first = world.poisons()
    world.says("npm", "pnpm")
    world.drops(first + 1)
    world.run()
    assert world.codes == {first: "event_undecodable", first + 2: HELD}
    assert world.store.tables.attempts[TOPIC_ID, ADA.partition, first] == 1
    world.drops(first)
    world.run()
    assert (world.codes, world.offsets) == ({}, [2])


def test_a_drop_said_twice_counts_once(world: World) -> None:
    poison = world.poisons()
    for _ in range(2):
        world.drops(poison)
    world.run()
    assert world.codes == {}
    assert len(world.store.tables.dropped) == 1


@pytest.mark.parametrize("key", [b"", b"short", bytes(17)])
def test_a_message_without_a_fact_is_dropped_too(world: World, key: bytes) -> None:
    world.topic.append_raw(0, key, POISON)
    world.says("npm", fact=next(fact for fact in map(Fact, map(str, range(99))) if fact.partition == 0))
    world.run()
    assert world.codes == {0: "message_key_malformed"}
    world.appends(Drop(TOPIC_ID, 0, 0, key, "no use", "ada").message())
    world.run()
    assert (world.codes, world.offsets) == ({}, [1])


def test_a_drop_of_what_is_applied_does_not_count_and_holds_nothing(world: World) -> None:
    (applied,) = world.says("npm")
    drop = world.drops(applied)
    world.says("pnpm")
    world.run()
    assert world.codes == {drop: "drop_not_parked"}
    assert world.offsets == [0, 2]
    assert world.store.tables.dropped == {}
    assert world.witness.parked_now == (1, 0)


def test_a_drop_of_a_drop_that_does_not_count_tidies_it_away(world: World) -> None:
    (applied,) = world.says("npm")
    drop = world.drops(applied)
    world.drops(drop)
    world.run()
    assert world.codes == {}
    assert list(world.store.tables.dropped) == [(TOPIC_ID, ADA.partition, drop)]


def test_a_drop_that_names_another_place_does_not_count(world: World) -> None:
    poison = world.poisons()
    elsewhere = Drop(TOPIC_ID, (ADA.partition + 1) % 12, poison, ADA.fact_id, "no use", "ada").message()
    misplaced = [
        world.drops(poison, topic_id=OTHER_TOPIC),
        world.drops(poison, key=b"another"),
        world.drops(poison + 100),
        world.appends(elsewhere._replace(partition=ADA.partition)),
    ]
    world.says("npm")
    world.run()
    assert world.codes == {
        poison: "event_undecodable",
        **dict.fromkeys(misplaced, "drop_misplaced"),
        misplaced[-1] + 1: HELD,
    }
    assert world.store.tables.dropped == {}


@pytest.mark.parametrize("garbage", [b"", b"{}", b"[]", b"null", b'{"topic_id":1}', b"\xff", b"[" * 3_000])
def test_a_drop_that_says_nothing_is_parked_and_holds_nothing(world: World, garbage: bytes) -> None:
    event_id = event_id_of(ADA.fact_id, "EventDropped", garbage)
    value = encode_event(FactEvent(event_id, "EventDropped", b"", None, garbage))
    drop = world.appends(Message(ADA.fact_id, value, ADA.partition))
    world.says("npm")
    world.run()
    assert world.codes == {drop: "event_undecodable"}
    assert world.offsets == [1]


def test_a_drop_that_is_cut_short_is_parked_and_holds_nothing(world: World) -> None:
    value = Drop(TOPIC_ID, ADA.partition, 0, ADA.fact_id, "no use", "ada").message().value
    drop = world.appends(Message(ADA.fact_id, value[:60], ADA.partition))
    world.says("npm")
    world.run()
    assert (world.codes, world.offsets) == ({drop: "event_undecodable"}, [1])


def test_what_another_projection_dropped_is_skipped_when_met(world: World) -> None:
    poison = world.poisons()
    world.says("npm")
    drop = world.drops(poison)
    world.store.dropped_elsewhere[TOPIC_ID, ADA.partition, poison] = ADA.fact_id
    world.run()
    assert (world.codes, world.offsets) == ({}, [1])
    assert world.store.tables.dropped[TOPIC_ID, ADA.partition, poison].drop_offset == drop
    assert list(world.store.tables.released) == []


def test_a_drop_under_another_key_counts_neither_before_nor_behind_the_one_that_does(world: World) -> None:
    poison = world.poisons()
    wrong = Drop(TOPIC_ID, ADA.partition, poison, b"another fact's k", "no use", "ada").message()
    before = world.appends(Message(wrong.key, wrong.value, ADA.partition))
    world.drops(poison)
    behind = world.appends(Message(wrong.key, wrong.value, ADA.partition))
    world.run()
    assert world.codes == {before: "drop_misplaced", behind: "drop_misplaced"}


def test_a_release_applies_all_that_waits_as_if_it_had_never_been_parked(world: World) -> None:
    world.says("npm", appended_at=1_000_000)
    poison = world.poisons(appended_at=2_000_000)
    world.says("pnpm", "yarn", appended_at=3_000_000)
    world.run()
    world.heals(poison, "deno")
    assert world.store.ask(TOPIC_ID, ADA.partition, fact_id=ADA.fact_id) == 3
    world.says("bun", appended_at=4_000_000)
    world.run()
    assert (world.codes, world.offsets) == ({}, [0, 1, 2, 3, 4])
    assert [line.recorded_at // 1_000_000 for line in world.store.events()] == [1, 2, 3, 3, 4]
    assert [spot[2] for _, spot in sorted(world.store.tables.released.items())] == [1, 2, 3, 4]
    assert world.witness.total.messages == 5
    fresh = World()
    fresh.topic.append([ADA.asserts(value) for value in ("npm", "deno", "pnpm", "yarn", "bun")])
    fresh.run()
    assert world.store.state() == fresh.store.state()


def test_a_release_in_vain_keeps_all_and_says_why_now(world: World) -> None:
    poison = world.poisons()
    world.says("npm")
    world.run()
    for attempts in (2, 3):
        world.store.ask(TOPIC_ID, ADA.partition, fact_id=ADA.fact_id)
        world.run()
        assert world.codes == {poison: "event_undecodable", poison + 1: HELD}
        assert world.store.tables.attempts[TOPIC_ID, ADA.partition, poison] == attempts
        assert world.store.tables.asked == {}
    assert world.witness.total.retried == {"event_undecodable": 2}
    assert world.witness.hindrances == []


def test_a_release_goes_as_far_as_it_can(world: World) -> None:
    first = world.poisons()
    world.says("npm")
    second = world.poisons()
    world.says("pnpm")
    world.run()
    world.heals(first, "deno")
    world.store.ask(TOPIC_ID, ADA.partition, fact_id=ADA.fact_id)
    world.says("late")
    world.run()
    assert world.codes == {second: "event_undecodable", second + 1: HELD, second + 2: HELD}
    assert world.offsets == [0, 1]
    assert world.store.tables.asked == {}


def test_a_message_of_no_fact_is_tried_again_alone(world: World) -> None:
    world.topic.append_raw(0, b"short", POISON)
    world.topic.append_raw(0, b"short", POISON)
    world.run()
    world.store.ask(TOPIC_ID, 0, offset=1)
    world.run()
    assert world.codes == {0: "message_key_malformed", 1: "message_key_malformed"}
    assert [world.store.tables.attempts[TOPIC_ID, 0, offset] for offset in (0, 1)] == [1, 2]


def test_more_than_one_chunk_is_one_transaction(world: World) -> None:
    count = 2 * CHUNK_MESSAGES + 7
    poison = world.poisons()
    world.says(*range(count))
    world.run()
    steps: list[str] = []
    world.store.fault = steps.append
    world.drops(poison)
    world.run()
    assert (world.codes, len(world.offsets)) == ({}, count)
    assert steps.count("commit") == 1


@pytest.mark.parametrize("bad", [0, 3, CHUNK_MESSAGES + 5])
def test_what_a_constraint_refuses_stays_and_what_came_before_it_counts(world: World, bad: int) -> None:
    count = CHUNK_MESSAGES + 20
    poison = world.poisons()
    offsets = world.says(*range(count))
    world.run()
    culprit = ADA.asserts(bad).event_id
    world.store.refuses = lambda lines: any(line.event_id == culprit for line in lines.events)
    world.drops(poison)
    world.run()
    assert world.offsets == offsets[:bad]
    assert next(iter(world.codes.items())) == (offsets[bad], "constraint_broken")
    assert set(list(world.codes.values())[1:]) == {HELD}
    world.store.refuses = no_lines
    world.store.ask(TOPIC_ID, ADA.partition, fact_id=ADA.fact_id)
    world.run()
    assert (world.codes, world.offsets) == ({}, offsets)


def no_lines(_lines: Lines) -> bool:
    return False


STEPS = ("begin", "advance", "load", "parked_of", "parked_at", "write", "written", "commit", "committed")


@pytest.mark.parametrize("failing", STEPS)
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_failure_at_any_step_of_a_drop_or_a_release_loses_and_doubles_nothing(
    world: World, failing: str, nth: int
) -> None:
    world.says("npm")
    poison = world.poisons()
    world.says("pnpm")
    second = world.poisons()
    world.says("yarn")
    world.run()
    left = [nth]

    def fail(step: str) -> None:
        if step == failing:
            left[0] -= 1
            if left[0] == 0:
                raise Transient("postgres_away", "made up")

    world.restart()
    world.store.fault = fail
    world.drops(poison)
    world.run()
    world.heals(second, "deno")
    world.store.ask(TOPIC_ID, ADA.partition, fact_id=ADA.fact_id)
    world.run()
    world.says("bun")
    world.run()
    assert (world.codes, world.offsets) == ({}, [0, 2, 3, 4, 6])
    assert len(world.store.tables.dropped) == 1
    assert [spot[2] for _, spot in sorted(world.store.tables.released.items())] == [2, 3, 4]


def test_an_owner_that_was_followed_releases_nothing(world: World) -> None:
    poison = world.poisons()
    world.says("npm")
    world.run()
    world.heals(poison, "deno")
    world.store.claim(TOPIC_ID, ADA.partition, watermarks=(0, 2))
    world.store.ask(TOPIC_ID, ADA.partition, fact_id=ADA.fact_id)
    for _ in range(120):
        world.projector.step()
        if world.witness.hindrances:
            break
    assert world.witness.hindrances == ["fenced"]
    assert list(world.codes) == [poison, poison + 1]
    world.run()
    assert (world.codes, world.offsets) == ({}, [0, 1])


def test_a_number_given_to_a_fact_that_could_not_be_applied_is_no_trap(world: World) -> None:
    ends = FactEnded(bytes(16), 5_000)
    bad = ADA.says(ends)
    value = bad.value.replace(bad.event_id, bytes(16))
    world.topic.append_raw(ADA.partition, ADA.fact_id, value)
    other = next(fact for fact in map(Fact, map(str, range(999))) if fact.partition == ADA.partition)
    world.run()
    assert world.codes == {0: "event_id_mismatch"}
    world.topic.rebalance()
    world.says("npm", fact=other)
    world.run()
    world.heals(0, "deno")
    world.store.ask(TOPIC_ID, ADA.partition, fact_id=ADA.fact_id)
    world.run()
    assert world.codes == {}
    assert len(world.store.state()) == 2
