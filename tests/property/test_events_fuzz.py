"""Anything at all to POST /v1/events: never a 500, every refusal by a code of the list, and what is accepted can be read."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from chronofact.contracts.codec import decode_event, identity_of
from chronofact.contracts.error_codes import CODES
from chronofact.contracts.payload import happening_of, payload_of
from chronofact.contracts.position import Position
from chronofact.domain.identity import event_id_of, fact_id_of
from tests.contract.remembering import RememberingWriter
from tests.contract.writing import JSON, LINES

WRITER = RememberingWriter()


def mostly(good: st.SearchStrategy[Any], odd: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Odd one time in twelve, so that whole commands come through."""
    return st.integers(0, 11).flatmap(lambda turn: odd if turn == 11 else good)


ODD = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
WORDS = st.sampled_from(["ada", "bob", "é", 'a"b'])
IDS = mostly(st.uuids().map(str), ODD)
INSTANTS = mostly(
    st.datetimes().map(lambda moment: f"{moment.isoformat()}Z") | st.just("2026-08-01T00:00:00.5+02:00"),
    st.sampled_from(["2026-07-01T00:00:00", "0000-01-01T00:00:00Z", "2016-12-31T23:59:60Z", ""]) | ODD,
)
PLAIN: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | ODD,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ODD, inner, max_size=4),
    max_leaves=12,
)
EDGES = st.fixed_dictionaries({"version_id": IDS}, optional={"effective_at": INSTANTS, "mode": st.just("replace")})
HASHES = mostly(st.just("ab" * 32), ODD)


def words(*known: str) -> st.SearchStrategy[Any]:
    return mostly(st.sampled_from(known), VALUES)


COUNTS = mostly(st.integers(-1, 4), VALUES)

FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "subject": mostly(WORDS, VALUES),
    "scope": mostly(st.sampled_from(["user:self", "repo:A/b", "repo:%41%ff", "global"]), ODD),
    "key": mostly(st.sampled_from(["a", "likes/food", "location.current", "memory/note"]), ODD),
    "value": mostly(PLAIN, VALUES),
    "valid_from": INSTANTS,
    "valid_to": INSTANTS,
    "source": st.fixed_dictionaries({"id": WORDS, "hash": HASHES})
    | st.fixed_dictionaries({"id": ODD}, optional={"text": ODD}),
    "lifecycle": words("ACTIVE", "PROPOSED"),
    "supersedes": EDGES | st.lists(EDGES, max_size=3),
    "succession": words("explicit", "automatic"),
    "cardinality": words("one", "many"),
    "confidence": mostly(st.floats(0, 1), VALUES),
    "version_id": IDS,
    "event_id": IDS,
    "new_version_id": IDS,
    "old_version_id": IDS,
    "left_version_id": IDS,
    "right_version_id": IDS,
    "newer_version_id": IDS,
    "keep": mostly(st.none(), IDS),
    "relation": words("contradicts", "near_duplicate", "unrelated", "supersedes"),
    "effective_at": INSTANTS,
    "decided_at": INSTANTS,
    "decided_by": words("rule", "person"),
    "llm_call_made": mostly(st.booleans(), VALUES),
    "model": WORDS,
    "pairs": COUNTS,
    "decided": COUNTS,
    "pending": COUNTS,
    "reason": mostly(WORDS, VALUES),
    "recorded_at": INSTANTS,
    "idempotency_key": WORDS,
}
OPTIONAL = {
    "assert": ("scope", "valid_from", "valid_to", "lifecycle", "supersedes", "succession", "cardinality", "confidence"),
    "supersede": ("effective_at", "reason"),
    "revoke": ("version_id", "event_id"),
    "declare_relation": ("llm_call_made", "model", "newer_version_id"),
}
NEEDED = {
    "assert": ("subject", "key", "value", "source"),
    "activate": ("subject", "key", "version_id"),
    "supersede": ("subject", "key", "new_version_id", "old_version_id"),
    "end": ("subject", "key", "version_id", "effective_at"),
    "revoke": ("subject", "key", "version_id"),
    "resolve_conflict": ("subject", "key", "left_version_id", "right_version_id", "keep", "decided_at"),
    "declare_relation": (
        "subject",
        "key",
        "left_version_id",
        "right_version_id",
        "relation",
        "decided_at",
        "decided_by",
    ),
    "check_relations": ("subject", "key", "version_id", "pairs", "decided", "pending"),
}


@st.composite
def commands(draw: st.DrawFn, kinds: tuple[str, ...] = (*NEEDED, "erase")) -> Any:
    kind = draw(st.sampled_from(kinds))
    further = OPTIONAL.get(kind, ("reason", "scope", "recorded_at"))
    names = [*NEEDED.get(kind, ()), *draw(st.lists(st.sampled_from(further), max_size=4))]
    command = {"type": kind} | {name: draw(FIELDS[name]) for name in names}
    odd = draw(st.integers(0, 15))
    if odd == 0:
        command[draw(ODD)] = draw(VALUES)
    elif odd == 1:
        command[draw(st.sampled_from(sorted(command)))] = draw(VALUES)
    return command


def spelled(found: Any) -> bytes:
    return json.dumps(found, ensure_ascii=False).encode("utf-8", "surrogatepass")


@st.composite
def bodies(draw: st.DrawFn) -> tuple[bytes, dict[str, str]]:
    batch = draw(st.lists(commands(), min_size=1, max_size=4))
    form = draw(st.integers(0, 3))
    body = {
        0: lambda: (spelled(batch[0]), JSON),
        1: lambda: (spelled(batch), JSON),
        2: lambda: (b"\n".join(map(spelled, batch)), LINES),
        3: lambda: (draw(st.binary(max_size=60)), draw(st.sampled_from([JSON, LINES]))),
    }[form]()
    if draw(st.integers(0, 5)) == 0:
        return mangled(draw, body[0]), body[1]
    return body


def mangled(draw: st.DrawFn, raw: bytes) -> bytes:
    at = draw(st.integers(0, len(raw)))
    return raw[:at] + draw(st.binary(max_size=3)) + raw[at + draw(st.integers(0, 3)) :]


def check_error(error: dict[str, Any]) -> None:
    assert error["code"] in CODES
    assert error["code"] != "internal"
    assert error["message"]
    assert set(error) == {"code", "message", "field", "index"}


@given(bodies())
def test_every_body_is_answered(sent: tuple[bytes, dict[str, str]]) -> None:
    WRITER.log.partitions.clear()
    response = WRITER.post(*sent)
    assert response.status_code in {200, 201, 400, 413, 415, 422}
    told = response.json()
    results = told.get("results", [told])
    for index, result in enumerate(results):
        if "error" in result:
            check_error(result["error"])
            assert result["error"]["index"] in {index, None}
        else:
            assert result["status"] == "accepted"
    accepted = [result for result in results if result.get("status") == "accepted"]
    if accepted:
        assert sum(Position.parse(told["position"]).next_offsets.values()) == len(accepted)
    check_log(len(accepted))


def check_log(count: int) -> None:
    """What was appended says what its ids say it does."""
    messages = WRITER.log.messages()
    assert len(messages) == count
    for message in messages:
        event = decode_event(message.value)
        assert fact_id_of(identity_of(event.identity)) == message.key
        what = happening_of(event.kind, event.payload, value_hash=event.value_hash)
        assert payload_of(what) == event.payload
        assert event_id_of(message.key, event.kind, event.payload) == event.event_id
        orjson.loads(event.payload)


@pytest.mark.parametrize("kind", NEEDED)
def test_the_fuzz_reaches_accepted_commands(kind: str) -> None:
    def is_accepted(command: Any) -> bool:
        WRITER.log.partitions.clear()
        return WRITER.post(spelled(command)).is_success

    find(commands((kind,)), is_accepted, settings=settings(max_examples=500, phases=[Phase.generate], database=None))
