"""What must be so after any fault: log, event table, state and answers agree with what was acknowledged."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import Any
from uuid import UUID

import psycopg

from chronofact.contracts.codec import decode_event
from chronofact.contracts.payload import happening_of
from chronofact.contracts.topics import facts_topic
from chronofact.domain.events import Event
from chronofact.domain.interval import datetime_of
from chronofact.domain.resolve import Answer, Conflict, Unknown, Value, Values, resolve
from chronofact.kafka.admin import Admin
from chronofact.kafka.consumer import LogConsumer, RawMessage
from tests.contract.memory_log import MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import projector_on, run_until_idle
from tests.contract.stored_play import KINDS, REASONS
from tests.integration.faults.load import Load
from tests.integration.projecting import assert_counted_once, await_offsets, state_of

FACTS_ASKED = 40
INSTANTS_ASKED = 6
YEAR_US = 31_556_952_000_000
START_US = 946_684_800_000_000
ASK = """
select a.kind, a.reason, a.versions, a.winner
from unnest(%s::timestamptz[], %s::timestamptz[]) with ordinality as q (valid_at, system_as_of, place)
cross join lateral p1.answer_at(%s, q.valid_at, q.system_as_of) as a
order by q.place
"""


def messages_of(kafka: str, topic: str) -> list[RawMessage]:
    """The whole log, each partition's in order."""
    ends = Admin(kafka).settled(facts_topic(topic)).high_watermarks
    consumer = LogConsumer(kafka, topic)
    consumer.assign(dict.fromkeys(ends, 0))
    found: list[RawMessage] = []
    while len(found) < sum(ends.values()):
        found += consumer.poll(1_000, 0.5)
    consumer.close()
    return sorted(found, key=lambda one: (one.partition, one.offset))


def assert_nothing_lost_or_twice(kafka: str, topic: str, database: str, load: Load, *, timeout_s: float = 60) -> None:
    """Counts agree from the caller to the tables, and the tables with a recomputation from the log."""
    log = messages_of(kafka, topic)
    await_offsets(database, len(log), timeout_s=timeout_s)
    in_log = {decode_event(message.value).event_id for message in log}
    assert in_log == load.acknowledged
    with psycopg.connect(database) as connection:
        stored = [bytes(one) for (one,) in connection.execute("select uuid_send(event_id) from p1.event").fetchall()]
        parked = connection.execute("select count(*) from chronofact.parked_event").fetchone()
    assert len(stored) == len(in_log)
    assert set(stored) == in_log
    assert parked == (0,)
    assert_counted_once(database)
    assert_recomputed(database, log)
    assert_answered(database, log)


def assert_recomputed(database: str, log: list[RawMessage]) -> None:
    """Every fact's state, and every event's place, number and system time, as a clean projector on twins has them."""
    topic, store = MemoryTopic(), MemoryStore()
    for message in log:
        topic.append_raw(message.partition, message.key, message.value, appended_at=message.appended_at)
    run_until_idle(projector_on(topic.join(), store)[0])
    assert state_of(database) == store.state()
    wanted = {line.event_id: (line.event_seq, line.recorded_at, line.kafka_offset) for line in store.events()}
    with psycopg.connect(database) as connection:
        lines = connection.execute(
            "select uuid_send(event_id), event_seq, (extract(epoch from recorded_at) * 1000000)::bigint, kafka_offset"
            " from p1.event"
        ).fetchall()
    assert {bytes(line[0]): tuple(line[1:]) for line in lines} == wanted


def assert_answered(database: str, log: list[RawMessage]) -> None:
    """A sample of facts, each at some instants and as known at some: the database's answer is the domain's."""
    random = Random(len(log))
    by_fact: dict[bytes, list[Event]] = defaultdict(list)
    for message in log:
        event = decode_event(message.value)
        what = happening_of(event.kind, event.payload, value_hash=event.value_hash)
        by_fact[message.key].append(Event(event.event_id, what, message.appended_at))
    asked = random.sample(sorted(by_fact), min(FACTS_ASKED, len(by_fact)))
    with psycopg.connect(database) as connection:
        for fact_id in asked:
            events = by_fact[fact_id]
            instants = [START_US + random.randrange(26 * YEAR_US) for _ in range(INSTANTS_ASKED)]
            known = [None, *(random.choice(events).recorded_at for _ in instants[1:])]
            wanted = [resolve(events, valid_at=at, system_as_of=of) for at, of in zip(instants, known, strict=True)]
            assert answers(connection, fact_id, instants, known) == wanted


def answers(
    connection: psycopg.Connection[Any], fact_id: bytes, instants: list[int], known: list[int | None]
) -> list[Answer]:
    """What the database says of one fact."""
    lines = connection.execute(
        "select f.fact_no, v.version_no, uuid_send(v.version_id) from p1.fact f join p1.version v using (fact_no)"
        " where f.fact_id = %s",
        (UUID(bytes=fact_id),),
    ).fetchall()
    ids = {number: bytes(version_id) for _, number, version_id in lines}
    columns = [datetime_of(one) for one in instants], [None if one is None else datetime_of(one) for one in known]
    return [_answer(ids, *line) for line in connection.execute(ASK, (*columns, lines[0][0])).fetchall()]


def _answer(ids: dict[int, bytes], kind: int, reason: int, versions: list[int] | None, winner: int | None) -> Answer:
    said = tuple(sorted(ids[number] for number in versions or ()))
    match KINDS[kind]:
        case "unknown":
            return Unknown(REASONS[reason])
        case "value":
            assert winner is not None
            return Value(ids[winner], said)
        case "conflict":
            return Conflict(said)
        case _:
            return Values(said)
