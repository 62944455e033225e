"""Postgres as the store of a world: the real adapter, its real row locks, and what it holds at the end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar
from unittest import mock
from uuid import UUID

import psycopg

from chronofact.postgres import projection_store
from chronofact.postgres.errors import failures_named
from chronofact.postgres.parking_store import ParkingStore, Which
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.postgres.template import script
from chronofact.projecting.ports import Store
from tests.simulation.audit import Written
from tests.simulation.locking import Locking
from tests.simulation.picture import SAYINGS, FactPicture, Line, Picture, in_order
from tests.simulation.scheduler import Task

if TYPE_CHECKING:
    from tests.simulation.process import Process
    from tests.simulation.world import World

T = TypeVar("T")
HOLD_S: Final = 3_600
"""Longer than any world is looked at."""


class PostgresLocking:
    """A call that has to wait leaves the schedule until the other transaction has ended; for two processes."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._holders: dict[int, Process] = {}
        self._outside: Task | None = None
        self.ghosts = 0

    def call(self, process: Process, partitions: Sequence[int], call: Callable[[], T], *, keeps: bool = False) -> T:
        world = self._world
        if all(self._holders.get(one, process) is process for one in partitions):
            result = call()
        elif not keeps and world.dice.chance(50):
            # a claim that does not wait long ends the session of who holds the partition
            world.scheduler.counts["ended who stood still"] += 1
            with mock.patch.object(projection_store, "CLAIM_LOCK_TIMEOUT_MS", 20):
                result = call()
        else:
            world.scheduler.counts["waited for a line"] += 1
            with mock.patch.object(projection_store, "CLAIM_LOCK_TIMEOUT_MS", 60_000):
                result = self._called_outside(call)
        if keeps:
            self._holders |= dict.fromkeys(partitions, process)
        return result

    def began(self, process: Process, written: Written, batch: Any) -> None:
        """Nothing is held before ``advance``."""

    def ended(self, process: Process) -> None:
        self._holders = {one: holder for one, holder in self._holders.items() if holder is not process}
        if self._outside is not None and self._outside is not self._world.scheduler.current:
            waiting, self._outside = self._outside, None
            self._world.scheduler.fetch(waiting)

    def committed(self, written: Written) -> None:
        self._world.audit.committed(written)

    def terminate(self) -> None:
        """Left to claims, which end sessions where they have to."""

    def _called_outside(self, call: Callable[[], T]) -> T:
        scheduler = self._world.scheduler
        self._outside = scheduler.current
        results: list[T] = []
        scheduler.outside(lambda: results.append(call()))
        return results[0]


class PostgresSide:
    """A fresh database; each process has a connection of its own."""

    processes_max = 2
    expires = False

    def __init__(self, world: World, database: str) -> None:
        self.locking: Locking = PostgresLocking(world)
        self._database = database
        self._stores: list[ProjectionStore] = []
        self._operator = ParkingStore(database, "p1")
        self._reading = psycopg.connect(database, autocommit=True)
        self._operator._connection.execute("set lock_timeout = '20ms'")
        self._holding = psycopg.connect(database, autocommit=True)
        self._holding.execute("set lock_timeout = '20ms'")
        self._world = world
        self._reading.execute("update chronofact.projection set rule = %s where name = 'p1'", (world.rule,))

    def store_for(self, process: Process) -> Store:
        store = ProjectionStore(self._database, "p1", name=process.name)
        self._stores.append(store)
        return store

    def progress(self) -> tuple[dict[int, int], int]:
        asks = self._lines("select count(*) from chronofact.parked_event where release_asked_at is not null")
        return dict(self._lines("select partition, next_offset from chronofact.checkpoint")), asks[0][0]

    def ask(self, place: tuple[int, int], fact_id: bytes | None) -> None:
        if fact_id is not None:
            self._operator.ask(Which(fact_id=UUID(bytes=fact_id)))
        else:
            self._operator.ask(Which(partition=place[0], offset=place[1]))

    def picture(self) -> Picture:
        return Picture(
            self._facts(),
            {(line[0], line[1]): line[2:] for line in self._lines(PARKED)},
            set(self._lines("select partition, kafka_offset from chronofact.dropped_event")),
            self._lines("select partition, kafka_offset from chronofact.released_event order by number"),
            self.progress()[0],
        )

    def hold(self, stop_at: Mapping[int, int]) -> None:
        wanted = {"partitions": list(stop_at), "stop_at": list(stop_at.values()), "for_s": HOLD_S}
        self._hold("hold", wanted, lambda: self._world.audit.held(self.progress()[0], stop_at))

    def let_go(self) -> None:
        self._hold("let_go", {}, self._world.audit.let_go)

    def expire(self) -> None:
        """Left to the contract tests: the database goes by a clock of its own."""

    def _hold(self, name: str, wanted: Mapping[str, Any], told: Callable[[], None]) -> None:
        with failures_named(), self._holding.transaction():
            self._holding.execute(script("verify", name).filled(self._holding), {"projection": "p1", **wanted})
            told()

    def copy(self) -> Any:
        """Left to the fault tests on real servers."""

    def restore(self, copy: Any) -> None:
        """Left to the fault tests on real servers."""

    def close(self) -> None:
        for store in self._stores:
            store.close()
        self._operator.close()
        self._reading.close()
        self._holding.close()

    def _facts(self) -> dict[bytes, FactPicture]:
        found = {name: self._by_fact(statement) for name, statement in LINES.items()}
        facts = {}
        for fact_no, fact_id, label, *head in self._lines(HEADS):
            versions = {line[0]: line for line in found["versions"][fact_no]}
            labels = {number: line[10:] for number, line in versions.items()}
            labels |= {line[0]: line[2:] for line in sorted(found["labels"][fact_no], key=lambda line: line[1])}
            facts[fact_id] = FactPicture(
                tuple(head),
                label,
                sorted(found["events"][fact_no]),
                {number: line[1:10] for number, line in versions.items()},
                labels,
                {name: in_order(found[name][fact_no]) for name in SAYINGS},
                in_order(found["timeline"][fact_no]),
                set(found["conflicts"][fact_no]),
            )
        return facts

    def _by_fact(self, statement: str) -> dict[int, list[Line]]:
        found: dict[int, list[Line]] = defaultdict(list)
        for fact_no, *line in self._lines(statement):
            found[fact_no].append(tuple(line))
        return found

    def _lines(self, statement: str) -> list[tuple[Any, ...]]:
        return [tuple(map(_plain, line)) for line in self._reading.execute(statement).fetchall()]


def _plain(value: Any) -> Any:
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, list):
        return tuple(map(_plain, value))
    return value.bytes if isinstance(value, UUID) else value


def _us(column: str) -> str:
    return f"(extract(epoch from {column}) * 1000000)::bigint"


HEADS: Final = f"""select fact_no, fact_id, subject_label, event_seq, {_us("recorded_at")}, versions, lane_mode, painted,
    conflicts_open, state_hash from p1.fact"""
PARKED: Final = f"""select partition, kafka_offset, code, fact_id, {_us("appended_at")}, coalesce(message_key, ''),
    coalesce(message, '') from chronofact.parked_event"""
LINES: Final = {
    "events": f"""select fact_no, event_seq, event_id, {_us("recorded_at")}, event_type, version_ids,
        convert_to(canonical_payload, 'UTF8'), payload_hash, kafka_partition, kafka_offset from p1.event""",
    "versions": f"""select fact_no, version_no, version_id, convert_to(value_json::text, 'UTF8'), value_hash,
        {_us("valid_from")}, {_us("valid_to")}, {_us("recorded_at")}, event_seq, source_id, source_hash,
        lifecycle, supersedes_id, superseded_by_id, merged_into_id, confidence from p1.version""",
    "labels": """select fact_no, version_no, event_seq, lifecycle, supersedes_id, superseded_by_id, merged_into_id,
        confidence from p1.version_label""",
    "edges": f"""select fact_no, event_id, ordinal, event_seq, new_version_id, old_version_id, {_us("effective_at")},
        mode from p1.edge""",
    "endings": f"select fact_no, event_id, event_seq, version_id, {_us('effective_at')} from p1.ending",
    "decisions": f"""select fact_no, event_id, event_seq, left_version_id, right_version_id, keep, {_us("decided_at")},
        decided_by, reason from p1.decision""",
    "relations": f"""select fact_no, event_id, event_seq, left_version_id, right_version_id, relation,
        newer_version_id, {_us("decided_at")}, decided_by, reason, llm_call_made, model from p1.relation""",
    "checks": """select fact_no, event_id, event_seq, version_id, pairs, decided, pending, reason, llm_call_made
        from p1.checked""",
    "timeline": f"""select fact_no, lane, {_us("known_from")}, event_seq, {_us("valid_from")}, {_us("valid_to")}, kind,
        reason, answer_key, versions, winner from p1.timeline""",
    "conflicts": "select fact_no, left_version_id, right_version_id, relation from p1.conflict",
}
