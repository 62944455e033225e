"""The runbooks of switching and of a wrong source: every command that they show is run, in their order."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from chronofact.cli.__main__ import app
from chronofact.cli.outcome import Failure
from chronofact.domain.identity import tenant_id_of
from chronofact.kafka.admin import create_topics
from tests.contract.memory_log import MemoryTopic
from tests.integration.pages import Walk, commands
from tests.integration.projecting import ProjectorProcess, append, await_offsets
from tests.integration.saying import Fact
from tests.integration.two_sides import Side, asked, routes, side_of, state_of, switch
from tests.integration.writing import WriterProcess

ACME = tenant_id_of("acme")
SOURCE = "import 2026-07-01"


def words_of(page: str) -> Iterator[list[str]]:
    """Without the first word."""
    for line in commands(f"operations/{page}"):
        name, *words = shlex.split(line)
        assert name == "chronofact"
        yield words


def run(*words: str) -> str:
    found = CliRunner().invoke(app, list(words))
    told = found.exception.message if isinstance(found.exception, Failure) else found.output
    assert found.exit_code == 0, (words, told)
    return found.output


def test_switch_and_back(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHRONOFACT_POSTGRES", database)
    monkeypatch.setenv("CHRONOFACT_KAFKA", "127.0.0.1:1")
    topic = MemoryTopic()
    topic.append([Fact("ada", tenant=ACME).asserts("npm")])
    first = Side(database, topic, "p1")
    first.project()
    first.close()
    with side_of(database, topic):
        wanted = {
            "routes": {None: "p1"},
            "switch acme": {None: "p1", ACME: "p2"},
            "switch --all": {None: "p2", ACME: "p2"},
            "rollback acme": {None: "p2", ACME: "p1"},
            "rollback --all": {None: "p1", ACME: "p1"},
            "routes --changes": {None: "p1", ACME: "p1"},
            "forced": {None: "p1", ACME: "p2"},
        }
        for words, (name, found) in zip(words_of("switch.md"), wanted.items(), strict=True):
            if name == "forced":
                asked(database, "update chronofact.projection set state = 'catching_up' where name = 'p2'")
            run(*words)
            assert routes(database) == found, name
    ((reason,),) = asked(database, "select reason from chronofact.route_change where is_forced")
    assert "outage 12" in reason


def test_shadow_and_letting_go(kafka: str, topic_name: str, database: str) -> None:
    create_topics(kafka, topic_name)
    topic = MemoryTopic()
    topic.append([Fact("ada", tenant=ACME).asserts("npm")])
    first = Side(database, topic, "p1")
    first.project()
    first.close()
    told: dict[str, Any] = {"kafka": kafka, "facts_topic": topic_name, "postgres": database}
    with side_of(database, topic, rule=2):
        with Walk("operations/shadow.md", **told) as walk:
            assert "p2 is compared with p1" in walk.step("chronofact shadow start")
            walk.step("chronofact shadow report")
        switch(database, "p2", force="nothing differs")
        with Walk("operations/feeding.md", rollback_window_s=1, projector_port=0, **told) as walk:
            with walk.begun("CHRONOFACT_FEEDS=p2") as projector:
                assert projector.stderr is not None
                assert '"event": "started"' in projector.stderr.readline()
            time.sleep(1)  # however fast that was, the rollback window is over then
            assert "p1 is retired" in walk.step("chronofact retire p1")
            assert state_of(database, "p1")[0] == "retired"
            assert "its tables are gone" in walk.step("chronofact retire p1 --drop")
            # what tenants read is meant where no projection is named, though p1 is the configured one
            checked = walk.execute("chronofact check run --no-log")
            assert (checked.returncode, "no divergences" in checked.stdout) == (0, True), checked
            assert walk.execute("chronofact parked list").returncode == 0
    assert asked(database, "select name from chronofact.projection") == [("p2",)]


def test_a_wrong_source(kafka: str, topic_name: str, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    create_topics(kafka, topic_name)
    with WriterProcess(kafka, topic_name) as writer, ProjectorProcess(kafka, topic_name, database):
        writer.await_ready()
        for name, said in (
            ("KAFKA", kafka), ("FACTS_TOPIC", topic_name), ("POSTGRES", database), ("AUTH", "off"),
            ("WRITER_PORT", str(writer.http.base_url.port)),
        ):  # fmt: skip
            monkeypatch.setenv(f"CHRONOFACT_{name}", said)
        facts = [Fact(f"someone {number}") for number in range(5)]
        append(kafka, topic_name, [one.asserts("npm", source=SOURCE) for one in facts])
        await_offsets(database, 5)
        told = [run(*words) for words in words_of("wrong-source.md")]
    assert "5 versions of 5 facts" in told[0]
    assert "nothing was sent" in told[0]
    assert "5 revoked, 0 rejected" in told[1]
    assert "applied" in told[1]
    last = orjson.loads(told[2])
    assert (last["versions"], last["already_revoked"]) == (0, 5)
