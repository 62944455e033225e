"""A projection that nobody reads waits for those that are read, but not for ever."""

from __future__ import annotations

import threading
import time

import pytest

from chronofact.projector import turns
from chronofact.projector.loop import Limits, Projector
from chronofact.projector.turns import YIELDING_EVENTS_MAX, OfTurns, Turns
from tests.bench.workload import mixed
from tests.contract.memory_log import MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import Stopwatch, Witness


def two(both: Turns) -> tuple[OfTurns, OfTurns]:
    read, unread = OfTurns(both), OfTurns(both)
    unread.is_serving = False
    return read, unread


def test_who_nobody_reads_waits_for_who_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "YIELD_S", 30.0)
    read, unread = two(Turns())
    entered = threading.Event()

    def take() -> None:
        with unread:
            entered.set()

    with read:
        waiting = threading.Thread(target=take)
        waiting.start()
        assert not entered.wait(0.05)
    assert entered.wait(10)
    waiting.join()


def test_it_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "YIELD_S", 0.05)
    read, unread = two(Turns())
    began = time.monotonic()
    with read, unread:
        assert 0.05 <= time.monotonic() - began < 10


def test_those_that_are_read_wait_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "YIELD_S", 30.0)
    both = Turns()
    read, unread = two(both)
    with unread, read, OfTurns(both):
        pass


def test_batches_are_small_only_beside_who_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "YIELD_S", 0.0)
    read, unread = two(Turns())
    assert unread.events_max(2_000) == 2_000
    with read:
        assert unread.events_max(2_000) == YIELDING_EVENTS_MAX
        assert unread.events_max(10) == 10
    assert unread.events_max(2_000) == YIELDING_EVENTS_MAX
    assert read.events_max(2_000) == 2_000
    monkeypatch.setattr(turns, "QUIET_S", 0.0)
    assert unread.events_max(2_000) == 2_000


def test_what_becomes_read_within_a_turn_ends_it_as_it_began() -> None:
    both = Turns()
    _, unread = two(both)
    with unread:
        unread.is_serving = True
    with unread:
        unread.is_serving = False
    monday = time.monotonic()
    with unread:
        assert time.monotonic() - monday < turns.YIELD_S


def test_the_loop_applies_within_its_turn_and_no_more_than_it_may() -> None:
    both = Turns()
    read, unread = two(both)
    topic, witness = MemoryTopic(), Witness()
    topic.append(mixed(40, 1_000, seed=5))
    projector = Projector(
        topic.join(),
        MemoryStore(),
        observer=witness,
        monotonic=Stopwatch(),
        jitter=lambda: 0.0,
        limits=Limits(batch_wait_s=0.0),
        turn=unread,
    )
    with read:
        sizes = [done.messages for _ in range(8) if (done := projector.step()) is not None]
    assert sizes
    assert max(sizes) <= YIELDING_EVENTS_MAX
