"""A topic of everything that a log may hold: poison, held facts, drops that count and drops that don't, repeats, strays, imports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from chronofact.contracts.drops import Drop
from chronofact.domain.events import Cardinality, FactEnded, FactRevoked, RelationsChecked
from tests.bench.workload import mixed
from tests.integration.deriving import derived, frame, pointing
from tests.integration.poison import corpus
from tests.integration.saying import PARTITIONS, Fact, Said

UNKNOWN_SCHEMA = "unknown schema"
POISON = b"\xc3\x01 no"
"""Too short to be headed by a schema."""


class Nasty:
    """Messages in the order of the log, with the place that each gets in a fresh topic."""

    def __init__(self, seed: int, topic_id: bytes, *, with_unknown: bool = False) -> None:
        self._random = Random(seed)
        self._topic_id = topic_id
        self._next: Counter[int] = Counter()
        self._drops: list[Said] = []
        self.messages: list[Said] = []
        self._with_unknown = with_unknown
        self._make()

    def _say(self, message: Said) -> int:
        offset = self._next[message.partition]
        self._next[message.partition] += 1
        self.messages.append(message)
        return offset

    def _drop(self, message: Said, offset: int, *, key: bytes | None = None) -> None:
        named = message.key if key is None else key
        drop = Drop(self._topic_id, message.partition, offset, named, "poison of a test", "ada").message().value
        self._drops.append(Said(message.partition, named, drop, b"", None))

    def _make(self) -> None:
        random = self._random
        streams = [
            self._ordinary(),
            *map(self._held, range(40)),
            self._many(),
            self._texts(),
            self._poisons(),
            self._strays(),
        ]
        while streams:
            stream = random.choice(streams)
            if next(stream, None) is None:
                streams.remove(stream)
            if self._drops and random.random() < 0.1:
                self._say(self._drops.pop(random.randrange(len(self._drops))))
        for drop in self._drops:
            self._say(drop)

    def _ordinary(self) -> Iterator[bool]:
        """Facts like any, some events of which come twice, or with another fact's import time."""
        said: list[Said] = []
        for one in mixed(150, 1_200, prefix="nasty"):
            said.append(one)
            self._say(one)
            if self._random.random() < 0.1:
                self._say(self._random.choice(said))
            yield True
        for number in range(60):
            fact = Fact(f"imported {number % 9}")
            self._say(fact.asserts(number, import_time=1_500_000_000_000_000 + self._random.randrange(10**12)))
            yield True

    def _texts(self) -> Iterator[bool]:
        """Text memories: with and without what is derived, some said once more with other stamps or bytes that are none."""
        fact = Fact("remembering", "memory/drinks")
        made = (
            derived(["drink|tea"], pointing(tea=1), frames=[frame("drink", "tea")]),
            derived(["drink|coffee"], extractor="hand-2"),
            b"not derived",
            None,
        )
        firsts = self._random.sample(made, k=24, counts=[6] * 4)  # whatever the seed, memories are projected of half
        for number, one in enumerate(firsts):
            again = self._random.choice(made)
            said = fact.asserts(f"drinks {number}", number, cardinality=Cardinality.MANY, derived=one)
            self._say(said)
            yield True
            self._say(
                fact.asserts(f"drinks {number}", number, cardinality=Cardinality.MANY, derived=again, confidence=0.5)
            )
            assert said.version_id is not None
            self._say(fact.says(RelationsChecked(said.version_id, number, number, 0, "no_common_slot")))
            yield True

    def _held(self, number: int) -> Iterator[bool]:
        """A fact with poison among its events: given up or not, once or twice, with a drop that comes before its time."""
        fact = Fact(f"held {number}")
        values = [fact.asserts(value) for value in range(8)]
        for one in values[: number % 4]:
            self._say(one)
            yield True
        if number % 5 == 0:
            self._drop(values[0], self._next[fact.partition] + 5_000)
        for again in range(1 + number % 2):
            poison = Said(fact.partition, fact.fact_id, POISON + bytes([again]), b"", None)
            offset = self._say(poison)
            yield True
            if number % 3:
                self._drop(poison, offset)
            if number % 7 == 0:
                self._drop(poison, offset)
                self._drop(poison, offset, key=Fact(f"somebody else {number}").fact_id)
        for one in values[number % 4 :]:
            self._say(one)
            yield True
        assert values[0].version_id is not None
        self._say(fact.says(FactRevoked(values[0].version_id, reason="wrong")))
        yield True

    def _many(self) -> Iterator[bool]:
        """Many-valued facts, some values of which are ended."""
        for number in range(120):
            fact = Fact(f"likes {number % 6}")
            said = fact.asserts(f"thing {number}", cardinality=Cardinality.MANY)
            self._say(said)
            yield True
            if number % 4 == 0:
                assert said.version_id is not None
                self._say(fact.says(FactEnded(said.version_id, 1_700_000_000_000_000, "no more")))
                yield True

    def _poisons(self) -> Iterator[bool]:
        """Every kind of it; half are given up, and behind some something sound follows."""
        for number, poison in enumerate(corpus()):
            is_unknown = poison.name == UNKNOWN_SCHEMA
            if is_unknown and not self._with_unknown:
                continue
            offset = self._say(poison.message)
            yield True
            if number % 2 or is_unknown:
                self._drop(poison.message, offset)
            if poison.fact is not None and number % 3 == 0:
                self._say(poison.fact.asserts("sound"))
                yield True

    def _strays(self) -> Iterator[bool]:
        """Sound messages in a partition that is not their fact's."""
        for number in range(20):
            said = Fact(f"nasty-{number}", f"slot_{number % 7}").asserts("elsewhere")
            self._say(said._replace(partition=(said.partition + 1 + number % (PARTITIONS - 1)) % PARTITIONS))
            yield True


def spoiled(messages: Sequence[Said], number: int, fact: Fact) -> list[Said]:
    """The same with so many messages on this fact that can't be read."""
    return [*messages, *(Said(fact.partition, fact.fact_id, POISON + bytes([one]), b"", None) for one in range(number))]
