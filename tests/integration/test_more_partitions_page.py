"""docs/operations/more-partitions.md, its commands as they are written: a living topic moved, nothing lost, nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Final
from uuid import UUID

import httpx
import psycopg

from chronofact.contracts.drops import Drop
from chronofact.contracts.topics import facts_topic
from chronofact.kafka.admin import Admin, create_topics
from chronofact.kafka.partitioning import partition_of
from chronofact.runtime.failures import Transient, Unfit
from tests.bench.workload import mixed
from tests.contract.writing import assertion
from tests.integration.pages import environ
from tests.integration.projecting import ProjectorProcess, Sayable, append, await_offsets
from tests.integration.rebuild_world import Rebuilding, ReconcilerProcess
from tests.integration.saying import Fact, Said
from tests.integration.writing import WriterProcess

FIRST: Final = 8_000
WIDE: Final = 24
GARBAGE: Final = b"\x00 not an event"
STATES: Final = """
    select fact_id, event_seq, recorded_at, state_hash, conflicts_open from {}.fact order by fact_id
"""
PARKED: Final = "select code, message_key, message from chronofact.parked_event where projection = %s order by 1, 2, 3"
PAGE_S: Final = 60


class Move:
    """An old topic with a projector, and what is done to it."""

    def __init__(self, kafka: str, topic: str, database: str) -> None:
        self.kafka, self.old, self.new, self.database = kafka, topic, f"{topic}.v2", database
        self.admin = Admin(kafka)
        self.dropped, self.parked, self.misplaced = Fact("dropped"), Fact("parked"), Fact("misplaced")

    def begin(self) -> int:
        """Facts; two that are held by what can't be read; one message in a wrong partition."""
        wrong = self.misplaced.asserts("somewhere else")
        said: list[Said] = [
            *(Said(one.partition, one.key, one.value, b"", None) for one in mixed(2_000, FIRST)),
            self.dropped.asserts("npm"),
            Said(self.dropped.partition, self.dropped.fact_id, GARBAGE, b"", None),
            self.dropped.asserts("pnpm"),
            self.parked.asserts("npm"),
            Said(self.parked.partition, self.parked.fact_id, GARBAGE, b"", None),
            self.parked.asserts("pnpm"),
            Said(5, b"", GARBAGE, b"", None),
            wrong._replace(partition=(wrong.partition + 1) % 12),
            self.misplaced.asserts("here"),
        ]
        return self.append(said)

    def append(self, said: Iterable[Sayable]) -> int:
        return append(self.kafka, self.old, said)

    def drop(self) -> None:
        """What can't be read of one fact is given up; what waits behind it follows."""
        found = self.rows(
            "select partition, kafka_offset from chronofact.parked_event"
            " where projection = 'p1' and fact_id = %s and code <> 'held'",
            UUID(bytes=self.dropped.fact_id),
        )
        (offset,) = (int(str(one)) for _, one in found)
        partition = self.dropped.partition
        drop = Drop(self.admin.topic_id(self.old), partition, offset, self.dropped.fact_id, "unreadable", "ada")
        self.append([Said(partition, drop.key, drop.message().value, b"", None)])

    def rows(self, statement: str, *parameters: object) -> list[tuple[object, ...]]:
        with psycopg.connect(self.database, autocommit=True) as connection:
            return connection.execute(statement, parameters).fetchall()

    def holds(self, topic: str, partitions: int | None = None) -> int:
        return sum(self.admin.state(facts_topic(topic, partitions)).high_watermarks.values())

    def reached(self, projection: str) -> int:
        statement = "select coalesce(sum(next_offset), 0)::bigint from chronofact.checkpoint where projection = %s"
        return int(str(self.rows(statement, projection)[0][0]))

    def put_in(self, line: str) -> str:
        return line.replace("memory.facts.v2", self.new)

    def copying(self) -> subprocess.Popen[bytes]:
        """The first step once more, to be killed."""
        where = environ(kafka=self.kafka, facts_topic=self.old, postgres=self.database)
        line = [sys.executable, "-m", "chronofact.cli", "topics", "copy", "--to", self.new, "--partitions", str(WIDE)]
        return subprocess.Popen(line, env=where, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PAGE_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def written(move: Move) -> Iterator[list[int]]:
    """Somebody writes all the while: how many messages so far."""
    over, count = threading.Event(), [0]

    def write() -> None:
        facts = [Fact(f"meanwhile {number}") for number in range(50)]
        for number in range(100_000):
            if over.is_set():
                return
            with suppress(AssertionError):  # once it is sealed, the old topic refuses
                count[0] += move.append([facts[number % 50].asserts(number)])
            time.sleep(0.005)

    writing = threading.Thread(target=write, daemon=True)
    writing.start()
    try:
        yield count
    finally:
        over.set()
        writing.join()


def test_a_living_topic_moves_to_one_of_more_partitions_as_the_page_says(
    kafka: str, topic_name: str, database: str
) -> None:
    create_topics(kafka, topic_name)
    move, world = Move(kafka, topic_name, database), Rebuilding(kafka, topic_name, database)
    begun = move.begin()
    wide = {"facts_partitions": WIDE, "projector_name": "new"}
    with world.projector() as old:
        await_offsets(database, begun)
        move.drop()
        with written(move) as count:
            killed = move.copying()
            until(lambda: _is_begun(move))
            killed.kill()
            killed.wait()
            assert move.holds(move.new, WIDE) > 0, "killed on its way, or where it had just arrived"
            with world.walk("operations/more-partitions.md") as walk:
                told = walk.step("chronofact topics copy", but=move.put_in)
                assert "1 drop said anew" in told
                with WriterProcess(kafka, move.new, facts_partitions=str(WIDE)) as early:
                    early.await_reasons(lambda reasons: reasons == ["timestamp_type_differs"])
                with (
                    ReconcilerProcess(
                        kafka, move.new, database, check_daily_at="", facts_partitions=WIDE
                    ) as reconciler,
                    ProjectorProcess(kafka, move.new, database, **wide) as new,
                ):
                    reconciler.await_readyz()
                    walk.settle(reconciler_port=reconciler.port)
                    walk.step("chronofact rebuild start")
                    walk.step("chronofact topics copy", but=move.put_in)
                    sealed = walk.step("chronofact topics seal", but=move.put_in)
                    assert "neither was written to" in sealed
                    held = move.holds(move.old)
                    time.sleep(0.2)
                    assert move.holds(move.old) == held == move.holds(move.new, WIDE)
                    until(lambda: move.reached("p1") == move.reached("p2") == held)
                    assert count[0] > 0
                    unproven = walk.execute("chronofact switch --all --to p2")
                    assert (unproven.returncode, "--across-topics" in unproven.stderr) == (1, True)
                    walk.step("chronofact verify p1 p2")
                    hindrances = [one["code"] for each in (old, new) for one in each.events("hindered")]
                    assert "topic_recreated" not in hindrances, "each projection is fed from its own topic, by either"
                    _assert_same(move)
                    walk.step("chronofact topics reopen", but=move.put_in)
                    again = walk.execute(move.put_in("chronofact topics seal --to memory.facts.v2 --json"))
                    held = move.holds(move.old)
                    assert json.loads(again.stdout)["messages"] == held
                    until(lambda: move.reached("p1") == move.reached("p2") == held)
                    # what was written meanwhile was not compared
                    assert walk.execute("chronofact verify p1 p2 --across-topics").returncode == 0
                    walk.step("chronofact switch", but=move.put_in)
                    _writers_take_turns(move)
                    walk.step("chronofact retire")


def _is_begun(move: Move) -> bool:
    try:
        return move.holds(move.new, WIDE) > 0
    except (Transient, Unfit):
        return False


def _assert_same(move: Move) -> None:
    """All state hashes, by plain SQL; and what is parked, twice where a fact waits, is the same too."""
    left, right = (move.rows(STATES.format(projection)) for projection in ("p1", "p2"))
    assert len(left) > 1_000
    assert left == right
    parked = move.rows(PARKED, "p1")
    assert parked == move.rows(PARKED, "p2")
    assert len(parked) == 4
    ((events,),) = move.rows("select event_seq from p2.fact where fact_id = %s", UUID(bytes=move.dropped.fact_id))
    assert events == 2, "what waited behind the dropped one follows it"
    ((events,),) = move.rows("select event_seq from p2.fact where fact_id = %s", UUID(bytes=move.parked.fact_id))
    assert events == 1, "and waits where nothing was dropped"
    assert move.rows("select count(*) from chronofact.dropped_event where projection = 'p2'") == [(1,)]


def _writers_take_turns(move: Move) -> None:
    subject = "after the move"
    command = assertion(subject=subject, value="npm")
    with WriterProcess(move.kafka, move.old) as late:
        late.await_reasons(lambda reasons: reasons == ["topic_closed"])
        assert late.send([command]).status_code == httpx.codes.SERVICE_UNAVAILABLE
    with WriterProcess(move.kafka, move.new) as miscounted:
        miscounted.await_reasons(lambda reasons: reasons == ["partition_count_differs"])
    with WriterProcess(move.kafka, move.new, facts_partitions=str(WIDE)) as writer:
        writer.await_reasons(lambda reasons: not reasons)
        assert "event_id" in writer.send([command]).json()["results"][0]
    asked = "select fact_no >> 40, uuid_send(fact_id) from p2.fact where subject_label = %s"
    until(lambda: bool(move.rows(asked, subject)))
    ((partition, fact_id),) = move.rows(asked, subject)
    assert isinstance(fact_id, bytes)
    assert partition == partition_of(fact_id, WIDE)
