"""A batch in the making: what is read, folded, parked and released; nothing of it reaches the owner before ``settle``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from chronofact.contracts.codec import FactEvent
from chronofact.contracts.counting import KEY_BYTES, check_identity, event_in, recorded_at_of
from chronofact.contracts.payload import happening_of
from chronofact.contracts.projection import (
    HELD,
    NOT_COUNTED,
    DroppedLine,
    Lines,
    ParkedLine,
    ParkedMessage,
    ReleasedLine,
    RetriedLine,
)
from chronofact.contracts.verifying import check_content, check_event_id, checked_parts
from chronofact.domain.errors import Rejected
from chronofact.domain.events import Event, FactAsserted, Happening
from chronofact.domain.history import History
from chronofact.domain.rules import RULE_DEFAULT
from chronofact.kafka.partitioning import partition_of
from chronofact.projecting.cache import PARTITION_SHIFT, Slot
from chronofact.projecting.lines import FirstSights, add_derived, add_event, add_outcome, add_saying
from chronofact.projecting.parking import ParkingMeter
from chronofact.projecting.ports import Applied, Message
from chronofact.runtime.failures import Corruption, Fenced

_BEHIND: Final = "an earlier message of its fact is parked"
Place: TypeAlias = "tuple[int, int]"
"""A partition and an offset in it."""


class Topic(NamedTuple):
    """The facts topic as last looked at."""

    topic_id: bytes
    partitions: int


@dataclass(slots=True)
class Owned:
    """What the owner of a partition keeps in memory; only a committed batch changes it."""

    epoch: int
    next_offset: int
    fact_no_last: int
    held: set[bytes] = field(default_factory=set)
    meter: ParkingMeter = field(default_factory=ParkingMeter)
    parked: int = 0
    dropped: dict[int, bytes] = field(default_factory=dict)
    """Offsets that were given up, each with its message's key."""


def refuse_moved(owned: Mapping[int, Owned], before: Mapping[int, int]) -> None:
    """Stop at a checkpoint that we did not move: the database was restored from an older copy, epochs and all.

    Raises:
        Fenced: to go on would step over what the copy lacks.
    """
    if moved := [partition for partition, next_offset in before.items() if next_offset != owned[partition].next_offset]:
        raise Fenced(moved)


class Impossible(Exception):
    """The fold refused an event after others of the batch were folded: start over, knowing the culprit."""

    def __init__(self, place: Place, rejected: Rejected) -> None:
        super().__init__(rejected.code)
        self.place = place
        self.rejected = rejected


class Draft:
    """Reads, folds and gathers lines; ``settle`` once they are committed, or forget it with its histories."""

    def __init__(
        self,
        owned: Mapping[int, Owned],
        culprits: Mapping[Place, Rejected],
        partitions: int,
        *,
        rule: int = RULE_DEFAULT,
        lines: Callable[[], Lines] = Lines,
    ) -> None:
        self._new_lines = lines
        self._rule = rule
        self._owned = owned
        self._culprits = culprits
        self._partitions = partitions
        self._messages: Sequence[Message] = ()
        self._held: set[tuple[int, bytes]] = set()
        self._meters = {partition: own.meter.copy() for partition, own in owned.items()}
        self._fact_no_last = {partition: own.fact_no_last for partition, own in owned.items()}
        self._parked = dict.fromkeys(owned, 0)
        self._freed: list[tuple[int, bytes]] = []
        self._dropped: list[DroppedLine] = []
        self._touched: dict[bytes, Slot] = {}
        self._first_sights: FirstSights = {}
        self._lines = lines()
        self.readable: list[tuple[Message, FactEvent]] = []
        self.slots: dict[bytes, Slot] = {}
        self.result = Applied()

    # -- messages of the log ---------------------------------------------------------------------------

    def read(self, messages: Sequence[Message], before: Mapping[int, int]) -> None:
        """Drop what is below the checkpoint or given up, decode the rest, park what can't be decoded or is held."""
        self._messages = messages
        for message in messages:
            partition, key = message.partition, message.key
            own = self._owned[partition]
            if message.offset < before[partition] or message.offset in own.dropped:
                self.result.skipped += 1
                continue
            try:
                event = self._decode(message)
            except Rejected as rejected:
                self.park(message, rejected)
                continue
            if key in own.held or (self._held and (partition, key) in self._held):
                self.park(message, Rejected(HELD, _BEHIND))
            else:
                self.readable.append((message, event))

    def _decode(self, message: Message) -> FactEvent:
        if self._culprits and (known := self._culprits.get((message.partition, message.offset))) is not None:
            raise known
        return event_in(message.key, message.value)

    def fold(self) -> None:
        """Fold the readable events in offset order."""
        # not _held: a message that read() parked comes after all readable ones of its fact
        failed: set[tuple[int, bytes]] = set()
        for message, event in self.readable:
            if failed and (message.partition, message.key) in failed:
                self.park(message, Rejected(HELD, _BEHIND))
                continue
            try:
                self._take(message, event)
            except Rejected as rejected:
                if self.park(message, rejected) is not None:
                    failed.add((message.partition, message.key))

    def measure(self) -> None:
        """Count what was parked for its own sake, in log order among what was not.

        Raises:
            ParkingLimit: too much of it can't be applied.
        """
        codes = {(line.kafka_partition, line.kafka_offset): line.code for line in self._lines.parked}
        if not codes:
            for meter in self._meters.values():
                meter.applied()
            return
        for message in self._messages:
            self.count(message, codes.get((message.partition, message.offset)))

    def count(self, message: Message, code: str | None) -> None:
        """The same for one message: None went through.

        Raises:
            ParkingLimit: too much of its partition can't be applied.
        """
        meter = self._meters[message.partition]
        if code is None:
            meter.applied()
        elif code not in NOT_COUNTED:
            meter.park(message.partition, message.offset)

    def park(self, message: Message, rejected: Rejected, *, is_about_fact: bool = True) -> bytes | None:
        """Keep a message as it came; the fact that it holds, if its key names one that can lie here."""
        code = rejected.code
        self.result.parked[code] = self.result.parked.get(code, 0) + 1
        self._parked[message.partition] += 1
        fact_id = self._fact_held(message) if is_about_fact else None
        if fact_id is not None:
            self._held.add((message.partition, fact_id))
        line = (message.partition, message.offset, message.appended_at, message.key, message.value)
        self._lines.parked.append(ParkedLine(*line, code, str(rejected), fact_id))
        return fact_id

    def _fact_held(self, message: Message) -> bytes | None:
        key = message.key
        is_here = len(key) == KEY_BYTES and partition_of(key, self._partitions) == message.partition
        return key if is_here else None

    # -- parked messages -------------------------------------------------------------------------------

    def release(self, messages: Iterable[ParkedMessage]) -> bool:
        """Fold parked messages of one fact in order, up to the first that still can't be; whether all could."""
        for message in messages:
            try:
                self._take(message, self._decode(message))
            except Rejected as rejected:
                self.retry(message, rejected)
                return False
            self.let_go(message)
        return True

    def let_go(self, message: ParkedMessage) -> None:
        """It is parked no more, since it counts now."""
        self.result.released += 1
        self._unpark(message.partition, message.offset)
        self._lines.released.append(ReleasedLine(message.partition, message.offset))

    def retry(self, message: ParkedMessage, rejected: Rejected) -> None:
        """It stays parked, for the reason of this time."""
        code = rejected.code
        self.result.retried[code] = self.result.retried.get(code, 0) + 1
        line = (message.partition, message.offset, message.fact_id)
        self._lines.retried.append(RetriedLine(*line, code, str(rejected)))

    def free(self, partition: int, fact_id: bytes) -> None:
        """Nothing of the fact is parked any more."""
        self._freed.append((partition, fact_id))

    def drop(self, line: DroppedLine, *, is_parked: bool) -> None:
        """A message is given up."""
        self.result.dropped += 1
        if is_parked:
            self._unpark(line.kafka_partition, line.kafka_offset)
        self._dropped.append(line)
        self._lines.dropped.append(line)

    def _unpark(self, partition: int, offset: int) -> None:
        self._parked[partition] -= 1
        self._meters[partition].forget(offset)

    # -- the fold --------------------------------------------------------------------------------------

    def _take(self, message: Message, event: FactEvent) -> None:
        """Apply one event to its fact, made new at first sight.

        Raises:
            Rejected: it can't be applied; nothing was changed.
        """
        fact_id = message.key
        slot = self.slots.get(fact_id)
        if slot is None or slot.identity != event.identity:
            check_identity(fact_id, event)
        self._check_place(message, slot)
        check_event_id(fact_id, event)
        if slot is not None and slot.history.knows(event.event_id):
            self.result.already_applied += 1
            return
        what = happening_of(event.kind, event.payload)
        check_content(fact_id, event, what)
        if slot is None:
            slot = self._new_slot(message.partition, fact_id, event.identity)
        slot.identity = event.identity
        self._fold_one(message, event, what, slot)

    def _check_place(self, message: Message, slot: Slot | None) -> None:
        """A fact lies in one partition, else two owners would write it."""
        here = partition_of(message.key, self._partitions) if slot is None else slot.fact_no >> PARTITION_SHIFT
        if here != message.partition:
            raise Rejected("partition_mismatch", f"the fact lies in partition {here}")

    def _new_slot(self, partition: int, fact_id: bytes, identity: bytes) -> Slot:
        parts = checked_parts(identity)
        number = self._fact_no_last[partition] + 1
        self._fact_no_last[partition] = number
        self.slots[fact_id] = slot = Slot(number, fact_id, History(self._rule), has_label=False, is_stored=False)
        slot.parts = parts
        return slot

    def _fold_one(self, message: Message, event: FactEvent, what: Happening, slot: Slot) -> None:
        recorded_at = recorded_at_of(message.appended_at, event)
        try:
            change = slot.history.apply(Event(event.event_id, what, recorded_at))
        except Rejected as rejected:
            raise Impossible((message.partition, message.offset), rejected) from None
        if event.subject_label is not None and not slot.has_label:
            slot.label, slot.has_label = event.subject_label, True
        add_event(self._lines, slot, message, event, what, change)
        add_saying(self._lines, slot.fact_no, event.event_id, what, change.event_seq)
        if change.version_no is not None:
            assert type(what) is FactAsserted  # noqa: S101 - nothing else makes a version
            self._first_sights[slot.fact_no, change.version_no] = (what, change)
            if event.derived is not None:
                self._derive(slot.fact_no, change.version_no, change.event_seq, what.value, event.derived)
        self._touched[slot.fact_id] = slot
        self.result.applied += 1

    def _derive(self, fact_no: int, version_no: int, event_seq: int, value: bytes, derived: bytes) -> None:
        if add_derived(self._lines, fact_no, version_no, event_seq, value, derived):
            self.result.memories += 1
        else:
            self.result.unreadable += 1

    # -- the end ---------------------------------------------------------------------------------------

    def close(self) -> Lines:
        """All lines so far, heads in the order of their numbers, to be written at once; more may follow."""
        lines, self._lines = self._lines, self._new_lines()
        for slot in self._touched.values():
            add_outcome(lines, slot, self._first_sights)
            slot.is_stored = True
            slot.label = None
        self._touched = {}
        if self._first_sights:
            raise Corruption(f"{len(self._first_sights)} new versions were left without a label by the fold")
        lines.heads.sort()
        self.result.timeline_lines += lines.timeline_count
        return lines

    def own_slots(self) -> Iterable[Slot]:
        """Histories of the partitions that are written here."""
        return (slot for slot in self.slots.values() if slot.fact_no >> PARTITION_SHIFT in self._owned)

    def settle(self, ends: Mapping[int, int]) -> None:
        """The batch is committed: what it learned becomes what the owner knows."""
        for partition, own in self._owned.items():
            own.next_offset = max(own.next_offset, ends[partition])
            own.fact_no_last = self._fact_no_last[partition]
            own.meter = self._meters[partition]
            own.parked += self._parked[partition]
        for partition, fact_id in self._held:
            self._owned[partition].held.add(fact_id)
        for partition, fact_id in self._freed:
            self._owned[partition].held.discard(fact_id)
        for line in self._dropped:
            self._owned[line.kafka_partition].dropped[line.kafka_offset] = line.message_key
