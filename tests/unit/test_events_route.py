"""POST /v1/events in its three forms, over the log in memory."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest

from chronofact.client.ids import Ids
from chronofact.contracts.payload import happening_of, id_text
from chronofact.contracts.position import Position
from chronofact.domain.errors import Rejected
from chronofact.domain.events import (
    Cardinality,
    FactAsserted,
    FactEnded,
    FactSuperseded,
    Mode,
    RelationsChecked,
    Succession,
)
from chronofact.domain.interval import parse_instant
from chronofact.kafka.partitioning import partition_of
from chronofact.runtime.failures import Transient
from tests.contract.writing import JSON, LINES, TOPIC_ID, WriterInProcess, assertion


@pytest.fixture
def writer() -> WriterInProcess:
    return WriterInProcess()


def asserted(writer: WriterInProcess) -> FactAsserted:
    (event,) = writer.events()
    what = happening_of(event.kind, event.payload)
    assert isinstance(what, FactAsserted)
    return what


def test_one_command_is_one_event_and_its_ids_are_told(writer: WriterInProcess) -> None:
    response = writer.send(
        assertion(valid_from="2026-07-01T02:00:00+02:00", scope="repo:Acme/Web/", idempotency_key="k1")
    )
    told = response.json()
    (event,) = writer.events()
    (message,) = writer.log.messages()
    assert (response.status_code, told["status"], told["idempotency_key"]) == (201, "accepted", "k1")
    assert told["event_id"] == id_text(event.event_id)
    assert told["fact_id"] == id_text(message.key)
    assert event.version_id is not None
    assert told["version_id"] == id_text(event.version_id)
    assert orjson.loads(event.identity)[2:] == ["repo", "acme/web", "package_manager"]
    assert event.subject_label == "ada"
    assert message.partition == partition_of(message.key, 12)
    assert Position.parse(told["position"]) == Position(TOPIC_ID, {message.partition: 1})
    assert asserted(writer).valid.start == parse_instant("2026-07-01T00:00:00Z")


def test_the_client_derives_the_same_ids(writer: WriterInProcess) -> None:
    told = writer.send(
        assertion(value={"b": 1.0, "a": [True]}, valid_from="2026-07-01T00:00:00Z", source={"id": "t", "text": "t"})
    )
    ids = Ids()
    assert UUID(told.json()["fact_id"]) == ids.fact_id("ada", "package_manager")
    version_id = ids.version_id(
        "ada", "package_manager", {"a": [True], "b": 1}, source="t", valid_from="2026-07-01T00:00:00+00:00"
    )
    assert UUID(told.json()["version_id"]) == version_id


def test_an_empty_scope_is_refused_and_not_taken_for_the_default(writer: WriterInProcess) -> None:
    refused = writer.send(assertion(scope=""))
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "scope_malformed")
    with pytest.raises(Rejected, match="scope"):
        Ids().fact_id("ada", "package_manager", scope="")
    assert writer.events() == []


def test_the_same_content_is_the_same_event(writer: WriterInProcess) -> None:
    spelled = (
        b'{"source":{"text":"t","id":"s"},"value":1e0,"type":"assert","key":"k","subject":"ada","idempotency_key":"x"}'
    )
    first = writer.post(spelled).json()
    again = writer.send(assertion(key="k", value=1, valid_from=None, recorded_at="2020-01-01T00:00:00Z")).json()
    assert first["event_id"] == again["event_id"]
    assert first["version_id"] == again["version_id"]


def test_a_batch_answers_in_order_and_one_bad_command_harms_no_other(writer: WriterInProcess) -> None:
    response = writer.send([assertion(key="a"), assertion(key="B"), 7, assertion(key="c", cardinality="many")])
    told = response.json()
    assert response.status_code == 200
    assert [one["status"] for one in told["results"]] == ["accepted", "rejected", "rejected", "accepted"]
    assert told["results"][1]["error"] == {
        "code": "key_malformed",
        "message": told["results"][1]["error"]["message"],
        "field": "key",
        "index": 1,
    }
    assert told["results"][2]["error"]["code"] == "command_not_object"
    assert sum(Position.parse(told["position"]).next_offsets.values()) == len(writer.events()) == 2


def test_lines_are_commands_and_a_broken_line_is_refused_at_its_index(writer: WriterInProcess) -> None:
    line = orjson.dumps(assertion())
    response = writer.post(b"\n".join([line, b"", b'{"type":', b"  ", line]) + b"\r\n", LINES)
    results = response.json()["results"]
    assert [one["status"] for one in results] == ["accepted", "rejected", "accepted"]
    assert (results[1]["error"]["code"], results[1]["error"]["index"]) == ("json_malformed", 1)


def test_lines_are_answered_when_asked_for(writer: WriterInProcess) -> None:
    response = writer.send([assertion(), assertion(key="")], JSON | {"accept": "application/x-ndjson"})
    first, second, summary = map(orjson.loads, response.content.splitlines())
    assert response.headers["content-type"] == "application/x-ndjson"
    assert (first["status"], second["error"]["code"]) == ("accepted", "key_empty")
    assert (summary["accepted"], summary["rejected"]) == (1, 1)
    assert Position.parse(summary["position"]).next_offsets


def test_a_dry_run_tells_the_ids_and_publishes_nothing(writer: WriterInProcess) -> None:
    tried = writer.send(assertion(), query="?dry_run=true")
    assert (tried.status_code, tried.json()["position"], writer.events()) == (200, None, [])
    assert writer.send(assertion()).json()["version_id"] == tried.json()["version_id"]
    assert writer.send([assertion()], query="?dry_run=1").json()["position"] is None
    twice = writer.send(assertion(), query="?dry_run=true&dry_run=false")
    assert (twice.status_code, twice.json()["error"]["field"]) == (400, "dry_run")


def test_an_empty_array_is_no_fault(writer: WriterInProcess) -> None:
    response = writer.send([])
    assert (response.status_code, response.json()["results"]) == (200, [])


def test_stamps_come_from_the_declaration_unless_said(writer: WriterInProcess) -> None:
    writer.send(assertion(key="likes/food"))
    assert asserted(writer).cardinality is Cardinality.MANY
    writer.log.partitions.clear()
    writer.send(assertion(key="location.current"))
    assert asserted(writer).succession is Succession.AUTOMATIC
    writer.log.partitions.clear()
    writer.send(assertion(key="location.current", succession="explicit", confidence=1, lifecycle="PROPOSED"))
    what = asserted(writer)
    assert (what.succession, what.confidence, what.lifecycle) == (Succession.EXPLICIT, 1.0, "PROPOSED")


def test_edges_are_sorted_and_said_once(writer: WriterInProcess) -> None:
    low, high = sorted((str(uuid4()), str(uuid4())))
    edges = [{"version_id": high.upper()}, {"version_id": low, "mode": "override"}, {"version_id": high}]
    writer.send(assertion(supersedes=edges))
    assert len(asserted(writer).supersedes) == 2
    writer.log.partitions.clear()
    writer.send(assertion(supersedes={"version_id": low, "effective_at": "2026-07-01T00:00:00Z"}))
    (edge,) = asserted(writer).supersedes
    assert (id_text(edge.version_id), edge.mode) == (low, None)


def test_every_other_command_has_its_event(writer: WriterInProcess) -> None:
    one, two = str(uuid4()), str(uuid4())
    at = "2026-07-01T00:00:00Z"
    fact = {"subject": str(uuid4()), "key": "package_manager"}
    notes = {"key": "memory/note"}
    pair = {"left_version_id": one, "right_version_id": two}
    commands: list[dict[str, Any]] = [
        {"type": "activate", "version_id": one},
        {"type": "supersede", "new_version_id": one, "old_version_id": two, "mode": "replace", "reason": "r"},
        {"type": "end", "version_id": one, "effective_at": at},
        {"type": "revoke", "version_id": one},
        {"type": "revoke", "event_id": two},
        {"type": "resolve_conflict", **pair, "keep": None, "decided_at": at, "decided_by": "ada"},
        notes | {"type": "declare_relation", **pair, "relation": "unrelated", "decided_at": at, "decided_by": "person"},
        notes
        | {"type": "check_relations", "version_id": one, "pairs": 3, "decided": 1, "pending": 1, "reason": "no_model"},
    ]
    told = writer.send([fact | command for command in commands]).json()
    assert [result["status"] for result in told["results"]] == ["accepted"] * 8
    events = [happening_of(event.kind, event.payload) for event in writer.events()]
    assert len(events) == 8
    (superseded,) = (event for event in events if isinstance(event, FactSuperseded))
    assert superseded.mode is Mode.REPLACE
    assert FactEnded(UUID(one).bytes, parse_instant(at), None) in events
    assert RelationsChecked(UUID(one).bytes, 3, 1, 1, "no_model", llm_call_made=False) in events
    assert writer.events()[0].subject_label is None


def test_a_pair_has_no_order(writer: WriterInProcess) -> None:
    one, two = str(uuid4()), str(uuid4())
    said = {"type": "resolve_conflict", "subject": "a", "key": "k", "keep": one, "decided_at": "2026-07-01T00:00:00Z"}
    ids = {
        writer.send(said | {"left_version_id": left, "right_version_id": right}).json()["event_id"]
        for left, right in ((one, two), (two, one))
    }
    assert len(ids) == 1


def test_a_trace_goes_with_the_event_and_changes_no_id(writer: WriterInProcess) -> None:
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    one = writer.send(assertion(), JSON | {"traceparent": trace}).json()
    two = writer.send(assertion(), JSON | {"traceparent": "nonsense"}).json()
    assert one["event_id"] == two["event_id"]
    assert sorted(str(event.trace) for event in writer.events()) == [trace, "None"]


def test_a_full_queue_is_429_and_nothing_was_sent(writer: WriterInProcess) -> None:
    writer.log.room = 1
    response = writer.send([assertion(), assertion(key="b")])
    assert (response.status_code, response.json()["error"]["code"]) == (429, "queue_full")
    assert response.headers["retry-after"] == "1"
    assert writer.events() == []


def test_silence_of_the_broker_is_503_with_an_unknown_outcome(writer: WriterInProcess) -> None:
    writer.log.is_silent = True
    response = writer.send(assertion())
    assert (response.status_code, response.json()["error"]["code"]) == (503, "outcome_unknown")
    assert response.headers["retry-after"] == "1"


async def test_what_is_wrong_with_the_topic_is_named_and_passes(writer: WriterInProcess) -> None:
    writer.failure = Transient("kafka_unreachable", "away")
    assert not await writer.watch.look()
    reasons = writer.health.reasons()
    writer.failure = None
    assert await writer.watch.look()
    assert reasons["log"].code == "kafka_unreachable"
    assert writer.health.reasons() == {}


def test_an_unfit_topic_refuses_by_name(writer: WriterInProcess) -> None:
    writer.health.hindered("log", Transient("kafka_unreachable", "Kafka can't be reached"))
    response = writer.send(assertion())
    assert (response.status_code, response.json()["error"]["code"]) == (503, "kafka_unreachable")
    assert writer.ask("GET", "/readyz").json()["reasons"][0]["code"] == "kafka_unreachable"
    assert writer.ask("GET", "/livez").status_code == 200
    assert writer.send(assertion(), query="?dry_run=true").status_code == 200


def test_metrics_count_what_happened(writer: WriterInProcess) -> None:
    writer.send([assertion(), assertion(key="")])
    page = writer.ask("GET", "/metrics").text
    assert "chronofact_writer_commands_accepted_total 1.0" in page
    assert 'chronofact_writer_commands_rejected_total{code="key_empty"} 1.0' in page
    assert "chronofact_ready 1.0" in page
    assert "ada" not in page


def test_the_description_names_every_command_and_the_docs_need_no_network(writer: WriterInProcess) -> None:
    described = writer.ask("GET", "/openapi.json").json()
    body = described["paths"]["/v1/events"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    mapping = body["oneOf"][0]["discriminator"]["mapping"]
    assert all(ref.rsplit("/", 1)[1] in described["components"]["schemas"] for ref in mapping.values())
    page = writer.ask("GET", "/docs").text
    assert "http://" not in page
    assert "https://" not in page
