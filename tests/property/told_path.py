"""Tells what the way from messages to COPY bytes makes of many messages, good and bad: run by both builds, to be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import starmap
from random import Random
from typing import Any, NamedTuple

import orjson

from chronofact.contracts import counting, verifying
from chronofact.contracts.codec import FactEvent, encode_event
from chronofact.contracts.payload import happening_of, payload_of
from chronofact.contracts.projection import Lines
from chronofact.domain.errors import Rejected
from chronofact.domain.identity import event_id_of
from chronofact.postgres import copy
from chronofact.postgres.packed import PackedLines, encoded
from chronofact.postgres.raw_values import head_line
from chronofact.projecting.cache import Slot
from chronofact.projecting.draft import Draft, Owned
from tests.bench.workload import mixed
from tests.integration.genuine import Genuine
from tests.integration.poison import corpus
from tests.integration.saying import PARTITIONS, Fact, Said
from tests.property.strategies import PROFILES, random_history

ILL_TYPED = "source id of a number"
"""Its version id is made of what types forbid."""
HISTORIES = 12
BATCH = 97
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 1.5, 2**53 + 1, "", "x", "null", "ACTIVE", "replace", "person", [], ["x"], {}),
    *("2026-02-30T00:00:00Z", "2026-02-03T04:05:06Z", "2026-02-03T04:05:06.000001Z", "0001-01-01T00:00:00Z"),
    *("0" * 36, "00000000-0000-0000-0000-00000000000g", "00000000-0000-8000-8000-00000000000A", "0" * 64, "ab" * 32),
    *({"effective_at": None, "mode": None, "version_id": "00000000-0000-8000-8000-000000000001"}, [{}], "\x00", "é"),
)


class Message(NamedTuple):
    """One of them as it is read."""

    partition: int
    offset: int
    key: bytes
    value: bytes
    appended_at: int


def good() -> Iterator[Said]:
    """What a writer may have said."""
    yield from mixed(60, 400)
    for profile in PROFILES:
        for number in range(HISTORIES):
            random = Random(f"path {profile} {number}")
            fact = Fact(f"{profile} {number}", "diet")
            events = random_history(random, random.randint(2, 12), profile)
            genuine = Genuine(fact, events)
            for event in events:
                yield genuine.message(event, label=random.choice([None, fact.label, "Łódź"]))


def bad(said: Iterable[Said]) -> Iterator[Said]:
    """What nobody may say: bytes and fields changed at random, the event's id mostly right all the same."""
    random = Random("odd")
    for one in said:
        event = counting.event_in(one.key, one.value)
        fields = orjson.loads(event.payload)
        name = random.choice(list(fields))
        fields[name if random.random() < 0.9 else "more"] = random.choice(ODD)
        payload = orjson.dumps(fields, option=random.choice([0, orjson.OPT_SORT_KEYS]))
        yield one._replace(value=_event(one, replace(event, payload=payload)))
        value = bytearray(one.value)
        for _ in range(random.randint(1, 3)):
            value[random.randrange(len(value))] = random.choice([0, 1, 2, 0x7F, 0xFF, random.randrange(256)])
        yield one._replace(value=bytes(value)[: random.choice([len(value), random.randrange(len(value))])])


def _event(said: Said, event: FactEvent) -> bytes:
    return encode_event(replace(event, event_id=event_id_of(said.key, event.kind, event.payload)))


def told(said: Said) -> str:
    """What each check makes of a message."""
    try:
        event = counting.event_in(said.key, said.value)
        counting.check_identity(said.key, event)
        parts = verifying.checked_identity(event.identity)
        verifying.check_event_id(said.key, event)
        what = happening_of(event.kind, event.payload)
        verifying.check_content(said.key, event, what)
    except Rejected as rejected:
        return f"{rejected.code} {rejected.field} {rejected}"
    return f"{event} {parts} {what} {payload_of(what)!r} {counting.versions_named(what)}"


def folded(said: list[Said], form: Callable[[], Lines] = PackedLines) -> Iterator[str]:
    """The COPY bytes of batches, as hashes of sorted lines, and what was parked."""
    owned = {partition: Owned(0, 0, partition << 40) for partition in range(PARTITIONS)}
    offsets = dict.fromkeys(owned, 0)
    slots: dict[bytes, Slot] = {}
    for at in range(0, len(said), BATCH):
        messages = []
        for one in said[at : at + BATCH]:
            messages.append(Message(one.partition, offsets[one.partition], one.key, one.value, 10**15 + at))
            offsets[one.partition] += 1
        draft = Draft(owned, {}, PARTITIONS, lines=form)
        draft.read(messages, {partition: own.next_offset for partition, own in owned.items()})
        keys = {message.key for message, _ in draft.readable}
        draft.slots.update((key, slots.pop(key)) for key in keys if key in slots)
        draft.fold()
        lines = draft.close()
        yield str(lines.parked)
        yield str(sorted(lines.conflicts_gone)) + str(sorted(lines.conflicts_now))
        tables = [*encoded(lines), ("head", starmap(head_line, lines.heads))]
        tables.append(("conflict", starmap(copy.conflict_line, lines.conflicts_now)))
        for table, found in tables:
            yield f"{table} {sha256(b''.join(sorted(found))).hexdigest()}"
        draft.settle(offsets)
        slots.update(draft.slots)


def main() -> None:
    """Print it all, the kind of build first."""
    print(counting.__file__.endswith(".py"))
    said = list(good())
    spoiled = [*bad(said), *(one.message for one in corpus() if one.name != ILL_TYPED)]
    for one in (*said, *spoiled):
        print(told(one))
    mixture = [*said, *spoiled]
    Random("order").shuffle(mixture)
    for line in (*folded(said), *folded(mixture)):
        print(line)


if __name__ == "__main__":
    main()
