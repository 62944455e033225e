"""A loop that waits for ever does not stay ready, and its connection is cut in the end."""

from __future__ import annotations

from chronofact.projector.stall import CUT_S, PART, STALLED_S, Stall
from chronofact.runtime.health import Health


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_readiness_tells_a_loop_that_stands_and_one_that_goes_on() -> None:
    clock, health, cuts = Clock(), Health(), list[float]()
    stall = Stall(health, monotonic=clock, cut=lambda: cuts.append(clock.now_s))
    stall.turned()
    clock.now_s += STALLED_S - 0.1
    stall.look()
    assert not health.reasons()
    clock.now_s += 0.2
    stall.look()
    assert health.reasons()[PART].code == "stalled"
    assert not cuts
    clock.now_s += CUT_S - STALLED_S
    stall.look()
    assert cuts == [clock.now_s]
    stall.counts(is_serving=False)
    assert not health.reasons()
    assert health.beside()[PART].code == "stalled"
    stall.counts(is_serving=True)
    stall.turned()
    stall.look()
    assert not health.reasons()
    assert not health.beside()


def test_of_a_loop_that_has_ended_nothing_is_told_any_more() -> None:
    clock, health = Clock(), Health()
    stall = Stall(health, monotonic=clock, cut=lambda: None)
    clock.now_s += STALLED_S
    stall.look()
    stall.forget()
    stall.look()
    assert not health.reasons()
