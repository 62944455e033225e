"""What a log must lead to, told message by message without the projector: one fact at a time, in the order of offsets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from chronofact.contracts.payload import payload_of
from chronofact.domain.events import Event
from chronofact.domain.history import History
from tests.contract.memory_log import Appended
from tests.simulation.group import MARKER
from tests.simulation.picture import Picture
from tests.simulation.workload import MENDABLE, OF_NO_FACT, Kind, Planned

if TYPE_CHECKING:
    from tests.simulation.world import World

Place = tuple[int, int]


@dataclass
class ExpectedFact:
    """A fact's events as they count."""

    history: History = field(default_factory=History)
    events: list[Event] = field(default_factory=list)
    lines: list[tuple[int, bytes, int, str, bytes, int, int]] = field(default_factory=list)
    state_hash: bytes = b""


@dataclass
class Expected:
    """What is applied of each fact, and what is parked, held or not."""

    facts: dict[bytes, ExpectedFact] = field(default_factory=dict)
    parked: dict[Place, bool] = field(default_factory=dict)
    rule: int = 1


def expected(world: World, dropped: set[Place]) -> Expected:
    """From the log and what was given up of it."""
    found = Expected(rule=world.rule)
    for messages in world.topic.partitions.values():
        held: set[bytes] = set()
        for message in messages:
            place = (message.partition, message.offset)
            if message.key != MARKER and place not in dropped:
                _expect(found, held, message, world.messages[place], dropped, is_mended=world.is_mended)
    for fact in found.facts.values():
        fact.state_hash = fact.history.take_outcome().state_hash
    return found


def _expect(
    found: Expected, held: set[bytes], message: Appended, planned: Planned, dropped: set[Place], *, is_mended: bool
) -> None:
    place = (message.partition, message.offset)
    if planned.kind is Kind.DROP:
        if _target_of(planned) not in dropped:
            found.parked[place] = False
        return
    if planned.kind in OF_NO_FACT:
        found.parked[place] = False
        return
    fact = found.facts.get(message.key)
    is_known = fact is not None and planned.event is not None and fact.history.knows(planned.event.event_id)
    if message.key in held or _is_poison(planned, is_known=is_known, is_mended=is_mended):
        found.parked[place] = message.key in held
        held.add(message.key)
    elif not is_known:
        _apply(found.facts.setdefault(message.key, ExpectedFact(History(found.rule))), message, planned)


def _is_poison(planned: Planned, *, is_known: bool, is_mended: bool) -> bool:
    if planned.kind is Kind.REFUSED and is_known:
        return False
    return planned.kind is not Kind.EVENT and (planned.kind not in MENDABLE or not is_mended)


def _apply(fact: ExpectedFact, message: Appended, planned: Planned) -> None:
    assert planned.event is not None
    recorded_at = message.appended_at
    if planned.import_time is not None:
        recorded_at = min(planned.import_time, recorded_at)
    if fact.events:
        recorded_at = max(fact.events[-1].recorded_at, recorded_at)
    event = replace(planned.event, recorded_at=recorded_at)
    change = fact.history.apply(event)
    assert change.recorded_at == recorded_at
    fact.events.append(event)
    fact.lines.append(
        (
            len(fact.events),
            event.event_id,
            recorded_at,
            type(event.what).__name__,
            sha256(payload_of(event.what)).digest(),
            message.partition,
            message.offset,
        )
    )


def _target_of(planned: Planned) -> Place:
    what = planned.event.what if planned.event is not None else None
    return (what.partition, what.offset)  # type: ignore[union-attr]


def unexpected(picture: Picture, wanted: Expected) -> list[str]:
    """Where a projection is not what the log leads to."""
    told = []
    lines = {
        fact_id: [
            (seq, event_id, at, kind, digest, partition, offset)
            for seq, event_id, at, kind, _, _, digest, partition, offset in fact.events
        ]
        for fact_id, fact in picture.facts.items()
    }
    for fact_id in lines.keys() | wanted.facts.keys():
        have, should = lines.get(fact_id, []), wanted.facts.get(fact_id, ExpectedFact())
        if have != should.lines:
            told.append(f"fact {fact_id.hex()}: events {_short(have)}, should be {_short(should.lines)}")
        elif picture.facts[fact_id].head[-1] != should.state_hash:
            told.append(f"fact {fact_id.hex()}: another state hash")
    if picture.parked.keys() != wanted.parked.keys():
        told.append(f"parked {sorted(picture.parked)}, should be {sorted(wanted.parked)}")
    return told


def _short(lines: list[tuple[int, bytes, int, str, bytes, int, int]]) -> list[str]:
    return [
        f"{seq}:{event_id.hex()[:6]}@{partition}/{offset} at {at}"
        for seq, event_id, at, _, _, partition, offset in lines
    ]


def wrongly_dropped(world: World, picture: Picture, wanted: Mapping[bytes, ExpectedFact]) -> list[str]:
    """Each drop of the log took effect, or its target is applied or was none; nothing else was given up."""
    named = {target for target, _ in world.operator.drops}
    told = [f"{place} was dropped and nobody asked" for place in picture.dropped - named]
    applied = {(line[5], line[6]) for fact in wanted.values() for line in fact.lines}
    return told + [f"{place} is dropped and applied" for place in picture.dropped & applied]
