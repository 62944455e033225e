"""Histories of recently touched facts, least recently used out first, bounded by weight."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from chronofact.contracts.codec import IdentityParts
from chronofact.contracts.payload import happening_of
from chronofact.contracts.projection import StoredFact
from chronofact.domain.events import Event
from chronofact.domain.history import History
from chronofact.domain.rules import RULE_DEFAULT, check_rule
from chronofact.runtime.failures import Corruption

if TYPE_CHECKING:
    from chronofact.projecting.ports import Applied

PARTITION_SHIFT: Final = 40
"""``fact_no`` has the Kafka partition above this bit and a counter from 1 below."""
SLOT_BYTES: Final = 600
"""Rough weight of a slot besides its history."""


@dataclass(slots=True)
class Slot:
    """A fact in memory: its history and what the batch has to know beside it."""

    fact_no: int
    fact_id: bytes
    history: History
    has_label: bool
    is_stored: bool
    identity: bytes | None = None
    """As verified against the fact's id; None until an event of this process has shown it."""
    parts: IdentityParts | None = None
    """Of a new fact."""
    label: str | None = None
    """To be written with the next head, where the fact has none yet."""
    weight: int = 0


class Source(Protocol):
    """Where histories come from that are not here."""

    def load(self, fact_ids: Sequence[bytes]) -> Sequence[StoredFact]:
        """Those of the facts that are known, with all their events."""
        ...


class Taker(Protocol):
    """Who takes histories out."""

    slots: dict[bytes, Slot]
    result: Applied


class FactCache:
    """Slots by fact id. A batch takes out what it touches and puts it back once committed, so a rollback forgets it."""

    def __init__(self, bytes_max: int, *, rule: int = RULE_DEFAULT) -> None:
        self.rule = check_rule(rule)
        """By which histories are folded here."""
        self._bytes_max = bytes_max
        self._slots: OrderedDict[bytes, Slot] = OrderedDict()
        self.weight = 0

    def limit(self, bytes_max: int) -> None:
        """So much from the next batch on."""
        self._bytes_max = bytes_max

    def __len__(self) -> int:
        return len(self._slots)

    def take(self, fact_id: bytes) -> Slot | None:
        """Remove and return a slot, if it is here."""
        slot = self._slots.pop(fact_id, None)
        if slot is not None:
            self.weight -= slot.weight
        return slot

    def gather(self, fact_ids: Collection[bytes], taker: Taker, source: Source) -> None:
        """Give the taker these facts' histories: from here, else folded again from their stored events."""
        missing = []
        for fact_id in fact_ids:
            slot = self.take(fact_id)
            if slot is None:
                missing.append(fact_id)
            else:
                taker.slots[fact_id] = slot
        if missing:
            for stored in source.load(missing):
                taker.slots[stored.fact_id] = _slot_of(stored, self.rule)
                taker.result.facts_loaded += 1

    def put(self, slots: Iterable[Slot]) -> None:
        """Keep these as the most recently used, and drop the oldest beyond the limit."""
        for slot in slots:
            slot.weight = slot.history.weight() + SLOT_BYTES
            self._slots[slot.fact_id] = slot
            self.weight += slot.weight
        while self.weight > self._bytes_max and self._slots:
            self._drop(self._slots.popitem(last=False)[1])

    def forget(self, partition: int) -> None:
        """Drop every fact of a partition that another process may have written meanwhile."""
        gone = [key for key, slot in self._slots.items() if slot.fact_no >> PARTITION_SHIFT == partition]
        for key in gone:
            self._drop(self._slots.pop(key))

    def fold_by(self, rule: int) -> None:
        """Fold by this rule from now on; histories of another one go.

        Raises:
            Rejected: ``rule_unknown``.
        """
        if check_rule(rule) != self.rule:
            self.clear()
            self.rule = rule

    def clear(self) -> None:
        """Drop all of them."""
        while self._slots:
            self._drop(self._slots.popitem()[1])

    def _drop(self, slot: Slot) -> None:
        self.weight -= slot.weight
        slot.history.release()


def _slot_of(stored: StoredFact, rule: int) -> Slot:
    events = [
        Event(event_id, happening_of(event_type, payload), recorded_at)
        for event_id, event_type, recorded_at, payload in stored.events
    ]
    history = History.load(
        events,
        painted=stored.painted,
        lane_mode=stored.lane_mode,
        conflicts_open=stored.conflicts_open,
        rule=rule,
    )
    if history.event_seq != stored.event_seq:
        raise Corruption(
            f"fact {stored.fact_no} has {stored.event_seq} events by its head, {history.event_seq} by count"
        )
    return Slot(stored.fact_no, stored.fact_id, history, has_label=stored.has_label, is_stored=True)
