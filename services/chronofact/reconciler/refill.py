"""Fills a new, empty topic with what a projection keeps of the one that was lost (ADR 34)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Final

from chronofact.contracts.position import Position
from chronofact.contracts.refilling import KeptEvent, Source, Stamped, Stamps, said_again
from chronofact.contracts.topics import GIVEN, STAMPS
from chronofact.domain.errors import Rejected
from chronofact.kafka.partitioning import partition_of
from chronofact.reconciler.refill_ports import Begun, Kept, Message, Progress, State, Tally, Topic
from chronofact.runtime.failures import Unfit

STATES: Final = frozenset({"catching_up", "verifying", "ready", "live", "retired"})
"""In which a projection's tables are whole."""
TELL_EVERY: Final = 2_000
_OTHER: Final = (
    "refill from another projection of the topic, or restore the database: docs/operations/lost-broker-disk.md"
)
_ANEW: Final = "stop all writers, delete the topic, and refill once more"


@dataclass(frozen=True, slots=True)
class Lacking:
    """What the projection is known not to hold, of what was acknowledged."""

    messages: int
    """At least so many."""
    ahead: Mapping[str, int]
    """Projections of the same topic that hold more."""
    positions: Sequence[int]
    """How much of each position that a producer was given."""


@dataclass(frozen=True, slots=True)
class Refilled:
    """A refill that is done."""

    topic_id: bytes
    messages: int
    found: int
    """How many of them were there from a refill before."""
    seconds: float


class Refiller:
    """One refill."""

    def __init__(
        self,
        source: Kept,
        topic: Topic,
        progress: Progress = lambda _tally: None,
        *,
        partitions: int,
        begun: Begun | None = None,
    ) -> None:
        self._source = source
        self._begun = begun
        self._topic = topic
        self._progress = progress
        self._partitions = partitions
        further = {} if begun is None else begun.counts
        self._totals = {
            one: (part.events + part.parked if (part := source.found.parts.get(one)) else 0) + further.get(one, 0)
            for one in range(partitions)
        }
        self._done = 0

    def check(self) -> None:
        """Whether the projection is whole, and the topic one that it may fill; nothing is changed.

        Raises:
            Unfit: ``refill_source_unfit``, ``refill_source_damaged``, ``refill_own_topic``, ``topic_not_empty``, or what
                speaks against the topic.
        """
        _refuse_source(self._source.found, self._partitions)
        count, gaps = self._source.gaps()
        if gaps:
            named = ", ".join(str(one.fact_id or one.fact_no) for one in gaps)
            raise _damaged(f"{count:,} facts of {self._source.found.projection} lack events, the first: {named}")
        if self._begun is not None:
            self._refuse_own(self._begun.topic_id)
        state = self._topic.look()
        if state is not None:
            self._refuse_topic(state)

    def refill(self) -> Refilled:
        """All of it, from where a refill before has come to; then the topic is sealed.

        Raises:
            Unfit: as ``check``; ``refill_disturbed``: somebody else writes to the topic.
            Transient: Kafka or Postgres is away; what is there stays, and the next refill goes on from it.
        """
        started = time.monotonic()
        self.check()
        before = self._topic.look()
        found = {} if before is None else dict(before.high_watermarks)
        self._done = 0
        for partition, end in found.items():
            self._compare(partition, end)
        if before is None or not self._is_full(before):
            self._fill(found)
        sealed = self._seal()
        total = sum(self._totals.values())
        return Refilled(sealed.topic_id, total, sum(found.values()), time.monotonic() - started)

    def _seal(self) -> State:
        # looked at before: behind the seal a writer may begin at once
        state = self._topic.look()
        if state is None or dict(state.high_watermarks) != self._totals:
            raise _disturbed(self._topic.name, "it holds more than was put into it")
        return self._topic.seal()

    def _fill(self, found: Mapping[int, int]) -> None:
        begun = self._topic.begin()
        if any(end != found.get(one, 0) for one, end in begun.high_watermarks.items()):
            raise _disturbed(self._topic.name, "it got messages meanwhile")
        self._done = sum(found.values())
        for partition, total in self._totals.items():
            start = found.get(partition, 0)
            if start < total:
                self._append(partition, start, total)

    def _is_full(self, state: State) -> bool:
        return state.config.get(STAMPS) != GIVEN and dict(state.high_watermarks) == self._totals

    def _refuse_topic(self, state: State) -> None:
        name = self._topic.name
        self._refuse_own(state.topic_id)
        over = [one for one, end in state.high_watermarks.items() if end > self._totals.get(one, 0)]
        is_begun = any(state.high_watermarks.values())
        is_sealed = state.config.get(STAMPS) != GIVEN
        if over or (is_begun and is_sealed and not self._is_full(state)):
            raise _not_empty(
                name, f"{sum(state.high_watermarks.values()):,} messages that this refill did not put there"
            )

    def _refuse_own(self, topic_id: bytes) -> None:
        source = self._source.found
        if topic_id == source.reached.topic_id:
            raise Unfit(
                "refill_own_topic",
                f"the topic that {source.projection} was made of is there",
                remedy="there is nothing to refill; name another by --to to make a copy",
            )

    def _compare(self, partition: int, end: int) -> None:
        """What is there must be what a refill before has put there, to the byte."""
        wanted = islice(self._messages(partition), end)
        compared = 0
        for found in _each(self._topic.read(partition, 0, end)):
            if (one := next(wanted, None)) is None or _of(found) != _as_read(one):
                raise _not_empty(self._topic.name, f"another message at offset {compared} of partition {partition}")
            compared += 1
            self._tell("comparing what is there")
        if compared != end:
            raise _not_empty(self._topic.name, f"offsets without a message in partition {partition}")

    def _append(self, partition: int, start: int, total: int) -> None:
        sent = sha256()
        for one in islice(self._messages(partition), start, None):
            self._topic.append(partition, one)
            sent.update(_print(_as_read(one)))
            self._tell("appending")
        if (reached := self._topic.flush().get(partition)) != total:
            raise _disturbed(self._topic.name, f"partition {partition} ends at {reached}, not at {total}")
        lies = sha256()
        for found in _each(self._topic.read(partition, start, total)):
            lies.update(_print(_of(found)))
        if lies.digest() != sent.digest():
            raise _disturbed(self._topic.name, f"partition {partition} does not hold what was put into it")

    def _messages(self, partition: int) -> Iterator[Stamped]:
        stamps = Stamps()
        for one in self._source.kept(partition):
            if isinstance(one, KeptEvent) and partition_of(one.fact_id, self._partitions) != partition:
                raise _of_other_count(self._source.found, f"a fact of partition {partition} would lie elsewhere")
            try:
                yield said_again(one, stamps)
            except Rejected as rejected:
                where = f"offset {one.offset} of partition {partition}"
                raise _damaged(
                    f"{self._source.found.projection} has an event that is not its own, of {where}: {rejected}"
                ) from None
        if self._begun is not None:
            yield from self._begun.messages(partition)

    def _tell(self, doing: str) -> None:
        self._done += 1
        if self._done % TELL_EVERY == 0:
            self._progress(Tally(doing, self._done, sum(self._totals.values())))


def lacking(source: Source, positions: Iterable[Position] = ()) -> Lacking:
    """What a projection is known to lack, and of positions that producers were given.

    Raises:
        Rejected: ``position_of_other_topic``.
    """
    known, each = source.known, []
    for one in positions:
        known = known.merge(one)
        each.append(source.lacks(one))
    return Lacking(source.lacks(known), source.ahead, each)


def _refuse_source(source: Source, partitions: int) -> None:
    if source.state not in STATES:
        raise Unfit(
            "refill_source_unfit", f"{source.projection} is {source.state}: its tables are not whole", remedy=_OTHER
        )
    for partition, part in source.parts.items():
        if not 0 <= partition < partitions:
            raise _of_other_count(source, f"it has messages of partition {partition}")
        if part.last_offset >= source.reached.next_offsets.get(partition, 0):
            raise _damaged(f"{source.projection} has events of partition {partition} behind its own checkpoint")


def _each(batches: Iterator[Sequence[Message]]) -> Iterator[Message]:
    for batch in batches:
        yield from batch


def _of(message: Message) -> tuple[bytes, bytes, int]:
    return message.key, message.value, message.appended_at


def _as_read(message: Stamped) -> tuple[bytes, bytes, int]:
    return message.key or b"", message.value or b"", message.append_time_ms * 1_000


def _print(message: tuple[bytes, bytes, int]) -> bytes:
    key, value, appended_at = message
    return b"%d %d %d %s%s" % (appended_at, len(key), len(value), key, value)


def _of_other_count(source: Source, what: str) -> Unfit:
    return Unfit(
        "partition_count_differs",
        f"{source.projection} was made of a topic with another count of partitions: {what}",
        remedy=f"set CHRONOFACT_FACTS_PARTITIONS to that of the lost topic; {source.projection} has {source.partitions} leaves",
    )


def _damaged(told: str) -> Unfit:
    return Unfit("refill_source_damaged", told, remedy=_OTHER)


def _not_empty(topic: str, what: str) -> Unfit:
    return Unfit(
        "topic_not_empty",
        f"the topic {topic} holds {what}",
        remedy="stop all writers; name an empty topic by --to, or delete this one if nothing of it is wanted",
    )


def _disturbed(topic: str, what: str) -> Unfit:
    return Unfit("refill_disturbed", f"somebody else writes to the topic {topic}: {what}", remedy=_ANEW)
