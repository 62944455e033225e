"""Signs of life of a load's workers by a manual clock: who stands still, who hangs, and who only was not listened to."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from chronofact.reconciler.rebuilding.signs import HANG_S, LOOK_S_MAX, SIGN, SIGN_S, Signs, Silence

START = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """Goes on when it is told to."""

    def __init__(self) -> None:
        self.passed_s = 0.0

    def monotonic(self) -> float:
        return self.passed_s

    def now(self) -> datetime:
        return START + timedelta(seconds=self.passed_s)

    def silence(self) -> Silence:
        return Silence(self.monotonic, self.now)


def listened(
    clock: Clock, silence: Silence, *, for_s: float, every_s: float = 0.25, heard: bytes | None = None
) -> None:
    for _ in range(int(for_s / every_s)):
        clock.passed_s += every_s
        silence.listen(heard)


def test_who_gives_no_sign_is_silent_since_its_last_one() -> None:
    clock = Clock()
    silence = clock.silence()
    listened(clock, silence, for_s=10, heard=SIGN)
    assert silence.seconds == 0
    listened(clock, silence, for_s=30)
    assert (silence.seconds, silence.since) == (30, START + timedelta(seconds=10))
    listened(clock, silence, for_s=1, heard=SIGN)
    assert silence.seconds == 0


def test_one_that_never_gave_a_sign_is_silent_since_it_began() -> None:
    clock = Clock()
    silence = clock.silence()
    listened(clock, silence, for_s=5)
    assert (silence.seconds, silence.since) == (5, START)


def test_a_runner_that_stood_still_itself_holds_it_against_nobody() -> None:
    clock = Clock()
    silence = clock.silence()
    listened(clock, silence, for_s=1)
    clock.passed_s += 3_600
    silence.listen(None)
    assert silence.seconds == 1 + LOOK_S_MAX
    clock.passed_s += 3_600
    silence.listen(SIGN)
    assert silence.seconds == 0


def test_who_is_at_work_on_a_core_does_not_stand_still_though_its_signs_come_late() -> None:
    clock = Clock()
    silence = clock.silence()
    for _ in range(20):
        clock.passed_s += 1
        silence.listen(None)
        silence.listen(None, has_run=True)
    assert (silence.seconds, silence.since) == (0, START + timedelta(seconds=20))
    listened(clock, silence, for_s=10)
    assert silence.seconds == 10


def test_who_only_computes_for_ever_comes_to_no_end() -> None:
    clock = Clock()
    silence = clock.silence()
    while silence.seconds < 30:
        clock.passed_s += 1
        silence.listen(None, has_run=True)
        assert clock.passed_s < HANG_S + 31
    assert clock.passed_s > HANG_S + 28


class Worker:
    """Gives signs for so long by a clock that goes on while it sleeps; ``does`` is what its work does meanwhile."""

    def __init__(self, does: Callable[[Worker], None], *, for_s: float) -> None:
        self.clock, self.given, self.is_asking = Clock(), 0, False
        self.signs = Signs(self._write, monotonic=self.clock.monotonic, sleep=self._sleep)
        self._does = does
        self._until_s = for_s
        self.signs.give(lambda: self.is_asking)

    def _write(self, sign: bytes) -> None:
        assert sign == SIGN
        self.given += 1

    def _sleep(self, seconds: float) -> None:
        self.clock.passed_s += seconds
        self._does(self)
        if self.clock.passed_s >= self._until_s:
            self.signs.end()


def test_work_that_goes_on_gives_a_sign_a_second() -> None:
    assert Worker(lambda worker: worker.signs.step(), for_s=3 * HANG_S).given == 3 * HANG_S / SIGN_S


def test_work_that_hangs_gives_none_any_more() -> None:
    assert Worker(lambda _worker: None, for_s=3 * HANG_S).given == HANG_S / SIGN_S


def test_work_that_waits_for_an_answer_of_postgres_does_not_hang() -> None:
    def ask(worker: Worker) -> None:
        worker.is_asking = True

    assert Worker(ask, for_s=3 * HANG_S).given == 3 * HANG_S / SIGN_S


@pytest.mark.parametrize(("rests", "given"), [(True, [SIGN]), (False, [])])
def test_to_rest_is_a_step(*, rests: bool, given: list[bytes]) -> None:
    clock, written = Clock(), list[bytes]()
    signs = Signs(written.append, monotonic=clock.monotonic, sleep=lambda _seconds: None)
    clock.passed_s = 2 * HANG_S
    if rests:
        signs.rest(5.0)

    def ask_once() -> bool:
        signs.end()
        return False

    signs.give(ask_once)
    assert written == given
