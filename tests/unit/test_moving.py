"""``chronofact topics copy``, ``seal`` and ``reopen``: what is refused before Kafka is touched, and what they tell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Self
from uuid import UUID

import pytest
from typer.testing import CliRunner

from chronofact.cli.__main__ import app
from chronofact.cli.outcome import ExitCode, Failure
from chronofact.contracts.topics import Topic
from chronofact.kafka import admin, topic_copy
from chronofact.kafka.admin import TopicState
from chronofact.kafka.topic_copy import Tally
from chronofact.runtime.failures import Transient, Unfit

NEW_ID = bytes(range(16))
TALLY = Tally(copied=1_000, found=2, drops=1, seconds=0.5, messages=1_234)


class Copying:
    """A copy that has gone well."""

    topic_id = NEW_ID
    made: list[tuple[Topic, Topic]]

    def __init__(self, _bootstrap: str, source: Topic, target: Topic, **_options: object) -> None:
        self.made.append((source, target))
        self.tally = TALLY

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def catch_up(self) -> Tally:
        return self.tally

    def seal(self) -> float:
        return 1.25


@pytest.fixture(autouse=True)
def copying(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Topic, Topic]]:
    """Both topics of each copy."""
    made: list[tuple[Topic, Topic]] = []
    monkeypatch.setattr(Copying, "made", made, raising=False)
    monkeypatch.setattr(topic_copy, "TopicCopy", Copying)
    monkeypatch.setenv("CHRONOFACT_FACTS_TOPIC", "old")
    there(monkeypatch, {"new": 24, "narrow": 12})
    return made


def there(monkeypatch: pytest.MonkeyPatch, topics: Mapping[str, int]) -> None:
    def state(_admin: Any, topic: Topic) -> TopicState:
        if topic.name not in topics:
            raise Unfit("topic_missing", "no such topic", remedy="create it")
        return TopicState(NEW_ID, topics[topic.name], {}, {}, {})

    monkeypatch.setattr(admin.Admin, "state", state)


def said(*words: str) -> str:
    """What a command that ends well tells."""
    ran = CliRunner().invoke(app, ["topics", *words], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def refused(*words: str) -> Failure:
    ran = CliRunner().invoke(app, ["topics", *words])
    assert isinstance(ran.exception, Failure), ran.output
    return ran.exception


def test_a_copy_tells_what_it_did_and_what_comes_next(copying: list[tuple[Topic, Topic]]) -> None:
    told = said("copy", "--to", "new", "--partitions", "24")
    ((source, target),) = copying
    assert (source.name, source.partitions, target.name, target.partitions) == ("old", 12, "new", 24)
    assert "1,000 messages copied in 0.5 s, 2,000 a second; 2 messages of a run that was cut off were there" in told
    assert "1 drop said anew" in told
    assert "CHRONOFACT_FACTS_TOPIC=new CHRONOFACT_FACTS_PARTITIONS=24" in told


def test_the_count_of_a_topic_that_is_there_need_not_be_said(copying: list[tuple[Topic, Topic]]) -> None:
    told = json.loads(said("copy", "--to", "new", "--json"))
    assert copying[0][1].partitions == told["partitions"] == 24
    assert (told["topic_id"], told["messages"], told["copied"]) == (str(UUID(bytes=NEW_ID)), 1_234, 1_000)


def test_a_seal_tells_how_long_nobody_could_write() -> None:
    assert "neither was written to for 1.2 s" in said("seal", "--to", "new")
    assert json.loads(said("seal", "--to", "new", "--json"))["pause_s"] == 1.25


def test_what_can_not_be_meant_is_refused_before_anything_is_done(copying: list[tuple[Topic, Topic]]) -> None:
    missing = refused("copy", "--to", "nowhere")
    assert (missing.code, missing.remedy) == (
        ExitCode.USAGE,
        "make it: chronofact topics copy --to nowhere --partitions NUMBER",
    )
    assert refused("seal", "--to", "nowhere").code is ExitCode.USAGE
    assert "the configured topic itself" in refused("copy", "--to", "old", "--partitions", "24").message
    assert "has more, and not 12" in refused("copy", "--to", "narrow").message
    assert "has more, and not 6" in refused("copy", "--to", "new", "--partitions", "6").message
    assert copying == []


def test_failures_are_told_by_name_and_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_copying: Copying) -> float:
        raise Transient("kafka_unreachable", "Kafka is away")

    def differs(_copying: Copying) -> Tally:
        raise Unfit("copy_differs", "it is not what this copy made", remedy="delete it")

    monkeypatch.setattr(Copying, "seal", away)
    monkeypatch.setattr(Copying, "catch_up", differs)
    assert refused("seal", "--to", "new").code is ExitCode.UNREACHABLE
    found = refused("copy", "--to", "new")
    assert (found.code, "(copy_differs)" in found.message) == (ExitCode.FAILED, True)


def test_a_seal_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(
        topic_copy, "reopen", lambda _bootstrap, old, new, **_options: asked.append((old.name, new.name))
    )
    assert "old takes messages again" in said("reopen", "--to", "new")
    assert json.loads(said("reopen", "--to", "new", "--json")) == {"from": "old", "to": "new", "sealed": False}
    assert asked == [("old", "new")] * 2
