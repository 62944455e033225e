"""A check over a database of the test's: one transaction in which lines may be laid, changed and judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from chronofact.contracts.checking import CheckWanted, Divergence
from chronofact.contracts.codec import FactEvent, encode_event
from chronofact.contracts.payload import payload_of
from chronofact.contracts.projection import EventLine, FactLine, Head
from chronofact.domain.events import Event
from chronofact.postgres.check_cut import CheckCut
from chronofact.postgres.check_run import SETTINGS
from chronofact.postgres.copy import copy_lines, event_line
from chronofact.postgres.raw_values import fact_line
from chronofact.postgres.session import connect
from chronofact.postgres.template import script
from chronofact.reconciler.log_pass import PartitionPass
from tests.contract.memory_log import TOPIC_ID, Appended, MemoryTopic
from tests.integration.saying import Fact

EVERY = 2**62
NOW = datetime(2027, 6, 1, tzinfo=UTC)


def folded_by(connection: Connection[Any], rule: int) -> None:
    """Makes p1, which is empty, what it would be had it been made with this rule."""
    connection.execute("update chronofact.projection set rule = %s where name = 'p1'", (rule,))
    connection.execute("drop function p1.value_key")
    connection.execute(script("projection", "045_value_key").filled(connection, schema="p1", rule=rule))


@contextmanager
def cut_of(address: str, *, with_ids: bool, past_max: int = 1_000, leaf: str | None = None) -> Iterator[CheckCut]:
    """A cut whose transaction is rolled back; every event is a slice and every instant is looked at."""
    wanted = CheckWanted("p1", past_max=past_max, past_instants_max=1_000_000, with_ids=with_ids, seed=3)
    with connect(address, "test", autocommit=False, **SETTINGS) as connection:
        yield CheckCut(connection, wanted, topic_id=UUID(bytes=TOPIC_ID), cut_at=NOW, leaf=leaf)
        connection.rollback()


def connection_of(cut: CheckCut) -> Connection[Any]:
    return cut._connection


def judged(cut: CheckCut) -> list[Divergence]:
    """Everything that differs, the log left out."""
    return cut.judge(-(2**63), 2**63 - 1)[0]


def read_beside(cut: CheckCut, partitions: Mapping[int, Sequence[Appended]]) -> list[Divergence]:
    """What differs from the log."""
    found: list[Divergence] = []
    for partition, messages in partitions.items():
        at = PartitionPass(partition, cut, found.extend)
        at.take(messages)
        at.finish()
    return found


def append(topic: MemoryTopic, fact: Fact, events: Iterable[Event]) -> None:
    """Events with ids of their own, appended at the times that they name."""
    for event in events:
        what = event.what
        said = FactEvent(
            event.event_id,
            type(what).__name__,
            fact.canonical,
            fact.label,
            payload_of(what),
            value_hash=getattr(what, "value_hash", None),
        )
        topic.append_raw(fact.partition, fact.fact_id, encode_event(said), appended_at=event.recorded_at)


def lay_events(connection: Connection[Any], counted: Sequence[Event], *, fact_no: int) -> None:
    """A fact with its events and nothing else, as if the projector had failed at all the rest."""
    fact = Fact(f"laid-{fact_no}")
    head = Head(fact_no, len(counted), counted[-1].recorded_at, 0, 0, 0, 0, bytes(32), None)
    parts = fact.identity
    line = FactLine(
        fact_no,
        fact.fact_id,
        parts.tenant_id.bytes,
        parts.subject_id.bytes,
        parts.scope_kind,
        parts.scope_key,
        parts.fact_key,
        head,
    )
    copy_lines(connection, "p1", "fact", [fact_line(line)])
    lines = []
    for seq, event in enumerate(counted, start=1):
        payload = payload_of(event.what)
        lines.append(
            EventLine(
                fact_no,
                seq,
                event.event_id,
                event.recorded_at,
                type(event.what).__name__,
                (),
                payload,
                _digest(payload),
                0,
                seq,
            )
        )
    copy_lines(connection, "p1", "event", [event_line(*one) for one in lines])


def _digest(payload: bytes) -> bytes:
    from hashlib import sha256

    return sha256(payload).digest()
