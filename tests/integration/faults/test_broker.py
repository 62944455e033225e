"""The broker restarted, killed, and without room on its disk, and the leader of a cluster killed, under load."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from chronofact.kafka.admin import create_topics
from chronofact.kafka.replicas import Replicas, replicas
from tests.integration.faults.servers import Server, addresses, cluster_in, fill, kafka_in, may_mount, small_disk
from tests.integration.faults.services import site
from tests.integration.projecting import ServiceProcess
from tests.integration.rebuild_world import Rebuilding
from tests.integration.test_rebuild_kills import held_building

DISK_MB = 64
TOPIC = "memory.facts.v1"


@pytest.fixture
def broker(stack_folder: Path) -> Iterator[Server]:
    """A broker of the test's own."""
    made = kafka_in(stack_folder / "own")
    made.start()
    try:
        yield made
    finally:
        made.stop()


@pytest.mark.parametrize("how", ["kill", pytest.param("stop", marks=pytest.mark.soak)])
def test_a_broker_that_goes_and_comes_back(broker: Server, database: str, how: str) -> None:
    """A rebuild that has read some of the topic by then goes on as everything else does."""
    kafka = addresses([broker])
    create_topics(kafka, TOPIC)
    rebuild, hold = Rebuilding(kafka, TOPIC, database), held_building(database)
    with (
        site(kafka, TOPIC, database, topic_check_s=1) as here,
        here.projector() as projector,
        rebuild.reconciler() as reconciler,
    ):
        here.load.await_more(200)
        rebuild.ready(reconciler)
        assert rebuild.told("start", "--workers", "1")[0] == 0
        hold.__enter__()
        rebuild.await_state(1, "building")
        getattr(broker, how)()
        hold.__exit__(None, None, None)
        here.load.await_answer("outcome_unknown", "kafka_unreachable")
        here.writer.await_readyz("kafka_unreachable")
        await_hindered(projector)
        assert reconciler.await_event("hindered")["code"] == "kafka_unreachable"
        broker.start()
        here.writer.await_readyz()
        projector.await_readyz()
        here.load.await_more(200)
        assert rebuild.told("watch", "1")[1]["state"] == "ready"
        here.assert_agreed()
        assert here.load.sent_again


def await_hindered(process: ServiceProcess) -> None:
    """Until /readyz names something."""
    deadline = time.monotonic() + 60
    while not process.readyz():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.skipif(not may_mount(), reason="a small disk can't be mounted here")
def test_a_broker_without_room_takes_nothing_and_loses_nothing(stack_folder: Path, database: str) -> None:
    """Kafka gives its only log folder up at the first ENOSPC and leaves; started with room, it has what it acknowledged."""
    with small_disk(DISK_MB) as disk:
        broker = kafka_in(stack_folder / "own")
        home = disk / "kafka"
        home.mkdir()
        broker.node.folder.symlink_to(home)
        broker.start()
        try:
            kafka = addresses([broker])
            create_topics(kafka, TOPIC)
            with site(kafka, TOPIC, database, topic_check_s=1) as here, here.projector() as projector:
                here.load.await_more(200)
                ballast = fill(disk)
                here.load.await_answer("outcome_unknown")
                promised = len(here.load.acknowledged)
                await_left(broker)
                ballast.unlink()
                broker.stop()
                broker.start()
                projector.await_readyz()
                here.load.await_more(200)
                assert len(here.load.acknowledged) > promised
                here.assert_agreed()
        finally:
            broker.stop()


def await_left(server: Server) -> None:
    deadline = time.monotonic() + 60
    while server.is_running:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_the_leader_of_a_cluster_is_killed_within_a_batch(stack_folder: Path, database: str) -> None:
    """Three brokers, every message on two before it is acknowledged; each is killed once and comes back, the last one empty."""
    brokers = cluster_in(stack_folder)
    try:
        for one in brokers:
            one.start(wait=False)
        for one in brokers:
            one.wait_ready()
        kafka = addresses(brokers)
        create_topics(kafka, TOPIC)
        with site(kafka, TOPIC, database, topic_check_s=1) as here, here.projector() as projector:
            for killed in (1, 2, 3):
                here.load.await_more(300)
                broker = brokers[killed - 1]
                assert killed in leaders(kafka)
                broker.kill()
                here.load.await_more(300)
                await_replicas(kafka, Replicas(12, 0, 12))
                if killed == 3:
                    shutil.rmtree(broker.node.folder)
                broker.start()
                await_replicas(kafka, Replicas(12, 0, 0))
            here.load.await_more(200)
            projector.await_readyz()
            here.assert_agreed()
    finally:
        for one in brokers:
            one.stop()


def leaders(kafka: str) -> set[int]:
    found = AdminClient({"bootstrap.servers": kafka, "log_level": 2}).list_topics(TOPIC, timeout=10).topics[TOPIC]
    return {partition.leader for partition in found.partitions.values()}


def await_replicas(kafka: str, wanted: Replicas) -> None:
    deadline = time.monotonic() + 60
    while (found := replicas(kafka, TOPIC)) != wanted:
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
