"""Dense histories of a few facts as messages of the log, poison among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from typing import Final
from uuid import UUID

from chronofact.contracts.codec import FactEvent, encode_event
from chronofact.contracts.payload import payload_of
from chronofact.contracts.projection import HELD
from chronofact.domain.events import Event, EventDropped
from chronofact.domain.identity import event_id_of
from chronofact.kafka.partitioning import partition_of
from tests.integration.saying import Fact
from tests.property.strategies import PROFILES
from tests.simulation.dice import Dice
from tests.simulation.histories import written_history

FUTURE: Final = b"\xc3\x01FUTURE_1"
"""How a message starts that only the next release can read; what follows is an event of today."""
MINUTE_US: Final = 60_000_000
BORN_US: Final = 1_700_000_000_000_000
"""When a world begins."""


class Kind(StrEnum):
    """What a message is, by what must become of it."""

    EVENT = "event"
    FUTURE = "can be read after an upgrade"
    REFUSED = "can be written after a migration"
    UNDECODABLE = "undecodable"
    NONSENSE = "impossible content"
    STRANGER = "another fact's key"
    EMPTY = "no value"
    KEYLESS = "no key"
    SHORT_KEY = "malformed key"
    MISPLACED = "another partition than its fact's"
    DROP = "a drop"


OF_NO_FACT: Final = (Kind.KEYLESS, Kind.SHORT_KEY, Kind.MISPLACED)
MENDABLE: Final = (Kind.FUTURE, Kind.REFUSED)
POISON: Final = (*MENDABLE, Kind.UNDECODABLE, Kind.NONSENSE, Kind.STRANGER, Kind.EMPTY, *OF_NO_FACT)

CODES: Final = {
    Kind.EVENT: HELD,
    Kind.FUTURE: "event_undecodable",
    Kind.REFUSED: "constraint_broken",
    Kind.UNDECODABLE: "event_undecodable",
    Kind.NONSENSE: "event_id_mismatch",
    Kind.STRANGER: "identity_mismatch",
    Kind.EMPTY: "value_missing",
    Kind.KEYLESS: "message_key_malformed",
    Kind.SHORT_KEY: "message_key_malformed",
    Kind.MISPLACED: "partition_mismatch",
    Kind.DROP: "drop_not_parked",
}
"""Why a message is parked, unless it only waits for an earlier one."""


@dataclass(frozen=True)
class Planned:
    """One message before it has an offset, and what the test knows about it."""

    kind: Kind
    partition: int
    key: bytes
    value: bytes
    event: Event | None = None
    """Of readable messages: what it says, ``recorded_at`` being the import time if any."""
    import_time: int | None = None


def workload(dice: Dice, *, partitions: int, poison_percent: int, is_spelled: bool = False) -> list[Planned]:
    """All messages, each fact's in the order of its history; facts interleaved at random."""
    facts = [Fact(f"subject {number}", f"slot_{number % 3}") for number in range(dice.pick((1, 2, 2, 3, 4, 6, 9)))]
    lanes = [
        list(_history(dice, fact, partitions, is_hot=not number or dice.chance(20), is_spelled=is_spelled))
        for number, fact in enumerate(facts)
    ]
    planned: list[Planned] = []
    while lanes := [lane for lane in lanes if lane]:
        lane = dice.pick(lanes)
        planned += _perhaps_spoiled(dice, lane.pop(0), facts, partitions, poison_percent)
        if planned and dice.chance(6):
            planned.append(dice.pick(planned))
    return planned


def drop_of(target: tuple[int, int], key: bytes, *, topic_id: bytes, partition: int, reason: str) -> Planned:
    """An EventDropped as the writer would append it."""
    what = EventDropped(str(UUID(bytes=topic_id)), *target, "operator", reason)
    payload = payload_of(what)
    event = FactEvent(event_id_of(key, "EventDropped", payload), "EventDropped", b"", None, payload)
    return Planned(Kind.DROP, partition, key, encode_event(event), Event(event.event_id, what, 0))


def _history(dice: Dice, fact: Fact, partitions: int, *, is_hot: bool, is_spelled: bool) -> Iterator[Planned]:
    size = dice.count(8, 30) if is_hot else dice.count(1, 9)
    profile = dice.pick(tuple(PROFILES))
    random = Random(dice.random.getrandbits(32))
    for event in written_history(random, size, profile, fact_id=fact.fact_id, is_spelled=is_spelled):
        yield _message(dice, fact, event, partitions)


def _message(dice: Dice, fact: Fact, event: Event, partitions: int) -> Planned:
    # an import's system time lies around the run's own, so that now and then either is the earlier one
    import_time = BORN_US + dice.count(-MINUTE_US // 4, MINUTE_US) if dice.chance(15) else None
    what = event.what
    said = FactEvent(
        event.event_id,
        type(what).__name__,
        fact.canonical,
        dice.pick((None, fact.label, "another label")),
        payload_of(what),
        import_time=import_time,
    )
    partition = partition_of(fact.fact_id, partitions)
    return Planned(Kind.EVENT, partition, fact.fact_id, encode_event(said), event, import_time)


def _perhaps_spoiled(
    dice: Dice, message: Planned, facts: list[Fact], partitions: int, poison_percent: int
) -> list[Planned]:
    if not dice.chance(poison_percent):
        return [message]
    match dice.pick(POISON):
        case Kind.FUTURE:
            return [replace(message, kind=Kind.FUTURE, value=FUTURE + message.value[len(FUTURE) :])]
        case Kind.REFUSED:
            return [replace(message, kind=Kind.REFUSED)]
        case Kind.STRANGER:
            other = dice.pick(facts).fact_id
            if other == message.key:
                return [message]
            return [message, replace(message, kind=Kind.STRANGER, key=other, partition=partition_of(other, partitions))]
        case Kind.MISPLACED:
            elsewhere = (message.partition + 1) % partitions
            if elsewhere == message.partition:
                return [message]
            return [message, replace(message, kind=Kind.MISPLACED, partition=elsewhere)]
        case Kind.NONSENSE:
            identity = next(fact.canonical for fact in facts if fact.fact_id == message.key)
            said = FactEvent(bytes(16), "FactEnded", identity, None, b'{"effective_at":17}')
            return [message, replace(message, kind=Kind.NONSENSE, value=encode_event(said))]
        case kind:
            return [message, _broken(kind, message)]


def _broken(kind: Kind, message: Planned) -> Planned:
    match kind:
        case Kind.EMPTY:
            return replace(message, kind=kind, value=b"", event=None)
        case Kind.KEYLESS:
            return replace(message, kind=kind, key=b"", event=None)
        case Kind.SHORT_KEY:
            return replace(message, kind=kind, key=message.key[:5], event=None)
        case _:
            return replace(message, kind=Kind.UNDECODABLE, value=message.value[:-9] + b"\xff", event=None)
