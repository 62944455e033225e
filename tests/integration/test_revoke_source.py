"""``chronofact revoke --source`` on real Kafka and Postgres: which versions, exactly once, and which facts it touches."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import orjson
import psycopg
import pytest

from chronofact.domain.events import Cardinality, Lifecycle
from chronofact.kafka.admin import create_topics
from tests.integration.projecting import ProjectorProcess, append, assert_counted_once, await_offsets
from tests.integration.saying import Fact, Said
from tests.integration.writing import WriterProcess

JUNE, JULY = "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"
OTHER = UUID(int=7)


class Stack:
    """Writer and projector in processes, and the command line told where they are."""

    def __init__(self, kafka: str, topic: str, database: str, writer: WriterProcess) -> None:
        self.kafka, self.topic, self.database = kafka, topic, database
        self.said = 0
        self._environ = {name: value for name, value in os.environ.items() if not name.startswith("CHRONOFACT_")} | {
            "CHRONOFACT_POSTGRES": database,
            "CHRONOFACT_KAFKA": kafka,
            "CHRONOFACT_FACTS_TOPIC": topic,
            "CHRONOFACT_WRITER_PORT": str(writer.http.base_url.port),
            "CHRONOFACT_AUTH": "off",
        }

    def tell(self, *said: Said) -> None:
        self.said += append(self.kafka, self.topic, said)
        await_offsets(self.database, self.said)

    def start(self, *words: str) -> subprocess.Popen[str]:
        line = [sys.executable, "-m", "chronofact.cli", "revoke", *words, "--json"]
        return subprocess.Popen(line, env=self._environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *words: str, code: int = 0) -> dict[str, Any]:
        process = self.start(*words)
        told, err = process.communicate(timeout=120)
        assert process.returncode == code, err
        body: dict[str, Any] = orjson.loads(told) if told else {"error": err}
        return body

    def revoke(self, source: str, *words: str) -> dict[str, Any]:
        return self.run("--source", source, "--reason", "it was wrong", "--yes", "--wait", *words)

    def asked(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database, autocommit=True) as connection:
            return connection.execute(statement, parameters).fetchall()

    def heads(self) -> dict[str, tuple[int, bytes]]:
        found = self.asked("select fact_id::text, event_seq, state_hash from p1.fact")
        return {fact_id: (event_seq, state) for fact_id, event_seq, state in found}

    def answer(self, fact: Fact) -> tuple[str, Any]:
        statement = "select kind, coalesce(value_json, values_json) from chronofact.resolve(%s::uuid, %s)"
        ((kind, value),) = self.asked(statement, UUID(bytes=fact.fact_id), "2026-08-01T00:00:00Z")
        return kind, value


@pytest.fixture
def stack(kafka: str, topic_name: str, database: str) -> Iterator[Stack]:
    create_topics(kafka, topic_name)
    with WriterProcess(kafka, topic_name) as writer, ProjectorProcess(kafka, topic_name, database):
        writer.await_ready()
        yield Stack(kafka, topic_name, database, writer)


def test_only_the_source_s_facts_are_touched_and_what_it_covered_holds_again(stack: Stack) -> None:
    ada, bob, eve = Fact("ada"), Fact("bob"), Fact("eve")
    wrong = ada.asserts("pnpm", JULY, source="chat")
    stack.tell(
        ada.asserts("npm", JUNE, JULY, source="mail"), wrong, bob.asserts("yarn", JUNE, source="mail"),
        eve.asserts("deno", JUNE, source="chat"), eve.asserts("deno", JUNE, source="mail"),
        Fact("ada", tenant=OTHER).asserts("pnpm", JULY, source="chat"),
        Fact("ada", "editor").asserts("vim", JUNE, source="chat", lifecycle=Lifecycle.PROPOSED),
    )  # fmt: skip
    before = stack.heads()
    dry = stack.run("--source", "chat", "--dry-run")
    assert (dry["versions"], dry["facts"], dry["revoked"], dry["dry_run"], dry["unseen"]) == (3, 3, 0, True, 0)
    assert stack.heads() == before
    found = stack.revoke("chat")
    assert (found["versions"], found["facts"], found["revoked"], found["rejected"]) == (3, 3, 3, 0)
    assert found["applied"] is True
    assert stack.answer(ada) == ("unknown", None)
    assert stack.answer(eve) == ("value", "deno"), "another source says so, too"
    assert stack.answer(Fact("ada", tenant=OTHER)) == ("value", "pnpm"), "another tenant's source of that name"
    moved = {fact_id for fact_id, head in stack.heads().items() if head != before[fact_id]}
    assert moved == {str(UUID(bytes=one.fact_id)) for one in (ada, eve, Fact("ada", "editor"))}
    ((reason,),) = stack.asked(
        "select distinct canonical_payload::json ->> 'reason' from p1.event where event_type = 'FactRevoked'"
    )
    assert reason == "it was wrong"
    again = stack.revoke("chat")
    assert (again["versions"], again["already_revoked"], again["revoked"], again["position"]) == (0, 3, 0, None)


def test_what_the_source_says_later_takes_another_run(stack: Stack) -> None:
    ada = Fact("ada")
    stack.tell(ada.asserts("npm", JUNE, source="chat"))
    stack.revoke("chat")
    stack.said += 1
    stack.tell(ada.asserts("npm", JUNE, source="chat"), ada.asserts("pnpm", JULY, source="chat"))
    assert stack.answer(ada) == ("value", "pnpm"), "the same claim stays revoked, another one counts"
    assert stack.revoke("chat")["revoked"] == 1
    assert stack.answer(ada)[0] == "unknown"


def test_evidence_and_subject_narrow_it(stack: Stack) -> None:
    from chronofact.domain.canonical import digest

    ada, bob = Fact("ada"), Fact("bob")
    stack.tell(ada.asserts("npm", JUNE, source="chat"), bob.asserts("npm", JUNE, source="chat"))
    none = stack.run("--source", "chat", "--source-hash", "00" * 32, "--dry-run")
    assert (none["versions"], none["dry_run"]) == (0, True)
    assert stack.run("--source", "chat", "--source-hash", digest(b"chat").hex(), "--dry-run")["versions"] == 2
    assert stack.revoke("chat", "--subject", "ada")["facts"] == 1
    assert (stack.answer(ada)[0], stack.answer(bob)) == ("unknown", ("value", "npm"))
    assert "hexadecimal" in stack.run("--source", "chat", "--source-hash", "xyz", code=2)["error"]
    assert "--yes" in stack.run("--source", "chat", code=2)["error"]


def test_text_memories_of_a_source_are_versions_like_others(stack: Stack) -> None:
    prefers = Fact("ada", "memory/preference")
    said = [
        prefers.asserts(
            {"text": f"thing {at}"}, JUNE, source="chat" if at % 2 else "mail", cardinality=Cardinality.MANY
        )
        for at in range(6)
    ]
    stack.tell(*said)
    assert stack.revoke("chat")["versions"] == 3
    kind, values = stack.answer(prefers)
    assert (kind, sorted(one["text"] for one in values)) == ("values", ["thing 0", "thing 2", "thing 4"])


def test_a_command_that_is_killed_in_the_middle_is_run_again_and_nothing_is_said_twice(stack: Stack) -> None:
    facts = [Fact(f"someone {at}") for at in range(400)]
    stack.tell(
        *(fact.asserts(f"v{at}", JUNE, source="chat") for fact in facts for at in range(10)),
        *(fact.asserts("own", JULY, source="mail") for fact in facts),
    )
    before = stack.heads()
    process = stack.start("--source", "chat", "--reason", "it was wrong", "--yes")
    deadline = time.monotonic() + 60
    counted = "select count(*) from p1.event where event_type = 'FactRevoked'"
    while process.poll() is None and not stack.asked(counted)[0][0]:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.communicate() == ("", "") or process.returncode == 0
    ((done,),) = stack.asked(counted)
    found = stack.revoke("chat")
    assert found["already_revoked"] + found["revoked"] >= 4_000
    assert found["applied"] is True
    assert stack.asked(counted) == [(4_000,)]
    assert 0 < done <= 4_000
    assert_counted_once(stack.database)
    assert {event_seq - before[fact_id][0] for fact_id, (event_seq, _) in stack.heads().items()} == {10}
    assert all(stack.answer(fact) == ("value", "own") for fact in facts[:20])


def test_what_is_parked_of_the_source_is_named(stack: Stack) -> None:
    ada = Fact("ada")
    stack.tell(ada.asserts("npm", JUNE, source="chat"))
    append(stack.kafka, stack.topic, [Said(ada.partition, ada.fact_id, b"\xc3\x01 no event", b"", None)])
    behind = ada.asserts("pnpm", JULY, source="chat")
    append(stack.kafka, stack.topic, [behind])
    stack.said += 2
    await_offsets(stack.database, stack.said)
    found = stack.run("--source", "chat", "--dry-run")
    assert (found["versions"], found["facts_held"]) == (1, 1)
    assert [one["fact_id"] for one in found["parked"]] == [str(UUID(bytes=ada.fact_id))]
