"""Everything that text memories need, each in a process of its own, and one client over the HTTP interfaces alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import orjson
import psycopg
import pytest

from chronofact.cli.__main__ import main
from chronofact.client import Accepted, Client
from chronofact.contracts.topics import facts_topic, texts_topic
from chronofact.kafka.admin import Admin
from tests.integration.adjudicating import AdjudicatorProcess
from tests.integration.model_server import ModelServer, Side, model_server
from tests.integration.projecting import ProjectorProcess, ServiceProcess
from tests.integration.writing import WriterProcess

WAIT_MS = 30_000


class ReaderProcess(ServiceProcess):
    """`python -m chronofact.reader`."""

    service = "reader"


@dataclass
class Everything:
    """A client of a stack, the model that it may ask, and the database that people read."""

    client: Client
    model: ModelServer
    adjudicator: AdjudicatorProcess
    database: str
    writer: str
    reader: str

    def chronofact(self, *words: str) -> Any:
        """What a command answers, with nobody at a terminal."""
        out = StringIO()
        sends = ("--writer", self.writer) if words[0] == "decide" else ()
        line = ["chronofact", *words, *sends, "--reader", self.reader, "--json"]
        with patch.object(sys, "argv", line), redirect_stdout(out), pytest.raises(SystemExit) as left:
            main()
        assert left.value.code == 0
        return orjson.loads(out.getvalue())

    def remember(self, subject: str, text: str, since: str | None = None, **more: Any) -> Accepted:
        """A memory, once its pairs have been looked at."""
        said = self.client.remember(subject, "preference", text, source="chat", valid_from=since, **more)
        assert self.relations(said)["checked"], f"{text} was never checked"
        return said

    def relations(self, said: Accepted) -> Any:
        assert said.version_id is not None
        return self.client.relations(version_id=said.version_id, wait_ms=WAIT_MS)

    def relation(self, one: Accepted, other: Accepted) -> Any:
        """The one of a pair."""
        pair = {str(one.version_id), str(other.version_id)}
        (found,) = [line for line in self.relations(other)["relations"] if {line["left"], line["right"]} == pair]
        return found

    def label(self, said: Accepted) -> Any:
        """A version as its fact lists it."""
        (found,) = [
            line
            for line in self.client.versions(said.fact_id)["versions"]
            if line["version_id"] == str(said.version_id)
        ]
        return found

    def texts(self, subject: str, query: str | None = None, **asked: Any) -> list[str]:
        return [one["text"] for one in self.client.memories(subject, query, **asked)["memories"]]

    def asked_about(self, *texts: str) -> int:
        """Requests to the model with all of these texts."""
        return sum(
            set(texts) <= {side.text for _, *sides in request.pairs for side in sides}
            for request in self.model.requests
        )

    def in_postgres(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database, autocommit=True) as connection:
            return connection.execute(statement, values).fetchall()


def opinion(left: Side, right: Side) -> tuple[str, Side | None]:
    """What the model thinks: whoever says ``now`` is newer, the vegan is not sure, and all that is alike is one."""
    now = [side for side in (left, right) if " now " in f" {side.text} "]
    if len(now) == 1:
        return "supersedes", now[0]
    if "Python" in left.text and "Python" in right.text:
        return "near_duplicate", None
    return "contradicts", None


@contextmanager
def everything_on(kafka: str, database: str) -> Iterator[Everything]:
    topic, texts = f"test.facts.{uuid4().hex}", f"test.texts.{uuid4().hex}"
    Admin(kafka).create([facts_topic(topic), texts_topic(texts)])
    with ExitStack() as stack:
        model = stack.enter_context(model_server(opinion))
        writer = stack.enter_context(WriterProcess(kafka, topic, texts="on", texts_topic=texts))
        stack.enter_context(ProjectorProcess(kafka, topic, database))
        reader = stack.enter_context(ReaderProcess(kafka, topic, database))
        writer.await_ready()
        address = str(writer.http.base_url).rstrip("/")
        adjudicator = stack.enter_context(
            AdjudicatorProcess(
                kafka,
                topic,
                database,
                texts_topic=texts,
                adjudicator_writer=address,
                model_url=model.url,
                model_name="m",
                pending_retry_s=0.5,
            )
        )
        reader.await_readyz()
        adjudicator.await_readyz()
        reading = f"http://127.0.0.1:{reader.port}"
        client = stack.enter_context(Client(writer=address, reader=reading))
        yield Everything(client, model, adjudicator, database, address, reading)
