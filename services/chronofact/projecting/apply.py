"""One batch: read, fold, write and advance in one transaction, or nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from chronofact.contracts.codec import is_drop
from chronofact.contracts.projection import Ask, Step
from chronofact.domain.errors import Rejected
from chronofact.domain.rules import RULE_DEFAULT
from chronofact.projecting.cache import FactCache
from chronofact.projecting.draft import Draft, Impossible, Owned, Place, Topic, refuse_moved
from chronofact.projecting.ports import Applied, Message, Store
from chronofact.projecting.release import Releaser
from chronofact.runtime.failures import ConstraintBroken, Corruption

PHASES: Final = ("advance", "decode", "load", "fold", "write", "commit")
"""What a batch's time goes to, in order."""


class Applier:
    """Applies batches to one store; keeps the histories of recently touched facts, folded by ``cache.rule``."""

    def __init__(
        self,
        store: Store,
        topic: Callable[[], Topic],
        *,
        cache_bytes_max: int,
        monotonic: Callable[[], float],
        rule: int = RULE_DEFAULT,
    ) -> None:
        self._store = store
        self._topic = topic
        self._monotonic = monotonic
        self.cache = FactCache(cache_bytes_max, rule=rule)
        self._releaser = Releaser(store, topic, self.cache)

    def apply(self, owned: Mapping[int, Owned], messages: Sequence[Message]) -> Applied:
        """Apply the messages, each partition's in offset order; a message that can't be applied is parked.

        An EventDropped has a transaction of its own, so that what it does never depends on how messages were batched.

        Raises:
            Fenced, Transient, ParkingLimit: nothing of the part under way was written.
        """
        drops = [index for index, message in enumerate(messages) if is_drop(message.value)]
        if not drops:
            return self._apply(owned, messages)
        result, start = Applied(), 0
        for index in drops:
            if index > start:
                result.add(self._apply(owned, messages[start:index]))
            result.add(self._releaser.drop(owned, messages[index]))
            start = index + 1
        if start < len(messages):
            result.add(self._apply(owned, messages[start:]))
        return result

    def release(self, owned: Mapping[int, Owned], ask: Ask) -> Applied:
        """Try again what is parked of a fact, in one transaction, as if it had just been read.

        Raises:
            Fenced, Transient: nothing was written.
        """
        return self._releaser.release(owned, ask)

    def _apply(self, owned: Mapping[int, Owned], messages: Sequence[Message]) -> Applied:
        culprits: dict[Place, Rejected] = {}
        while True:
            try:
                return self._attempt(owned, messages, culprits)
            except Impossible as impossible:
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
        result = self._apply(owned, messages[:middle])
        result.add(self._apply(owned, messages[middle:]))
        return result

    def _attempt(
        self, owned: Mapping[int, Owned], messages: Sequence[Message], culprits: Mapping[Place, Rejected]
    ) -> Applied:
        ends = {message.partition: message.offset + 1 for message in messages}
        steps = [Step(partition, owned[partition].epoch, ends[partition]) for partition in sorted(ends)]
        topic = self._topic()
        times = [self._monotonic()]
        with self._store.begin() as batch:
            before = batch.advance(topic.topic_id, steps)
            refuse_moved(owned, before)
            mine = {step.partition: owned[step.partition] for step in steps}
            draft = Draft(mine, culprits, topic.partitions, rule=self.cache.rule, lines=self._store.lines)
            times.append(self._monotonic())
            draft.read(messages, before)
            times.append(self._monotonic())
            self.cache.gather(dict.fromkeys(message.key for message, _ in draft.readable), draft, batch)
            times.append(self._monotonic())
            draft.fold()
            draft.measure()
            lines = draft.close()
            times.append(self._monotonic())
            batch.write(lines)
            times.append(self._monotonic())
        times.append(self._monotonic())
        draft.settle(ends)
        self.cache.put(draft.own_slots())
        result = draft.result
        result.batches = 1
        result.newest_appended_at = messages[-1].appended_at
        result.phases_s = {phase: end - start for phase, start, end in zip(PHASES, times[:-1], times[1:], strict=True)}
        return result
