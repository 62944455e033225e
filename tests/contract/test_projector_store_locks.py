"""What the store promises two projectors at once: the twin's transactions and locks are Postgres's."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from chronofact.contracts.projection import EventLine, FactLine, Head, Lines, Step
from chronofact.postgres import projection_store
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.projecting.ports import Batch, Store
from chronofact.runtime.failures import Fenced, Transient
from tests.contract.memory_log import TOPIC_ID
from tests.contract.memory_store import MemoryStore

WHOLE = (0, 1_000)
Opener = Callable[[], Store]


@pytest.fixture(params=["twin", "postgres"])
def opened(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opener]:
    """Each call opens the same projection once more."""
    if request.param == "twin":
        twin = MemoryStore()
        yield lambda: twin
        return
    monkeypatch.setattr(projection_store, "CLAIM_LOCK_TIMEOUT_MS", 50)
    monkeypatch.setattr(projection_store, "LOCK_TIMEOUT_MS", 100)
    database = request.getfixturevalue("database")
    stores: list[ProjectionStore] = []

    def another() -> Store:
        stores.append(ProjectionStore(database, "p1"))
        return stores[-1]

    yield another
    for store in stores:
        store.close()


def first_event(partition: int) -> Lines:
    fact_no = (partition << 40) + 1
    fact_id, event_id = bytes([partition, 1] * 8), bytes([partition, 2] * 8)
    head = Head(fact_no, 1, 5_001, 0, 0, 1, 0, bytes(32), None)
    event = EventLine(fact_no, 1, event_id, 5_001, "FactAsserted", (), b"{}", bytes(32), partition, 0)
    tenant = bytes([partition]) * 16
    return Lines(facts=[FactLine(fact_no, fact_id, tenant, bytes(16), "user", "self", "k", head)], events=[event])


def overtake(stopped: Store, heir: Store, epoch: int, then: Callable[[Batch], object]) -> None:
    """A batch in the midst of which its partition is claimed by another."""
    with stopped.begin() as batch:
        batch.advance(TOPIC_ID, [Step(3, epoch, 7)])
        heir.claim(TOPIC_ID, 3, watermarks=WHOLE)
        then(batch)


def test_a_claim_ends_who_stands_still_within_a_batch(opened: Opener) -> None:
    stopped, heir = opened(), opened()
    claim = stopped.claim(TOPIC_ID, 3, watermarks=WHOLE)
    with pytest.raises(Transient) as ended:
        overtake(stopped, heir, claim.epoch, lambda batch: batch.write(first_event(3)))
    assert ended.value.code == "postgres_away"
    after = heir.claim(TOPIC_ID, 3, watermarks=WHOLE)
    assert after.epoch_before > claim.epoch
    assert (after.next_offset, after.fact_no_last) == (0, 3 << 40)


def test_who_was_ended_is_fenced_when_he_tries_again(opened: Opener) -> None:
    stopped, heir = opened(), opened()
    claim = stopped.claim(TOPIC_ID, 3, watermarks=WHOLE)
    with pytest.raises(Transient):
        overtake(stopped, heir, claim.epoch, lambda batch: batch.load([bytes(16)]))
    with pytest.raises(Fenced), stopped.begin() as batch:
        batch.advance(TOPIC_ID, [Step(3, claim.epoch, 7)])


def test_a_batch_waits_for_another_of_its_partition_and_gives_up(opened: Opener) -> None:
    one, other = opened(), opened()
    claim = one.claim(TOPIC_ID, 3, watermarks=WHOLE)
    with one.begin() as batch:
        batch.advance(TOPIC_ID, [Step(3, claim.epoch, 7)])
        with pytest.raises(Transient) as busy, other.begin() as late:
            late.advance(TOPIC_ID, [Step(3, claim.epoch, 8)])
    assert busy.value.code == "postgres_busy"
    assert one.claim(TOPIC_ID, 3, watermarks=WHOLE).next_offset == 7


def test_batches_of_different_partitions_do_not_meet_and_neither_undoes_the_other(opened: Opener) -> None:
    one, other = opened(), opened()
    claims = {partition: one.claim(TOPIC_ID, partition, watermarks=WHOLE) for partition in (1, 3)}
    with one.begin() as batch:
        batch.advance(TOPIC_ID, [Step(1, claims[1].epoch, 1)])
        batch.write(first_event(1))
        with other.begin() as beside:
            beside.advance(TOPIC_ID, [Step(3, claims[3].epoch, 1)])
            beside.write(first_event(3))
        seen = batch.load([bytes([partition, 1] * 8) for partition in (1, 3)])
    assert sorted(stored.fact_no >> 40 for stored in seen) == [1, 3]
    assert [one.claim(TOPIC_ID, partition, watermarks=WHOLE).next_offset for partition in (1, 3)] == [1, 1]


def test_what_is_not_committed_is_seen_by_nobody_else(opened: Opener) -> None:
    one, other = opened(), opened()
    claim = one.claim(TOPIC_ID, 1, watermarks=WHOLE)
    with one.begin() as batch:
        batch.advance(TOPIC_ID, [Step(1, claim.epoch, 1)])
        batch.write(first_event(1))
        with other.begin() as beside:
            assert list(beside.load([bytes([1, 1] * 8)])) == []
