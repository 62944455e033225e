"""The loop on the twins: claims, hand-overs, zombies, holes, and whatever fails at any step."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from chronofact.runtime.failures import Transient, Unfit
from tests.bench.workload import mixed
from tests.contract.memory_log import TOPIC_ID, Appended, MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import projector_on, run_until_idle
from tests.integration.saying import PARTITIONS, Fact

STEPS = ("claim", "begin", "advance", "load", "write", "written", "commit", "committed")


def clean_state(events: int, *, seed: int) -> dict[bytes, tuple[int, bytes]]:
    topic, store = MemoryTopic(), MemoryStore()
    topic.append(mixed(40, events, seed=seed))
    run_until_idle(projector_on(topic.join(), store)[0])
    return store.state()


def dense(store: MemoryStore) -> bool:
    numbers: dict[int, list[int]] = {}
    for line in store.events():
        numbers.setdefault(line.fact_no, []).append(line.event_seq)
    return all(found == list(range(1, len(found) + 1)) for found in numbers.values())


@pytest.mark.parametrize("failing", STEPS)
def test_a_failure_at_any_step_loses_and_doubles_nothing(failing: str) -> None:
    topic, store = MemoryTopic(), MemoryStore()
    topic.append(mixed(40, 600, seed=5))
    failures = iter([False, True, False, True, True])

    def fail(step: str) -> None:
        if step == failing and next(failures, False):
            raise Transient("postgres_away", "made up")

    store.fault = fail
    projector, witness = projector_on(topic.join(), store, batch_events_max=50)
    run_until_idle(projector, idle_steps=30)
    assert next(failures, None) is None or failing == "claim"
    assert store.state() == clean_state(600, seed=5)
    assert dense(store)
    if failing != "load":
        assert set(witness.hindrances) == {"postgres_away"}
    assert witness.is_ready


@pytest.mark.parametrize("seed", range(8))
def test_random_failures_rebalances_and_zombies_leave_the_same_state(seed: int) -> None:
    random = Random(seed)
    topic, store = MemoryTopic(), MemoryStore()
    events = list(mixed(40, 500, seed=seed))

    def fail(step: str) -> None:
        if random.random() < 0.02:
            raise Transient("postgres_away", f"made up at {step}")

    store.fault = fail
    members = [projector_on(topic.join(), store, batch_events_max=random.randrange(1, 80))[0] for _ in range(3)]
    logs = list(topic.members)
    while events:
        topic.append(events[:20])
        del events[:20]
        for _ in range(6):
            random.choice(members).step()
        if random.random() < 0.2:
            logs[0].is_deaf = True  # goes on with what it had, as after a pause of the whole process
        if random.random() < 0.3:
            topic.members.reverse()
            topic.rebalance()
    logs[0].is_deaf = False
    topic.rebalance()
    for _ in range(200):
        for member in members:
            member.step()
    store.fault = lambda _step: None
    for _ in range(50):
        for member in members:
            member.step()
    assert store.state() == clean_state(500, seed=seed), f"seed {seed}"
    assert dense(store)


def test_two_members_share_and_hand_over() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    first, first_told = projector_on(topic.join(), store)
    topic.append(mixed(40, 200, seed=1))
    run_until_idle(first)
    second, second_told = projector_on(topic.join(), store)
    topic.append(list(mixed(40, 400, seed=1))[200:])
    run_until_idle(second)
    run_until_idle(first)
    assert set(first_told.claims[-1]).isdisjoint(second_told.claims[-1])
    assert len(first_told.claims[-1]) + len(second_told.claims[-1]) == PARTITIONS
    assert store.state() == clean_state(400, seed=1)


def test_a_member_that_the_group_gives_nothing_is_ready_to_step_in() -> None:
    topic, store = MemoryTopic(partitions=1), MemoryStore()
    busy, _ = projector_on(topic.join(), store)
    spare, told = projector_on(topic.join(), store)
    for _ in range(3):
        busy.step()
        spare.step()
    assert (told.is_ready, told.claims) == (True, [()])
    store.fault = _once_away()
    spare.step()
    run_until_idle(busy)
    for _ in range(60):
        spare.step()
    assert told.is_ready


def test_a_member_that_has_not_heard_of_the_group_is_not_ready() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    log = topic.join()
    log.leave_unheard()
    projector, told = projector_on(log, store)
    for _ in range(5):
        projector.step()
    assert (told.is_ready, told.claims) == (False, [])


def _once_away() -> Callable[[str], None]:
    failures = iter([Transient("postgres_away", "made up")])

    def fail(_step: str) -> None:
        for failure in failures:
            raise failure

    return fail


def test_histories_outlive_a_rebalance_in_which_no_one_else_wrote() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    projector, witness = projector_on(topic.join(), store)
    fact = Fact("ada")
    topic.append([fact.asserts("npm")])
    run_until_idle(projector)
    topic.rebalance()
    topic.append([fact.asserts("pnpm")])
    run_until_idle(projector)
    assert len(witness.claims) == 2
    assert witness.total.facts_loaded == 0


def test_a_zombie_writes_nothing_and_joins_again() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    zombie, told = projector_on(topic.join(), store)
    fact = Fact("ada")
    topic.append([fact.asserts("npm")])
    run_until_idle(zombie)
    topic.members[0].is_deaf = True
    topic.members.reverse()
    heir, _ = projector_on(topic.join(), store)
    topic.rebalance()
    while not heir.owned:
        heir.step()
    epochs = {place: epoch for place, (_, epoch) in store.tables.checkpoints.items()}
    topic.append(Fact(f"subject {number}").asserts("x") for number in range(200))
    zombie.step()
    assert told.hindrances == ["fenced"]
    assert {place: epoch for place, (_, epoch) in store.tables.checkpoints.items()} == epochs


def test_an_offset_that_runs_ahead_is_read_again_before_it_is_believed() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    log = topic.join()
    projector, _ = projector_on(log, store)
    run_until_idle(projector)
    fact = Fact("ada")
    topic.append([fact.asserts("npm"), fact.asserts("pnpm")])
    late = topic.partitions[fact.partition][1]
    log.prefetched = [late]
    log.positions.clear()
    run_until_idle(projector)
    assert [line.kafka_offset for line in store.events()] == [0, 1]


def test_a_last_message_that_the_consumer_ran_past_is_read_again_after_a_while() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    fact, log = Fact("ada"), topic.join()
    projector, _ = projector_on(log, store, commit_every_s=0.1, silent_s=5.0)
    topic.append([fact.asserts("npm")])
    run_until_idle(projector)
    topic.append([fact.asserts("pnpm")])
    log.positions[fact.partition] = 2
    run_until_idle(projector, idle_steps=50)
    assert [line.kafka_offset for line in store.events()] == [0]
    run_until_idle(projector, idle_steps=500)
    assert [line.kafka_offset for line in store.events()] == [0, 1]


def test_a_hole_that_stays_is_stepped_over() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    fact = Fact("ada")
    topic.append([fact.asserts("npm"), fact.asserts("pnpm")])
    messages = topic.partitions[fact.partition]
    messages[1] = messages[1]._replace(offset=2)  # offset 1 is a transaction's marker
    projector, _ = projector_on(topic.join(), store)
    for _ in range(20):
        projector.step()
    assert [line.kafka_offset for line in store.events()] == [0, 2]
    assert store.tables.checkpoints[TOPIC_ID, fact.partition][0] == 3


def test_many_holes_are_stepped_over_together() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    fact, other = Fact("ada"), Fact("bob")
    assert fact.partition != other.partition
    for one in (fact, other):
        topic.append([one.asserts(f"{number}") for number in range(7)])
        del topic.partitions[one.partition][1:6:2]
    log = topic.join()
    projector, _ = projector_on(log, store)
    projector.step()
    for _ in range(8):
        log.positions.clear()
        log.prefetched = [*topic.partitions[fact.partition], *topic.partitions[other.partition]]
        projector.step()
    assert sorted(line.kafka_offset for line in store.events()) == [0, 0, 2, 2, 4, 4, 6, 6]


def test_a_hole_is_as_wide_as_it_was_both_times() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    fact = Fact("ada")
    topic.append([fact.asserts("npm"), fact.asserts("pnpm"), fact.asserts("yarn"), fact.asserts("bun")])
    messages = topic.partitions[fact.partition]
    del messages[1]  # a transaction's marker; what follows it runs ahead at the second look only
    log = topic.join()
    projector, _ = projector_on(log, store)
    projector.step()
    for found in [messages[:2], [messages[0], messages[2]], messages, messages]:
        log.positions.clear()
        log.prefetched = list(found)
        projector.step()
    assert [line.kafka_offset for line in store.events()] == [0, 2, 3]


@pytest.mark.parametrize(
    ("code", "spoil"),
    [
        ("topic_recreated", lambda topic: setattr(topic, "topic_id", bytes(16))),
        ("log_truncated", lambda topic: topic.low.update({3: 7})),
        ("log_shortened", lambda topic: topic.partitions.update({n: [] for n in range(PARTITIONS)})),
    ],
)
def test_a_topic_that_is_not_the_one_it_came_from_is_refused_by_name(code: str, spoil: object) -> None:
    topic, store = MemoryTopic(), MemoryStore()
    topic.append(mixed(40, 100))
    projector, _ = projector_on(topic.join(), store)
    run_until_idle(projector)
    projector.close()
    before = store.tables
    assert callable(spoil)
    spoil(topic)
    projector, told = projector_on(topic.join(), store)
    for _ in range(50):
        projector.step()
    assert set(told.hindrances) == {code}
    assert not told.is_ready
    assert store.tables.facts == before.facts


def test_what_the_owner_before_applied_since_we_looked_is_no_shorter_log() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    first, _ = projector_on(topic.join(), store)
    run_until_idle(first)
    topic.members[0].is_deaf = True
    late = [Fact("ada").asserts("npm"), Fact("ada").asserts("pnpm")]

    def meanwhile(step: str) -> None:
        if step == "claim" and late:
            topic.append([late.pop()])
            first.step()

    second, told = projector_on(topic.join(), store)
    topic.members.reverse()
    topic.rebalance()
    store.fault = meanwhile
    run_until_idle(second)
    assert not late
    assert told.hindrances == []


def test_a_broken_membership_is_made_anew() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    log = topic.join()
    topic.append(mixed(40, 100))
    log.failures = [
        Transient("kafka_consumer", "made up"),
        Unfit("topic_missing", "made up", remedy="none"),
        Transient("kafka_consumer", "made up"),
    ]
    projector, told = projector_on(log, store)
    run_until_idle(projector)
    assert told.hindrances == ["kafka_consumer", "topic_missing", "kafka_consumer"]
    assert store.state() == clean_state(100, seed=7)


def test_messages_of_partitions_that_are_not_owned_are_left_alone() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    log = topic.join()
    projector, _ = projector_on(log, store)
    run_until_idle(projector)
    log.prefetched = [Appended(PARTITIONS, 0, bytes(16), b"", 0)]
    projector.step()
    assert not store.tables.parked


def test_the_group_hears_how_far_it_came_when_it_leaves() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    log = topic.join()
    fact = Fact("ada")
    topic.append([fact.asserts("npm")])
    projector, _ = projector_on(log, store)
    run_until_idle(projector)
    projector.close()
    assert log.committed[fact.partition] == 1
    assert log not in topic.members
