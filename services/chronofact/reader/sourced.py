"""From stored events, parked messages and the unread tail to folded facts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from chronofact.contracts.payload import happening_of
from chronofact.contracts.reading import FactHead, StoredHistory
from chronofact.contracts.tail import TailMessage
from chronofact.domain.events import Event
from chronofact.domain.rules import RULE_DEFAULT
from chronofact.reader.counted import Counter
from chronofact.reader.folded import FoldedFact


class Source(NamedTuple):
    """What the facts with unread messages are folded from."""

    topic_id: bytes
    stored: Sequence[StoredHistory]
    parked: Sequence[TailMessage]
    messages: Sequence[TailMessage]
    dropped: Collection[tuple[int, int]]
    rule: int = RULE_DEFAULT
    """Of the projection that they are folded over."""

    def counted(self) -> tuple[dict[bytes, FoldedFact], dict[bytes, int]]:
        """The facts to which the tail adds something, and how many messages each of them has parked."""
        stored = {one.fact_id: one for one in self.stored}
        facts: dict[bytes, FoldedFact] = {}
        held: dict[bytes, int] = {}
        for number, fact_id in enumerate(sorted({one.key for one in self.messages}), start=1):
            before = stored.get(fact_id)
            counter = Counter(
                () if before is None else events_of(before),
                [one for one in self.parked if one.key == fact_id],
                topic_id=self.topic_id,
                dropped=self.dropped,
            )
            for message in self.messages:
                if message.key == fact_id:
                    counter.take(message)
            held[fact_id] = len(counter.counted.parked)
            fact = _folded(counter, before, number, self.rule)
            if fact is not None:
                facts[fact_id] = fact
        return facts, held


def _folded(counter: Counter, before: StoredHistory | None, number: int, rule: int) -> FoldedFact | None:
    counted = counter.counted
    if not counted.unread or counted.identity is None:
        return None
    identity = counted.identity
    if before is None:
        # a number that no projection gives
        parts = (str(identity.subject_id), counted.label, identity.scope_kind, identity.scope_key, identity.fact_key)
        head = FactHead(-number, *parts, 0, 0, 0)
    else:
        head = before.head._replace(subject_label=before.head.subject_label or counted.label)
    return FoldedFact(head, counted.events, counted.unread, tenant_id=identity.tenant_id, rule=rule)


def events_of(stored: StoredHistory) -> list[Event]:
    """The stored events as the fold takes them."""
    return [
        Event(event_id, happening_of(kind, payload), recorded_at)
        for event_id, kind, recorded_at, payload in stored.events
    ]
