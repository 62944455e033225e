"""``chronofact parked`` on real Kafka and Postgres; the runbook itself is walked by test_work_pages."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch
from uuid import UUID

import orjson
import psycopg
import pytest

from chronofact.cli.__main__ import main
from chronofact.kafka.admin import create_topics
from tests.integration.projecting import ProjectorProcess, append, await_offsets
from tests.integration.saying import Fact, Said
from tests.integration.writing import WriterProcess

POISON = b"\xc3\x01 no event"
ADA, BOB = Fact("ada"), Fact("bob")


class Ran(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


class Stack:
    """Writer and projector in processes, and the command line told where they are."""

    def __init__(self, kafka: str, topic: str, database: str, folder: Path, writer: WriterProcess) -> None:
        self.kafka, self.topic, self.database, self.folder = kafka, topic, database, folder
        self.projector: ProjectorProcess | None = None
        self._environ = {
            "CHRONOFACT_POSTGRES": database,
            "CHRONOFACT_WRITER_PORT": str(writer.http.base_url.port),
            "CHRONOFACT_AUTH": "off",
            "COLUMNS": "200",
        }

    def run(self, *arguments: str) -> Ran:
        """`chronofact …` in this process."""
        out, err = StringIO(), StringIO()
        with (
            patch.object(sys, "argv", ["chronofact", *arguments]),
            patch.dict(os.environ, self._environ),
            chdir(self.folder),
            redirect_stdout(out),
            redirect_stderr(err),
            pytest.raises(SystemExit) as left,
        ):
            main()
        assert isinstance(left.value.code, int)
        return Ran(left.value.code, out.getvalue(), err.getvalue())

    def json(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        ran = self.run(*arguments, "--json")
        assert ran.returncode == code, ran.stderr
        told: dict[str, Any] = orjson.loads(ran.stdout)
        return told

    def places(self) -> list[str]:
        messages = self.json("parked", "list")["messages"]
        return [f"{one['partition']}:{one['offset']}" for one in messages]

    def heal(self, fact: Fact, value: str) -> None:
        """As a newer projector would read it."""
        with psycopg.connect(self.database, autocommit=True) as connection:
            connection.execute(
                "update chronofact.parked_event set message = %s where fact_id = %s and code <> 'held'",
                (fact.asserts(value).value, UUID(bytes=fact.fact_id)),
            )

    def events_of(self, fact: Fact) -> int:
        with psycopg.connect(self.database) as connection:
            found = connection.execute(
                "select event_seq from p1.fact where fact_id = %s", (UUID(bytes=fact.fact_id),)
            ).fetchone()
        return 0 if found is None else int(found[0])


@pytest.fixture
def stack(kafka: str, topic_name: str, database: str, tmp_path: Path) -> Iterator[Stack]:
    create_topics(kafka, topic_name)
    with WriterProcess(kafka, topic_name) as writer, ProjectorProcess(kafka, topic_name, database) as projector:
        made = Stack(kafka, topic_name, database, tmp_path, writer)
        made.projector = projector
        total = append(kafka, topic_name, [poison(ADA), *(ADA.asserts(number) for number in range(3)), poison(BOB)])
        total += append(kafka, topic_name, [Said(5, b"no fact", POISON, b"", None)])
        await_offsets(database, total)
        yield made


def poison(fact: Fact) -> Said:
    return Said(fact.partition, fact.fact_id, POISON, b"", None)


def test_a_release_applies_what_can_be_and_says_what_stays(stack: Stack) -> None:
    stack.heal(ADA, "healed")
    told = stack.json("parked", "release", str(UUID(bytes=ADA.fact_id)))
    assert told == {"asked": 4, "released": 4, "left": 0, "code": None, "reason": None}
    assert stack.events_of(ADA) == 4
    rest = stack.json("parked", "release", "--all", code=1)
    assert (rest["asked"], rest["released"], rest["left"], rest["code"] is not None) == (2, 0, 2, True)
    listed = stack.json("parked", "list")
    assert (listed["parked"], listed["facts"]) == (2, 1)
    assert {one["attempts"] for one in listed["messages"]} == {2}
    for place in stack.places():
        assert stack.json("parked", "drop", place, "--reason", "no use", "--by", "ada")["left"] == 0
    assert stack.places() == []
    assert stack.json("parked", "release", "--all")["asked"] == 0
    assert {one["dropped_by"] for one in stack.json("parked", "list", "--dropped")["dropped"]} == {"ada"}


def test_what_can_not_be_done_names_the_remedy(stack: Stack) -> None:
    for arguments, code, told in (
        (("drop", "11:999", "--reason", "no use"), 1, "is not parked"),
        (("drop", "nonsense", "--reason", "no use"), 2, "PARTITION:OFFSET"),
        (("drop", f"{ADA.partition}:0"), 2, "--reason"),
        (("drop", f"{ADA.partition}:0", "--reason", ""), 1, "reason"),
        (("show", "1:99999999999999999999"), 2, "PARTITION:OFFSET"),
        (("show", "11:999"), 1, "parked list"),
        (("release",), 2, "--all"),
        (("release", "nonsense"), 2, "fact's id"),
        (("release", str(UUID(int=7))), 1, "parked list"),
        (("list", "--fact", "nonsense"), 2, "fact's id"),
        (("list", "--projection", "p9"), 1, "there are p1"),
    ):
        ran = stack.run("parked", *arguments)
        assert (ran.returncode, told in ran.stdout + ran.stderr) == (code, True), (arguments, ran.stdout, ran.stderr)
        assert "Traceback" not in ran.stderr


def test_many_are_dropped_by_one_command_and_what_waited_is_applied(stack: Stack) -> None:
    assert stack.run("parked", "drop", "--all", "--reason", "no use").returncode == 2
    told = stack.json("parked", "drop", "--code", "value_missing", "--reason", "garbage")
    assert (told["dropped"], told["left"]) == (0, 6)
    under = stack.run("parked", "release", "--code", "value_missing")
    assert (under.returncode, under.stdout.strip()) == (0, "nothing is parked under value_missing")
    code = stack.json("parked", "list")["messages"][0]["code"]
    told = stack.json("parked", "drop", "--code", code, "--partition", str(ADA.partition), "--reason", "garbage")
    assert told == {"dropped": 1, "released": 3, "left": 2}
    assert stack.events_of(ADA) == 3
    ran = stack.run("parked", "drop", "--all", "--yes", "--reason", "garbage")
    assert (ran.returncode, "dropped 2 messages" in ran.stdout) == (0, True), ran
    assert stack.places() == []
    assert {one["reason"] for one in stack.json("parked", "list", "--dropped")["dropped"]} == {"garbage"}


def test_a_place_where_nothing_is_parked_is_told_once(stack: Stack) -> None:
    ran = stack.run("parked", "show", "11:999")
    assert ran.stderr.splitlines() == ["11:999 is not parked", "chronofact parked list shows what is parked"]


def test_the_doctor_points_at_what_is_parked(stack: Stack) -> None:
    checks = orjson.loads(stack.run("doctor", "--json").stdout)["checks"]
    (parked,) = [one for one in checks if one["name"] == "parked"]
    assert (parked["ok"], parked["remedy"]) == (False, "chronofact parked list")
    assert "6 messages" in parked["detail"]


def test_without_a_projector_an_ask_stays_and_is_done_once_it_runs(stack: Stack) -> None:
    assert stack.projector is not None
    assert stack.projector.stop() == 0
    stack.heal(ADA, "healed")
    ran = stack.run("parked", "release", f"{ADA.partition}:0", "--wait", "0.5")
    assert (ran.returncode, "doctor" in ran.stderr) == (3, True)
    with ProjectorProcess(stack.kafka, stack.topic, stack.database) as projector:
        projector.await_event("released")
        assert stack.events_of(ADA) == 4
        assert projector.await_event("holding")["messages"] in {2, 6}
