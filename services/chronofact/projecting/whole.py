"""A fact folded at once from all its messages; one of which anything does not simply apply is left to the applier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from chronofact.contracts.codec import FactEvent
from chronofact.contracts.counting import check_identity, event_in, recorded_at_of
from chronofact.contracts.payload import happening_of
from chronofact.contracts.projection import Lines
from chronofact.contracts.verifying import check_content, check_event_id, checked_parts
from chronofact.domain.errors import Rejected
from chronofact.domain.events import Event, FactAsserted, Happening
from chronofact.domain.history import Change, History
from chronofact.kafka.partitioning import partition_of
from chronofact.projecting.cache import Slot
from chronofact.projecting.lines import FirstSights, add_derived, add_event, add_outcome, add_saying
from chronofact.projecting.ports import Message
from chronofact.runtime.failures import Corruption

_DROP: Final = "EventDropped"


def fold_whole(messages: Sequence[Message], lines: Lines, fact_no: int, *, partitions: int, rule: int) -> int:
    """Add a fact's lines, as if its messages had come in one batch; how many of them counted.

    Args:
        messages: All of one key in one partition, by offset; what was dropped is left out.
        lines: Where they go; unchanged where the fact is refused.
        fact_no: The fact's number.
        partitions: Of the topic.
        rule: The rule version of the fold.

    Raises:
        Rejected: some message would park, or is no event of a fact.
    """
    slot = Slot(fact_no, messages[0].key, History(rule), has_label=False, is_stored=False)
    try:
        taken = _taken(slot, messages, partitions)
        first_sights: FirstSights = {}
        for message, event, what, change in taken:
            add_event(lines, slot, message, event, what, change)
            add_saying(lines, fact_no, event.event_id, what, change.event_seq)
            if change.version_no is not None:
                assert type(what) is FactAsserted  # noqa: S101 - nothing else makes a version
                first_sights[fact_no, change.version_no] = (what, change)
                if event.derived is not None:
                    add_derived(lines, fact_no, change.version_no, change.event_seq, what.value, event.derived)
        add_outcome(lines, slot, first_sights)
    finally:
        slot.history.release()
    if first_sights:
        raise Corruption(f"{len(first_sights)} new versions were left without a label by the fold")
    return len(taken)


def _taken(
    slot: Slot, messages: Sequence[Message], partitions: int
) -> list[tuple[Message, FactEvent, Happening, Change]]:
    key, history = slot.fact_id, slot.history
    taken = []
    for message in messages:
        event = event_in(key, message.value)
        if event.kind == _DROP:
            raise Rejected("drop_misplaced", "it is of no fact")
        if slot.identity != event.identity:
            check_identity(key, event)
            if partition_of(key, partitions) != message.partition:
                raise Rejected("partition_mismatch", "the fact lies in another partition")
        check_event_id(key, event)
        if history.knows(event.event_id):
            continue
        what = happening_of(event.kind, event.payload)
        check_content(key, event, what)
        if slot.identity is None:
            slot.parts = checked_parts(event.identity)
            slot.identity = event.identity
        change = history.apply(Event(event.event_id, what, recorded_at_of(message.appended_at, event)))
        if event.subject_label is not None and not slot.has_label:
            slot.label, slot.has_label = event.subject_label, True
        taken.append((message, event, what, change))
    return taken
