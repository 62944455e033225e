"""What is told at a glance on the hot path is what the long way tells."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import orjson
from hypothesis import given
from hypothesis import strategies as st

from chronofact.contracts.codec import IdentityParts, decode_event, identity_of, parts_of
from chronofact.contracts.payload import happening_of
from chronofact.contracts.verifying import check_content
from chronofact.domain.canonical import canonical
from chronofact.domain.errors import Rejected
from chronofact.domain.identity import FactIdentity
from tests.integration.poison import asserted, event, spelled
from tests.integration.saying import Fact

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["", "\x00", "\x7f", "\x1f", 'a"b\\c/d\n', "\\u0000", "\U0001f600", "\ufb33", "é", "e\u0301"]
)
numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
nested = st.integers(60, 68).map(lambda depth: json.loads("[" * depth + "]" * depth))
FACT = Fact("ada")


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Rejected as rejected:
        return rejected.code, str(rejected), rejected.field


def slowly(identity: bytes) -> IdentityParts:
    parts = identity_of(identity)
    ids = (parts.tenant_id.bytes, parts.subject_id.bytes)
    return IdentityParts(*ids, parts.scope_kind, parts.scope_key, parts.fact_key)


def is_canonical(value: bytes) -> bool:
    try:
        return canonical(orjson.loads(value)) == value
    except (Rejected, ValueError):
        return False


@given(st.uuids(), st.uuids(), texts, texts, texts)
def test_parts_of_an_identity(tenant: UUID, subject: UUID, kind: str, key: str, fact_key: str) -> None:
    try:
        identity = FactIdentity(tenant, subject, kind, key, fact_key).canonical()
    except Rejected:
        identity = orjson.dumps([str(tenant), str(subject), kind, key, fact_key])
    assert outcome(lambda: parts_of(identity)) == outcome(lambda: slowly(identity))


@given(st.data())
def test_parts_of_what_is_no_identity(data: st.DataObject) -> None:
    odd = texts | st.none() | st.integers() | st.sampled_from([str(UUID(int=5)), str(UUID(int=2**127)).upper(), "{}"])
    parts = data.draw(st.lists(odd, min_size=4, max_size=6) | values)
    identity = json.dumps(parts, separators=data.draw(st.sampled_from([(",", ":"), (", ", ": ")]))).encode()
    assert outcome(lambda: parts_of(identity)) == outcome(lambda: slowly(identity))


@given(values | nested, st.sampled_from(["canonical", "orjson", "sorted", "ascii", "spaces"]))
def test_a_value_passes_if_and_only_if_it_is_canonical(value: Any, form: str) -> None:
    try:
        said = {
            "canonical": lambda: canonical(value),
            "orjson": lambda: orjson.dumps(value),
            "sorted": lambda: orjson.dumps(value, option=orjson.OPT_SORT_KEYS),
            "ascii": lambda: json.dumps(value, sort_keys=True, separators=(",", ":")).encode(),
            "spaces": lambda: json.dumps(value, sort_keys=True, ensure_ascii=False).encode(),
        }[form]()
    except (Rejected, TypeError):
        return
    fields = asserted(FACT)
    start = spelled(fields).index(b'"value":') + len(b'"value":')
    payload = spelled(fields)[:start] + said + spelled(fields)[start + len(b'"npm"') :]
    raw = event(FACT, payload)
    found = outcome(lambda: check(raw, payload))
    wanted = is_canonical(said) and (b"\\u0000" not in said or is_canonical(payload))
    assert (found is None or found[0] == "version_id_mismatch") == wanted


def check(raw: bytes, payload: bytes) -> None:
    decoded = decode_event(raw)
    check_content(FACT.fact_id, decoded, happening_of(decoded.kind, payload))
