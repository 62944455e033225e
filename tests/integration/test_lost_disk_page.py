"""docs/operations/lost-broker-disk.md, its commands as they are written: the topic is deleted, and made again from p1."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from confluent_kafka.admin import AdminClient

from chronofact.contracts.position import Position
from chronofact.contracts.refilling import Stamped
from chronofact.contracts.topics import facts_topic
from chronofact.domain.events import (
    ConflictResolved,
    Decider,
    FactActivated,
    FactSuperseded,
    Lifecycle,
    RelationDeclared,
    RelationsChecked,
    Verdict,
)
from chronofact.kafka.admin import Admin, create_topics
from chronofact.kafka.filling import Filling
from chronofact.postgres.refill_source import refill_source
from chronofact.reconciler.refill import Refiller
from tests.integration.nasty import Nasty
from tests.integration.projecting import ProjectorProcess, ServiceProcess, append, await_offsets
from tests.integration.rebuild_world import Rebuilding
from tests.integration.saying import Fact, Said

PAGE = "operations/lost-broker-disk.md"
LIMITS: dict[str, object] = {"parked_share_max": 1, "parked_row_max": 1_000}
UNCOUNTED = (
    "select count(*) from p2.event as e where not exists (select from p1.event as o where o.event_id = e.event_id)"
)


def kinds() -> Iterator[Said]:
    """The kinds of events that no workload says, on a fact whose first two values contradict each other."""
    fact = Fact("all kinds")
    one, other, proposed = (
        fact.asserts("npm"),
        fact.asserts("pnpm", import_time=1_234_567_890_123_456),
        fact.asserts("bun", lifecycle=Lifecycle.PROPOSED, import_time=-1),
    )
    yield from (one, other, proposed)
    ids = [said.version_id or b"" for said in (one, other, proposed)]
    left, right = sorted(ids[:2])
    yield fact.says(RelationsChecked(ids[0], 3, 1, 2))
    yield fact.says(RelationDeclared(left, right, Verdict.CONTRADICTS, None, 7, Decider.PERSON, "said so", False, None))
    yield fact.says(ConflictResolved(left, right, left, 8, "ada", None))
    yield fact.says(FactActivated(ids[2], None), version_id=ids[2])
    yield fact.says(FactSuperseded(ids[2], left, None, None, None), version_id=ids[2])


def lose(kafka: str, topic: str) -> None:
    """All copies of it."""
    admin = AdminClient({"bootstrap.servers": kafka})
    (gone,) = admin.delete_topics([topic], operation_timeout=10).values()
    gone.result(20)


class ReaderProcess(ServiceProcess):
    """`python -m chronofact.reader`."""

    service = "reader"


def projector(world: Rebuilding) -> ProjectorProcess:
    return ProjectorProcess(world.kafka, world.topic, world.database, **LIMITS)


class Killed(Exception):
    """What ends a refill before its time."""


class Short(Filling):
    """A topic that is filled up to its thousandth message."""

    taken = 0

    def append(self, partition: int, message: Stamped) -> None:
        self.taken += 1
        if self.taken > 1_000:
            raise Killed
        super().append(partition, message)


def begin_to_refill(world: Rebuilding) -> None:
    """A refill that is killed while some of its messages are still under way."""
    with (
        refill_source(world.database, "p1") as source,
        Short(world.kafka, facts_topic(world.topic)) as filling,
        pytest.raises(Killed),
    ):
        Refiller(source, filling, partitions=12).refill()


def test_a_lost_topic_is_made_again_as_the_page_says(kafka: str, topic_name: str, database: str) -> None:
    create_topics(kafka, topic_name)
    topic_id = Admin(kafka).state(facts_topic(topic_name)).topic_id
    messages = [*kinds(), *Nasty(11, topic_id).messages]
    append(kafka, topic_name, messages)
    world = Rebuilding(kafka, topic_name, database)
    with world.walk(PAGE) as walk:
        with projector(world):
            await_offsets(database, len(messages))
        walk.step("chronofact doctor", code=3)  # no writer runs here
        walk.step("chronofact topics")
        assert world.ask("select count(*) from p1.version where recorded_at < '2010-01-01'") == 2
        beyond = Position(
            topic_id, {0: world.ask("select next_offset from chronofact.checkpoint where partition = 0") + 5}
        )
        lose(kafka, topic_name)
        told = walk.step("chronofact topics refill", code=1, but=lambda line: line.replace("POSITION", beyond.encode()))
        assert "lost for certain: 5 messages" in told
        unwilling = walk.execute(f"chronofact topics refill --from p1 --after {beyond.encode()}")
        assert (unwilling.returncode, "refill_lacks" in unwilling.stderr) == (1, True)
        begin_to_refill(world)
        told = walk.step("chronofact topics refill", but=lambda line: f"{line} --after {beyond.encode()} --json")
        refilled = json.loads(told)
        assert refilled["lost"]["at_least"] == 5
        assert 0 < refilled["found"] <= 1_000 < refilled["messages"]
        walk.step("chronofact topics")
        with (
            projector(world),
            world.reconciler(**LIMITS) as reconciler,
            ReaderProcess(kafka, topic_name, database) as reader,
        ):
            world.ready(reconciler)
            walk.settle(reconciler_port=world.port)
            walk.step("chronofact rebuild start")
            told = walk.step("chronofact verify p1 p2", but=lambda line: f"{line} --json")
            assert json.loads(told)["identical"]
            assert json.loads(told)["facts"] == world.ask("select count(*) from p1.fact")
            walk.step("chronofact switch")
            refused = httpx.get(
                f"http://127.0.0.1:{reader.port}/v1/facts", params={"subject": "all kinds", "after": beyond.encode()}
            )
            assert refused.json()["error"]["code"] == "position_of_other_topic"
            walk.step("chronofact retire")
    assert world.ask(UNCOUNTED) == 0
