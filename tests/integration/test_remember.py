"""Text memories through the writer's process on a real broker, read by the real models."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import httpx
import orjson
import psutil
import pytest

from chronofact.contracts.codec import FactEvent, decode_event
from chronofact.contracts.derived import Derived, decode
from chronofact.contracts.error_codes import CODES
from chronofact.contracts.position import Position
from chronofact.contracts.topics import facts_topic
from chronofact.kafka.admin import Admin, create_topics
from chronofact.kafka.consumer import LogConsumer, RawMessage
from chronofact.text.embed import cosine
from tests.contract.remembering import memory
from tests.contract.writing import assertion
from tests.integration.writing import WriterProcess

SMALL_BYTES, LARGE_BYTES = 200 * 2**20, 550 * 2**20


@pytest.fixture(scope="module")
def topics(kafka: str) -> tuple[str, str]:
    facts, texts = "memories.facts", "memories.texts"
    create_topics(kafka, facts, texts_topic=texts)
    return facts, texts


@pytest.fixture(scope="module")
def writer(kafka: str, topics: tuple[str, str]) -> Iterator[WriterProcess]:
    facts, texts = topics
    with WriterProcess(kafka, facts, texts_topic=texts) as process:
        process.await_ready()
        assert psutil.Process(process.process.pid).memory_info().rss < SMALL_BYTES  # models come with the first text
        yield process


def remember(writer: WriterProcess, said: Any) -> httpx.Response:
    return writer.http.post("/v1/memories", content=orjson.dumps(said), headers={"content-type": "application/json"})


def messages(kafka: str, topic: str, fact_id: bytes, count: int) -> list[RawMessage]:
    """The first messages of a fact."""
    consumer = LogConsumer(kafka, topic)
    consumer.assign(dict.fromkeys(range(12), 0))
    found: list[RawMessage] = []
    for _ in range(100):
        found += [one for one in consumer.poll(1_000, 0.1) if one.key == fact_id]
        if len(found) >= count:
            break
    consumer.close()
    return found


def derived_of(event: FactEvent) -> Derived:
    assert event.derived is not None
    found = decode(event.derived)
    assert found is not None
    return found


def test_a_memory_goes_to_the_log_with_what_was_derived_and_is_told_of(
    writer: WriterProcess, kafka: str, topics: tuple[str, str]
) -> None:
    sent = [
        memory(subject="mia", valid_from="2026-03-01T00:00:00Z"),
        memory(subject="mia", text="User is switching to Go", valid_from="2026-06-01T00:00:00Z"),
    ]
    told = remember(writer, sent).json()
    fact_id = UUID(told["results"][0]["fact_id"]).bytes
    march, june = (decode_event(one.value) for one in messages(kafka, topics[0], fact_id, 2))
    assert [UUID(bytes=one.event_id) for one in (march, june)] == [UUID(one["event_id"]) for one in told["results"]]
    assert [derived_of(one).frames for one in (march, june)] == [one["frames"] for one in told["results"]]
    assert {one["value"] for one in derived_of(june).frames} == {"go"}
    embeddings = [derived_of(one).embedding or b"" for one in (march, june)]
    assert cosine(*embeddings) == pytest.approx(0.2987, abs=0.002)
    notices = [orjson.loads(one.value) for one in messages(kafka, topics[1], fact_id, 2)]
    assert [one["version_id"] for one in notices] == [one["version_id"] for one in told["results"]]
    place = Position.parse(notices[0]["position"])
    assert place.topic_id == Admin(kafka).state(facts_topic(topics[0])).topic_id
    assert SMALL_BYTES < psutil.Process(writer.process.pid).memory_info().rss < LARGE_BYTES


REFUSED = {
    "empty": ({"text": ""}, "text_empty"),
    "white space": ({"text": " \t\u2003\n"}, "text_empty"),
    "100,000 characters": ({"text": "User prefers Python. " * 5_000}, "text_too_large"),
    "nul": ({"text": "a\x00b"}, "nul_character"),
    "contradictory dates": (
        {"valid_from": "2026-03-01T00:00:00Z", "valid_to": "2026-02-01T00:00:00Z"},
        "interval_reversed",
    ),
    "no time of a zone": ({"valid_from": "2026-03-01T00:00:00"}, "offset_missing"),
}
KEPT = {
    "as long as may be": "x y " * 16_000,
    "one long word": "x" * 65_000,
    "not English": "Ich wohne seit März in Köln. 我住在北京。 Живу в Москве.",
    "emoji": "🙂" * 4_000,
    "right to left": "\u202eUser prefers\u202c \u200fעברית عربي",
    "code": "def f(x):\n    return [y for y in x if y > 0]  # {;}\n" * 40,
    "one word": "Python",
    "no verb": "Python, mostly",
    "control characters": "User\x01 prefers\x1b[31m Python\x7f\u0085",
    "a question": "Does the user prefer Go?",
    "many sentences": "User prefers Python. " * 300,
    "odd numbers": "User earns 1e999 € since 31 February 2024 until 0000-00-00.",
    "brackets": "((((((((((((" * 100,
    "backslashes": "\\u0000 \\\\ \\",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_can_not_be_kept_is_refused_by_name(writer: WriterProcess, name: str) -> None:
    said, code = REFUSED[name]
    response = remember(writer, memory(**said))
    assert (response.status_code, response.json()["error"]["code"]) == (422, code)
    assert code in CODES


def test_everything_else_is_kept(writer: WriterProcess, kafka: str, topics: tuple[str, str]) -> None:
    results = [remember(writer, memory(subject="odd", text=text)) for text in KEPT.values()]
    assert {name: one.status_code for name, one in zip(KEPT, results, strict=True)} == dict.fromkeys(KEPT, 201)
    fact_id = UUID(results[0].json()["fact_id"]).bytes
    events = [decode_event(one.value) for one in messages(kafka, topics[0], fact_id, len(KEPT))]
    assert [orjson.loads(event.payload)["value"] for event in events] == list(KEPT.values())
    assert all(derived_of(event).embedding for event in events)
    assert writer.http.get("/livez").status_code == 200


def test_one_memory_and_facts_do_not_wait_for_all_of_a_large_request(writer: WriterProcess) -> None:
    sent = [memory(subject="many", text=f"User likes number {number}") for number in range(800)]
    with ThreadPoolExecutor(1) as pool:
        large = pool.submit(remember, writer, sent)
        while "chronofact_writer_texts_waiting 800.0" not in writer.http.get("/metrics").text:
            assert not large.done()
        assert remember(writer, memory()).status_code == 201
        assert writer.send(assertion()).status_code == 201
        assert not large.done()
        results = large.result().json()["results"]
    assert [one["frames"][0]["value"] for one in results] == [str(number) for number in range(800)]


def test_a_writer_told_to_take_none_stays_small(kafka: str, topics: tuple[str, str]) -> None:
    with WriterProcess(kafka, topics[0], texts="off") as writer:
        writer.await_ready()
        refused = remember(writer, memory())
        assert (refused.status_code, refused.json()["error"]["code"]) == (501, "texts_off")
        assert writer.send(assertion()).status_code == 201
        assert psutil.Process(writer.process.pid).memory_info().rss < SMALL_BYTES
