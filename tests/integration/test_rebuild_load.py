"""What a rebuild loads is what the projector makes of the same log, on real Kafka and Postgres, however often it is killed."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from chronofact.contracts.topics import facts_topic
from chronofact.kafka.admin import Admin, create_topics
from chronofact.postgres.migrate import migrate
from tests.integration.comparing import assert_alike, told
from tests.integration.nasty import Nasty
from tests.integration.projecting import ProjectorProcess, append, await_offsets
from tests.integration.rebuilding import keep_killing, loaded, rebuilt, settings_for, taken

EASY = {"parked_share_max": 1.0, "parked_row_max": 1_000_000}


@pytest.fixture
def nasty(kafka: str, topic_name: str) -> Nasty:
    create_topics(kafka, topic_name)
    seed = int.from_bytes(os.urandom(4))
    print(f"seed {seed}")
    made = Nasty(seed, Admin(kafka).state(facts_topic(topic_name)).topic_id, with_unknown=True)
    append(kafka, topic_name, made.messages)
    return made


def test_it_is_what_the_projector_makes(
    kafka: str, topic_name: str, database: str, empty_database: str, nasty: Nasty
) -> None:
    with ProjectorProcess(kafka, topic_name, database, **EASY):
        await_offsets(database, len(nasty.messages))
    live = told(database, "p1")
    assert live["dropped"]
    assert len({line[-1] for line in live["parked"]}) > 8
    beside = rebuilt(settings_for(kafka, topic_name, database, **EASY))
    assert beside.messages == len(nasty.messages)
    assert_alike(live, told(database, "p2"))
    # the database was lost: nobody remembers what was dropped
    migrate(empty_database, projection=None)
    alone = rebuilt(settings_for(kafka, topic_name, empty_database, **EASY))
    assert_alike(live, told(empty_database, "p1"))
    assert alone == beside
    assert (alone.events, alone.facts, alone.parked, alone.dropped) == tuple(
        len(live[name]) for name in ("event", "fact", "parked", "dropped")
    )
    assert next_offsets(database, "p2") == next_offsets(empty_database, "p1") == next_offsets(database, "p1")


def next_offsets(database: str, projection: str) -> list[tuple[int, int]]:
    with psycopg.connect(database) as connection:
        return connection.execute(
            "select partition, next_offset from chronofact.checkpoint where projection = %s order by partition",
            (projection,),
        ).fetchall()


def test_it_goes_on_after_any_kill(kafka: str, topic_name: str, database: str, nasty: Nasty) -> None:
    with ProjectorProcess(kafka, topic_name, database, **EASY):
        await_offsets(database, len(nasty.messages))
    small = {"rebuild_bucket_bytes": 20_000, "rebuild_memory_bytes": 60_000}
    settings = settings_for(kafka, topic_name, database, **EASY, **small)
    stop = threading.Event()

    pauses_s = [0.7 + number / 10 for number in range(12)]
    with ThreadPoolExecutor(1) as pool, taken(database) as rebuild:
        killing = pool.submit(keep_killing, stop, pauses_s, database)
        try:
            loaded(settings, rebuild)
        finally:
            stop.set()
    assert killing.result() >= 2
    assert_alike(told(database, "p1"), told(database, "p2"))
