"""Payloads to bytes and back; what no writer of ours can have written is refused, never guessed at."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from chronofact.contracts.payload import happening_of, id_bytes, id_text, payload_of
from chronofact.domain.canonical import canonical, digest
from chronofact.domain.errors import Rejected
from chronofact.domain.events import FactAsserted, Happening, Lifecycle, Supersession
from chronofact.domain.interval import Interval
from tests.compatibility.golden import HAPPENINGS, LEFT, RIGHT

KINDS = [type(what).__name__ for what in HAPPENINGS]
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
INSTANTS = st.none() | st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)


@pytest.mark.parametrize("what", HAPPENINGS, ids=KINDS)
def test_a_payload_is_canonical_and_comes_back(what: Happening) -> None:
    payload = payload_of(what)
    assert rfc8785.dumps(json.loads(payload)) == payload
    assert payload_of(happening_of(type(what).__name__, payload)) == payload


@given(TEXTS, TEXTS, INSTANTS, st.floats(0, 1) | st.none())
def test_an_assertion_comes_back_whatever_it_says(
    source: str, value: str, start: int | None, confidence: float | None
) -> None:
    spelled = canonical({'","value":': value, "version_id": [source]})
    what = FactAsserted(
        LEFT, spelled, digest(spelled), Interval(start, None), source + ',"value":', digest(b"e"), confidence=confidence
    )
    payload = payload_of(what)
    assert rfc8785.dumps(json.loads(payload)) == payload
    assert happening_of("FactAsserted", payload) == what
    assert happening_of("FactAsserted", payload, value_hash=what.value_hash) == what


def test_edges_are_a_set() -> None:
    base = next(what for what in HAPPENINGS if isinstance(what, FactAsserted))
    one, two = Supersession(RIGHT), Supersession(LEFT, 5)
    first, second = (replace(base, supersedes=edges) for edges in ((one, two, one), (two, one)))
    assert payload_of(first) == payload_of(second)


def test_ids_have_one_text() -> None:
    assert id_bytes(id_text(LEFT).upper()) == LEFT


@pytest.mark.parametrize(
    "text", ["", "x" * 36, "-" * 36, id_text(LEFT)[:-1], id_text(LEFT).replace("-", ""), "１" * 36]
)
def test_other_text_is_no_id(text: str) -> None:
    with pytest.raises(ValueError, match="UUID"):
        id_bytes(text)


ASSERTED: dict[str, Any] = {
    "cardinality": "one",
    "confidence": None,
    "lifecycle": "ACTIVE",
    "source_hash": "ab" * 32,
    "source_id": "s",
    "succession": "explicit",
    "supersedes": [],
    "valid_from": None,
    "valid_from_known": True,
    "valid_to": None,
    "value": "npm",
    "version_id": id_text(LEFT),
}
IMPOSSIBLE: list[tuple[str, Any]] = [
    ("FactAsserted", ASSERTED | {"lifecycle": Lifecycle.REVOKED}),
    ("FactAsserted", ASSERTED | {"cardinality": "few"}),
    ("FactAsserted", ASSERTED | {"confidence": 2}),
    ("FactAsserted", ASSERTED | {"confidence": True}),
    ("FactAsserted", ASSERTED | {"source_hash": "ab"}),
    ("FactAsserted", ASSERTED | {"source_id": 5}),
    ("FactAsserted", ASSERTED | {"valid_from": "2026-07-01"}),
    ("FactAsserted", ASSERTED | {"valid_from": "2026-07-01T00:00:00+00"}),
    ("FactAsserted", ASSERTED | {"valid_from": "2026-07-02T00:00:00Z", "valid_to": "2026-07-01T00:00:00Z"}),
    ("FactAsserted", ASSERTED | {"valid_from_known": 1}),
    ("FactAsserted", ASSERTED | {"supersedes": [{"version_id": "x", "effective_at": None, "mode": None}]}),
    ("FactAsserted", ASSERTED | {"version_id": "x"}),
    ("FactAsserted", ASSERTED | {"zzz": 1}),
    ("FactAsserted", {name: ASSERTED[name] for name in ASSERTED if name != "value"}),
    ("FactAsserted", []),
    ("FactEnded", {"effective_at": None, "reason": None, "version_id": id_text(LEFT)}),
    ("FactEnded", {"effective_at": 5, "reason": None, "version_id": id_text(LEFT)}),
    ("FactRevoked", {"event_id": None, "reason": None, "version_id": None}),
    ("FactRevoked", {"event_id": id_text(LEFT), "reason": None, "version_id": id_text(LEFT)}),
    ("FactActivated", {"reason": 1, "version_id": id_text(LEFT)}),
    ("FactActivated", {"reason": None, "version_id": id_text(LEFT), "more": 1}),
    ("FactForgotten", {}),
]


@pytest.mark.parametrize(("kind", "fields"), IMPOSSIBLE)
def test_what_no_writer_can_have_written_is_refused(kind: str, fields: Any) -> None:
    with pytest.raises(Rejected) as refused:
        happening_of(kind, json.dumps(fields, separators=(",", ":"), sort_keys=True).encode())
    assert refused.value.code == "event_undecodable"


@given(st.sampled_from(HAPPENINGS), st.binary(max_size=3), st.data())
def test_damaged_payloads_never_crash(what: Happening, noise: bytes, data: st.DataObject) -> None:
    payload = payload_of(what)
    at = data.draw(st.integers(0, len(payload)))
    damaged = payload[:at] + noise + payload[at + data.draw(st.integers(0, 4)) :]
    try:
        happening_of(type(what).__name__, damaged)
    except Rejected:
        return
