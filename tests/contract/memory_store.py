"""The projector's store in memory: one projection, the same transactions, waits and refusals as the database's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from chronofact.contracts.projection import (
    Ask,
    Claim,
    DroppedLine,
    EventLine,
    Head,
    Lines,
    ParkedLine,
    ParkedMessage,
    Step,
    StoredEvent,
    StoredFact,
    beyond,
)
from chronofact.domain.rules import RULE_DEFAULT
from chronofact.runtime.failures import ConstraintBroken, Fenced, Held, Transient, Unfit
from tests.contract.memory_parking import Spot, ask, asks, counted, message_of, parked_in, write_parking
from tests.contract.memory_transactions import Database, Transaction

SHIFT = 40
CLAIM_LOCK_TIMEOUT_S = 1.0
_LINES: Mapping[str, Callable[[Any], tuple[Any, ...]]] = {
    "events": lambda line: (line.fact_no, line.event_seq),
    "versions": lambda line: (line.fact_no, line.version_no),
    "labels": lambda line: (line.fact_no, line.version_no, line.event_seq),
    "edges": lambda line: (line.fact_no, line.event_id, line.ordinal),
    "endings": lambda line: (line.fact_no, line.event_id),
    "decisions": lambda line: (line.fact_no, line.event_id),
    "relations": lambda line: (line.fact_no, line.event_id),
    "memories": lambda line: (line.fact_no, line.version_no),
    "checks": lambda line: (line.fact_no, line.event_id),
    "timeline": lambda line: (line.fact_no, line.lane, line.known_from, line.event_seq, line.valid_from),
}
_PRIMARY: Mapping[str, str] = {
    "events": "event_pkey",
    "versions": "version_pkey",
    "labels": "version_label_pkey",
    "edges": "edge_pkey",
    "endings": "ending_pkey",
    "decisions": "decision_pkey",
    "relations": "relation_pkey",
    "memories": "memory_pkey",
    "checks": "checked_pkey",
    "timeline": "timeline_painted_once",
}


class Tables(NamedTuple):
    """What is committed, at one moment."""

    checkpoints: Mapping[tuple[bytes, int], tuple[int, int]]
    facts: Mapping[bytes, Head]
    labels: Mapping[int, str]
    lines: Mapping[str, Mapping[tuple[Any, ...], Any]]
    conflicts: Mapping[tuple[int, bytes, bytes], Any]
    parked: Mapping[Spot, ParkedLine]
    attempts: Mapping[Spot, int]
    asked: Mapping[Spot, bytes]
    released: Mapping[int, Spot]
    dropped: Mapping[Spot, DroppedLine]


class MemoryStore:
    """Shared by several projectors of one test; ``fault`` is called before each step of a batch and may raise."""

    def __init__(self, fault: Callable[[str], None] = lambda _step: None, *, rule: int = RULE_DEFAULT) -> None:
        self.database = Database()
        self.rule = rule
        self.fault = fault
        self.refuses: Callable[[Lines], bool] = lambda _lines: False
        self.ended_holder: Callable[[], None] = lambda: None
        self.left: Callable[[MemoryBatch], None] = lambda batch: batch.transaction.rollback()
        """What becomes of a transaction whose block an exception left."""
        self.stop_at: dict[int, int] = {}
        """Where partitions are held."""
        self.dropped_elsewhere: dict[Spot, bytes] = {}
        """What other projections of the topic have dropped, with the keys of the messages."""

    @property
    def tables(self) -> Tables:
        """What is committed now."""
        table = self.database.table
        lines = {name: table(name) for name in _LINES}
        parking = map(table, ("parked", "attempts", "asked", "released", "dropped"))
        return Tables(
            table("checkpoints"), table("facts"), table("subject_labels"), lines, table("conflicts"), *parking
        )

    def events(self) -> list[EventLine]:
        """All committed events, by fact and sequence."""
        return sorted(self.database.table("events").values())

    def state(self) -> dict[bytes, tuple[int, bytes]]:
        """Each fact's sequence and state hash."""
        return {fact_id: (head.event_seq, head.state_hash) for fact_id, head in self.tables.facts.items()}

    def claim(self, topic_id: bytes, partition: int, *, watermarks: tuple[int, int]) -> Claim:
        """An owner that stands still within a batch has its session ended (ADR 24)."""
        self.fault("claim")
        try:
            return self._take(topic_id, partition, watermarks)
        except Transient as failure:
            if failure.code != "postgres_busy":
                raise
        holder = self.database.holders.get(("checkpoints", (topic_id, partition)))
        if holder is not None:
            self.ended_holder()
            holder.rollback()
        return self._take(topic_id, partition, watermarks)

    def _take(self, topic_id: bytes, partition: int, watermarks: tuple[int, int]) -> Claim:
        transaction = Transaction(self.database)
        transaction.lock_timeout_s = CLAIM_LOCK_TIMEOUT_S
        try:
            claim = self._claim(transaction, topic_id, partition, watermarks)
        except BaseException:
            transaction.rollback()
            raise
        transaction.commit()
        return claim

    def _claim(self, transaction: Transaction, topic_id: bytes, partition: int, watermarks: tuple[int, int]) -> Claim:
        place = (topic_id, partition)
        for (other, _), (next_offset, _) in transaction.lines("checkpoints"):
            if other != topic_id and next_offset:
                raise Unfit("topic_recreated", "filled from another topic", remedy="rebuild")
        transaction.lock("checkpoints", place)
        next_offset, epoch = transaction.get("checkpoints", place) or (0, 0)
        transaction.put("checkpoints", place, (next_offset, epoch + 1))
        if watermarks[0] > 0:
            raise Unfit("log_truncated", "does not start at 0", remedy="restore")
        if watermarks[1] < next_offset:
            raise Unfit("log_shortened", "ends too early", remedy="restore")
        self.fault("claim locked")
        numbers = [head.fact_no for _, head in transaction.lines("facts") if head.fact_no >> SHIFT == partition]
        parked = parked_in(transaction, topic_id, partition)
        dropped = self.dropped_elsewhere | {spot: line.message_key for spot, line in transaction.lines("dropped")}
        return Claim(
            epoch,
            epoch + 1,
            next_offset,
            max(numbers, default=partition << SHIFT),
            frozenset(line.fact_id for line in parked if line.fact_id is not None),
            counted(parked, next_offset=next_offset),
            len(parked),
            {offset: key for (*where, offset), key in dropped.items() if tuple(where) == place},
            self.rule,
        )

    def hold(self, topic_id: bytes, stop_at: Mapping[int, int], *, told: Callable[[list[int]], None]) -> None:
        """Waits for batches under way in these partitions; ``told`` hears which are held before any other can begin."""
        with self._locked(topic_id, stop_at):
            there = [one for one in stop_at if (topic_id, one) in self.database.table("checkpoints")]
            self.stop_at.update({one: stop_at[one] for one in there})
            told(there)

    def let_go(self, topic_id: bytes, *, told: Callable[[], None]) -> None:
        """Waits for them, too."""
        with self._locked(topic_id, self.stop_at):
            self.stop_at.clear()
            told()

    @contextmanager
    def _locked(self, topic_id: bytes, partitions: Iterable[int]) -> Iterator[None]:
        transaction = Transaction(self.database)
        try:
            for partition in sorted(partitions):
                transaction.lock("checkpoints", (topic_id, partition))
            yield
        finally:
            transaction.rollback()

    def ask(self, topic_id: bytes, partition: int, *, fact_id: bytes | None = None, offset: int | None = None) -> int:
        """As ``chronofact parked release`` does: a fact's messages, or one of no fact; how many."""
        transaction = Transaction(self.database)
        found = ask(transaction, topic_id, partition, fact_id=fact_id, offset=offset)
        transaction.commit()
        return found

    def asked(self, topic_id: bytes, partitions: Sequence[int]) -> Sequence[Ask]:
        self.fault("asked")
        free = [partition for partition in partitions if partition not in self.stop_at]
        return asks(Transaction(self.database), topic_id, free)

    def lines(self) -> Lines:
        return Lines()

    @contextmanager
    def begin(self) -> Iterator[MemoryBatch]:
        self.fault("begin")
        batch = MemoryBatch(self)
        try:
            yield batch
            self.fault("commit")
        except BaseException:
            self.left(batch)
            raise
        batch.transaction.commit()
        self.fault("committed")

    def close(self) -> None:
        pass


class MemoryBatch:
    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._fault = store.fault
        self._topic_id = b""
        self.transaction = Transaction(store.database)

    def advance(self, topic_id: bytes, steps: Sequence[Step]) -> Mapping[int, int]:
        self._fault("advance")
        self._topic_id = topic_id
        before = {}
        for partition, epoch, next_offset in steps:
            place = (topic_id, partition)
            self.transaction.lock("checkpoints", place)
            was, owner = self.transaction.get("checkpoints", place) or (0, 0)
            if owner == epoch:
                self.transaction.put("checkpoints", place, (max(was, next_offset), epoch))
                before[partition] = was
        lost = [step.partition for step in steps if step.partition not in before]
        if lost:
            raise Fenced(lost)
        if passed := beyond(steps, before, self._store.stop_at):
            raise Held(passed, before)
        return before

    def load(self, fact_ids: Sequence[bytes]) -> Sequence[StoredFact]:
        self._fault("load")
        heads = {fact_id: self.transaction.get("facts", fact_id) for fact_id in fact_ids}
        return [self._stored(fact_id, head) for fact_id, head in heads.items() if head is not None]

    def _stored(self, fact_id: bytes, head: Head) -> StoredFact:
        lines = sorted(line for (fact_no, _), line in self.transaction.lines("events") if fact_no == head.fact_no)
        return StoredFact(
            head.fact_no,
            fact_id,
            head.event_seq,
            head.recorded_at,
            head.lane_mode,
            head.painted,
            head.conflicts_open,
            self.transaction.get("subject_labels", head.fact_no) is not None,
            [StoredEvent(line.event_id, line.event_type, line.recorded_at, line.payload) for line in lines],
        )

    def parked_of(
        self, partition: int, fact_id: bytes, *, messages_max: int, after: int = -1
    ) -> Sequence[ParkedMessage]:
        self._fault("parked_of")
        found = parked_in(self.transaction, self._topic_id, partition)
        return [message_of(line) for line in found if line.fact_id == fact_id and line.kafka_offset > after][
            :messages_max
        ]

    def parked_at(self, partition: int, offset: int) -> ParkedMessage | None:
        self._fault("parked_at")
        line = self.transaction.get("parked", (self._topic_id, partition, offset))
        return None if line is None else message_of(line)

    def write(self, lines: Lines) -> None:
        self._fault("write")
        transaction = self.transaction
        if self._store.refuses(lines):
            raise ConstraintBroken("made_up")
        for fact in lines.facts:
            transaction.insert("facts", fact.fact_id, fact.head, "fact_id_once")
            transaction.insert("fact_ids", fact.fact_no, fact.fact_id, "fact_pkey")
            self._label(fact.head)
        for head in lines.heads:
            self._move(head)
        for name, key_of in _LINES.items():
            for line in getattr(lines, name):
                transaction.insert(name, key_of(line), line, _PRIMARY[name])
        for event in lines.events:
            transaction.insert("event_ids", (event.fact_no, event.event_id), event.event_seq, "event_id_once")
        for version in lines.versions:
            transaction.insert(
                "version_ids", (version.fact_no, version.version_id), version.version_no, "version_id_once"
            )
        for gone in [*lines.conflicts_gone, *(line[:3] for line in lines.conflicts_now)]:
            transaction.delete("conflicts", gone)
        for line in lines.conflicts_now:
            transaction.insert("conflicts", line[:3], line, "conflict_pkey")
        write_parking(transaction, self._topic_id, lines)
        self._fault("written")

    def _move(self, head: Head) -> None:
        """Heads of facts only go forward, as in ``move_heads.sql``."""
        fact_id = self.transaction.get("fact_ids", head.fact_no)
        if fact_id is None:
            return
        self.transaction.lock("facts", fact_id)
        if self.transaction.get("facts", fact_id).event_seq < head.event_seq:
            self.transaction.put("facts", fact_id, head)
            self._label(head)

    def _label(self, head: Head) -> None:
        """The first label stays."""
        if head.subject_label is not None and self.transaction.get("subject_labels", head.fact_no) is None:
            self.transaction.put("subject_labels", head.fact_no, head.subject_label)
