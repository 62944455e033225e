"""A common cut is found while both projections are being fed, and whoever can't come to one is named."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext

import psycopg
import pytest

from chronofact.contracts.rebuilding import RebuildCancelled, RebuildLost
from chronofact.contracts.verification import Aspects
from chronofact.postgres import verify_snapshot
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.postgres.standing import Standing
from chronofact.postgres.verification_store import VerificationStore
from chronofact.postgres.verify_hold import Holds as StoredHolds
from chronofact.postgres.verify_snapshot import Snapshots
from chronofact.projecting.apply import Applier
from chronofact.projecting.draft import Owned, Topic
from chronofact.projecting.parking import ParkingMeter
from chronofact.reconciler.verify import Verified, Verifier
from chronofact.runtime.failures import Transient, Unfit
from tests.bench.workload import mixed
from tests.contract.filling import EASY, fill, make, whole_partitions
from tests.contract.memory_log import MemoryTopic

EVENTS = 6_000
FIRST = 1_500
BASE = 1_796_000_000_000_000


class Feeder:
    """Feeds one projection from a log that grows, batch by batch, and obeys a hold."""

    def __init__(self, address: str, projection: str, topic: MemoryTopic, *, batch: int, pause_s: float) -> None:
        self.stop_at: Mapping[int, int] | None = None
        self.batches = 0
        self.longest_s = 0.0
        self._topic = topic
        self._batch = batch
        self._pause_s = pause_s
        self._store = store = ProjectionStore(address, projection)
        looked = Topic(topic.topic_id, len(topic.partitions))
        self._applier = Applier(store, lambda: looked, cache_bytes_max=2**26, monotonic=time.monotonic)
        self._owned = {}
        for partition in topic.partitions:
            claim = store.claim(topic.topic_id, partition, watermarks=(0, 10**9))
            meter = ParkingMeter(claim.parked_offsets, next_offset=claim.next_offset, limits=EASY)
            self._owned[partition] = Owned(claim.epoch, claim.next_offset, claim.fact_no_last, set(), meter)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @contextmanager
    def running(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._done.set()
            self._thread.join()
            self._store.close()

    def _run(self) -> None:
        last = time.monotonic()
        while not self._done.wait(self._pause_s):
            messages = []
            for partition, own in self._owned.items():
                end = own.next_offset + self._batch
                if self.stop_at is not None:
                    end = min(end, max(self.stop_at.get(partition, 0), own.next_offset))
                messages += self._topic.partitions[partition][own.next_offset : end]
            if messages:
                self._applier.apply(self._owned, messages)
                self.batches += 1
                self.longest_s, last = max(self.longest_s, time.monotonic() - last), time.monotonic()


class Holds:
    """What is held, by projection."""

    def __init__(self, **feeders: Feeder) -> None:
        self._feeders = feeders
        self.held: list[str] = []

    def hold(self, projection: str, stop_at: Mapping[int, int], *, for_s: float) -> None:
        assert for_s > 0
        self.held.append(projection)
        self._feeders[projection].stop_at = stop_at

    def let_go(self, projection: str) -> None:
        self._feeders[projection].stop_at = None


@contextmanager
def writing(topic: MemoryTopic) -> Iterator[threading.Event]:
    """Events that go on while the block runs."""
    said = list(mixed(600, EVENTS))
    topic.append(said[:FIRST], appended_at=BASE)
    done = threading.Event()

    def write() -> None:
        for number, one in enumerate(said[FIRST:]):
            topic.append([one], appended_at=BASE + number * 1_000)
            if number % 10 == 0 and done.wait(0.005):
                return

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        yield done
    finally:
        done.set()
        writer.join()


def verifier(address: str, holds: Holds, **limits: float) -> Verifier:
    return Verifier(VerificationStore(address), Snapshots(address), holds, **limits)  # type: ignore[arg-type]


def test_both_are_met_at_one_cut_under_live_traffic(database: str) -> None:
    make(database, "p2")
    topic = MemoryTopic()
    with writing(topic):
        fast = Feeder(database, "p1", topic, batch=5, pause_s=0.01)
        late = Feeder(database, "p2", topic, batch=40, pause_s=0.06)
        holds = Holds(p1=fast, p2=late)
        with fast.running(), late.running():
            outcomes: list[Verified] = []
            for _ in range(3):
                before = fast.batches
                outcomes.append(verifier(database, holds).verify("p1", "p2"))
                assert fast.batches > before, "the live side was fed all along"
            outcomes.append(verifier(database, holds).verify("p2", "p1"))
    assert all(one.identical for one in outcomes), outcomes
    assert set(holds.held) == {"p2"}, "only the one that nobody reads ever waits"
    cuts = [sum(one.next_offsets.values()) for one in outcomes]
    assert cuts == sorted(set(cuts))
    assert late.stop_at is None


def test_the_named_one_waits(database: str) -> None:
    make(database, "p2")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("insert into chronofact.tenant_route values (gen_random_uuid(), 'p2')")
    topic = MemoryTopic()
    with writing(topic), ExitStack() as stack:
        feeders = {name: Feeder(database, name, topic, batch=7, pause_s=0.02) for name in ("p1", "p2")}
        holds = Holds(**feeders)
        with feeders["p1"].running():
            while not feeders["p1"].batches:
                time.sleep(0.01)
            with pytest.raises(Unfit, match="--hold") as refused:
                verifier(database, holds).verify("p1", "p2")
            assert refused.value.code == "both_serve"
            stack.enter_context(feeders["p2"].running())
            assert verifier(database, holds).verify("p1", "p2", held="p1").identical
    assert set(holds.held) == {"p1"}
    failed = VerificationStore(database).verifications(before=None, limit=5)[-1]
    assert (failed.state, failed.failure_code, bool(failed.remedy)) == ("failed", "both_serve", True)


def test_whom_nobody_feeds_is_named(database: str) -> None:
    make(database, "p2", "p3")
    topic = MemoryTopic()
    topic.append(mixed(50, 400), appended_at=BASE)
    fill(database, "p1", topic, whole_partitions(topic))
    feeder = Feeder(database, "p2", topic, batch=1, pause_s=0.01)
    holds = Holds(p2=feeder, p1=feeder, p3=feeder)
    with pytest.raises(Unfit, match="p2 does not move") as refused:
        verifier(database, holds, patience_s=0.5).verify("p1", "p2")
    assert refused.value.code == "projection_stands_still"
    with feeder.running(), pytest.raises(Unfit, match="did not come up") as refused:
        verifier(database, holds, catch_up_s=0.1).verify("p1", "p2")
    assert refused.value.code == "projection_lags"


def test_a_snapshot_is_kept_while_its_process_lives_and_vacuum_waits_for_none_that_stands_still(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(verify_snapshot.SETTINGS, "idle_in_transaction_session_timeout", 1_500)
    with Snapshots(database).take("p1") as kept:
        time.sleep(2.5)
        assert [name for name, *_ in Standing(database).long_sessions(2)] == ["chronofact verify"]
        with kept.sides("p1", aspects=Aspects.ALL, partitions=1):
            pass
    monkeypatch.setattr(verify_snapshot, "alive", lambda _connection: nullcontext())
    with Snapshots(database).take("p1"):
        time.sleep(2.5)
        assert Standing(database).long_sessions(0) == []


def test_one_that_is_given_up_tells_for_what(database: str) -> None:
    make(database, "p2")
    for why in (RebuildCancelled(), RebuildLost(7), Transient("shutting_down", "the process is about to stop")):
        given_up = verifier(database, Holds())
        given_up.stop(why)
        with pytest.raises(type(why)):
            given_up.verify("p1", "p2")
    kept = VerificationStore(database).verifications(before=None, limit=3)
    assert [(one.failure_code, one.failure) for one in kept] == [
        ("shutting_down", "the process is about to stop"),
        ("rebuild_taken_over", "rebuild 7 has another runner"),
        ("rebuild_cancelled", "the rebuild was cancelled"),
    ]


def test_strangers_are_refused_by_name(database: str) -> None:
    make(database, "p2")
    make(database, "p3", rule=2)
    here, there = MemoryTopic(), MemoryTopic(bytes(16))
    for topic in (here, there):
        topic.append(mixed(5, 20), appended_at=BASE)
    fill(database, "p1", here, whole_partitions(here))
    fill(database, "p2", there, whole_partitions(there))
    fill(database, "p3", here, whole_partitions(here), rule=2)
    none = Holds()
    for other, code in (("p2", "topics_differ"), ("p3", "rules_differ"), ("p9", "projection_missing")):
        with pytest.raises(Unfit) as refused:
            verifier(database, none).verify("p1", other)
        assert refused.value.code == code
    assert verifier(database, none).verify("p1", "p3", aspects="said").identical


def test_a_hold_ends_by_itself_or_when_it_is_let_go(database: str) -> None:
    topic = MemoryTopic()
    topic.append(mixed(5, 20), appended_at=BASE)
    fill(database, "p1", topic, whole_partitions(topic))
    holds = StoredHolds(database)
    holds.hold("p1", {0: 7}, for_s=10)
    held = (
        "select partition, stop_at, stop_until - clock_timestamp() from chronofact.checkpoint where stop_at is not null"
    )
    with psycopg.connect(database, autocommit=True) as connection:
        found = {partition: stop_at for partition, stop_at, _ in connection.execute(held)}
        assert found == {partition: 7 * (partition == 0) for partition in topic.partitions}
        assert all(9 < left.total_seconds() <= 10 for _, _, left in connection.execute(held))
        holds.let_go("p1")
        assert connection.execute(held).fetchall() == []
