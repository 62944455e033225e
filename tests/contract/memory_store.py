"""The projector's store in memory: one projection, one transaction at a time, the same refusals as the database's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from chronofact.contracts.projection import (
    HELD,
    Claim,
    EventLine,
    Head,
    Lines,
    ParkedLine,
    Step,
    StoredEvent,
    StoredFact,
)
from chronofact.runtime.failures import ConstraintBroken, Fenced, Unfit

SHIFT = 40
WINDOW = 10_000
Place = tuple[bytes, int]


@dataclass
class Tables:
    """What is committed."""

    checkpoints: dict[Place, tuple[int, int]] = field(default_factory=dict)
    facts: dict[bytes, Head] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    lines: dict[str, dict[tuple[Any, ...], Any]] = field(default_factory=dict)
    conflicts: dict[tuple[int, bytes, bytes], Any] = field(default_factory=dict)
    parked: dict[tuple[bytes, int, int], ParkedLine] = field(default_factory=dict)

    def copy(self) -> Tables:
        """Independent tables; their lines never change."""
        return Tables(
            dict(self.checkpoints),
            dict(self.facts),
            dict(self.labels),
            {name: dict(lines) for name, lines in self.lines.items()},
            dict(self.conflicts),
            dict(self.parked),
        )


_KEYS: Mapping[str, Callable[[Any], tuple[Any, ...]]] = {
    "events": lambda line: (line.fact_no, line.event_seq),
    "versions": lambda line: (line.fact_no, line.version_no),
    "labels": lambda line: (line.fact_no, line.version_no, line.event_seq),
    "edges": lambda line: (line.fact_no, line.event_id, line.ordinal),
    "endings": lambda line: (line.fact_no, line.event_id),
    "decisions": lambda line: (line.fact_no, line.event_id),
    "relations": lambda line: (line.fact_no, line.event_id),
    "timeline": lambda line: (line.fact_no, line.lane, line.known_from, line.event_seq, line.valid_from),
}


class MemoryStore:
    """Shared by several projectors of one test; ``fault`` is called before each step of a batch and may raise."""

    def __init__(self, fault: Callable[[str], None] = lambda _step: None) -> None:
        self.tables = Tables()
        self.fault = fault
        self.refuses: Callable[[Lines], bool] = lambda _lines: False

    def events(self) -> list[EventLine]:
        """All committed events, by fact and sequence."""
        return sorted(self.tables.lines.get("events", {}).values())

    def state(self) -> dict[bytes, tuple[int, bytes]]:
        """Each fact's sequence and state hash."""
        return {fact_id: (head.event_seq, head.state_hash) for fact_id, head in self.tables.facts.items()}

    def claim(self, topic_id: bytes, partition: int, *, watermarks: tuple[int, int]) -> Claim:
        self.fault("claim")
        place = (topic_id, partition)
        if any(other != topic_id and next_offset for (other, _), (next_offset, _) in self.tables.checkpoints.items()):
            raise Unfit("topic_recreated", "filled from another topic", remedy="rebuild")
        next_offset, epoch = self.tables.checkpoints.get(place, (0, 0))
        if watermarks[0] > 0:
            raise Unfit("log_truncated", "does not start at 0", remedy="restore")
        if watermarks[1] < next_offset:
            raise Unfit("log_shortened", "ends too early", remedy="restore")
        self.tables.checkpoints[place] = (next_offset, epoch + 1)
        numbers = [head.fact_no for head in self.tables.facts.values() if head.fact_no >> SHIFT == partition]
        parked = [line for key, line in sorted(self.tables.parked.items()) if key[:2] == place]
        return Claim(
            epoch,
            epoch + 1,
            next_offset,
            max(numbers, default=partition << SHIFT),
            frozenset(line.key for line in parked if line.key),
            tuple(
                line.kafka_offset for line in parked if line.code != HELD and line.kafka_offset >= next_offset - WINDOW
            ),
        )

    @contextmanager
    def begin(self) -> Iterator[MemoryBatch]:
        self.fault("begin")
        draft = self.tables.copy()
        yield MemoryBatch(draft, self)
        self.fault("commit")
        self.tables = draft
        self.fault("committed")

    def close(self) -> None:
        pass


class MemoryBatch:
    def __init__(self, tables: Tables, store: MemoryStore) -> None:
        self._tables = tables
        self._fault = store.fault
        self._refuses = store.refuses
        self._topic_id = b""

    def advance(self, topic_id: bytes, steps: Sequence[Step]) -> Mapping[int, int]:
        self._fault("advance")
        self._topic_id = topic_id
        before = {}
        for partition, epoch, next_offset in steps:
            was, owner = self._tables.checkpoints.get((topic_id, partition), (0, 0))
            if owner == epoch:
                self._tables.checkpoints[topic_id, partition] = (max(was, next_offset), epoch)
                before[partition] = was
        lost = [step.partition for step in steps if step.partition not in before]
        if lost:
            raise Fenced(lost)
        return before

    def load(self, fact_ids: Sequence[bytes]) -> Sequence[StoredFact]:
        self._fault("load")
        return [self._stored(fact_id) for fact_id in fact_ids if fact_id in self._tables.facts]

    def _stored(self, fact_id: bytes) -> StoredFact:
        head = self._tables.facts[fact_id]
        lines = sorted(
            line for (fact_no, _), line in self._tables.lines.get("events", {}).items() if fact_no == head.fact_no
        )
        return StoredFact(
            head.fact_no,
            fact_id,
            head.event_seq,
            head.recorded_at,
            head.lane_mode,
            head.painted,
            head.conflicts_open,
            head.fact_no in self._tables.labels,
            [StoredEvent(line.event_id, line.event_type, line.recorded_at, line.payload) for line in lines],
        )

    def write(self, lines: Lines) -> None:
        self._fault("write")
        if self._refuses(lines):
            raise ConstraintBroken("made_up")
        for fact in lines.facts:
            if fact.fact_id in self._tables.facts:
                raise ConstraintBroken("fact_id_once")
            self._head(fact.fact_id, fact.head)
        by_no = {head.fact_no: fact_id for fact_id, head in self._tables.facts.items()}
        for head in lines.heads:
            self._head(by_no[head.fact_no], head)
        for name, key_of in _KEYS.items():
            table = self._tables.lines.setdefault(name, {})
            for line in getattr(lines, name):
                if (key := key_of(line)) in table:
                    raise ConstraintBroken(f"{name}_pkey")
                table[key] = line
        for gone in [*lines.conflicts_gone, *(line[:3] for line in lines.conflicts_now)]:
            self._tables.conflicts.pop(gone, None)
        self._tables.conflicts |= {line[:3]: line for line in lines.conflicts_now}
        self._tables.parked |= {
            (self._topic_id, line.kafka_partition, line.kafka_offset): line for line in lines.parked
        }
        self._fault("written")

    def _head(self, fact_id: bytes, head: Head) -> None:
        self._tables.facts[fact_id] = head
        if head.subject_label is not None:
            self._tables.labels.setdefault(head.fact_no, head.subject_label)
