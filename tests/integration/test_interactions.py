"""Conversations through the writer's process, resolved by the reader: what holds now, what held then, and what to ask about."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import pytest

from chronofact.client import Client, Conflict, Unknown, Value
from chronofact.contracts.topics import facts_topic, texts_topic
from chronofact.kafka.admin import Admin
from tests.integration.fixtures_stack import database_like
from tests.integration.projecting import ProjectorProcess
from tests.integration.remembering_all import ReaderProcess
from tests.integration.writing import WriterProcess

JANUARY, JUNE = "2024-01-10T09:00:00Z", "2026-06-17T10:30:00Z"
BEFORE, BETWEEN, SINCE = "2023-01-01T00:00:00Z", "2025-01-01T00:00:00Z", "2026-07-01T00:00:00Z"
BERLIN = {"role": "user", "text": "I live in Berlin.", "at": JANUARY}
OSLO = {"role": "user", "text": "I moved to Oslo last week. My sister lives in Madrid.", "at": JUNE}
NICE = {"role": "assistant", "text": "So you live in Paris!", "at": JUNE}


@pytest.fixture(scope="module")
def client(kafka: str, postgres: str, database_template: str) -> Iterator[Client]:
    topic, texts = f"test.facts.{uuid4().hex}", f"test.texts.{uuid4().hex}"
    Admin(kafka).create([facts_topic(topic), texts_topic(texts)])
    with ExitStack() as stack:
        database = stack.enter_context(database_like(postgres, database_template))
        writer = stack.enter_context(WriterProcess(kafka, topic, texts_topic=texts))
        stack.enter_context(ProjectorProcess(kafka, topic, database))
        reader = stack.enter_context(ReaderProcess(kafka, topic, database))
        writer.await_ready()
        reader.await_readyz()
        address = str(writer.http.base_url).rstrip("/")
        yield stack.enter_context(Client(writer=address, reader=f"http://127.0.0.1:{reader.port}"))


def held(client: Client, subject: str, key: str = "residence", **asked: Any) -> Any:
    """The value, or what there is instead of one."""
    answer = client.resolve(subject, key, wait_ms=20_000, **asked)
    match answer:
        case Value():
            return answer.value
        case Unknown():
            return answer.reason
        case _:
            return answer


@pytest.mark.parametrize("order", ["at once", "in order", "the later first"])
def test_a_move_closes_where_one_lived_whichever_was_told_first(client: Client, order: str) -> None:
    subject = f"ana, {order}"
    talks = {
        "at once": [[BERLIN, NICE, OSLO]],
        "in order": [[BERLIN], [NICE, OSLO]],
        "the later first": [[OSLO], [BERLIN]],
    }
    for number, turns in enumerate(talks[order]):
        client.interact(subject, turns, source=f"chat-{number}")
    instants = (BEFORE, BETWEEN, "2026-06-07T23:59:59Z", "2026-06-08T00:00:00Z", SINCE)
    assert [held(client, subject, valid_at=at) for at in instants] == [
        "not_yet_valid",
        "berlin",
        "berlin",
        "oslo",
        "oslo",
    ]
    assert held(client, subject) == "oslo"
    assert held(client, subject, "user/sister/residence") == "madrid"
    texts = [one["text"] for one in client.memories(subject)["memories"]]
    assert sorted(texts) == ["I live in Berlin.", "I moved to Oslo last week.", "My sister lives in Madrid."]


def test_as_of_knows_what_was_told_by_then(client: Client) -> None:
    client.interact("bob", [BERLIN], source="chat")
    known = client.resolve("bob", "residence", wait_ms=20_000)
    assert isinstance(known, Value)
    assert known.recorded_at is not None
    time.sleep(0.01)
    client.interact("bob", [OSLO], source="later")
    assert held(client, "bob", valid_at=SINCE) == "oslo"
    assert held(client, "bob", valid_at=SINCE, as_of=known.recorded_at) == "berlin"


def test_what_a_guard_forbids_is_a_conflict_to_ask_about(client: Client) -> None:
    bonn = {"role": "user", "text": "I live in Bonn.", "at": JUNE}
    also = {"role": "user", "text": "I now also live in Rome.", "at": JUNE}
    told = client.interact("cleo", [BERLIN, bonn, also], source="chat")
    assert [turn["facts"][0]["blocked_by"] for turn in told["turns"][:2]] == ["no_change_cue"] * 2
    assert (told["turns"][2]["facts"], told["turns"][2]["not_taken"][0]["reason"]) == ([], "many_valued")
    assert held(client, "cleo", valid_at=BETWEEN) == "berlin"
    answer = held(client, "cleo")
    assert isinstance(answer, Conflict)
    assert sorted(claim.value for claim in answer.versions) == ["berlin", "bonn"]


def test_a_switch_closes_the_preference_of_its_type_alone(client: Client) -> None:
    texts = {"I prefer Python.": BETWEEN, "I prefer tea.": BETWEEN, "I am switching to Go.": JUNE}
    turns = [{"role": "user", "text": text, "at": at} for text, at in texts.items()]
    client.interact("gil", turns, source="chat")
    language = "prefer/programming_language"
    assert [held(client, "gil", language, valid_at=at) for at in (BETWEEN, JUNE)] == ["python", "go"]
    assert held(client, "gil", "prefer/drink") == "tea"


def test_windows_end_where_the_text_says(client: Client) -> None:
    lived = {"role": "user", "text": "I lived in Rome from 2015 to 2019.", "at": JUNE}
    works = {"role": "user", "text": "I work at Acme until Friday.", "at": JUNE}
    client.interact("dora", [lived, works], source="chat")
    assert [held(client, "dora", valid_at=f"{year}-07-01T00:00:00Z") for year in (2014, 2017, 2020)] == [
        "not_yet_valid",
        "rome",
        "ended",
    ]
    friday, saturday = "2026-06-19T23:00:00Z", "2026-06-20T00:00:00Z"
    assert [held(client, "dora", "employer", valid_at=at) for at in (friday, saturday)] == ["acme", "ended"]


def test_the_same_again_changes_nothing(client: Client) -> None:
    first = client.interact("ed", [BERLIN, OSLO], source="chat")
    again = client.interact("ed", [BERLIN, OSLO], source="chat")
    assert first["turns"] == again["turns"]
    fact_id = first["turns"][0]["facts"][0]["fact_id"]
    assert len(client.events(fact_id, wait_ms=20_000)["events"]) == 2
