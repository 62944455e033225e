"""What any version has written, this version reads; what this version writes is what it always wrote."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from io import BytesIO

import pytest
from fastavro import parse_schema, schemaless_writer
from hypothesis import given
from hypothesis import strategies as st

from chronofact.contracts.codec import VERSIONS, FactEvent, decode_event, encode_event, identity_of
from chronofact.contracts.payload import happening_of, id_bytes
from chronofact.domain.errors import Rejected
from chronofact.domain.events import Happening
from chronofact.domain.identity import event_id_of, fact_id_of
from chronofact.runtime.resources import schema_path
from tests.compatibility.golden import FACT, HAPPENINGS, IDENTITY, event_of, path_of, told

NEWEST = parse_schema(json.loads(schema_path("avro", VERSIONS[-1]).read_bytes()))
KINDS = [type(what).__name__ for what in HAPPENINGS]


@pytest.mark.parametrize("what", HAPPENINGS, ids=KINDS)
def test_golden_bytes_are_written_as_ever(what: Happening) -> None:
    assert encode_event(event_of(what)) == path_of(what, "bin").read_bytes()


@pytest.mark.parametrize("schema", VERSIONS)
@pytest.mark.parametrize("what", HAPPENINGS, ids=KINDS)
def test_golden_bytes_of_every_schema_are_read(what: Happening, schema: str) -> None:
    event = decode_event(path_of(what, "bin", schema).read_bytes())
    assert told(event) == json.loads(path_of(what, "json", schema).read_text(encoding="utf-8"))


@pytest.mark.parametrize("what", HAPPENINGS, ids=KINDS)
def test_golden_payload_says_what_it_said(what: Happening) -> None:
    event = decode_event(path_of(what, "bin").read_bytes())
    found = happening_of(event.kind, event.payload)
    assert type(found) is type(what)
    assert event_of(found).payload == event.payload


@pytest.mark.parametrize("what", HAPPENINGS, ids=KINDS)
def test_golden_ids_are_derived_from_content(what: Happening) -> None:
    shown = json.loads(path_of(what, "json").read_text(encoding="utf-8"))
    assert id_bytes(shown["message_key"]) == fact_id_of(IDENTITY) == FACT
    assert id_bytes(shown["event_id"]) == event_id_of(FACT, shown["kind"], shown["payload"].encode())
    assert identity_of(event_of(what).identity) == IDENTITY


def optional(strategy: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | strategy


EVENTS = st.builds(
    FactEvent,
    st.binary(min_size=16, max_size=16),
    st.sampled_from(KINDS),
    st.binary(max_size=300),
    optional(st.text(max_size=200)),
    st.binary(max_size=2_000),
    optional(st.binary(max_size=300)),
    optional(st.binary(min_size=16, max_size=16)),
    optional(st.binary(min_size=32, max_size=32)),
    optional(st.binary(min_size=32, max_size=32)),
    optional(st.integers(-(2**63), 2**63 - 1)),
    optional(st.text(max_size=60)),
)


@given(EVENTS)
def test_hand_spelled_avro_is_fastavro_s(event: FactEvent) -> None:
    body = BytesIO()
    schemaless_writer(body, NEWEST, asdict(event))
    encoded = encode_event(event)
    assert encoded[10:] == body.getvalue()
    assert decode_event(encoded) == event


@given(EVENTS, st.data())
def test_broken_bytes_are_refused_and_never_crash(event: FactEvent, data: st.DataObject) -> None:
    encoded = bytearray(encode_event(event))
    for _ in range(data.draw(st.integers(1, 3))):
        encoded[data.draw(st.integers(0, len(encoded) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(encoded[: data.draw(st.integers(0, len(encoded)))])
    with suppress(Rejected):
        decode_event(cut)


def test_an_unknown_schema_is_refused() -> None:
    encoded = encode_event(event_of(HAPPENINGS[0]))
    with pytest.raises(Rejected, match="fingerprint"):
        decode_event(encoded[:2] + bytes(8) + encoded[10:])


def test_bytes_left_over_are_refused() -> None:
    with pytest.raises(Rejected, match="left over"):
        decode_event(encode_event(event_of(HAPPENINGS[0])) + b"\x00")
