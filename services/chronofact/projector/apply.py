"""One batch: read, fold, write and advance in one transaction, or nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from chronofact.contracts.codec import FactEvent, decode_event, identity_of
from chronofact.contracts.payload import happening_of
from chronofact.contracts.projection import HELD, Lines, ParkedLine, Step, StoredFact
from chronofact.domain.errors import Rejected
from chronofact.domain.events import Event, Happening
from chronofact.domain.history import History
from chronofact.domain.identity import derived_id
from chronofact.projector.cache import FactCache, Slot
from chronofact.projector.lines import FirstSights, add_event, add_outcome, add_saying
from chronofact.projector.parking import ParkingMeter
from chronofact.projector.ports import Applied, Batch, Message, Store
from chronofact.runtime.failures import ConstraintBroken, Corruption

ID_BYTES: Final = 16
PHASES: Final = ("advance", "decode", "load", "fold", "write", "commit")
"""What a batch's time goes to, in order."""
_BEHIND: Final = "an earlier message of its fact is parked"
Place: TypeAlias = "tuple[int, int]"
"""A partition and an offset in it."""


@dataclass(slots=True)
class Owned:
    """What the owner of a partition keeps in memory; only a committed batch changes it."""

    epoch: int
    next_offset: int
    fact_no_last: int
    held: set[bytes] = field(default_factory=set)
    meter: ParkingMeter = field(default_factory=ParkingMeter)


class _Impossible(Exception):
    """The fold refused an event after others of the batch were folded: start over, knowing the culprit."""

    def __init__(self, place: Place, rejected: Rejected) -> None:
        super().__init__(rejected.code)
        self.place = place
        self.rejected = rejected


class Applier:
    """Applies batches to one store; keeps the histories of recently touched facts."""

    def __init__(
        self, store: Store, topic_id: Callable[[], bytes], *, cache_bytes_max: int, monotonic: Callable[[], float]
    ) -> None:
        self._store = store
        self._topic_id = topic_id
        self._monotonic = monotonic
        self.cache = FactCache(cache_bytes_max)

    def apply(self, owned: Mapping[int, Owned], messages: Sequence[Message]) -> Applied:
        """Apply the messages, each partition's in offset order; a message that can't be applied is parked.

        Raises:
            Fenced, Transient, ParkingLimit: nothing was written.
        """
        culprits: dict[Place, Rejected] = {}
        while True:
            try:
                return self._attempt(owned, messages, culprits)
            except _Impossible as impossible:
                culprits[impossible.place] = impossible.rejected
            except ConstraintBroken as broken:
                if len(messages) > 1:
                    return self._bisect(owned, messages)
                place = (messages[0].partition, messages[0].offset)
                if place in culprits:
                    raise Corruption(f"a parked message can't be written either: {broken}") from broken
                culprits[place] = Rejected("constraint_broken", str(broken))

    def _bisect(self, owned: Mapping[int, Owned], messages: Sequence[Message]) -> Applied:
        middle = len(messages) // 2
        result = self.apply(owned, messages[:middle])
        result.add(self.apply(owned, messages[middle:]))
        return result

    def _attempt(
        self, owned: Mapping[int, Owned], messages: Sequence[Message], culprits: Mapping[Place, Rejected]
    ) -> Applied:
        ends = {message.partition: message.offset + 1 for message in messages}
        steps = [Step(partition, owned[partition].epoch, ends[partition]) for partition in sorted(ends)]
        times = [self._monotonic()]
        with self._store.begin() as batch:
            before = batch.advance(self._topic_id(), steps)
            draft = Draft({step.partition: owned[step.partition] for step in steps}, culprits)
            times.append(self._monotonic())
            draft.read(messages, before)
            times.append(self._monotonic())
            self._gather(draft, batch)
            times.append(self._monotonic())
            draft.fold()
            lines = draft.close()
            times.append(self._monotonic())
            batch.write(lines)
            times.append(self._monotonic())
        times.append(self._monotonic())
        draft.settle(ends)
        self.cache.put(draft.slots.values())
        result = draft.result
        result.batches = 1
        result.timeline_lines = len(lines.timeline)
        result.newest_appended_at = messages[-1].appended_at
        result.phases_s = {phase: end - start for phase, start, end in zip(PHASES, times[:-1], times[1:], strict=True)}
        return result

    def _gather(self, draft: Draft, batch: Batch) -> None:
        """Histories of the touched facts: out of the cache, else folded again from their stored events."""
        missing = []
        for fact_id in {message.key for message, _ in draft.readable}:
            slot = self.cache.take(fact_id)
            if slot is None:
                missing.append(fact_id)
            else:
                draft.slots[fact_id] = slot
        if missing:
            for stored in batch.load(missing):
                draft.slots[stored.fact_id] = _slot_of(stored)
                draft.result.facts_loaded += 1


class Draft:
    """A batch in the making; nothing of it reaches the owner's memory before ``settle``."""

    def __init__(self, owned: Mapping[int, Owned], culprits: Mapping[Place, Rejected]) -> None:
        self._owned = owned
        self._culprits = culprits
        self._messages: Sequence[Message] = ()
        self._held: set[bytes] = set()
        self._meters = {partition: own.meter.copy() for partition, own in owned.items()}
        self._fact_no_last = {partition: own.fact_no_last for partition, own in owned.items()}
        self._touched: dict[bytes, Slot] = {}
        self._first_sights: FirstSights = {}
        self._lines = Lines()
        self.readable: list[tuple[Message, FactEvent]] = []
        self.slots: dict[bytes, Slot] = {}
        self.result = Applied()

    def read(self, messages: Sequence[Message], before: Mapping[int, int]) -> None:
        """Drop what is below the checkpoint, decode the rest, park what can't be decoded or is held."""
        self._messages = messages
        for message in messages:
            partition, key = message.partition, message.key
            if message.offset < before[partition]:
                self.result.skipped += 1
                continue
            try:
                event = self._decode(message)
            except Rejected as rejected:
                self._park(message, rejected.code, rejected.message)
                continue
            if key in self._owned[partition].held or key in self._held:
                self._park(message, HELD, _BEHIND)
            else:
                self.readable.append((message, event))

    def _decode(self, message: Message) -> FactEvent:
        if self._culprits and (known := self._culprits.get((message.partition, message.offset))) is not None:
            raise known
        if len(message.key) != ID_BYTES:
            raise Rejected("message_key_malformed", "the message key is not the 16 bytes of a fact's id")
        if not message.value:
            raise Rejected("value_missing", "the message has no value")
        return decode_event(message.value)

    def fold(self) -> None:
        """Fold the readable events in offset order."""
        # not _held: a message that read() parked comes after all readable ones of its fact
        failed: set[bytes] = set()
        for message, event in self.readable:
            if message.key in failed:
                self._park(message, HELD, _BEHIND)
                continue
            try:
                slot = self._slot_for(message, event)
                if slot.history.knows(event.event_id):
                    self.result.already_applied += 1
                    continue
                what = happening_of(event.kind, event.payload, value_hash=event.value_hash)
            except Rejected as rejected:
                failed.add(message.key)
                self._park(message, rejected.code, rejected.message)
                continue
            self._fold_one(message, event, what, slot)

    def _fold_one(self, message: Message, event: FactEvent, what: Happening, slot: Slot) -> None:
        recorded_at = message.appended_at
        if event.import_time is not None and event.import_time < recorded_at:
            recorded_at = event.import_time
        try:
            change = slot.history.apply(Event(event.event_id, what, recorded_at))
        except Rejected as rejected:
            raise _Impossible((message.partition, message.offset), rejected) from None
        if event.subject_label is not None and not slot.has_label:
            slot.label, slot.has_label = event.subject_label, True
        add_event(self._lines, slot, message, event, what, change)
        add_saying(self._lines, slot.fact_no, event.event_id, what, change.event_seq)
        if change.version_no is not None:
            self._first_sights[slot.fact_no, change.version_no] = (what, change)  # type: ignore[assignment]
        self._touched[slot.fact_id] = slot
        self.result.applied += 1

    def close(self) -> Lines:
        """All lines of the batch, heads in the order of their numbers.

        Raises:
            ParkingLimit: too much of it can't be applied.
        """
        lines = self._lines
        self._measure()
        for slot in self._touched.values():
            add_outcome(lines, slot, self._first_sights)
        if self._first_sights:
            raise Corruption(f"{len(self._first_sights)} new versions were left without a label by the fold")
        lines.heads.sort()
        return lines

    def _measure(self) -> None:
        """Count what was parked for its own sake, in log order among what was not."""
        codes = {(line.kafka_partition, line.kafka_offset): line.code for line in self._lines.parked}
        if not codes:
            for meter in self._meters.values():
                meter.applied()
            return
        for message in self._messages:
            code = codes.get((message.partition, message.offset))
            if code is None:
                self._meters[message.partition].applied()
            elif code != HELD:
                self._meters[message.partition].park(message.partition, message.offset)

    def settle(self, ends: Mapping[int, int]) -> None:
        """The batch is committed: what it learned becomes what the owner knows."""
        for partition, own in self._owned.items():
            own.next_offset = max(own.next_offset, ends[partition])
            own.fact_no_last = self._fact_no_last[partition]
            own.meter = self._meters[partition]
        for line in self._lines.parked:
            if line.key:
                self._owned[line.kafka_partition].held.add(line.key)
        for slot in self._touched.values():
            slot.is_stored = True
            slot.label = None

    def _slot_for(self, message: Message, event: FactEvent) -> Slot:
        """The fact that the message's key names, made new at first sight.

        Raises:
            Rejected: ``identity_mismatch``: the key is not the id of the event's identity.
        """
        fact_id = message.key
        slot = self.slots.get(fact_id)
        if slot is not None and slot.identity == event.identity:
            return slot
        if derived_id(b"fact", event.identity) != fact_id:
            raise Rejected("identity_mismatch", "the message key is not the id of the event's identity")
        if slot is None:
            identity_of(event.identity)
            number = self._fact_no_last[message.partition] + 1
            self._fact_no_last[message.partition] = number
            slot = Slot(number, fact_id, History(), has_label=False, is_stored=False)
            self.slots[fact_id] = slot
        slot.identity = event.identity
        return slot

    def _park(self, message: Message, code: str, reason: str) -> None:
        self.result.parked[code] = self.result.parked.get(code, 0) + 1
        if message.key:
            self._held.add(message.key)
        self._lines.parked.append(
            ParkedLine(message.partition, message.offset, message.appended_at, message.key, message.value, code, reason)
        )


def _slot_of(stored: StoredFact) -> Slot:
    events = [
        Event(event_id, happening_of(event_type, payload), recorded_at)
        for event_id, event_type, recorded_at, payload in stored.events
    ]
    history = History.load(
        events, painted=stored.painted, lane_mode=stored.lane_mode, conflicts_open=stored.conflicts_open
    )
    if history.event_seq != stored.event_seq:
        raise Corruption(
            f"fact {stored.fact_no} has {stored.event_seq} events by its head, {history.event_seq} by count"
        )
    return Slot(stored.fact_no, stored.fact_id, history, has_label=stored.has_label, is_stored=True)
