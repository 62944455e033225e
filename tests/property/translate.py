"""The product's events as the oracle's, and as a story to read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never
from unicodedata import normalize

from chronofact.domain.events import (
    ConflictResolved,
    Event,
    EventDropped,
    FactActivated,
    FactAsserted,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    RelationDeclared,
    RelationsChecked,
)
from tests.property.oracle import (
    OActivate,
    OAssert,
    OEnd,
    OEvent,
    OLog,
    OOther,
    ORelation,
    OResolve,
    ORevoke,
    OSupersede,
    OSupersedes,
)


def to_oracle(events: Iterable[Event], rule: int = 1) -> OLog:
    return [oracle_event(event, rule) for event in events]


def oracle_event(event: Event, rule: int = 1) -> OEvent:
    head = event.event_id, event.recorded_at
    match event.what:
        case FactAsserted() as said:
            return _asserted(event, said, rule)
        case FactActivated() as said:
            return OActivate(*head, said.version_id)
        case FactSuperseded() as said:
            return OSupersede(*head, said.new_version_id, said.old_version_id, said.effective_at, said.mode)
        case FactEnded() as said:
            return OEnd(*head, said.version_id, said.effective_at)
        case FactRevoked() as said:
            return ORevoke(*head, said.version_id, said.event_id)
        case ConflictResolved() as said:
            return OResolve(*head, said.left_version_id, said.right_version_id, said.keep, said.decided_at)
        case RelationDeclared() as said:
            return _related(event, said)
        case RelationsChecked() | EventDropped():
            return OOther(*head)
        case _:
            assert_never(event.what)


def _asserted(event: Event, said: FactAsserted, rule: int) -> OAssert:
    """The oracle takes values for one whose texts are equal: by rule 2 all texts of one NFC (docs/rules.md)."""
    text = said.value.decode()
    return OAssert(
        event.event_id,
        event.recorded_at,
        said.version_id,
        text if rule == 1 else normalize("NFC", text),
        said.valid.start,
        said.valid.end,
        said.lifecycle,
        said.cardinality,
        said.succession,
        said.confidence,
        tuple(OSupersedes(s.version_id, s.effective_at, s.mode) for s in said.supersedes),
        said.valid_from_known,
    )


def _related(event: Event, said: RelationDeclared) -> ORelation:
    return ORelation(
        event.event_id,
        event.recorded_at,
        said.left_version_id,
        said.right_version_id,
        said.relation,
        said.newer_version_id,
        said.decided_at,
        said.decided_by,
    )


def story(events: Iterable[Event]) -> str:
    """One line an event, short names for ids."""
    return "\n".join(f"  {event.recorded_at:>4}  {short_id(event.event_id)}  {_told(event)}" for event in events)


def short_id(some_id: bytes | None) -> str:
    """v1, v2, ... for the generator's versions; else the first bytes."""
    if some_id is None:
        return "none"
    return f"v{some_id[-1]}" if not any(some_id[:15]) else some_id[:3].hex()


def _told(event: Event) -> str:
    match event.what:
        case FactAsserted() as said:
            edges = " ".join(f">{short_id(s.version_id)}@{s.effective_at}/{s.mode}" for s in said.supersedes)
            interval = f"[{said.valid.start}, {said.valid.end})" + ("" if said.valid_from_known else " start unknown")
            stamps = f"{said.lifecycle} {said.cardinality} {said.succession} {said.confidence}"
            return f"assert {short_id(said.version_id)}={said.value.decode()} {interval} {stamps} {edges}".rstrip()
        case FactActivated() as said:
            return f"activate {short_id(said.version_id)}"
        case FactSuperseded() as said:
            pair = f"{short_id(said.new_version_id)}>{short_id(said.old_version_id)}"
            return f"supersede {pair}@{said.effective_at}/{said.mode}"
        case FactEnded() as said:
            return f"end {short_id(said.version_id)} at {said.effective_at}"
        case FactRevoked() as said:
            return f"revoke {short_id(said.version_id or said.event_id)}"
        case ConflictResolved() as said:
            pair = f"{short_id(said.left_version_id)}/{short_id(said.right_version_id)}"
            return f"decide {pair} keep {short_id(said.keep)} at {said.decided_at}"
        case RelationDeclared() as said:
            pair = f"{short_id(said.left_version_id)}/{short_id(said.right_version_id)}"
            newer = short_id(said.newer_version_id)
            return f"relate {pair} {said.relation} newer {newer} at {said.decided_at} by {said.decided_by}"
        case RelationsChecked() | EventDropped():
            return type(event.what).__name__
        case _:
            assert_never(event.what)
