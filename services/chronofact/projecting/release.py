"""Drops and releases: one fenced transaction each, in which a held fact's messages follow in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from uuid import UUID

from chronofact.contracts.codec import decode_event, is_drop
from chronofact.contracts.payload import happening_of
from chronofact.contracts.projection import Ask, DroppedLine, ParkedMessage, Step
from chronofact.contracts.verifying import check_content, check_event_id
from chronofact.domain.errors import Rejected
from chronofact.domain.events import EventDropped
from chronofact.projecting.cache import FactCache
from chronofact.projecting.draft import Draft, Impossible, Owned, Place, Topic, refuse_moved
from chronofact.projecting.ports import Applied, Batch, Message, Store
from chronofact.runtime.failures import ConstraintBroken, Corruption

CHUNK_MESSAGES: Final = 100
"""Parked messages in memory at once, of up to 1 MB each."""


@dataclass(slots=True)
class _Trouble:
    """What earlier attempts of the same work have shown."""

    culprits: dict[Place, Rejected] = field(default_factory=dict)
    singly_from: int | None = None
    under_way: Sequence[ParkedMessage] = ()

    def narrow(self, broken: ConstraintBroken) -> None:
        """Find the message that a constraint refuses: first its chunk, then itself.

        Raises:
            Corruption: none is to blame.
        """
        if not self.under_way:
            raise Corruption(f"a parked message can't be written either: {broken}") from broken
        first = self.under_way[0]
        place = (first.partition, first.offset)
        if len(self.under_way) > 1:
            self.singly_from = first.offset
        elif place in self.culprits:
            raise Corruption(f"a parked message can't be written either: {broken}") from broken
        else:
            self.singly_from = None
            self.culprits[place] = Rejected("constraint_broken", str(broken))


Work: TypeAlias = Callable[[Batch, Draft, int, _Trouble], None]
"""Done in an open batch, given the checkpoint before it."""


class Releaser:
    """Gives up and takes up again what is parked."""

    def __init__(self, store: Store, topic: Callable[[], Topic], cache: FactCache) -> None:
        self._store = store
        self._topic = topic
        self._cache = cache

    def drop(self, owned: Mapping[int, Owned], message: Message) -> Applied:
        """Read an EventDropped; one that does not count is parked itself and holds nothing.

        Raises:
            Fenced, Transient, ParkingLimit: nothing was written.
        """
        own = owned[message.partition]

        def work(batch: Batch, draft: Draft, before: int, trouble: _Trouble) -> None:
            if message.offset < before or message.offset in own.dropped:
                draft.result.skipped += 1
                return
            try:
                line, named = self._counted(batch, own, message)
            except Rejected as rejected:
                draft.park(message, rejected, is_about_fact=False)
                draft.count(message, rejected.code)
                batch.write(draft.close())
                return
            draft.count(message, None)
            self._carry_out(batch, draft, line, named, trouble)

        result = self._do(owned, message.partition, message.offset + 1, work)
        result.newest_appended_at = message.appended_at
        return result

    def release(self, owned: Mapping[int, Owned], ask: Ask) -> Applied:
        """Try again what is parked of a fact, or one message of no fact.

        Raises:
            Fenced, Transient: nothing was written.
        """
        own = owned[ask.partition]

        def work(batch: Batch, draft: Draft, _before: int, trouble: _Trouble) -> None:
            if ask.fact_id is not None:
                self._let_through(batch, draft, ask.partition, ask.fact_id, trouble)
                return
            message = batch.parked_at(ask.partition, ask.offset)
            if message is None:
                return
            if not is_drop(message.value):
                draft.release([message])
                batch.write(draft.close())
                return
            try:
                line, named = self._counted(batch, own, message)
            except Rejected as rejected:
                draft.retry(message, rejected)
                batch.write(draft.close())
                return
            draft.let_go(message)
            self._carry_out(batch, draft, line, named, trouble)

        return self._do(owned, ask.partition, own.next_offset, work)

    def _do(self, owned: Mapping[int, Owned], partition: int, next_offset: int, work: Work) -> Applied:
        trouble = _Trouble()
        while True:
            try:
                return self._attempt(owned, Step(partition, owned[partition].epoch, next_offset), work, trouble)
            except Impossible as impossible:
                trouble.culprits[impossible.place] = impossible.rejected
            except ConstraintBroken as broken:
                trouble.narrow(broken)

    def _attempt(self, owned: Mapping[int, Owned], step: Step, work: Work, trouble: _Trouble) -> Applied:
        trouble.under_way = ()
        topic = self._topic()
        mine = {step.partition: owned[step.partition]}
        draft = Draft(mine, trouble.culprits, topic.partitions, rule=self._cache.rule, lines=self._store.lines)
        with self._store.begin() as batch:
            before = batch.advance(topic.topic_id, [step])
            refuse_moved(owned, before)
            work(batch, draft, before[step.partition], trouble)
        draft.settle({step.partition: step.next_offset})
        self._cache.put(draft.own_slots())
        draft.result.batches = 1
        return draft.result

    def _counted(self, batch: Batch, own: Owned, message: Message) -> tuple[DroppedLine, ParkedMessage | None]:
        """What an EventDropped gives up: parked here, or else dropped before.

        Raises:
            Rejected: it can't be read, or does not count.
        """
        drop = drop_of(message, topic_id=self._topic().topic_id)
        named = batch.parked_at(message.partition, drop.offset)
        key = own.dropped.get(drop.offset) if named is None else named.key
        if key is None:
            raise Rejected("drop_not_parked", f"offset {drop.offset}, which it drops, is not parked here")
        # the second drop of a message as well, else it would count here and not where it came first
        if key != message.key:
            raise Rejected("drop_misplaced", f"its key is not that of offset {drop.offset}")
        said = (drop.dropped_by, drop.reason, message.appended_at)
        return DroppedLine(message.partition, drop.offset, message.key, message.offset, *said), named

    def _carry_out(
        self, batch: Batch, draft: Draft, line: DroppedLine, named: ParkedMessage | None, trouble: _Trouble
    ) -> None:
        """Give the message up; what was held behind it follows, if nothing before it is parked."""
        draft.drop(line, is_parked=named is not None)
        batch.write(draft.close())
        if named is None or named.fact_id is None:
            return
        first = batch.parked_of(named.partition, named.fact_id, messages_max=1)
        if not first or first[0].offset > named.offset:
            self._let_through(batch, draft, named.partition, named.fact_id, trouble)

    def _let_through(self, batch: Batch, draft: Draft, partition: int, fact_id: bytes, trouble: _Trouble) -> None:
        """Apply a fact's parked messages in order, up to the first that still can't be."""
        self._cache.gather({fact_id}, draft, batch)
        after = -1
        while True:
            # not from the start each time: what was released leaves dead lines in the index until the commit
            chunk = batch.parked_of(partition, fact_id, messages_max=CHUNK_MESSAGES, after=after)
            if not chunk:
                draft.free(partition, fact_id)
                break
            if trouble.singly_from is not None and chunk[0].offset >= trouble.singly_from:
                chunk = chunk[:1]
            trouble.under_way = chunk
            after = chunk[-1].offset
            all_through = draft.release(chunk)
            batch.write(draft.close())
            if not all_through:
                break
        trouble.under_way = ()


def drop_of(message: Message, *, topic_id: bytes) -> EventDropped:
    """What an EventDropped says.

    Raises:
        Rejected: ``event_undecodable``, ``event_id_mismatch``, or ``drop_misplaced``: it names a place where it can't lie.
    """
    event = decode_event(message.value)
    check_event_id(message.key, event)
    what = happening_of(event.kind, event.payload)
    check_content(message.key, event, what)
    assert isinstance(what, EventDropped)  # noqa: S101 - the kind says so
    if what.topic_id != str(UUID(bytes=topic_id)) or what.partition != message.partition:
        raise Rejected("drop_misplaced", "it names a message of another topic or partition")
    if what.offset >= message.offset:
        raise Rejected("drop_misplaced", "it names a message that comes after it")
    return what
