"""Everything that the writer refuses, by code and field; a refusal never repeats the value."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import orjson
import pytest

from chronofact.contracts.error_codes import CODES
from tests.contract.writing import JSON, LINES, WriterInProcess, assertion

ID, OTHER, THIRD = str(uuid4()), str(uuid4()), str(uuid4())
AT = "2026-07-01T00:00:00Z"
FACT = {"subject": "ada", "key": "k"}
PAIR = {"left_version_id": ID, "right_version_id": OTHER}
RESOLVE = {**FACT, **PAIR, "type": "resolve_conflict", "keep": None, "decided_at": AT}
NOTES = {"subject": "ada", "key": "memory/note"}
RELATE = {**NOTES, **PAIR, "type": "declare_relation", "relation": "unrelated", "decided_at": AT, "decided_by": "rule"}
CHECK = {**NOTES, "type": "check_relations", "version_id": ID, "pairs": 2, "decided": 1, "pending": 1}
RAW = b'{"type":"assert","subject":"ada","key":"k","source":{"id":"s","text":"t"},"value":%s}'


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.fixture(scope="module")
def writer() -> WriterInProcess:
    return WriterInProcess()


COMMANDS: list[tuple[dict[str, Any], str, str | None]] = [
    (assertion(valid_from="2026-07-01T00:00:00"), "offset_missing", "valid_from"),
    (assertion(valid_to="2026-07-01"), "instant_malformed", "valid_to"),
    (assertion(valid_from=AT, valid_to=AT), "interval_empty", "valid_to"),
    (assertion(valid_from=AT, valid_to="2026-06-01T00:00:00Z"), "interval_reversed", "valid_to"),
    (assertion(valid_from="0000-07-01T00:00:00Z"), "year_out_of_range", "valid_from"),
    (assertion(valid_to="9999-12-31T23:59:59-05:00"), "year_out_of_range", "valid_to"),
    (assertion(valid_from="2016-12-31T23:59:60Z"), "leap_second", "valid_from"),
    (assertion(valid_from="infinity"), "instant_malformed", "valid_from"),
    (assertion(valid_from=5), "field_type", "valid_from"),
    (assertion(valid_from="2" * 65), "field_too_long", "valid_from"),
    (assertion(value=...), "field_missing", "value"),
    (assertion(value="a\x00"), "nul_character", "value"),
    (assertion(value={"\x00": 1}), "nul_character", "value"),
    (assertion(value=2**53 + 1), "integer_unsafe", "value"),
    (assertion(value=nested(65)), "nesting_too_deep", "value"),
    (assertion(value=nested(200)), "nesting_too_deep", "value"),
    (assertion(value="x" * 65_535), "value_too_large", "value"),
    (assertion(subject=...), "field_missing", "subject"),
    (assertion(subject=""), "field_empty", "subject"),
    (assertion(subject="a\x00"), "nul_character", "subject"),
    (assertion(subject="a" * 513), "field_too_long", "subject"),
    (assertion(subject=1), "field_type", "subject"),
    (assertion(key=""), "key_empty", "key"),
    (assertion(key="a" * 201), "key_too_long", "key"),
    (assertion(key="Package Manager"), "key_malformed", "key"),
    (assertion(scope="planet:mars"), "scope_kind_unknown", "scope"),
    (assertion(scope="repo"), "scope_malformed", "scope"),
    (assertion(scope="repo:" + "a" * 600), "scope_too_long", "scope"),
    (assertion(colour="red"), "field_unknown", "colour"),
    (assertion(**{"not a field's name": 1}), "field_unknown", None),
    (assertion(type="delete"), "type_unknown", "type"),
    (assertion(type=...), "field_missing", "type"),
    (assertion(source=...), "field_missing", "source"),
    (assertion(source={"id": "s"}), "source_hash_missing", "source"),
    (assertion(source={"id": "s", "hash": "ab"}), "source_hash_malformed", "source.hash"),
    (assertion(source={"id": "s", "hash": "zz" * 32}), "source_hash_malformed", "source.hash"),
    (assertion(source={"id": "s", "hash": "ab" * 32, "text": "t"}), "source_hash_differs", "source.hash"),
    (assertion(source={"id": "", "text": "t"}), "field_empty", "source.id"),
    (assertion(source={"id": "s", "text": "t", "url": "u"}), "field_unknown", "source.url"),
    (assertion(source="s"), "field_type", "source"),
    (assertion(lifecycle="REVOKED"), "field_value", "lifecycle"),
    (assertion(confidence=1.01), "confidence_out_of_range", "confidence"),
    (assertion(confidence=-0.1), "confidence_out_of_range", "confidence"),
    (assertion(confidence="0.5"), "field_type", "confidence"),
    (assertion(confidence=True), "field_type", "confidence"),
    (assertion(key="likes/food", cardinality="one"), "cardinality_declared", "cardinality"),
    (assertion(key="location.current", cardinality="many"), "cardinality_declared", "cardinality"),
    (assertion(cardinality="few"), "field_value", "cardinality"),
    (assertion(succession="sometimes"), "field_value", "succession"),
    (assertion(supersedes={"version_id": "v1"}), "id_malformed", "supersedes.version_id"),
    (assertion(supersedes=[{"version_id": ID, "mode": "merge"}]), "field_value", "supersedes.mode"),
    (assertion(supersedes=[{"version_id": ID, "effective_at": "x"}]), "instant_malformed", "supersedes.effective_at"),
    (assertion(supersedes=[{"version_id": ID}] * 101), "supersedes_too_many", "supersedes"),
    (assertion(recorded_at="9999-01-01T00:00:00Z"), "recorded_at_in_future", "recorded_at"),
    (assertion(idempotency_key="k" * 257), "field_too_long", "idempotency_key"),
    ({**FACT, "type": "supersede", "new_version_id": ID, "old_version_id": ID}, "supersedes_itself", "old_version_id"),
    ({**FACT, "type": "supersede", "new_version_id": ID}, "field_missing", "old_version_id"),
    ({**FACT, "type": "end", "version_id": ID}, "field_missing", "effective_at"),
    ({**FACT, "type": "end", "version_id": ID, "effective_at": AT, "value": 1}, "field_unknown", "value"),
    ({**FACT, "type": "activate", "version_id": "0" * 36}, "id_malformed", "version_id"),
    ({**FACT, "type": "activate", "version_id": ID, "reason": "r" * 4_097}, "field_too_long", "reason"),
    ({**FACT, "type": "revoke"}, "revoke_names_one", "version_id"),
    ({**FACT, "type": "revoke", "version_id": ID, "event_id": OTHER}, "revoke_names_one", "version_id"),
    (RESOLVE | {"right_version_id": ID}, "pair_of_one", "right_version_id"),
    (RESOLVE | {"keep": THIRD}, "keep_not_in_pair", "keep"),
    ({name: RESOLVE[name] for name in RESOLVE if name != "keep"}, "field_missing", "keep"),
    ({name: RESOLVE[name] for name in RESOLVE if name != "decided_at"}, "field_missing", "decided_at"),
    (RELATE | {"relation": "supersedes"}, "newer_missing", "newer_version_id"),
    (RELATE | {"relation": "supersedes", "newer_version_id": THIRD}, "newer_not_in_pair", "newer_version_id"),
    (RELATE | {"newer_version_id": ID}, "newer_not_allowed", "newer_version_id"),
    (RELATE | {"decided_by": "oracle"}, "field_value", "decided_by"),
    (RELATE | {"llm_call_made": 1}, "field_type", "llm_call_made"),
    (RELATE | FACT, "key_not_memory", "key"),
    (CHECK | {"key": "memory"}, "key_not_memory", "key"),
    (CHECK | {"pairs": 1}, "pairs_miscounted", "pairs"),
    (CHECK | {"decided": -1}, "pairs_miscounted", "pairs"),
    (CHECK | {"pending": -1}, "pairs_miscounted", "pairs"),
    (CHECK | {"pairs": 1_000_001}, "pairs_miscounted", "pairs"),
    (CHECK | {"pairs": 2.5}, "field_type", "pairs"),
    (CHECK | {"version_id": "ada"}, "id_malformed", "version_id"),
]


@pytest.mark.parametrize(("command", "code", "field"), COMMANDS, ids=[f"{code}-{field}" for _, code, field in COMMANDS])
def test_a_command_is_refused_by_code_and_field(
    writer: WriterInProcess, command: dict[str, Any], code: str, field: str | None
) -> None:
    single = writer.send(command)
    error = single.json()["error"]
    assert (single.status_code, error["code"], error["field"], error["index"]) == (422, code, field, 0)
    (result,) = writer.send([command]).json()["results"]
    assert (result["status"], result["error"]["code"], result["error"]["field"]) == ("rejected", code, field)


RAW_VALUES = [
    (b"1e400", "number_not_finite"),
    (b"[-1e400]", "number_not_finite"),
    (b"NaN", "number_not_finite"),
    (b'{"a":[-Infinity]}', "number_not_finite"),
    (b'"\\ud800"', "surrogate_lone"),
    (b'{"\\udfff":1}', "surrogate_lone"),
    (b'"\\u0000"', "nul_character"),
    (b'{"a":1,"a":1}', "json_key_repeated"),
    (b'[{"b":{"a":1,"\\u0061":2}}]', "json_key_repeated"),
    (b'{"a":1,"a":"\\u003a"}', "json_key_repeated"),
    (b"9007199254740993", "integer_unsafe"),
    (b"[18446744073709551616]", "integer_unsafe"),
    (b"123456789012345678901234567890", "integer_unsafe"),
    (b"-" + b"9" * 5_000, "integer_unsafe"),
    (b"[" * 65 + b"]" * 65, "nesting_too_deep"),
    (b"[" * 300 + b"]" * 300, "nesting_too_deep"),
]


@pytest.mark.parametrize(("value", "code"), RAW_VALUES, ids=[f"{code}-{at}" for at, (_, code) in enumerate(RAW_VALUES)])
def test_json_that_can_not_be_kept_is_refused_and_harms_no_other(
    writer: WriterInProcess, value: bytes, code: str
) -> None:
    single = writer.post(RAW % value)
    assert (single.status_code, single.json()["error"]["code"], single.json()["error"]["field"]) == (422, code, "value")
    good = RAW % b"1.5"
    for response in (
        writer.post(b"[" + good + b"," + RAW % value + b"]"),
        writer.post(good + b"\n" + RAW % value, LINES),
    ):
        first, second = response.json()["results"]
        assert (first["status"], second["error"]["code"], second["error"]["index"]) == ("accepted", code, 1)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (assertion(idempotency_key="k" * 257), "at most 256 characters"),
        (assertion(subject="s" * 513), "at most 512 characters"),
        (assertion(colour="red"), "no such field; there are subject, key, scope,"),
        (assertion(source={"id": "s", "text": "t", "colour": "red"}), "no such field; there are id, hash, text"),
        (assertion(scope="Repo:acme/web"), "a kind is written in small letters"),
        (assertion(scope="REPO"), "like repo:acme/web"),
    ],
)
def test_a_refusal_says_what_would_do(writer: WriterInProcess, command: dict[str, Any], told: str) -> None:
    assert told in writer.send(command).json()["error"]["message"]


def test_what_is_amiss_with_a_line_is_said_of_the_line(writer: WriterInProcess) -> None:
    results = writer.post(b'{cut\n{"a":"\xff"}\n5', LINES).json()["results"]
    assert [one["error"]["message"].startswith(("the line", "a command")) for one in results] == [True, True, True]


def test_numbers_that_only_look_too_large_are_taken(writer: WriterInProcess) -> None:
    for value in (b"6.02e23", b"1e300", b"9007199254740992", b"[-1.5e17]", b'"12345678901234567890"'):
        assert writer.post(RAW % value).status_code == 201, value


def test_a_key_named_twice_at_the_top_is_refused(writer: WriterInProcess) -> None:
    assert writer.post(RAW[:-1] % b"1" + b',"key":"other"}').json()["error"]["code"] == "json_key_repeated"


def test_a_version_can_not_supersede_itself(writer: WriterInProcess) -> None:
    version_id = writer.send(assertion(), query="?dry_run=true").json()["version_id"]
    response = writer.send(assertion(supersedes={"version_id": version_id}))
    assert response.json()["error"]["code"] == "supersedes_itself"


GOOD = orjson.dumps(assertion())
WHOLE: list[tuple[bytes, dict[str, str], str, int, str]] = [
    (b"", JSON, "", 400, "body_empty"),
    (b"\n \n", LINES, "", 400, "body_empty"),
    (GOOD[:-10], JSON, "", 400, "json_malformed"),
    (b"[" + GOOD, JSON, "", 400, "json_malformed"),
    (GOOD + GOOD, JSON, "", 400, "json_malformed"),
    (b"\xef\xbb\xbf" + GOOD, JSON, "", 400, "json_malformed"),
    (GOOD.decode().encode("utf-16"), JSON, "", 400, "encoding_not_utf8"),
    (GOOD.replace(b"npm", b"\xff"), JSON, "", 400, "encoding_not_utf8"),
    (b'"text"', JSON, "", 422, "command_not_object"),
    (b"[" * 5_000 + b"]" * 5_000, JSON, "", 422, "nesting_too_deep"),
    (GOOD, {}, "", 415, "content_type_unsupported"),
    (GOOD, {"content-type": "text/plain"}, "", 415, "content_type_unsupported"),
    (GOOD, {"content-type": "application/json; charset=latin-1"}, "", 415, "content_type_unsupported"),
    (GOOD, JSON | {"content-encoding": "gzip"}, "", 415, "content_encoding_unsupported"),
    (GOOD, JSON, "?dryrun=true", 400, "parameter_unknown"),
    (GOOD, JSON, "?dry_run=maybe", 400, "parameter_malformed"),
    (GOOD, JSON | {"x-tenant-id": "t" * 300}, "", 400, "parameter_malformed"),
    (b"[" + b",".join([GOOD] * 10_001) + b"]", JSON, "", 413, "commands_too_many"),
    (b"\n".join([GOOD] * 10_001), LINES, "", 413, "commands_too_many"),
    (b"[" + b"{}," * 300_000 + b"{}]", JSON, "", 413, "body_too_large"),
    (b" " * (16 * 2**20 + 1), JSON, "", 413, "body_too_large"),
]


@pytest.mark.parametrize(
    ("body", "headers", "query", "status", "code"), WHOLE, ids=[f"{one[4]}-{at}" for at, one in enumerate(WHOLE)]
)
def test_a_request_is_refused_as_a_whole(
    writer: WriterInProcess, body: bytes, headers: dict[str, str], query: str, status: int, code: str
) -> None:
    before = len(writer.events())
    response = writer.post(body, headers, query=query)
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert len(writer.events()) == before


def test_ten_thousand_commands_are_taken(writer: WriterInProcess) -> None:
    assert len(writer.post(b"\n".join([GOOD] * 10_000), LINES).json()["results"]) == 10_000


def test_other_addresses_and_methods_are_refused_in_the_same_shape(writer: WriterInProcess) -> None:
    assert writer.ask("GET", "/v1/nothing").json()["error"]["code"] == "not_found"
    assert writer.ask("GET", "/v1/events").json()["error"]["code"] == "method_not_allowed"


def test_no_refusal_repeats_what_was_sent(writer: WriterInProcess) -> None:
    secret = "hunter2"
    commands = [
        assertion(key=secret + "!"),
        assertion(scope=f"{secret}:x"),
        assertion(valid_from=secret),
        assertion(lifecycle=secret),
        assertion(supersedes={"version_id": secret}),
        assertion(source={"id": "s", "hash": secret}),
        assertion(type=secret),
        assertion(value=[secret, 2**60]),
    ]
    response = writer.send(commands)
    assert [one["status"] for one in response.json()["results"]] == ["rejected"] * len(commands)
    assert secret not in response.text


def test_every_code_of_these_tests_is_of_the_closed_list() -> None:
    codes = {code for _, code, _ in COMMANDS} | {code for _, code in RAW_VALUES} | {one[4] for one in WHOLE}
    assert codes <= CODES.keys()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (assertion(source="chat-17"), "the field is a JSON object"),
        (assertion(confidence="high"), "the field is a JSON number"),
        (assertion(cardinality="few"), "the field is one of these words: 'one' or 'many'"),
        ({**FACT, "type": "asert"}, "type names one of the commands: 'assert', 'activate', 'supersede', 'end'"),
    ],
)
def test_a_refusal_says_what_is_wanted(writer: WriterInProcess, command: dict[str, Any], message: str) -> None:
    assert writer.post(orjson.dumps(command)).json()["error"]["message"].startswith(message)
