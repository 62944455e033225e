"""A common cut of two projections: where both stand, or where one is held until the other has come there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from chronofact.contracts.verification import Aspects, Cut, VerifyWanted
from chronofact.reconciler.verify_ports import Feeding, Snapshot, Snapshots
from chronofact.runtime.failures import Unfit

HELD_S: Final = 10.0
"""How long a hold lasts that nobody renews: that of a verification which died is soon over."""
LOOK_EVERY_S: Final = 0.05
PATIENCE_S: Final = 30.0
"""Without a step forward for so long, nobody feeds it."""
CATCH_UP_S: Final = 600.0

Offsets = Mapping[int, int]


class CommonCut(NamedTuple):
    """Both projections at the same offsets, each in a snapshot, which may be the same."""

    left: Snapshot
    right: Snapshot
    cut: Cut
    """Of the left one."""


class Cutter:
    """Finds the cut."""

    def __init__(
        self,
        snapshots: Snapshots,
        feeding: Feeding,
        *,
        patience_s: float = PATIENCE_S,
        catch_up_s: float = CATCH_UP_S,
        go_on: Callable[[], None] = lambda: None,
    ) -> None:
        self._snapshots = snapshots
        self._feeding = feeding
        self._patience_s = patience_s
        self._catch_up_s = catch_up_s
        self._go_on = go_on

    @contextmanager
    def common(self, wanted: VerifyWanted) -> Iterator[CommonCut]:
        """Both at one cut; what is held goes on as soon as its snapshot is taken.

        Raises:
            Unfit: ``topics_differ``, ``rules_differ``, ``both_serve``, ``projection_stands_still``, ``projection_lags``.
        """
        left, right = wanted.left, wanted.right
        with self._snapshots.take(left, right) as both:
            mine, other = both.cuts[left], both.cuts[right]
            _refuse_strangers(wanted, mine, other)
            if mine.next_offsets == other.next_offsets:
                yield CommonCut(both, both, mine)
                return
        held = _held(wanted, mine, other)
        ahead = right if held == left else left
        with self._held_at(held, ahead) as (there, here), there, here:
            sides = (here, there) if held == left else (there, here)
            yield CommonCut(*sides, sides[0].cuts[left])

    @contextmanager
    def _held_at(self, held: str, ahead: str) -> Iterator[tuple[Snapshot, Snapshot]]:
        """A snapshot of the one that goes on, then of the other at the very same offsets."""
        try:
            self._hold(held, self._snapshots.look(held)[held].next_offsets)
            both = None
            while both is None:
                self._await(held, ahead, lambda: self._has_passed(ahead, held))
                both = self._met(held, ahead)
        finally:
            self._feeding.let_go(held)
        yield both

    def _met(self, held: str, ahead: str) -> tuple[Snapshot, Snapshot] | None:
        """Both; None where the held one had gone further before it heard of the hold."""
        there = self._snapshots.take(ahead)
        is_met = False
        try:
            goal = there.cuts[ahead].next_offsets
            self._hold(held, goal)
            self._await(held, held, lambda: self._is_at(held, goal), goal)
            here = self._snapshots.take(held)
            is_met = here.cuts[held].next_offsets == goal
            if not is_met:
                here.__exit__(None, None, None)
            return (there, here) if is_met else None
        finally:
            if not is_met:
                there.__exit__(None, None, None)

    def _is_at(self, held: str, goal: Offsets) -> bool:
        """Whether it is there, or beyond."""
        now = self._snapshots.look(held)[held].next_offsets
        return now == goal or any(offset > goal.get(partition, 0) for partition, offset in now.items())

    def _has_passed(self, ahead: str, held: str) -> bool:
        cuts = self._snapshots.look(ahead, held)
        there, here = cuts[ahead].next_offsets, cuts[held].next_offsets
        return all(there.get(partition, 0) >= offset for partition, offset in here.items())

    def _await(self, held: str, moving: str, is_there: Callable[[], bool], goal: Offsets | None = None) -> None:
        """Until it is so; the hold is renewed meanwhile."""
        started = moved_at = held_at = time.monotonic()
        before: Offsets = {}
        while not is_there():
            self._go_on()
            now = time.monotonic()
            offsets = self._snapshots.look(moving)[moving].next_offsets
            if offsets != before:
                before, moved_at = offsets, now
            if now - moved_at > self._patience_s:
                raise _not_fed(moving)
            if now - started > self._catch_up_s:
                raise _lags(moving, self._catch_up_s)
            if now - held_at > HELD_S / 4:
                self._hold(held, self._snapshots.look(held)[held].next_offsets if goal is None else goal)
                held_at = now
            time.sleep(LOOK_EVERY_S)

    def _hold(self, held: str, at: Offsets) -> None:
        self._feeding.hold(held, at, for_s=HELD_S)


def _refuse_strangers(wanted: VerifyWanted, left: Cut, right: Cut) -> None:
    if None not in {left.topic_id, right.topic_id} and left.topic_id != right.topic_id:
        raise Unfit(
            "topics_differ",
            f"{wanted.left} is of topic {left.topic_id}, {wanted.right} of {right.topic_id}",
            remedy="chronofact verify --across-topics compares what no offset says",
        )
    if wanted.aspects is Aspects.ALL and left.rule != right.rule:
        raise Unfit(
            "rules_differ",
            f"{wanted.left} is folded by rule {left.rule}, {wanted.right} by rule {right.rule}",
            remedy="compare what no rule decides, by --aspects said; chronofact shadow compares the answers",
        )


def _held(wanted: VerifyWanted, left: Cut, right: Cut) -> str:
    """The one that was named, or else one that serves nobody."""
    if wanted.held is not None:
        return wanted.held
    if not right.serves:
        return wanted.right
    if not left.serves:
        return wanted.left
    raise Unfit(
        "both_serve",
        f"tenants read {wanted.left} and {wanted.right}, and one has to wait for a moment",
        remedy="say which by --hold; it stays fed, some seconds late",
    )


def _not_fed(projection: str) -> Unfit:
    return Unfit(
        "projection_stands_still",
        f"{projection} does not move",
        remedy="see that a projector runs and feeds it: chronofact doctor",
    )


def _lags(projection: str, for_s: float) -> Unfit:
    return Unfit(
        "projection_lags",
        f"{projection} did not come up to the other within {for_s:.0f} s",
        remedy="let it catch up first, then verify again",
    )
