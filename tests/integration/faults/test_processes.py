"""Every process killed, stopped and woken under load: right answers, and counts that agree."""

from __future__ import annotations

import time

import pytest

from chronofact.kafka.admin import create_topics
from tests.bench.workload import mixed
from tests.integration.faults.services import SESSION_S, site, stop_process, stop_within_a_batch, wake
from tests.integration.fixtures_stack import database_like
from tests.integration.projecting import ProjectorProcess, append, await_offsets


@pytest.fixture
def topic(kafka: str, topic_name: str) -> str:
    create_topics(kafka, topic_name)
    return topic_name


def test_a_killed_writer_and_projector_lose_nothing_that_was_acknowledged(
    kafka: str, topic: str, database: str
) -> None:
    with site(kafka, topic, database) as here, here.projector() as projector:
        here.load.await_more(300)
        await_offsets(database, 100)
        projector.kill()
        here.load.await_more(200)
        with here.projector() as again:
            here.replace_writer()
            here.load.await_more(300)
            here.assert_agreed()
            assert again.readyz() == []


def test_stopped_and_woken_processes_go_on_where_they_were(kafka: str, topic: str, database: str) -> None:
    with site(kafka, topic, database) as here, here.projector() as projector:
        here.load.await_more(200)
        with here.reader() as reader:
            reader.await_readyz()
            for process in (projector, here.writer, reader):
                stop_process(process)
                time.sleep(0.7)
                wake(process)
                here.load.await_more(100)
            assert reader.readyz() == []
            reader.kill()
        with here.reader() as again:
            again.await_readyz()
        here.assert_agreed()
        assert projector.readyz() == []


def test_a_zombie_that_stood_still_within_a_batch_writes_nothing_when_it_wakes(
    kafka: str, topic: str, database: str
) -> None:
    with site(kafka, topic, database) as here, here.projector("zombie") as zombie:
        zombie.await_event("claimed")
        here.load.await_more(300)
        stop_within_a_batch(zombie, database, "zombie")
        stopped_at = time.monotonic()
        with here.projector("heir") as heir:
            assert len(heir.await_event("claimed")["partitions"]) == 12
            print(f"taken over {time.monotonic() - stopped_at:.1f} s after it stopped")
            assert time.monotonic() - stopped_at < SESSION_S + 6
            here.load.await_more(300)
            wake(zombie)
            zombie.await_event("recovered")
            here.load.await_more(300)
            here.assert_agreed()
            assert heir.readyz() == zombie.readyz() == []


def test_two_memories_in_one_cluster_do_not_know_of_one_another(
    kafka: str, topic: str, postgres: str, database_template: str
) -> None:
    """Another topic, the same projection and the same names of members: the group must be another one."""
    other = f"{topic}.other"
    create_topics(kafka, other)
    with (
        database_like(postgres, database_template) as here,
        database_like(postgres, database_template) as there,
        ProjectorProcess(kafka, topic, here) as ours,
        ProjectorProcess(kafka, other, there) as theirs,
    ):
        for one, log, database in ((ours, topic, here), (theirs, other, there)):
            assert len(one.await_event("claimed")["partitions"]) == 12
            append(kafka, log, mixed(20, 200))
            await_offsets(database, 200)
        assert [len(one.events("claimed")) for one in (ours, theirs)] == [1, 1]
        assert not ours.events("hindered") + theirs.events("hindered")
