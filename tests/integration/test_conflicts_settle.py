"""`chronofact conflicts list | settle`, `chronofact context` and the client, end to end over the real services."""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any, NamedTuple
from unittest.mock import patch
from uuid import UUID, uuid4

import httpx
import orjson
import pytest

from chronofact.cli.__main__ import main
from chronofact.client import Client, Conflict, Unknown, Value
from chronofact.kafka.admin import create_topics
from tests.integration.fixtures_stack import database_like
from tests.integration.projecting import ProjectorProcess, ServiceProcess

PATIENCE_MS = 30_000


class WriterProcess(ServiceProcess):
    """`python -m chronofact.writer`."""

    service = "writer"


class ReaderProcess(ServiceProcess):
    """`python -m chronofact.reader`."""

    service = "reader"


class Ran(NamedTuple):
    """How a command ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


class Services(NamedTuple):
    """Where they are."""

    writer: str
    reader: str

    def client(self) -> Client:
        return Client(writer=self.writer, reader=self.reader)

    def chronofact(self, *words: str) -> Ran:
        """The command in this process, with nobody at a terminal."""
        out, err, typed = StringIO(), StringIO(), StringIO()
        with (
            patch.multiple(sys, argv=["chronofact", *self._words(words)], stdin=typed),
            patch.dict(os.environ, COLUMNS="200"),
            redirect_stdout(out),
            redirect_stderr(err),
            pytest.raises(SystemExit) as left,
        ):
            main()
        assert isinstance(left.value.code, int)
        return Ran(left.value.code, out.getvalue(), err.getvalue())

    def at_terminal(self, typed: str, *words: str) -> str:
        """What a person sees who types that."""
        master, slave = pty.openpty()
        os.write(master, typed.encode())
        line = [sys.executable, "-m", "chronofact.cli", *self._words(words)]
        environ = {name: value for name, value in os.environ.items() if not name.startswith("CHRONOFACT_")}
        with os.fdopen(slave) as terminal:
            ran = subprocess.run(
                line,
                stdin=terminal,
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
                env={**environ, "COLUMNS": "200"},
            )
        os.close(master)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def _words(self, words: tuple[str, ...]) -> list[str]:
        return [*words, "--reader", self.reader, *(["--writer", self.writer] if "settle" in words else [])]


@pytest.fixture(scope="module")
def services(kafka: str, postgres: str, database_template: str) -> Iterator[Services]:
    topic = f"test.facts.{uuid4().hex}"
    create_topics(kafka, topic)
    with (
        database_like(postgres, database_template) as database,
        WriterProcess(kafka, topic, database) as writer,
        ProjectorProcess(kafka, topic, database) as projector,
        ReaderProcess(kafka, topic, database) as reader,
    ):
        for one in (writer, projector, reader):
            one.await_readyz()
        yield Services(f"http://127.0.0.1:{writer.port}", f"http://127.0.0.1:{reader.port}")


@pytest.fixture
def client(services: Services) -> Iterator[Client]:
    with services.client() as client:
        yield client


def quarrel(client: Client, subject: str, *values: str, scope: str = "user:self") -> list[UUID]:
    """Values that nobody has settled, once they show as such."""
    sent = [
        client.assert_fact(subject, "lives_in", value, source=f"letter of {value}", scope=scope) for value in values
    ]
    found = client.resolve(subject, "lives_in", scope=scope, wait_ms=PATIENCE_MS)
    assert isinstance(found, Conflict)
    assert client.conflicts(subject=subject, wait_ms=PATIENCE_MS)["conflicts"]
    return [one.version_id for one in sent if one.version_id]


def pair_of(client: Client, subject: str) -> dict[str, Any]:
    (edge,) = client.conflicts(subject=subject, wait_ms=PATIENCE_MS)["conflicts"]
    found: dict[str, Any] = edge
    return found


def test_a_conflict_is_listed_with_its_command_and_that_command_settles_it(services: Services, client: Client) -> None:
    quarrel(client, "ada", "Paris", "Rome", scope="repo:acme/web")
    listed = services.chronofact("conflicts", "list", "ada")
    assert listed.returncode == 0, listed.stderr
    for shown in ("Paris", "Rome", "letter of Paris", "chronofact conflicts settle --fact"):
        assert shown in listed.stdout
    edge = pair_of(client, "ada")
    assert edge["settle_command"] in listed.stdout.splitlines()
    assert shlex.split(edge["settle_command"], comments=True) == re.findall(r"[\w-]+", edge["settle_command"])
    words = edge["settle_command"].split()
    settled = services.chronofact(*words[1:], "--keep", "left", "--reason", "asked", "--by", "ada", "--json")
    assert settled.returncode == 0, settled.stderr
    told = orjson.loads(settled.stdout)
    assert told["answer"]["value"] == edge["left"]["value"]
    assert told["settled"][0]["counts"] is True
    (after,) = client.conflicts(subject="ada")["conflicts"]
    assert (after["relation"], after["decision"]["decided_by"], after["decision"]["reason"]) == (
        "RESOLVED",
        "ada",
        "asked",
    )
    nothing = services.chronofact("conflicts", "ada")
    assert (nothing.returncode, nothing.stdout.strip()) == (0, "no conflicts")
    everything = services.chronofact("conflicts", "ada", "--relation", "all")
    assert "ada keeps one" in everything.stdout


def test_who_sits_at_a_terminal_sees_both_sides_and_is_asked(services: Services, client: Client) -> None:
    quarrel(client, "bob", "Oslo", "Bergen")
    seen = services.at_terminal("x\nr\n", "conflicts", "settle", "bob", "lives_in")
    said = "'x' is none of them: type l for the first, r for the second, n or s"
    for shown in ("Oslo", "Bergen", "keep (l)eft, (r)ight, (n)either, or (s)kip", said, "answer"):
        assert shown in seen
    found = client.resolve("bob", "lives_in")
    assert isinstance(found, Value)
    assert found.value == pair_of(client, "bob")["right"]["value"]


def test_what_is_skipped_stays_as_it_is(services: Services, client: Client) -> None:
    quarrel(client, "sam", "Oslo", "Bergen")
    services.at_terminal("s\n", "conflicts", "settle", "sam", "lives_in")
    assert pair_of(client, "sam")["relation"] == "OPEN"


def test_of_several_conflicts_each_is_numbered(services: Services, client: Client) -> None:
    quarrel(client, "tom", "Oslo", "Bergen", "Bodø")
    seen = services.at_terminal("s\ns\ns\n", "conflicts", "settle", "tom", "lives_in")
    assert [f"{number} of 3\n" in seen for number in (1, 2, 3)] == [True] * 3


def test_one_version_is_kept_against_all_others(services: Services, client: Client) -> None:
    kept, *_ = quarrel(client, "cleo", "Rome", "Cairo", "Alexandria")
    refused = services.chronofact("conflicts", "settle", "cleo", "lives_in", "--keep", "left")
    assert refused.returncode == 2
    assert "3 conflicts" in refused.stderr
    stranger = services.chronofact("conflicts", "settle", "cleo", "lives_in", "--keep", str(uuid4()))
    assert stranger.returncode == 2
    settled = services.chronofact("conflicts", "settle", "cleo", "lives_in", "--keep", str(kept), "--json")
    assert settled.returncode == 0, settled.stderr
    told = orjson.loads(settled.stdout)
    assert (len(told["settled"]), told["answer"]["value"]) == (2, "Rome")


def test_a_settled_one_is_decided_anew_only_when_asked_to(services: Services, client: Client) -> None:
    quarrel(client, "dora", "Lima", "Cusco")
    first = client.settle("dora", "lives_in", *_ids(client, "dora"), keep=None, by="dora", wait_ms=PATIENCE_MS)
    assert first.counts is True
    assert isinstance(first.answer, Unknown)
    line = ["conflicts", "settle", "dora", "lives_in", "--keep", "right", "--json"]
    refused = services.chronofact(*line)
    assert (refused.returncode, "no open conflict" in refused.stderr, "--again" in refused.stderr) == (1, True, True)
    again = services.chronofact(*line, "--again")
    assert again.returncode == 0, again.stderr
    assert orjson.loads(again.stdout)["answer"]["value"] == pair_of(client, "dora")["right"]["value"]


def test_an_earlier_decision_does_not_pass_for_the_one_that_counts(client: Client) -> None:
    quarrel(client, "eve", "Bonn", "Bern")
    left, right = _ids(client, "eve")
    kept = client.settle("eve", "lives_in", left, right, keep=left, wait_ms=PATIENCE_MS)
    late = client.settle(
        "eve", "lives_in", left, right, keep=right, decided_at="2020-01-01T00:00:00Z", wait_ms=PATIENCE_MS
    )
    assert (kept.counts, late.counts) == (True, False)
    assert isinstance(late.answer, Value)
    assert str(late.answer.version_id) == left
    client.revoke("eve", "lives_in", event_id=kept.accepted.event_id)
    assert pair_of(client, "eve")["decision"]["keep"] == right, "taken back, it gives way to the one before"


def test_a_decision_over_http_may_come_before_its_versions(services: Services, client: Client) -> None:
    commands = [
        {"type": "assert", "subject": "finn", "key": "lives_in", "value": value, "source": {"id": value, "text": value}}
        for value in ("Turku", "Oulu")
    ]
    dry = httpx.post(f"{services.writer}/v1/events", params={"dry_run": "true"}, json=commands).json()
    turku, oulu = (one["version_id"] for one in dry["results"])
    decided = {
        "type": "resolve_conflict",
        "subject": "finn",
        "key": "lives_in",
        "left_version_id": turku,
        "right_version_id": oulu,
        "keep": oulu,
        "decided_at": "2026-07-01T00:00:00Z",
    }
    for said in (decided, *commands):
        client.send([said])
    found = client.resolve("finn", "lives_in", wait_ms=PATIENCE_MS)
    assert isinstance(found, Value)
    assert found.value == "Oulu"


def test_a_context_goes_into_a_prompt_and_its_questions_do_not(services: Services, client: Client) -> None:
    quarrel(client, "gil", "Nice", "Lyon")
    client.assert_fact("gil", "editor", "vim", source="chat")
    client.assert_fact("gil", "shell", "fish", source="guess", lifecycle="PROPOSED")
    context = client.context("gil", wait_ms=PATIENCE_MS)
    assert context.text == '- editor in user:self: "vim" (always; source "chat")'
    assert [(one.kind, one.fact.key) for one in context.questions] == [("conflict", "lives_in"), ("proposal", "shell")]
    assert context.settled[0].sources == ("chat",)
    shown = services.chronofact("context", "gil")
    assert "to ask:" in shown.stdout
    assert "Which holds for lives_in in user:self" in shown.stdout
    text = services.chronofact("context", "gil", "--text")
    assert text.stdout == context.text + "\n"
    (admit, _) = context.questions[1].body["settle"]
    client.send([admit["command"]])
    assert '"fish"' in client.context("gil", wait_ms=PATIENCE_MS).text


def _ids(client: Client, subject: str) -> tuple[str, str]:
    edge = pair_of(client, subject)
    return edge["left"]["version_id"], edge["right"]["version_id"]
