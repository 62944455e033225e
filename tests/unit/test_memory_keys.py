"""Assertions on a key ``memory/…``: a text memory, whichever way it came."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from chronofact.contracts.codec import FactEvent
from chronofact.contracts.derived import decode
from chronofact.contracts.payload import happening_of
from chronofact.domain.errors import Rejected
from chronofact.domain.events import FactAsserted, Lifecycle
from chronofact.text.worker import Models
from tests.contract.remembering import RememberingWriter, TwinModels, memory
from tests.contract.writing import JSON, LINES, WriterInProcess, assertion


@pytest.fixture
def writer() -> RememberingWriter:
    return RememberingWriter()


def said(text: Any = "User prefers Python", **more: Any) -> dict[str, Any]:
    source = {"id": "chat-1", "text": "I prefer Python."}
    return assertion(**({"key": "memory/preference", "value": text, "source": source} | more))


def asserted(event: FactEvent) -> FactAsserted:
    what = happening_of(event.kind, event.payload)
    assert isinstance(what, FactAsserted)
    return what


@pytest.mark.parametrize("valid_from", ["2026-03-01T00:00:00Z", ...])
@pytest.mark.parametrize("source", [{"id": "chat-1", "text": "I prefer Python."}, {"id": "chat-1"}])
def test_an_assertion_is_the_memory_that_the_other_route_makes(
    writer: RememberingWriter, valid_from: Any, source: Any
) -> None:
    told = writer.send(said(valid_from=valid_from, source=source)).json()
    again = memory(valid_from=valid_from, source=source)
    same = writer.ask("POST", "/v1/memories", content=orjson.dumps(again), headers=JSON).json()
    assert {name: told[name] for name in ("event_id", "version_id", "frames")} == {
        name: same[name] for name in ("event_id", "version_id", "frames")
    }
    one, other = writer.events()
    assert one == other
    assert len({message.value for message in writer.told.messages()}) == 2  # two places in the log
    assert len(writer.told.messages()) == 2


def test_a_batch_reads_its_texts_and_says_all_in_order(writer: RememberingWriter) -> None:
    sent = [assertion(subject=str(at)) if at % 3 else said(f"User likes {at}", subject="ada") for at in range(600)]
    sent[3], sent[4] = said(7), assertion(key="")
    results = writer.send(sent).json()["results"]
    assert [at for at, one in enumerate(results) if one["status"] == "rejected"] == [3, 4]
    for at, one in enumerate(results):
        if at not in {3, 4}:
            assert one.get("frames", [{}])[0].get("value") == (None if at % 3 else str(at))
    events = {event.event_id: event for event in writer.events()}
    assert len(events) == 598
    memories = [one for one in events.values() if one.derived is not None]
    assert len(memories) == len(writer.told.messages()) == 199
    for event in memories:
        derived = decode(event.derived or b"")
        assert derived is not None
        assert derived.frames[0]["value"] in str(asserted(event).value)
    assert len(writer.models.read) == 199


def test_lines_are_memories_as_well(writer: RememberingWriter) -> None:
    body = b"\n".join(map(orjson.dumps, (said(), assertion(), said(""))))
    *told, summary = map(orjson.loads, writer.post(body, LINES | {"accept": "application/x-ndjson"}).text.splitlines())
    assert [one.get("frames") is not None for one in told] == [True, False, False]
    assert (summary["accepted"], told[2]["error"]["code"]) == (2, "text_empty")


def test_a_trial_tells_frames_and_keeps_nothing(writer: RememberingWriter) -> None:
    tried = writer.send(said(), query="?dry_run=true")
    assert (tried.status_code, tried.json()["position"]) == (200, None)
    assert tried.json()["frames"][0]["value"] == "Python"
    assert (writer.events(), writer.told.messages()) == ([], [])


def test_what_only_assertions_say_is_kept(writer: RememberingWriter) -> None:
    old = writer.send(said()).json()["version_id"]
    more = {"lifecycle": "PROPOSED", "supersedes": {"version_id": old}, "confidence": 0.5}
    writer.send(said("User likes Go", **more))
    what = asserted(writer.events()[-1])
    assert (what.lifecycle, len(what.supersedes), what.confidence) == (Lifecycle.PROPOSED, 1, 0.5)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "value_not_text"),
        (7, "value_not_text"),
        (["User prefers Python"], "value_not_text"),
        ({"text": "User prefers Python"}, "value_not_text"),
        ("", "text_empty"),
        (" \n", "text_empty"),
        ("x" * 65_535, "text_too_large"),
        ("a\x00b", "nul_character"),
    ],
)
def test_what_is_no_text_is_refused_by_name(writer: RememberingWriter, value: Any, code: str) -> None:
    refused = writer.send(said(value))
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["field"]) == (422, code, "value")
    assert (writer.events(), writer.models.read) == ([], [])


@pytest.mark.parametrize("code", ["texts_off", "text_not_installed"])
def test_a_writer_without_texts_refuses_those_alone(code: str) -> None:
    writer = WriterInProcess(texts=Rejected(code, "why"))
    alone = writer.send(said())
    assert (alone.status_code, alone.json()["error"]["code"]) == (501, code)
    results = writer.send([assertion(), said(), assertion(key="memoryless"), assertion(key="memory")]).json()["results"]
    assert [one["status"] for one in results] == ["accepted", "rejected", "accepted", "accepted"]
    assert results[1]["error"]["code"] == code
    assert len(writer.events()) == 3


def test_too_many_texts_at_once_are_refused_whole() -> None:
    writer = RememberingWriter(texts_max=2)
    refused = writer.send([assertion(), *(said(subject=str(number)) for number in range(3))])
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "queue_full")
    assert writer.events() == []


def test_refusals_say_what_helps(writer: RememberingWriter) -> None:
    for sent, told in (
        (said(source="chat"), 'the field is a JSON object, like {"id": "chat-17"}'),
        (memory(), "type says which command it is; a text memory without type is taken by POST /v1/memories"),
        (assertion(type=...), "type says which command it is"),
    ):
        error = writer.send(sent).json()["error"]
        assert error["message"].startswith(told)
        assert ("POST /v1/memories" in error["message"]) == ("text" in sent)
    body = orjson.dumps(memory(source="chat"))
    error = writer.ask("POST", "/v1/memories", content=body, headers=JSON).json()["error"]
    assert (error["field"], error["message"]) == ("source", 'the field is a JSON object, like {"id": "chat-17"}')


def test_texts_that_a_rule_of_ours_can_not_read_are_counted() -> None:
    models = TwinModels()
    writer = RememberingWriter(lambda: Models(models, models))
    for stumbled in (0, 2, 2, 3):
        models.stumbled = stumbled
        writer.send(said())
        assert f"chronofact_writer_texts_stumbled_total {stumbled}.0".encode() in writer.metrics.exposition()
