"""docs/operations/rebuild.md, step by step as it is written: a second projection, checked, switched to, the first one gone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.kafka.admin import create_topics
from tests.bench.workload import mixed
from tests.integration.projecting import WAIT_S, ProjectorProcess, append, await_offsets

PAGE: Final = Path(__file__).parents[2] / "docs" / "operations" / "rebuild.md"
FACTS, EVENTS = 60, 300


class Page:
    """The page's blocks in their order; each is taken once, and its first line must be what the test expects."""

    def __init__(self, kafka: str, topic: str, database: str) -> None:
        self.blocks = re.findall(r"```(sh|sql)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
        self.database = database
        self.environ = {name: said for name, said in os.environ.items() if not name.startswith("CHRONOFACT_")} | {
            "CHRONOFACT_KAFKA": kafka,
            "CHRONOFACT_POSTGRES": database,
            "CHRONOFACT_FACTS_TOPIC": topic,
            "CHRONOFACT_AUTH": "off",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }

    def taken(self, language: str, begins: str) -> str:
        """The next block."""
        found, text = self.blocks.pop(0)
        assert (found, text[: len(begins)]) == (language, begins)
        return str(text)

    def run(self, begins: str) -> str:
        """Runs the next block in a shell; what it printed."""
        text = self.taken("sh", begins)
        line = ["sh", "-e", "-c", text]
        return subprocess.run(line, env=self.environ, check=True, capture_output=True, text=True, timeout=WAIT_S).stdout

    def execute(self, begins: str) -> None:
        """Executes the next block as it stands."""
        with psycopg.connect(self.database, autocommit=True) as connection:
            connection.execute(self.taken("sql", begins))


def asked(database: str, statement: Any) -> list[Any]:
    with psycopg.connect(database) as connection:
        return connection.execute(statement).fetchall()


def await_level(database: str, statement: Any) -> None:
    deadline = time.monotonic() + WAIT_S
    while behind := asked(database, statement):
        assert time.monotonic() < deadline, behind
        time.sleep(0.1)


def routed(database: str) -> set[tuple[str]]:
    return set(asked(database, "select projection from chronofact.tenant_route"))


@pytest.mark.timeout(180)
def test_a_projection_is_rebuilt_by_hand(kafka: str, topic_name: str, database: str) -> None:
    create_topics(kafka, topic_name)
    append(kafka, topic_name, mixed(FACTS, EVENTS))
    page = Page(kafka, topic_name, database)
    answers = "select * from chronofact.memory_timeline order by fact_id, known_during, valid_during, kind"
    with ProjectorProcess(kafka, topic_name, database) as old:
        await_offsets(database, EVENTS)
        before = asked(database, answers)
        page.run("CHRONOFACT_PROJECTION=p2 chronofact migrate")
        assert (routed(database), asked(database, answers)) == ({("p1",)}, before)
        assert "chronofact projector" in page.taken("sh", "CHRONOFACT_PROJECTION=p2 CHRONOFACT_PROJECTOR_NAME=p2-1")
        level = page.taken("sql", "select a.partition")
        assert asked(database, level) != []
        with ProjectorProcess(kafka, topic_name, database, projection="p2", projector_name="p2-1"):
            await_level(database, level)
            assert "no divergences" in page.run("chronofact check run --projection p2")
            states = "select fact_id, event_seq, state_hash from {}.fact order by fact_id"
            assert asked(database, states.format("p2")) == asked(database, states.format("p1"))
            page.execute("insert into chronofact.tenant_route")
            page.execute("update chronofact.tenant_route")
            assert (routed(database), asked(database, answers)) == ({("p2",)}, before)
            assert asked(database, f"select chronofact.serves('p2', '{DEVELOPMENT_TENANT}')") == [(True,)]
            assert old.stop() == 0
            page.execute("update chronofact.projection set state = 'retired'")
            page.run("CHRONOFACT_PROJECTION=p2 chronofact migrate")
            page.execute("begin;\ndelete from chronofact.checkpoint")
    assert page.blocks == []
    assert before
    assert asked(database, answers) == before
    assert asked(database, "select name from chronofact.projection") == [("p2",)]
    assert asked(database, "select to_regnamespace('p1')::text") == [(None,)]
