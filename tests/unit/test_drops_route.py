"""POST /v1/drops over the log in memory: an operator's call, and its refusals by name."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest

from chronofact.contracts.codec import is_drop
from chronofact.contracts.drops import Drop
from chronofact.contracts.payload import happening_of, id_text
from chronofact.contracts.position import Position
from chronofact.domain.events import EventDropped
from chronofact.runtime.auth import TokenCredentials
from chronofact.runtime.failures import Unfit
from tests.contract.writing import JSON, LINES, TOPIC_ID, WriterInProcess, assertion

TOPIC = str(UUID(bytes=TOPIC_ID))


@pytest.fixture
def writer() -> WriterInProcess:
    return WriterInProcess()


def body(**said: Any) -> dict[str, Any]:
    plain = {"topic_id": TOPIC, "partition": 3, "offset": 17, "key": "0aff", "reason": "no use"}
    return {name: field for name, field in (plain | said).items() if field is not ...}


def post(writer: WriterInProcess, said: Any, **further: Any) -> Any:
    content = said if isinstance(said, bytes) else orjson.dumps(said)
    return writer.ask("POST", "/v1/drops", **{"content": content, "headers": JSON, **further})


def test_a_drop_lies_where_the_message_lies(writer: WriterInProcess) -> None:
    response = post(writer, body(dropped_by="ada"))
    (message,) = writer.log.messages()
    (event,) = writer.events()
    told = response.json()
    assert response.status_code == 201
    assert (message.partition, message.key, is_drop(message.value)) == (3, b"\x0a\xff", True)
    assert (event.kind, event.identity) == ("EventDropped", b"")
    assert happening_of(event.kind, event.payload) == EventDropped(TOPIC, 3, 17, "ada", "no use")
    assert told["event_id"] == id_text(Drop(TOPIC_ID, 3, 17, b"\x0a\xff", "no use", "ada").event_id)
    assert Position.parse(told["position"]) == Position(TOPIC_ID, {3: 1})


def test_a_message_without_a_key_is_named_by_none(writer: WriterInProcess) -> None:
    assert post(writer, body(key="")).status_code == 201
    assert writer.log.messages()[0].key == b""


def test_a_key_may_be_as_long_as_a_message(writer: WriterInProcess) -> None:
    assert post(writer, body(key="ab" * 500_000)).status_code == 201


@pytest.mark.parametrize(
    ("said", "code", "field"),
    [
        (body(topic_id="nonsense"), "id_malformed", "topic_id"),
        (body(topic_id=str(UUID(int=7))), "topic_id_differs", "topic_id"),
        (body(topic_id=...), "field_missing", "topic_id"),
        (body(partition=12), "place_out_of_range", "partition"),
        (body(partition=-1), "place_out_of_range", "partition"),
        (body(partition="3"), "field_type", "partition"),
        (body(partition=True), "field_type", "partition"),
        (body(offset=-1), "place_out_of_range", "offset"),
        (body(offset=2**63), "place_out_of_range", "offset"),
        (body(offset=1.5), "field_type", "offset"),
        (body(key="0af"), "key_not_hex", "key"),
        (body(key="0a ff"), "key_not_hex", "key"),
        (body(key="xx"), "key_not_hex", "key"),
        (body(key=None), "field_type", "key"),
        (body(reason=""), "field_empty", "reason"),
        (body(reason=...), "field_missing", "reason"),
        (body(reason="a\x00b"), "nul_character", "reason"),
        (body(reason="x" * 5_000), "field_too_long", "reason"),
        (body(dropped_by=""), "field_empty", "dropped_by"),
        (body(subject="ada"), "field_unknown", "subject"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_sent(writer: WriterInProcess, said: Any, code: str, field: str) -> None:
    response = post(writer, said)
    assert response.status_code == 422
    assert (response.json()["error"]["code"], response.json()["error"]["field"]) == (code, field)
    assert writer.log.messages() == []


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"", 400, "body_empty"),
        (b"{", 400, "json_malformed"),
        (b"[]", 422, "command_not_object"),
        (b"[{}]", 422, "command_not_object"),
        (b'{"reason":"\\ud800"}', 422, "surrogate_lone"),
        (b'{"partition":1e400}', 422, "number_not_finite"),
        (b'{"partition":1,"partition":2}', 422, "json_key_repeated"),
        (b"\xff", 400, "encoding_not_utf8"),
    ],
)
def test_a_body_that_is_none_is_refused(writer: WriterInProcess, content: bytes, status: int, code: str) -> None:
    response = post(writer, content)
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)


def test_lines_and_parameters_are_refused(writer: WriterInProcess) -> None:
    assert post(writer, body(), headers=LINES).status_code == 415
    assert writer.ask("POST", "/v1/drops?dry_run=true", json=body()).status_code == 400
    assert writer.ask("GET", "/v1/drops").status_code == 405
    assert writer.log.messages() == []


def test_only_an_operator_may(tmp_path: Path) -> None:
    tokens = [
        {"sha256": hashlib.sha256(role.encode()).hexdigest(), "tenant": "t", "roles": [role]}
        for role in ("write", "operate")
    ]
    file = tmp_path / "tokens.json"
    file.write_bytes(orjson.dumps({"tokens": tokens}))
    writer = WriterInProcess(TokenCredentials.load(file, normalise_scope=str))
    for token, status in (("write", 403), ("nobody", 401), ("operate", 201)):
        assert post(writer, body(), headers=JSON | {"authorization": f"Bearer {token}"}).status_code == status
    assert writer.send(assertion(), JSON | {"authorization": "Bearer operate"}).status_code == 403


def test_a_topic_that_is_not_as_it_must_be_takes_none(writer: WriterInProcess) -> None:
    writer.health.hindered("log", Unfit("topic_recreated", "another", remedy="look"))
    assert post(writer, body()).json()["error"]["code"] == "topic_recreated"
