"""A sweep looks at what came since the last one, and at all of it where it can't know what that is."""

from __future__ import annotations

from chronofact.adjudicator.judging import Outcome
from chronofact.adjudicator.unlooked import LEFT_MAX, RELEASED_MAX, WHOLE_S, Left, Reached, Unlooked
from chronofact.postgres.judging_store import Released
from chronofact.postgres.looking import Ref
from chronofact.postgres.memories import Window
from tests.unit.adjudicator_twins import FACT, TENANT, Model, Store, version
from tests.unit.test_adjudicator_rounds import Clock, Judging, sweeps, unchecked

TOPIC, OTHER = b"t" * 16, b"o" * 16


def at(*offsets: int, topic: bytes = TOPIC) -> Reached:
    return Reached(topic, dict(enumerate(offsets)))


def swept(unlooked: Unlooked, now: float, reached: Reached | None) -> list[Window] | None:
    windows = unlooked.windows(now, reached)
    unlooked.looked(now, reached, is_whole=windows is None)
    return windows


def test_all_is_looked_at_until_what_came_since_is_known_and_is_old_enough() -> None:
    unlooked = Unlooked(30)
    assert swept(unlooked, 0, at(5, 0)) is None
    # of the first time nobody knows what was young then
    assert swept(unlooked, 30, at(9, 2)) is None
    assert swept(unlooked, 60, at(9, 4)) == [Window(0, 5, 9), Window(1, 0, 2)]
    assert swept(unlooked, 90, at(9, 4)) == [Window(1, 2, 4)]
    assert swept(unlooked, 120, at(9, 4)) == []


def test_no_event_is_in_no_window_however_the_rounds_come() -> None:
    unlooked, covered, wholes = Unlooked(30), 0, 0
    for step, now in enumerate((0, 10, 29, 31, 45, 61, 62, 100, 131, 132, 190, 221)):
        windows = swept(unlooked, now, at(step * 10))
        if windows is None:
            wholes += 1
        for window in windows or []:
            assert window.first <= covered or covered == 0
            covered = window.end
    assert wholes >= 2
    assert covered >= 80


def test_a_projection_that_is_another_or_went_back_is_looked_at_as_a_whole() -> None:
    for surprise in (at(3, 9), at(9, 9, topic=OTHER), None):
        unlooked = Unlooked(30)
        for now in (0, 30, 60):
            swept(unlooked, now, at(9, 9))
        assert swept(unlooked, 90, at(9, 9)) == []
        assert swept(unlooked, 120, surprise) is None
        assert swept(unlooked, 150, surprise) is None


def test_now_and_then_all_is_looked_at_for_what_came_late_into_old_places() -> None:
    unlooked = Unlooked(30)
    whole = [now for now in range(0, int(2.5 * WHOLE_S), 30) if swept(unlooked, now, at(9)) is None]
    assert whole == [0, 30, 30 + WHOLE_S, 30 + 2 * WHOLE_S]


async def test_a_sweep_looks_up_what_came_since_the_last_one() -> None:
    store, judging, clock = Store(None), Judging(), Clock()
    rounds = sweeps(store, judging, None, clock)
    store.recent = [[unchecked(3)]]
    for second in (0, 30, 60, 90):
        clock.now, store.ends_now = second, [(TOPIC, 0, second)]
        await rounds.sweep()
    assert store.windows == [[Window(0, 0, 30)], [Window(0, 30, 60)]]
    assert [one for one, _, _ in judging.asked] == [version(3)]
    store.ends_now = [(TOPIC, 0, 90), (OTHER, 0, 2)]
    store.unchecked_pages = [[unchecked(4)]]
    clock.now = 120
    assert await rounds.sweep() == 1


async def test_what_was_parked_and_released_is_looked_up_by_the_next_sweep_and_once() -> None:
    store, judging, clock = Store(None), Judging(), Clock()
    rounds = sweeps(store, judging, None, clock)
    store.released_now = [Released(1, 0, 2)]
    for second in (0, 30, 60):
        clock.now, store.ends_now = second, [(TOPIC, 0, 90)]
        await rounds.sweep()
    assert store.windows == [], "what was released before the first look at all of it is no news"
    store.released_now += [Released(2, 0, 4), Released(5, 1, 7)]
    store.recent = [[unchecked(3)]]
    for second in (90, 120):
        clock.now = second
        await rounds.sweep()
    assert store.windows == [[Window(1, 7, 8), Window(0, 4, 5)]]
    assert [one for one, _, _ in judging.asked] == [version(3)]


async def test_after_a_release_of_very_many_all_is_looked_at() -> None:
    store, judging, clock = Store(None), Judging(), Clock()
    rounds = sweeps(store, judging, None, clock)
    for second in (0, 30, 60, 90, 120):
        clock.now, store.ends_now = second, [(TOPIC, 0, 90)]
        if second == 90:
            store.released_now = [Released(number, 0, number) for number in range(1, RELEASED_MAX + 1)]
            store.unchecked_pages = [[unchecked(4)]]
        await rounds.sweep()
    assert store.windows == []
    assert [one for one, _, _ in judging.asked] == [version(4)]


async def test_what_was_not_there_is_asked_for_by_name_until_it_is() -> None:
    store, judging, clock = Store(None), Judging(Outcome.NOT_THERE), Clock()
    rounds = sweeps(store, judging, Model(), clock)
    rounds._left.keep(Ref(TENANT, FACT, version(1)))
    store.unchecked_pages = [[unchecked(2)]]
    await rounds.sweep()
    assert {one for one, _, _ in judging.asked} == {version(1), version(2)}
    judging.asked.clear()
    judging.outcome = Outcome.CHECKED
    await rounds.sweep()
    assert [one for one, _, _ in judging.asked] == [version(1), version(2)]
    judging.asked.clear()
    await rounds.sweep()
    assert judging.asked == []


def test_only_so_many_are_kept_by_name() -> None:
    left = Left()
    for number in range(LEFT_MAX + 10):
        left.keep(Ref(TENANT, FACT, number.to_bytes(16, "big")))
    assert len(left.listed()) == LEFT_MAX
