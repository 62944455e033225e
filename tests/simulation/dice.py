"""Every choice of a simulated world, from its seed."""

from __future__ import annotations

from random import Random

from tests.property.strategies import Dice as Choices


class Dice(Choices):
    """The choices that histories are made of, and waits."""

    def __init__(self, random: Random) -> None:
        super().__init__(random.randrange)
        self.random = random

    def happens(self, probability: float) -> bool:
        """True so often."""
        return self.random.random() < probability

    def wait_s(self, mean_s: float) -> float:
        """Mostly short, at times long."""
        return self.random.expovariate(1.0 / mean_s)
