"""Feeds come and go with the roster, and what becomes of one is of no matter to the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from chronofact.projector.feeding import LOOK_S, PART, Feed, Feeder, refusals_told
from chronofact.projector.stall import Stall
from chronofact.projector.telling import Telling
from chronofact.projector.turns import OfTurns, Turns
from chronofact.runtime.failures import Corruption, Transient
from chronofact.runtime.health import Health
from chronofact.runtime.metrics import Metrics

PATIENCE_S = 10.0


class Cache:
    def __init__(self) -> None:
        self.bytes_max = 0

    def limit(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max


class Scripted:
    """A projector whose steps are said."""

    def __init__(self, step: Callable[[], None]) -> None:
        self.cache = Cache()
        self.applier = self
        self.steps = 0
        self.is_closed = False
        self._step = step

    def step(self) -> None:
        self.steps += 1
        self._step()
        time.sleep(0.001)

    def close(self) -> None:
        self.is_closed = True


def guarded(feed: Callable[[], None], failed: Callable[[str, str], None]) -> None:
    try:
        refusals_told(feed, failed)
    except ValueError as fault:
        failed("fault", str(fault))


class World:
    def __init__(self) -> None:
        self.listed: Mapping[str, bool] | Transient = {}
        self.health = Health(PART)
        self.metrics = Metrics("projector")
        self.projectors: dict[str, Scripted] = {}
        self.turns = Turns()
        self.faults: dict[str, BaseException] = {}
        self.may_go_on: dict[str, threading.Event] = {}
        self.waiting: set[str] = set()
        self.away: dict[str, Transient] = {}
        self.made: list[str] = []
        self.was_cut = threading.Event()

    def to_feed(self) -> Mapping[str, bool]:
        if isinstance(self.listed, Transient):
            raise self.listed
        return self.listed

    def hold(self, projection: str) -> None:
        """Has its next step wait, and waits for that."""
        self.may_go_on[projection] = threading.Event()
        until(lambda: projection in self.waiting)

    def cut(self) -> None:
        self.was_cut.set()

    def make(self, projection: str) -> Feed:
        self.made.append(projection)

        def step() -> None:
            if (waits := self.may_go_on.get(projection)) is not None:
                self.waiting.add(projection)
                waits.wait(PATIENCE_S)
            if (fault := self.faults.get(projection)) is not None:
                raise fault

        def projector() -> Any:
            if (away := self.away.get(projection)) is not None:
                raise away
            self.projectors[projection] = made = Scripted(step)
            return made

        telling = Telling(self.health, self.metrics, projection, wall_s=lambda: 0.0)
        return Feed(
            projection,
            projector,
            telling,
            Stall(self.health, monotonic=time.monotonic, cut=lambda: None, part=f"loop {projection}"),
            turn=OfTurns(self.turns),
        )

    def why(self, projection: str) -> str | None:
        reason = self.health.reasons().get(f"projection {projection}")
        return None if reason is None else reason.code


@contextmanager
def feeding(world: World, *only: str) -> Iterator[Feeder]:
    feeder = Feeder(world, world.make, world.health, only=only, cache_bytes_max=1_000, guard=guarded)
    try:
        yield feeder
    finally:
        feeder.close()


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def runs(world: World, *projections: str) -> bool:
    return all(one in world.projectors and world.projectors[one].steps > 2 for one in projections)


def test_one_that_can_not_begin_says_why_and_begins_once_it_can() -> None:
    world = World()
    world.listed = {"p1": True}
    world.away["p1"] = Transient("kafka_unreachable", "away")
    with feeding(world) as feeder:
        assert feeder.look()
        until(lambda: world.why("p1") == "kafka_unreachable")
        assert (feeder.look(), world.projectors) == (True, {})
        del world.away["p1"]
        until(lambda: runs(world, "p1"))
        assert world.made == ["p1"]


def test_one_that_can_not_begin_leaves_when_it_is_told_to() -> None:
    world = World()
    world.listed = {"p1": True}
    world.away["p1"] = Transient("kafka_unreachable", "away")
    with feeding(world) as feeder:
        feeder.look()
        until(lambda: world.why("p1") == "kafka_unreachable")
        feed = feeder.feeds["p1"]
    assert feed.has_left


def test_what_the_roster_names_is_fed_and_what_leaves_it_is_not() -> None:
    world = World()
    world.listed = {"p1": True}
    with feeding(world) as feeder:
        assert feeder.look()
        until(lambda: runs(world, "p1"))
        world.listed = {"p1": True, "p2": False}
        feeder.look()
        until(lambda: runs(world, "p1", "p2"))
        feeder.look()
        assert world.projectors["p1"].cache.bytes_max == 500
        world.listed = {"p2": True}
        feeder.look()
        assert world.projectors["p1"].is_closed
        assert not world.projectors["p2"].is_closed
        assert "projection p1" not in world.health.reasons()
        world.listed = {}
        assert feeder.look()
        assert world.projectors["p2"].is_closed
        assert world.health.reasons()[PART].code == "projection_missing"
    assert world.projectors["p2"].is_closed


@pytest.mark.parametrize("fault", [Corruption("made up"), ValueError("a fault of ours")])
def test_a_fault_of_one_ends_that_one(fault: BaseException) -> None:
    world = World()
    world.listed = {"p1": True, "p2": True}
    world.faults["p2"] = fault
    with feeding(world) as feeder:
        assert feeder.look()
        until(lambda: world.why("p2") == "projection_failed")
        before = world.projectors["p1"].steps
        until(lambda: world.projectors["p1"].steps > before + 5)
        assert feeder.look()
        assert world.projectors["p2"].is_closed
        failures = world.metrics.registry.get_sample_value("chronofact_projector_failures_total", {"projection": "p2"})
        assert failures == 1
        world.faults["p1"] = fault
        until(lambda: not feeder.look())


def test_readiness_depends_on_what_tenants_may_read() -> None:
    world = World()
    world.listed = {"p1": True, "p2": False}
    world.faults["p2"] = Corruption("made up")
    with feeding(world) as feeder:
        feeder.look()
        until(lambda: feeder.feeds["p2"].has_failed)
        feeder.look()
        assert world.why("p2") is None
        assert world.health.beside()["projection p2"].code == "projection_failed"
        world.listed = {"p1": True, "p2": True}
        feeder.look()
        assert world.why("p2") == "projection_failed"


def test_what_failed_begins_anew_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.listed = {"p1": True, "p2": True}
    world.faults["p2"] = Corruption("made up")
    with feeding(world) as feeder:
        feeder.look()
        until(lambda: feeder.feeds["p2"].has_failed)
        del world.faults["p2"]
        feeder.look()
        assert feeder.feeds["p2"].has_failed
        monkeypatch.setattr("chronofact.projector.feeding.AGAIN_S", 0.0)
        feeder.look()
        until(lambda: runs(world, "p1", "p2"))
        assert feeder.look()
        assert not feeder.feeds["p2"].has_failed


def test_while_the_roster_cannot_be_read_feeds_go_on() -> None:
    world = World()
    world.listed = Transient("postgres_unreachable", "made up")
    with feeding(world) as feeder:
        assert feeder.look()
        assert world.health.reasons()[PART].code == "postgres_unreachable"
        world.listed = {}
        assert feeder.look()
        assert world.health.reasons()[PART].code == "projection_missing"
        world.listed = {"p1": True}
        feeder.look()
        assert PART not in world.health.reasons()
        until(lambda: runs(world, "p1"))
        world.listed = Transient("postgres_unreachable", "made up")
        before = world.projectors["p1"].steps
        assert feeder.look()
        until(lambda: world.projectors["p1"].steps > before)


def test_a_projector_may_be_told_to_feed_some_only() -> None:
    world = World()
    world.listed = {"p1": True, "p2": True}
    with feeding(world, "p2") as feeder:
        feeder.look()
        assert set(feeder.feeds) == {"p2"}


def test_one_that_takes_long_to_leave_is_not_fed_twice() -> None:
    world = World()
    world.listed = {"p1": True, "p2": True}
    with feeding(world) as feeder:
        feeder.look()
        until(lambda: runs(world, "p1", "p2"))
        world.hold("p1")
        first = world.projectors["p1"]
        for listed in ({"p2": True}, {"p1": True, "p2": True}, {"p2": True}, {"p1": True, "p2": True}):
            world.listed = listed
            began_s = time.monotonic()
            assert feeder.look()
            assert time.monotonic() - began_s < 2 * LOOK_S, "and the others are looked after"
            assert not first.is_closed
        assert world.made == ["p1", "p2"]
        before = world.projectors["p2"].steps
        until(lambda: world.projectors["p2"].steps > before)
        world.may_go_on.pop("p1").set()
        until(lambda: first.is_closed)
        feeder.look()
        assert world.made == ["p1", "p2", "p1"]
        until(lambda: world.projectors["p1"] is not first and runs(world, "p1"))


def test_one_that_has_left_late_is_forgotten_then() -> None:
    world = World()
    world.listed = {"p1": True}
    with feeding(world) as feeder:
        feeder.look()
        until(lambda: runs(world, "p1"))
        world.hold("p1")
        world.listed = {}
        feeder.look()
        feeder.look_at_stalls()
        assert "projection p1" not in world.health.reasons(), "nobody may read it: it is of no matter"
        assert set(feeder.feeds) == {"p1"}
        world.may_go_on.pop("p1").set()
        until(lambda: not feeder.look() or not feeder.feeds)
        assert world.health.reasons().keys() | world.health.beside().keys() == {PART}


def test_a_roster_that_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chronofact.projector.feeding.SILENT_S", 0.1)
    world = World()
    world.listed = {"p1": True}
    with feeding(world) as feeder:
        feeder.look()
        feeder.look_at_stalls()
        assert not world.was_cut.is_set()

        def to_feed() -> Mapping[str, bool]:
            assert world.was_cut.wait(PATIENCE_S)
            raise Transient("postgres_away", "the connection was cut")

        monkeypatch.setattr(world, "to_feed", to_feed)
        looking = threading.Thread(target=feeder.look)
        looking.start()

        def is_over() -> bool:
            feeder.look_at_stalls()
            return not looking.is_alive()

        until(is_over)
        assert world.was_cut.is_set()
        assert set(feeder.feeds) == {"p1"}
