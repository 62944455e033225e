"""Turns what the fold says into the lines of the projection."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

import orjson

from chronofact.contracts.codec import FactEvent
from chronofact.contracts.counting import versions_named
from chronofact.contracts.memory_lines import CheckedLine, memory_line
from chronofact.contracts.projection import (
    ConflictLine,
    DecisionLine,
    EdgeLine,
    EndingLine,
    FactLine,
    Head,
    Lines,
    RelationLine,
)
from chronofact.domain.events import (
    ConflictResolved,
    FactAsserted,
    FactEnded,
    FactSuperseded,
    Happening,
    RelationDeclared,
    RelationsChecked,
)
from chronofact.domain.history import Change
from chronofact.domain.labels import Label
from chronofact.projecting.cache import Slot
from chronofact.projecting.ports import Message

_sha256: Final = sha256

FirstSights = dict[tuple[int, int], tuple[FactAsserted, Change]]
"""Versions first asserted in this batch, by fact and version number: their lines wait for their labels."""


def add_event(lines: Lines, slot: Slot, message: Message, event: FactEvent, what: Happening, change: Change) -> None:
    """The event itself and what it painted."""
    fact_no = slot.fact_no
    event_seq, recorded_at = change.event_seq, change.recorded_at
    lines.add_event(
        fact_no,
        event_seq,
        event.event_id,
        recorded_at,
        event.kind,
        versions_named(what),
        event.payload,
        _sha256(event.payload).digest(),
        message.partition,
        message.offset,
    )
    # taken apart at once: a field of a named tuple that is asked for by name costs thirty times as much
    for lane, valid_from, valid_to, kind, reason, answer_key, versions, winner in change.paintings:
        lines.add_stretch(
            fact_no,
            lane,
            recorded_at,
            event_seq,
            valid_from,
            valid_to,
            kind,
            reason,
            answer_key,
            versions,
            winner,
        )


def add_saying(lines: Lines, fact_no: int, event_id: bytes, what: Happening, event_seq: int) -> None:
    """The stated edges, endings, decisions, relations and checks of an event, as said."""
    if type(what) is FactAsserted:
        for ordinal, stated in enumerate(what.supersedes):
            lines.edges.append(
                EdgeLine(
                    fact_no,
                    event_id,
                    ordinal,
                    event_seq,
                    what.version_id,
                    stated.version_id,
                    stated.effective_at,
                    stated.mode,
                )
            )
    elif type(what) is FactSuperseded:
        new, old = what.new_version_id, what.old_version_id
        lines.edges.append(EdgeLine(fact_no, event_id, 0, event_seq, new, old, what.effective_at, what.mode))
    elif type(what) is FactEnded:
        lines.endings.append(EndingLine(fact_no, event_id, event_seq, what.version_id, what.effective_at))
    elif type(what) is ConflictResolved:
        left, right = sorted((what.left_version_id, what.right_version_id))
        decided = (what.keep, what.decided_at, what.decided_by, what.reason)
        lines.decisions.append(DecisionLine(fact_no, event_id, event_seq, left, right, *decided))
    elif type(what) is RelationDeclared:
        left, right = sorted((what.left_version_id, what.right_version_id))
        lines.relations.append(
            RelationLine(
                fact_no,
                event_id,
                event_seq,
                left,
                right,
                what.relation,
                what.newer_version_id,
                what.decided_at,
                what.decided_by,
                what.reason,
                what.llm_call_made,
                what.model,
            )
        )
    elif type(what) is RelationsChecked:
        counts = (what.pairs, what.decided, what.pending)
        checked = (what.version_id, *counts, what.reason, what.llm_call_made)
        lines.checks.append(CheckedLine(fact_no, event_id, event_seq, *checked))


def add_derived(lines: Lines, fact_no: int, version_no: int, event_seq: int, value: bytes, derived: bytes) -> bool:
    """What was derived from the text that a new version's value is, if it can be read; it counts once for a version."""
    line = memory_line(fact_no, version_no, event_seq, orjson.loads(value), derived) if value[:1] == b'"' else None
    if line is not None:
        lines.memories.append(line)
    return line is not None


def add_outcome(lines: Lines, slot: Slot, first_sights: FirstSights) -> None:
    """What the batch as a whole changed about a fact: labels, conflicts, head."""
    history, fact_no = slot.history, slot.fact_no
    outcome = history.take_outcome()
    event_seq, recorded_at = history.event_seq, history.recorded_at
    for version_no, label in outcome.labels:
        seen = first_sights.pop((fact_no, version_no), None)
        if seen is None:
            _add_label(lines, fact_no, version_no, event_seq, label)
        else:
            _add_version(lines, fact_no, version_no, seen[0], seen[1], label)
    lines.conflicts_gone.extend((fact_no, left, right) for left, right in outcome.conflicts_gone)
    lines.conflicts_now.extend(
        ConflictLine(fact_no, left, right, relation, *history.conflict_since(left, right))
        for left, right, relation in outcome.conflicts_now
    )
    head = Head(
        fact_no,
        event_seq,
        recorded_at,
        history.versions,
        history.lane_mode,
        history.painted,
        outcome.conflicts_open,
        outcome.state_hash,
        slot.label,
    )
    if slot.is_stored:
        lines.heads.append(head)
    else:
        lines.facts.append(_fact_line(slot, head))


def _fact_line(slot: Slot, head: Head) -> FactLine:
    assert slot.parts is not None  # noqa: S101 - a new slot is made from an event that shows them
    return FactLine(slot.fact_no, slot.fact_id, *slot.parts, head)


def _add_version(lines: Lines, fact_no: int, version_no: int, what: FactAsserted, change: Change, label: Label) -> None:
    lifecycle, supersedes_id, superseded_by_id, merged_into_id, confidence = label
    lines.add_version(
        fact_no,
        version_no,
        what.version_id,
        what.value,
        what.value_hash,
        what.valid.start,
        what.valid.end,
        change.recorded_at,
        change.event_seq,
        what.source_id,
        what.source_hash,
        confidence,
        lifecycle,
        supersedes_id,
        superseded_by_id,
        merged_into_id,
    )


def _add_label(lines: Lines, fact_no: int, version_no: int, event_seq: int, label: Label) -> None:
    lines.add_label(
        fact_no,
        version_no,
        event_seq,
        label.lifecycle,
        label.supersedes_id,
        label.superseded_by_id,
        label.merged_into_id,
        label.confidence,
    )
