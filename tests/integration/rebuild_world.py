"""A reconciler over real servers, and ``chronofact rebuild`` beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import Any

import psycopg

from tests.integration.pages import Walk
from tests.integration.projecting import WAIT_S, ProjectorProcess, ServiceProcess

OVER = {"ready", "failed", "cancelled"}


class ReconcilerProcess(ServiceProcess):
    """`python -m chronofact.reconciler`."""

    service = "reconciler"


class Rebuilding:
    """Servers, a topic, and what runs over them."""

    def __init__(self, kafka: str, topic: str, database: str) -> None:
        self.kafka, self.topic, self.database = kafka, topic, database
        self.port = 0

    def reconciler(self, **settings: object) -> ReconcilerProcess:
        return ReconcilerProcess(self.kafka, self.topic, self.database, check_daily_at="", **settings)

    def projector(self, *feeds: str, **settings: object) -> ProjectorProcess:
        """One that feeds these alone; all that are to be fed where none is named."""
        name = "-".join(("of", *(feeds or ("all",))))
        settings = {"feeds": ",".join(feeds), "projector_name": name, **settings}
        return ProjectorProcess(self.kafka, self.topic, self.database, **settings)

    def ready(self, reconciler: ReconcilerProcess) -> None:
        reconciler.await_readyz()
        self.port = reconciler.port

    def walk(self, page: str) -> Walk:
        """The commands of a page, executed here."""
        return Walk(page, kafka=self.kafka, facts_topic=self.topic, postgres=self.database, reconciler_port=self.port)

    def command(self, *said: str) -> subprocess.Popen[str]:
        line = [sys.executable, "-m", "chronofact.cli", "rebuild", *said]
        line += ["--reconciler", f"http://127.0.0.1:{self.port}"]
        return subprocess.Popen(line, env={**os.environ}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def told(self, *said: str) -> tuple[int, dict[str, Any]]:
        """A command with --json: how it ended, and its last line, or what it complained of."""
        return ended(self.command(*said, "--json"))

    def await_state(self, rebuild: int, *states: str) -> dict[str, Any]:
        """Until it is in one of them, however short: as the database has it; then as the command tells it."""
        deadline = time.monotonic() + WAIT_S
        with psycopg.connect(self.database, autocommit=True) as connection:
            while connection.execute("select to_regclass('chronofact.rebuild')").fetchone() == (None,):
                assert time.monotonic() < deadline, "its table was never made"
                time.sleep(0.01)
            asked = "select state from chronofact.rebuild where rebuild_id = %s"
            while (found := connection.execute(asked, (rebuild,)).fetchone() or ("",))[0] not in states:
                assert time.monotonic() < deadline, found
                assert found[0] not in OVER, found
                time.sleep(0.01)
        return self.told("status", str(rebuild))[1]

    def await_words(self, rebuild: int, words: str) -> dict[str, Any]:
        """Until it waits for something that is told so."""
        deadline = time.monotonic() + WAIT_S
        while words not in ((found := self.told("status", str(rebuild))[1])["waiting"] or ""):
            assert time.monotonic() < deadline, found
            time.sleep(0.1)
        return found

    def execute(self, statement: str) -> None:
        """One statement that changes something."""
        with psycopg.connect(self.database) as connection:
            assert connection.execute(statement).rowcount > 0

    def ask(self, statement: str) -> Any:
        """The first cell of what Postgres answers."""
        with psycopg.connect(self.database, autocommit=True) as connection:
            found = connection.execute(statement).fetchone()
        return None if found is None else found[0]

    def left(self, projection: str) -> dict[str, int]:
        """Lines of a projection, table by table; only those that there are."""
        counted = {
            "schema": f"select count(*) from pg_namespace where nspname = '{projection}'",
            "projection": f"select count(*) from chronofact.projection where name = '{projection}'",
            **{
                table: f"select count(*) from chronofact.{table} where projection = '{projection}'"
                for table in ("checkpoint", "parked_event", "released_event", "dropped_event", "tenant_route")
            },
            **{table: f"select count(*) from chronofact.{table}" for table in _PARTS},
        }
        found = {name: self.ask(statement) for name, statement in counted.items()}
        return {name: lines for name, lines in found.items() if lines}


_PARTS: Iterable[str] = ("rebuild_part", "rebuild_index", "rebuild_aside")


def ended(process: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
    """How a command ended, and its last line as JSON."""
    out, complaint = process.communicate(timeout=45)
    lines = out.splitlines()
    return process.returncode, json.loads(lines[-1]) if lines else {"complaint": complaint}
