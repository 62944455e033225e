"""docs/operations/lost-database.md, as it is written: a database is dropped under all services, and comes back from the topic."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import httpx
import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from chronofact.contracts.topics import facts_topic
from chronofact.kafka.admin import Admin, create_topics
from tests.contract.writing import assertion
from tests.integration.comparing import assert_alike, told
from tests.integration.everything import answers, everything, moments, row_hashes, states
from tests.integration.nasty import Nasty
from tests.integration.pages import Walk
from tests.integration.projecting import WAIT_S, ServiceProcess, append, await_offsets
from tests.integration.rebuild_world import Rebuilding
from tests.integration.saying import Fact
from tests.integration.writing import WriterProcess

EASY: Final = {"parked_share_max": 1.0, "parked_row_max": 1_000_000}
ACME, GLOBEX = UUID(int=0xACE), UUID(int=0x610BE)
KINDS: Final = {
    *("FactAsserted", "FactActivated", "FactSuperseded", "FactEnded", "FactRevoked"),
    *("ConflictResolved", "RelationDeclared", "RelationsChecked"),
}
LATER: Final = Fact("later", tenant=ACME)


class ReaderProcess(ServiceProcess):
    """`python -m chronofact.reader`."""

    service = "reader"


def test_all_of_it_comes_back_from_the_topic_alone(kafka: str, postgres: str, topic_name: str, database: str) -> None:
    create_topics(kafka, topic_name)
    seed = int.from_bytes(os.urandom(4))
    print(f"seed {seed}")
    nasty = Nasty(seed, Admin(kafka).state(facts_topic(topic_name)).topic_id).messages
    world = Rebuilding(kafka, topic_name, database)
    with (
        WriterProcess(kafka, topic_name) as writer,
        world.projector(**EASY),
        world.reconciler(rebuild_workers=1, **EASY) as reconciler,
        ReaderProcess(kafka, topic_name, database) as reader,
        world.walk("operations/lost-database.md") as walk,
    ):
        writer.await_ready()
        world.ready(reconciler)
        walk.settle(reconciler_port=world.port)
        said = [*nasty, *everything(ACME), *everything(GLOBEX)]
        park_and_release(world, walk, append(kafka, topic_name, said))
        as_of = moments(database)
        before = all_of(database, as_of)
        assert {line[4] for line in before["event"]} == KINDS
        assert {name for name, lines in before.items() if not lines} <= {"hash of label"}
        lose(postgres, database)
        fact_id, position = write(writer)
        unready(reader)
        name = str(conninfo_to_dict(database)["dbname"])
        walk.step("createdb", but=lambda line: line.replace("$SERVER", postgres).replace(" chronofact", f" {name}"))
        walk.step("chronofact migrate --no-projection")
        assert "by the independent check" in walk.step("chronofact rebuild start")
        assert "is ready" in walk.step("chronofact rebuild status")
        assert "no divergences" in walk.step("chronofact check run")
        assert "held" in walk.step("chronofact parked list")
        assert "p1" in walk.step("chronofact routes")
        answered(reader, position)
        after = all_of(database, as_of)
    assert [line[0] for line in after["fact"] if line not in before["fact"]] == [fact_id]
    without = {name: [line for line in lines if fact_id not in line] for name, lines in after.items()}
    assert_alike(before, without)


def all_of(database: str, as_of: Sequence[datetime]) -> dict[str, list[tuple[Any, ...]]]:
    """Lines by table, a hash of each whole line, each fact's state hash, and what it answers."""
    hashes = {f"hash of {table}": lines for table, lines in row_hashes(database, "p1").items()}
    found = {"state": states(database, "p1"), "answer": answers(database, as_of)}
    return {**told(database, "p1"), **hashes, **found}


def park_and_release(world: Rebuilding, walk: Walk, said: int) -> None:
    """A message that the database refuses for a while, and what waits behind it, released once it does not."""
    rule = "alter table p1.version add constraint not_yet check (source_id <> 'later')"
    with psycopg.connect(world.database) as connection:
        connection.execute(rule)
    messages = [LATER.asserts("npm"), LATER.asserts("pnpm", source="later"), LATER.asserts("yarn", source="last")]
    await_offsets(world.database, said + append(world.kafka, world.topic, messages))
    assert world.ask("select count(*) from chronofact.parked_event where code = 'constraint_broken'") == 1
    with psycopg.connect(world.database) as connection:
        connection.execute("alter table p1.version drop constraint not_yet")
    ran = walk.execute("chronofact parked release --code constraint_broken")
    assert (ran.returncode, "released 2 of 2" in ran.stdout) == (0, True), ran


def lose(postgres: str, database: str) -> None:
    """The database is dropped under whoever uses it."""
    name = sql.Identifier(str(conninfo_to_dict(database)["dbname"]))
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(sql.SQL("drop database {} with (force)").format(name))


def write(writer: WriterProcess) -> tuple[UUID, str]:
    """Something said while there is no database; its fact and position."""
    told = writer.send([assertion(subject="meanwhile")])
    assert told.status_code == 200, told.text
    body = told.json()
    return UUID(body["results"][0]["fact_id"]), str(body["position"])


def unready(reader: ReaderProcess) -> None:
    deadline = time.monotonic() + WAIT_S
    while not (found := reader.readyz()):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def answered(reader: ReaderProcess, position: str) -> None:
    """By the reader that ran all the time, for a position of before."""
    reader.await_readyz()
    asked = {"subject": "meanwhile", "key": "package_manager", "after": position}
    found = httpx.get(f"http://127.0.0.1:{reader.port}/v1/resolve", params=asked).json()
    assert (found["value"], found["freshness"]["projection"]) == ("npm", "p1"), found
