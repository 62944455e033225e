"""A stream of events like a memory's: most facts are restated or succeeded now and then, some corrected or taken back."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from chronofact.domain.canonical import Json
from chronofact.domain.events import FactEnded, FactRevoked, FactSuperseded, Succession
from tests.integration.saying import Fact, Said

DAY_US = 86_400_000_000
START_US = 1_577_836_800_000_000  # 2020-01-01
WORDS = ("npm", "pnpm", "yarn", "bun", "Berlin", "Lisbon", "dark", "light", "4 spaces", "tabs", "vegetarian", "weekly")


def mixed(facts: int, events: int, *, seed: int = 7, prefix: str = "bench") -> Iterator[Said]:
    """``events`` events on ``facts`` facts in random interleaving: 82 % assertions, the rest corrections."""
    random = Random(seed)
    living = [
        _Living(Fact(f"{prefix}-{number}", f"slot_{number % 7}"), Random(seed + number)) for number in range(facts)
    ]
    for number in range(events):
        yield random.choice(living).next(number)


class _Living:
    """One fact through its life."""

    def __init__(self, fact: Fact, random: Random) -> None:
        self._fact = fact
        self._random = random
        self._versions: list[bytes] = []
        self._succession = random.choice((Succession.AUTOMATIC, Succession.AUTOMATIC, Succession.EXPLICIT))

    def next(self, number: int) -> Said:
        dice = self._random.random()
        if len(self._versions) < 2 or dice < 0.82:
            return self._assert(number)
        if dice < 0.88:
            old, new = self._random.sample(self._versions, 2)
            return self._fact.says(FactSuperseded(new, old, reason=f"corrected {number}"))
        if dice < 0.94:
            ended = self._random.choice(self._versions)
            return self._fact.says(FactEnded(ended, self._instant(), f"ended {number}"))
        return self._fact.says(FactRevoked(self._random.choice(self._versions), reason=f"wrong source {number}"))

    def _assert(self, number: int) -> Said:
        value: Json = {"said": self._random.choice(WORDS), "note": f"as told in conversation {number}, turn 3"}
        start = self._instant()
        end = start + 90 * DAY_US if self._random.random() < 0.2 else None
        said = self._fact.asserts(value, start, end, source=f"conversation:{number}", succession=self._succession)
        assert said.version_id is not None
        self._versions.append(said.version_id)
        return said

    def _instant(self) -> int:
        return START_US + self._random.randrange(2_000) * DAY_US
