"""What every store promises the projector: the twin in memory and Postgres alike."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest

from chronofact.contracts.projection import HELD, ConflictLine, EventLine, FactLine, Head, Lines, ParkedLine, Step
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.projecting.ports import Store
from chronofact.runtime.failures import ConstraintBroken, Fenced, Unfit
from tests.bench.workload import mixed
from tests.contract.memory_log import TOPIC_ID, MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import projector_on, run_until_idle

WHOLE = (0, 1_000)
OTHER_TOPIC = bytes(range(1, 17))
FACT_ID, EVENT_ID, LEFT, RIGHT = (bytes([n]) * 16 for n in (1, 2, 3, 4))
FACT_NO = (3 << 40) + 1


@pytest.fixture(params=["twin", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "twin":
        yield MemoryStore()
        return
    real = ProjectionStore(request.getfixturevalue("database"), "p1")
    yield real
    real.close()


def head(event_seq: int, *, label: str | None = None) -> Head:
    return Head(FACT_NO, event_seq, 5_000 + event_seq, event_seq, 0, event_seq, 0, bytes(32), label)


def first_event() -> Lines:
    event = EventLine(FACT_NO, 1, EVENT_ID, 5_001, "FactAsserted", (LEFT,), b'{"a":1}', bytes(32), 3, 0)
    fact = FactLine(FACT_NO, FACT_ID, bytes(16), bytes(16), "user", "self", "k", head(1, label="ada"))
    return Lines(facts=[fact], events=[event])


def write(store: Store, lines: Lines, *, epoch: int, next_offset: int = 1) -> None:
    with store.begin() as batch:
        batch.advance(TOPIC_ID, [Step(3, epoch, next_offset)])
        batch.write(lines)


def test_a_claim_counts_from_zero_and_each_has_a_higher_epoch(store: Store) -> None:
    first = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    second = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    assert (first.next_offset, first.fact_no_last, first.held) == (0, 3 << 40, frozenset())
    assert first.epoch_before == 0
    assert second.epoch_before == first.epoch < second.epoch


def test_a_new_owner_learns_how_far_the_last_one_came(store: Store) -> None:
    claim = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    write(store, first_event(), epoch=claim.epoch, next_offset=8)
    heir = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    assert (heir.next_offset, heir.fact_no_last) == (8, FACT_NO)


def test_advancing_tells_where_it_stood(store: Store) -> None:
    epochs = {partition: store.claim(TOPIC_ID, partition, watermarks=WHOLE).epoch for partition in (1, 3)}
    for before, after in ((0, 7), (7, 9)):
        with store.begin() as batch:
            steps = [Step(partition, epoch, after) for partition, epoch in epochs.items()]
            assert batch.advance(TOPIC_ID, steps) == {1: before, 3: before}


def test_a_checkpoint_never_goes_back(store: Store) -> None:
    claim = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    for next_offset in (9, 4):
        write(store, Lines(), epoch=claim.epoch, next_offset=next_offset)
    assert store.claim(TOPIC_ID, 3, watermarks=WHOLE).next_offset == 9


def test_an_owner_that_was_followed_writes_nothing(store: Store) -> None:
    zombie = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    kept = store.claim(TOPIC_ID, 1, watermarks=WHOLE)
    heir = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    with pytest.raises(Fenced) as fenced, store.begin() as batch:
        batch.advance(TOPIC_ID, [Step(1, kept.epoch, 5), Step(3, zombie.epoch, 5)])
    assert fenced.value.partitions == (3,)
    write(store, first_event(), epoch=heir.epoch)
    assert store.claim(TOPIC_ID, 1, watermarks=WHOLE).next_offset == 0


def test_an_exception_undoes_the_batch(store: Store) -> None:
    claim = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    with suppress(ZeroDivisionError), store.begin() as batch:
        batch.advance(TOPIC_ID, [Step(3, claim.epoch, 5)])
        batch.write(first_event())
        raise ZeroDivisionError
    heir = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    assert (heir.next_offset, heir.fact_no_last) == (0, 3 << 40)


def test_a_known_fact_is_loaded_with_its_events_in_order(store: Store) -> None:
    claim = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    write(store, first_event(), epoch=claim.epoch)
    second = EventLine(FACT_NO, 2, LEFT, 5_002, "FactEnded", (LEFT,), b'{"b":"\xc3\xa9"}', bytes(32), 3, 1)
    write(store, Lines(heads=[head(2)], events=[second]), epoch=claim.epoch, next_offset=2)
    with store.begin() as batch:
        (stored,) = batch.load([RIGHT, FACT_ID])
    assert stored[:8] == (FACT_NO, FACT_ID, 2, 5_002, 0, 2, 0, True)
    assert stored.events == [
        (EVENT_ID, "FactAsserted", 5_001, b'{"a":1}'),
        (LEFT, "FactEnded", 5_002, b'{"b":"\xc3\xa9"}'),
    ]


def test_facts_that_are_not_known_are_left_out(store: Store) -> None:
    with store.begin() as batch:
        assert list(batch.load([FACT_ID])) == []


def test_a_line_that_is_there_already_is_refused_and_nothing_stays(store: Store) -> None:
    claim = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    write(store, first_event(), epoch=claim.epoch)
    with pytest.raises(ConstraintBroken):
        write(store, first_event(), epoch=claim.epoch, next_offset=2)
    assert store.claim(TOPIC_ID, 3, watermarks=WHOLE).next_offset == 1


def test_a_conflict_has_one_state(store: Store) -> None:
    claim = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    for event_seq, relation in enumerate(("OPEN", "RESOLVED"), start=1):
        line = ConflictLine(FACT_NO, LEFT, RIGHT, relation, event_seq, 5_000)
        write(store, Lines(conflicts_now=[line]), epoch=claim.epoch, next_offset=event_seq)
    write(store, Lines(conflicts_gone=[(FACT_NO, LEFT, RIGHT)]), epoch=claim.epoch, next_offset=3)
    write(store, Lines(conflicts_now=[line]), epoch=claim.epoch, next_offset=4)


def test_a_new_owner_learns_what_is_held_and_what_was_parked(store: Store) -> None:
    claim = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    parked = [
        ParkedLine(3, 4, 1_000_000, FACT_ID, b"raw \x00 bytes", "event_undecodable", "why", FACT_ID),
        ParkedLine(3, 5, 1_000_000, FACT_ID, b"raw", HELD, "behind", FACT_ID),
        ParkedLine(3, 6, 1_000_000, b"", b"", "message_key_malformed", "why", None),
        ParkedLine(3, 7, 1_000_000, LEFT, b"", "drop_not_parked", "why", None),
    ]
    write(store, Lines(parked=parked), epoch=claim.epoch, next_offset=8)
    heir = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    assert heir.held == {FACT_ID}
    assert heir.parked_offsets == (4, 6)
    assert heir.parked == 4


def test_another_topic_of_the_name_is_refused(store: Store) -> None:
    claim = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    write(store, Lines(), epoch=claim.epoch, next_offset=5)
    with pytest.raises(Unfit) as refused:
        store.claim(OTHER_TOPIC, 1, watermarks=WHOLE)
    assert refused.value.code == "topic_recreated"


@pytest.mark.parametrize(("watermarks", "code"), [((2, 1_000), "log_truncated"), ((0, 4), "log_shortened")])
def test_a_log_that_lacks_what_was_counted_is_refused(store: Store, watermarks: tuple[int, int], code: str) -> None:
    claim = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    write(store, Lines(), epoch=claim.epoch, next_offset=5)
    with pytest.raises(Unfit) as refused:
        store.claim(TOPIC_ID, 3, watermarks=watermarks)
    assert refused.value.code == code
    assert store.claim(TOPIC_ID, 3, watermarks=WHOLE).epoch_before == claim.epoch


def test_an_owner_of_a_database_that_was_lost_writes_nothing_into_the_next_one(database: str) -> None:
    """Of the same name and as far, where something between them hid that the connection broke."""
    owner, heir = ProjectionStore(database, "p1"), ProjectionStore(database, "p1")
    lost = owner.claim(TOPIC_ID, 3, watermarks=WHOLE)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("delete from chronofact.checkpoint")
    time.sleep(1.0)
    assert heir.claim(TOPIC_ID, 3, watermarks=WHOLE).epoch_before == 0
    with pytest.raises(Fenced):
        write(owner, first_event(), epoch=lost.epoch)
    for store in (owner, heir):
        store.close()


def test_a_projection_that_is_not_there_is_named(database: str) -> None:
    store = ProjectionStore(database, "p2")
    with pytest.raises(Unfit) as refused:
        store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    store.close()
    assert refused.value.code == "projection_missing"


def test_what_is_being_built_is_for_the_builder_alone(database: str) -> None:
    """A projector whose database was lost and comes back by a rebuild of the same name once wrote beside its workers."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("update chronofact.projection set state = 'building' where name = 'p1'")
        projector, builder = ProjectionStore(database, "p1"), ProjectionStore(database, "p1", is_builder=True)
        with pytest.raises(Unfit) as refused:
            projector.claim(TOPIC_ID, 3, watermarks=WHOLE)
        assert refused.value.code == "projection_not_fed"
        built = builder.claim(TOPIC_ID, 3, watermarks=WHOLE)
        connection.execute("update chronofact.projection set state = 'catching_up' where name = 'p1'")
        assert projector.claim(TOPIC_ID, 3, watermarks=WHOLE).epoch_before == built.epoch
    for store in (projector, builder):
        store.close()


def test_twin_and_postgres_hold_the_same_after_the_same_events(database: str) -> None:
    twin, real = MemoryStore(), ProjectionStore(database, "p1")
    for store in (twin, real):
        topic = MemoryTopic()
        topic.append(mixed(60, 900, seed=11))
        projector, _ = projector_on(topic.join(), store, batch_events_max=100, cache_bytes_max=40_000)
        run_until_idle(projector)
        projector.close()
    with psycopg.connect(database) as connection:
        heads = connection.execute("select uuid_send(fact_id), event_seq, state_hash from p1.fact").fetchall()
        counts = {
            name: connection.execute(f"select count(*) from p1.{table}").fetchone()
            for name, table in (("events", "event"), ("versions", "version"), ("labels", "version_label"))
        }
        pairs = connection.execute("select count(*) from p1.conflict").fetchone()
    assert {fact_id: (event_seq, state_hash) for fact_id, event_seq, state_hash in heads} == twin.state()
    assert counts == {name: (len(twin.tables.lines[name]),) for name in counts}
    assert pairs == (len(twin.tables.conflicts),)
