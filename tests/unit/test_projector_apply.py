"""One batch after another on the twins: what is applied, repeated, parked and held."""

from __future__ import annotations

import pytest

from chronofact.contracts.projection import HELD, Lines
from chronofact.domain.errors import Rejected
from chronofact.domain.events import Event, FactActivated, FactAsserted, FactEnded, FactRevoked, Happening
from chronofact.domain.history import Change, History
from chronofact.projecting.parking import PARKED_ROW_MAX, ParkingLimit
from chronofact.projector.loop import Projector
from tests.contract.memory_log import MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import Witness, projector_on, run_until_idle
from tests.integration.deriving import derived
from tests.integration.saying import Fact, Said

POISON = b"\xc3\x01 no event"


@pytest.fixture
def topic() -> MemoryTopic:
    return MemoryTopic()


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def running(topic: MemoryTopic, store: MemoryStore) -> tuple[Projector, Witness]:
    return projector_on(topic.join(), store)


def parked_codes(store: MemoryStore) -> list[str]:
    return [line.code for _, line in sorted(store.tables.parked.items())]


def test_events_are_numbered_in_log_order(
    topic: MemoryTopic, store: MemoryStore, running: tuple[Projector, Witness]
) -> None:
    fact = Fact("ada")
    said = [fact.asserts(value, f"2026-0{month}-01T00:00:00Z") for month, value in enumerate(("npm", "pnpm", "bun"), 1)]
    topic.append(said)
    run_until_idle(running[0])
    assert [(line.event_seq, line.event_id) for line in store.events()] == [
        (number, one.event_id) for number, one in enumerate(said, 1)
    ]
    assert [line.kafka_offset for line in store.events()] == [0, 1, 2]


def test_a_repeat_changes_nothing_not_even_when_later_events_were_known(
    topic: MemoryTopic, store: MemoryStore, running: tuple[Projector, Witness]
) -> None:
    fact = Fact("ada")
    first, second = fact.asserts("npm"), fact.asserts("pnpm")
    topic.append([first], appended_at=1_000)
    run_until_idle(running[0])
    topic.append([first], appended_at=9_000)
    topic.append([second], appended_at=5_000)
    run_until_idle(running[0])
    assert [line.recorded_at for line in store.events()] == [1_000, 5_000]
    assert running[1].total.already_applied == 1


def test_recorded_at_is_the_brokers_or_the_imports_and_never_falls(
    topic: MemoryTopic, store: MemoryStore, running: tuple[Projector, Witness]
) -> None:
    fact = Fact("ada")
    topic.append([fact.asserts(1, import_time=300)], appended_at=1_000)
    topic.append([fact.asserts(2, import_time=200)], appended_at=1_001)
    topic.append([fact.asserts(3, import_time=9_999)], appended_at=1_002)
    topic.append([fact.asserts(4)], appended_at=900)
    run_until_idle(running[0])
    assert [line.recorded_at for line in store.events()] == [300, 300, 1_002, 1_002]


def test_every_kind_of_saying_has_its_line(
    topic: MemoryTopic, store: MemoryStore, running: tuple[Projector, Witness]
) -> None:
    fact = Fact("ada")
    asserted = fact.asserts("npm")
    version_id = asserted.version_id
    assert version_id is not None
    others: list[Happening] = [FactActivated(version_id), FactEnded(version_id, 5_000), FactRevoked(version_id)]
    topic.append([asserted, *(fact.says(what) for what in others)])
    run_until_idle(running[0])
    assert len(store.tables.lines["endings"]) == 1
    assert len(store.tables.lines["versions"]) == 1
    assert [line.version_ids for line in store.events()] == [(version_id,)] * 4


def test_the_subjects_label_is_kept_from_its_first_event(
    topic: MemoryTopic, store: MemoryStore, running: tuple[Projector, Witness]
) -> None:
    topic.append([Fact("ada").asserts("npm")])
    run_until_idle(running[0])
    assert list(store.tables.labels.values()) == ["ada"]


def test_an_undecodable_message_holds_its_fact_and_no_other(
    topic: MemoryTopic, store: MemoryStore, running: tuple[Projector, Witness]
) -> None:
    held = Fact("ada")
    other = next(fact for fact in map(Fact, map(str, range(1_000))) if fact.partition == held.partition)
    topic.append([held.asserts("npm")])
    topic.append_raw(held.partition, held.fact_id, POISON)
    topic.append([held.asserts("pnpm"), other.asserts("bun")])
    run_until_idle(running[0])
    topic.append([held.asserts("yarn"), other.asserts("deno")])
    run_until_idle(running[0])
    assert parked_codes(store) == ["event_undecodable", HELD, HELD]
    assert store.state()[held.fact_id][0] == 1
    assert store.state()[other.fact_id][0] == 2
    assert next(line.value for line in store.tables.parked.values()) == POISON


def test_a_held_fact_stays_held_after_a_restart(
    topic: MemoryTopic, store: MemoryStore, running: tuple[Projector, Witness]
) -> None:
    held = Fact("ada")
    topic.append_raw(held.partition, held.fact_id, POISON)
    run_until_idle(running[0])
    running[0].close()
    topic.append([held.asserts("npm")])
    run_until_idle(projector_on(topic.join(), store)[0])
    assert parked_codes(store) == ["event_undecodable", HELD]


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        (b"", POISON, "message_key_malformed"),
        (b"short", POISON, "message_key_malformed"),
        (bytes(16), b"", "value_missing"),
        (bytes(16), Fact("ada").asserts("npm").value, "identity_mismatch"),
    ],
)
def test_what_no_writer_of_ours_appends_is_parked(
    topic: MemoryTopic, store: MemoryStore, running: tuple[Projector, Witness], key: bytes, value: bytes, code: str
) -> None:
    topic.append_raw(0, key, value)
    run_until_idle(running[0])
    assert parked_codes(store) == [code]
    assert not store.tables.facts


@pytest.mark.parametrize("is_first", [True, False])
def test_an_event_in_another_partition_than_its_facts_parks_and_the_fact_goes_on(
    topic: MemoryTopic, store: MemoryStore, running: tuple[Projector, Witness], is_first: bool
) -> None:
    fact = Fact("ada")
    stray = fact.asserts("bun")._replace(partition=(fact.partition + 1) % 12)
    said = [stray, fact.asserts("npm")] if is_first else [fact.asserts("npm"), stray]
    for one in (*said, stray, fact.asserts("pnpm"), fact.asserts("yarn")):
        topic.append([one])
        run_until_idle(running[0])
    topic.append([stray, fact.asserts("deno"), stray])
    run_until_idle(running[0])
    assert parked_codes(store) == ["partition_mismatch"] * 4
    assert {line.fact_id for line in store.tables.parked.values()} == {None}
    assert store.state()[fact.fact_id][0] == 4
    assert {line.kafka_partition for line in store.events()} == {fact.partition}


def test_a_constraint_parks_the_culprit_alone(
    topic: MemoryTopic, store: MemoryStore, running: tuple[Projector, Witness]
) -> None:
    facts = [Fact(f"subject {number}") for number in range(40)]
    culprit = facts[17].asserts("npm")
    topic.append(fact.asserts("npm") for fact in facts)

    def holds_culprit(lines: Lines) -> bool:
        return any(line.event_id == culprit.event_id for line in lines.events)

    store.refuses = holds_culprit
    run_until_idle(running[0])
    assert parked_codes(store) == ["constraint_broken"]
    assert store.state().keys() == {fact.fact_id for fact in facts} - {facts[17].fact_id}


def test_what_the_fold_refuses_is_parked_and_what_came_before_it_counts(
    topic: MemoryTopic, store: MemoryStore, running: tuple[Projector, Witness], monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = Fact("ada")
    topic.append([fact.asserts("npm"), fact.asserts("impossible"), fact.asserts("pnpm")])
    fold = History.apply

    def refuse(history: History, event: Event) -> Change:
        if isinstance(event.what, FactAsserted) and event.what.value == b'"impossible"':
            raise Rejected("made_up", "can't be")
        return fold(history, event)

    monkeypatch.setattr(History, "apply", refuse)
    run_until_idle(running[0])
    assert parked_codes(store) == ["made_up", HELD]
    assert store.state()[fact.fact_id][0] == 1


def test_fifty_poisoned_in_a_row_stop_it_before_anything_is_written(
    topic: MemoryTopic, store: MemoryStore, running: tuple[Projector, Witness]
) -> None:
    for number in range(PARKED_ROW_MAX):
        topic.append_raw(0, number.to_bytes(16), POISON)
    with pytest.raises(ParkingLimit):
        run_until_idle(running[0])
    assert not store.tables.parked
    assert store.tables.checkpoints[topic.topic_id, 0][0] == 0


def test_poison_between_good_events_of_one_batch_is_no_row(
    topic: MemoryTopic, store: MemoryStore, running: tuple[Projector, Witness]
) -> None:
    good = Fact("ada")
    for number in range(PARKED_ROW_MAX):
        topic.append_raw(good.partition, number.to_bytes(16), POISON)
        topic.append([good.asserts(number)])
    run_until_idle(running[0])
    assert len(store.tables.parked) == PARKED_ROW_MAX
    assert store.state()[good.fact_id][0] == PARKED_ROW_MAX


def test_events_behind_a_held_fact_do_not_count_as_poison(
    topic: MemoryTopic, store: MemoryStore, running: tuple[Projector, Witness]
) -> None:
    held = Fact("ada")
    topic.append_raw(held.partition, held.fact_id, POISON)
    topic.append(held.asserts(number) for number in range(3 * PARKED_ROW_MAX))
    run_until_idle(running[0])
    assert parked_codes(store).count(HELD) == 3 * PARKED_ROW_MAX


def test_what_is_derived_from_a_text_is_projected_and_what_can_not_be_read_is_counted(
    topic: MemoryTopic, store: MemoryStore, running: tuple[Projector, Witness]
) -> None:
    fact, tea = Fact("ada", "memory/drinks"), derived(["drink|tea"])
    said = [
        fact.asserts("likes tea", 1, derived=tea),
        fact.asserts("likes tea", 1, derived=tea, confidence=0.5),
        fact.asserts("likes milk", 2, derived=b"broken"),
        fact.asserts(5, 3, derived=tea),
        fact.asserts("likes water", 4),
    ]
    topic.append(said)
    run_until_idle(running[0])
    total = running[1].total
    assert (total.applied, total.memories, total.unreadable, total.parked) == (5, 1, 2, {})
    (line,) = store.tables.lines["memories"].values()
    assert (line.text, line.keys, line.event_seq) == ("likes tea", ("drink|tea",), 1)


def test_histories_that_were_dropped_are_folded_again_from_their_events(topic: MemoryTopic, store: MemoryStore) -> None:
    facts = [Fact(f"subject {number}") for number in range(20)]
    forgetful, witness = projector_on(topic.join(), store, cache_bytes_max=1)
    said: list[Said] = []
    for round_no in range(4):
        said += [fact.asserts(round_no, f"2026-01-0{round_no + 1}T00:00:00Z") for fact in facts]
        topic.append(said[-20:])
        run_until_idle(forgetful)
    assert witness.total.facts_loaded == 60
    fresh_topic, fresh_store = MemoryTopic(), MemoryStore()
    fresh_topic.append(said)
    run_until_idle(projector_on(fresh_topic.join(), fresh_store)[0])
    assert store.state() == fresh_store.state()
