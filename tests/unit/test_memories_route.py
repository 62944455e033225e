"""POST /v1/memories over the log in memory: what becomes a memory, and what is refused by which name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import httpx
import orjson
import pytest

from chronofact.client.ids import Ids
from chronofact.contracts.derived import decode
from chronofact.contracts.error_codes import CODES
from chronofact.contracts.log import Message
from chronofact.contracts.payload import happening_of, id_text
from chronofact.contracts.position import Position
from chronofact.domain.canonical import canonical, digest
from chronofact.domain.errors import Rejected
from chronofact.domain.events import Cardinality, FactAsserted, Lifecycle
from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.domain.interval import parse_instant
from chronofact.kafka.partitioning import partition_of
from chronofact.runtime.metrics import Metrics
from chronofact.writer.notices import Notice, Notices
from tests.contract.append_log import MemoryAppendLog
from tests.contract.remembering import RememberingWriter, memory
from tests.contract.writing import JSON, LINES, TOPIC_ID, WriterInProcess, assertion


@pytest.fixture
def writer() -> RememberingWriter:
    return RememberingWriter()


def remember(writer: WriterInProcess, said: Any, *, query: str = "", **headers: str) -> httpx.Response:
    return writer.ask("POST", f"/v1/memories{query}", content=orjson.dumps(said), headers=JSON | headers)


def asserted(writer: WriterInProcess) -> FactAsserted:
    (event,) = writer.events()
    what = happening_of(event.kind, event.payload)
    assert isinstance(what, FactAsserted)
    return what


def test_a_memory_is_a_version_of_its_category_with_what_was_derived(writer: RememberingWriter) -> None:
    response = remember(writer, memory(confidence=0.5, idempotency_key="k1"))
    told, (event,), (message,) = response.json(), writer.events(), writer.log.messages()
    assert (response.status_code, told["status"], told["idempotency_key"]) == (201, "accepted", "k1")
    assert told["frames"] == [{"entity": "user", "slot": "prefers", "value": "Python"}]
    assert orjson.loads(event.identity)[4] == "memory/preference"
    assert UUID(told["fact_id"]) == Ids().fact_id("ada", "memory/preference") == UUID(bytes=message.key)
    what = asserted(writer)
    assert (what.value, what.lifecycle, what.confidence) == (b'"User prefers Python"', Lifecycle.ACTIVE, 0.5)
    assert (what.cardinality, what.valid_from_known) == (Cardinality.MANY, True)
    assert what.valid.start == parse_instant("2026-03-01T00:00:00Z")
    assert event.derived is not None
    derived = decode(event.derived)
    assert derived is not None
    assert (derived.extractor, derived.embedder) == ("twin/1", "twin/1")
    assert derived.frames == told["frames"]


def test_ids_are_those_of_the_same_assertion(writer: RememberingWriter) -> None:
    told = remember(writer, memory()).json()
    said = assertion(key="memory/preference", value="User prefers Python", valid_from="2026-03-01T00:00:00Z")
    same = writer.send(said | {"source": memory()["source"], "cardinality": "many"}).json()
    assert (same["event_id"], same["version_id"]) == (told["event_id"], told["version_id"])


@pytest.mark.parametrize("valid_from", [None, ...])
def test_a_start_that_is_not_said_is_not_known(writer: RememberingWriter, valid_from: Any) -> None:
    remember(writer, memory(valid_from=valid_from))
    what = asserted(writer)
    assert (what.valid.start, what.valid_from_known) == (None, False)


def test_a_source_without_evidence_is_the_text_itself(writer: RememberingWriter) -> None:
    remember(writer, memory(source={"id": "chat-1"}))
    assert asserted(writer).source_hash == digest(b"User prefers Python")


def test_several_are_answered_in_order_and_one_bad_one_harms_no_other(writer: RememberingWriter) -> None:
    sent = [memory(text=f"User likes {number}") for number in range(30)]
    sent[7], sent[8] = memory(text=""), "no memory"  # type: ignore[call-overload]
    response = remember(writer, sent)
    results = response.json()["results"]
    assert response.status_code == 200
    assert [(at, one["error"]["code"]) for at, one in enumerate(results) if one["status"] == "rejected"] == [
        (7, "text_empty"),
        (8, "command_not_object"),
    ]
    found = [one["frames"][0]["value"] for one in results if one["status"] == "accepted"]
    assert found == [str(number) for number in range(30) if number not in {7, 8}]
    assert len(writer.events()) == 28


def test_lines_are_taken_and_told(writer: RememberingWriter) -> None:
    body = b"\n".join((orjson.dumps(memory()), b"{", orjson.dumps(memory(text="User likes tea"))))
    headers = LINES | {"accept": "application/x-ndjson"}
    response = writer.ask("POST", "/v1/memories", content=body, headers=headers)
    *told, summary = map(orjson.loads, response.text.splitlines())
    assert [one["status"] for one in told] == ["accepted", "rejected", "accepted"]
    assert (summary["accepted"], summary["rejected"]) == (2, 1)


def test_a_trial_tells_frames_and_publishes_nothing(writer: RememberingWriter) -> None:
    tried = remember(writer, memory(), query="?dry_run=true")
    assert (tried.status_code, tried.json()["position"], writer.events()) == (200, None, [])
    assert writer.told.messages() == []
    assert tried.json()["version_id"] == remember(writer, memory()).json()["version_id"]
    assert tried.json()["frames"]


def test_what_was_acknowledged_is_told_by_the_topic_of_texts(writer: RememberingWriter) -> None:
    told = remember(writer, [memory(), memory(text="", subject="bob"), memory(subject="cleo")]).json()
    position = Position.parse(told["position"])
    messages = {id_text(message.key): message for message in writer.told.messages()}
    accepted = [told["results"][0], told["results"][2]]
    assert sorted(messages) == sorted(one["fact_id"] for one in accepted)
    for one in accepted:
        message = messages[one["fact_id"]]
        said = orjson.loads(message.value)
        assert message.value == canonical(said)
        assert message.partition == partition_of(message.key, 12)
        assert Position.parse(said.pop("position")) == Position(
            TOPIC_ID, {message.partition: position.next_offsets[message.partition]}
        )
        assert said == {
            "fact_id": one["fact_id"],
            "tenant_id": str(DEVELOPMENT_TENANT),
            "version_id": one["version_id"],
        }


def test_a_topic_of_texts_that_is_away_is_counted_and_harms_no_answer(writer: RememberingWriter) -> None:
    writer.told.is_silent = True
    assert remember(writer, memory()).status_code == 201
    assert b'chronofact_writer_text_notices_total{outcome="failed"} 1.0' in writer.metrics.exposition()


async def test_a_topic_of_texts_that_never_answers_does_not_hold_up_the_end() -> None:
    class Mute(MemoryAppendLog):
        async def append(self, messages: Sequence[Message]) -> Mapping[int, int]:
            await asyncio.Event().wait()
            return await super().append(messages)

    notices = Notices(Mute(), Metrics("writer"), partitions=12)
    notices.tell([Notice(DEVELOPMENT_TENANT, bytes(16), bytes(16), Position(TOPIC_ID, {0: 1}))])
    async with asyncio.timeout(1):
        await notices.settled(0.01)


def test_what_was_not_acknowledged_is_not_told(writer: RememberingWriter) -> None:
    writer.log.is_silent = True
    refused = remember(writer, memory())
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "outcome_unknown")
    assert writer.told.messages() == []


def test_too_many_texts_at_once_are_refused_whole() -> None:
    writer = RememberingWriter(texts_max=2)
    refused = remember(writer, [memory(subject=str(number)) for number in range(3)])
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "queue_full")
    assert writer.events() == []


REFUSED: list[tuple[dict[str, Any], str, str | None]] = [
    (memory(text=...), "field_missing", "text"),
    (memory(text=None), "field_type", "text"),
    (memory(text=["a"]), "field_type", "text"),
    (memory(text=""), "text_empty", "text"),
    (memory(text=" \n\t\u2003"), "text_empty", "text"),
    (memory(text="a\x00b"), "nul_character", "text"),
    (memory(text="x" * 65_535), "text_too_large", "text"),
    (memory(text="\x01" * 11_000), "text_too_large", "text"),
    (memory(text="x" * 100_000), "text_too_large", "text"),
    (memory(category=...), "field_missing", "category"),
    (memory(category=""), "key_empty", "category"),
    (memory(category="Preference"), "key_malformed", "category"),
    (memory(category="a//b"), "key_malformed", "category"),
    (memory(category="a" * 194), "key_too_long", "category"),
    (memory(key="memory/a"), "field_unknown", "key"),
    (memory(type="assert"), "field_unknown", "type"),
    (memory(source=...), "field_missing", "source"),
    (memory(source={"id": "s", "hash": "ab"}), "source_hash_malformed", "source.hash"),
    (memory(valid_from="2026-03-01"), "instant_malformed", "valid_from"),
    (memory(valid_to="2026-03-01T00:00:00Z"), "interval_empty", "valid_to"),
    (memory(valid_to="2026-02-01T00:00:00Z"), "interval_reversed", "valid_to"),
    (memory(confidence=1.5), "confidence_out_of_range", "confidence"),
    (memory(scope="planet:mars"), "scope_kind_unknown", "scope"),
    (memory(subject="a\x00"), "nul_character", "subject"),
]


@pytest.mark.parametrize(("said", "code", "field"), REFUSED)
def test_what_is_wrong_is_refused_by_name(
    writer: RememberingWriter, said: dict[str, Any], code: str, field: str | None
) -> None:
    response = remember(writer, said)
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["field"]) == (422, code, field)
    assert code in CODES
    assert writer.events() == []
    assert writer.models.read == []


def test_the_fields_that_a_memory_has_are_named_where_another_is_sent(writer: RememberingWriter) -> None:
    told = [
        remember(writer, memory(**said)).json()["error"]["message"]
        for said in ({"colour": 1}, {"source": {"id": "s", "colour": 1}})
    ]
    assert told[0].startswith("there is no such field; there are subject, category, text, source,")
    assert told[1] == "there is no such field; there are id, hash, text"


def test_how_long_a_category_may_be_is_told_as_such(writer: RememberingWriter) -> None:
    assert (
        remember(writer, memory(category="a" * 194)).json()["error"]["message"] == "category is longer than 193 bytes"
    )


def test_a_lone_surrogate_is_refused(writer: RememberingWriter) -> None:
    body = orjson.dumps(memory(text="@")).replace(b"@", b"\\ud83d")
    error = writer.ask("POST", "/v1/memories", content=body, headers=JSON).json()["error"]
    assert (error["code"], error["field"]) == ("surrogate_lone", "text")


@pytest.mark.parametrize(
    "text",
    [
        "x" * 65_534,
        "🙂🙃",
        "\u202eabc\u202d \u200f",
        "\x01\x1b[31m\x7f",
        "Go",
        "Ich wohne jetzt in Köln.",
        "a\r\nb",
        "x = {1: 2}",
    ],
)
def test_every_other_text_is_kept_as_it_came(writer: RememberingWriter, text: str) -> None:
    assert remember(writer, memory(text=text)).status_code == 201
    assert orjson.loads(asserted(writer).value) == text


@pytest.mark.parametrize("code", ["texts_off", "text_not_installed"])
def test_a_writer_that_takes_no_texts_takes_facts(code: str) -> None:
    writer = WriterInProcess(texts=Rejected(code, "why"))
    refused = remember(writer, memory())
    assert (refused.status_code, refused.json()["error"]["code"]) == (501, code)
    assert writer.send(assertion()).status_code == 201
