"""Whoever compares projections: holds partitions at an offset, and lets them go or forgets them."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from chronofact.runtime.failures import Transient
from tests.simulation.dice import Dice

if TYPE_CHECKING:
    from tests.simulation.scheduler import Task
    from tests.simulation.world import World

SHARE: Final = 0.4
"""Of the worlds in which somebody does."""
AGAIN_S: Final = 0.3


class Verifier:
    """Acts at random while the world goes on, and holds nothing at the end."""

    def __init__(self, world: World) -> None:
        self._world = world
        # not the world's dice: without holds, a seed is the same schedule
        self._dice = Dice(Random(f"holds {world.seed}"))
        self.is_there = self._dice.happens(SHARE)
        self._task: Task | None = None

    def work(self) -> None:
        """In a thread of its own, as it waits for batches under way."""
        world, dice = self._world, self._dice
        self._task = world.scheduler.current
        while not world.is_calm:
            world.scheduler.block("verifier", timeout_s=dice.wait_s(1.5))
            try:
                self._hold()
            except Transient:
                world.scheduler.counts["could not hold"] += 1
                continue
            world.scheduler.pause("verifying", takes_s=dice.wait_s(1.0))
            if world.side.expires and dice.chance(33):
                world.side.expire()
            elif dice.chance(50):
                self._let_go()
        self._let_go()

    def hear_of_release(self) -> None:
        """Somebody has asked for one, and it is about to begin: no time is worse for a hold."""
        if self._task is not None and not self._task.is_done and self._dice.chance(60):
            self._world.scheduler.wake(self._task)

    def _hold(self) -> None:
        dice, side = self._dice, self._world.side
        reached = side.progress()[0]
        if wanted := [one for one in sorted(reached) if dice.chance(70)]:
            side.hold({one: max(0, reached[one] + dice.count(-1, 5)) for one in wanted})
            self._world.scheduler.counts["held"] += 1

    def _let_go(self) -> None:
        while True:
            try:
                return self._world.side.let_go()
            except Transient:
                self._world.scheduler.pause("lets go again", takes_s=AGAIN_S)
