"""The people who look after parked messages: they have them tried again, or give them up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chronofact.runtime.failures import Transient
from tests.contract.memory_log import TOPIC_ID
from tests.simulation.picture import Picture, held_behind_nothing
from tests.simulation.workload import Planned, drop_of

if TYPE_CHECKING:
    from tests.simulation.world import World


class Operator:
    """Acts at random while the world goes on, and at the end has everything tried again."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.drops: list[tuple[tuple[int, int], Planned]] = []

    def work(self) -> None:
        """In a thread of its own, as its requests wait for lines like others'."""
        world = self._world
        while not world.is_calm:
            world.scheduler.pause("operator", takes_s=world.dice.wait_s(2.0))
            try:
                self._act()
            except Transient:
                world.scheduler.counts["operator gave up"] += 1

    def release_everything(self) -> None:
        """What can be applied by now is applied after this."""
        picture = self._world.side.picture()
        for place in sorted(picture.parked):
            self._release(picture, place)

    def _act(self) -> None:
        world, dice = self._world, self._world.dice
        picture = world.side.picture()
        world.audit.problems += held_behind_nothing(picture)
        if picture.parked and not world.is_calm:
            place = dice.pick(sorted(picture.parked))
            if dice.chance(60):
                self._release(picture, place)
            elif dice.chance(60):
                self._drop(place, reason="given up")
        elif world.messages and dice.chance(10):
            world.scheduler.counts["dropped by mistake"] += 1
            self._drop(dice.pick(sorted(world.messages)), reason="a mistake")

    def _release(self, picture: Picture, place: tuple[int, int]) -> None:
        world = self._world
        fact_id = picture.parked[place][1]
        world.scheduler.counts["asked for a release"] += 1
        if world.weather.restores and not world.is_calm and world.dice.chance(50):
            # a copy that lacks just what comes of this
            world.restore_later(world.dice.wait_s(2.0))
        world.side.ask(place, fact_id)
        world.topic.wake()

    def _drop(self, target: tuple[int, int], *, reason: str) -> None:
        world = self._world
        key = world.messages[target].key
        drop = drop_of(target, key, topic_id=TOPIC_ID, partition=target[0], reason=reason)
        world.scheduler.counts["asked for a drop"] += 1
        self.drops.append((target, drop))
        world.append(drop)
