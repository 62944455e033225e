"""Anything at all on the topic: applied or parked under a code of the list, what is written can be sent to Postgres, and no other fact waits."""

from __future__ import annotations

import json
from itertools import starmap
from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from chronofact.contracts.codec import FactEvent, encode_event
from chronofact.contracts.error_codes import CODES
from chronofact.contracts.projection import Lines
from chronofact.domain.events import ConflictResolved, FactActivated, FactEnded, FactRevoked, FactSuperseded, Happening
from chronofact.domain.identity import event_id_of
from chronofact.postgres import copy
from chronofact.postgres.raw_values import fact_line, head_line
from tests.contract.memory_log import MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import projector_on, run_until_idle
from tests.integration.poison import asserted, spelled
from tests.integration.saying import Fact

ADA = Fact("ada")
BOB = next(fact for fact in map(Fact, map(str, range(99))) if fact.partition == ADA.partition)
ONE, TWO = bytes([1]) * 16, bytes([2]) * 16
SAYINGS: list[Happening] = [
    FactActivated(ONE),
    FactSuperseded(ONE, TWO),
    FactEnded(ONE, 5_000, "why"),
    FactRevoked(ONE),
    ConflictResolved(ONE, TWO, None, 5_000),
]
GOOD = [ADA.asserts({"a": [1, None]}, 5_000, 9_000).value, *(ADA.says(what).value for what in SAYINGS)]
ENCODERS = (
    ("events", copy.event_line),
    ("versions", copy.version_line),
    ("labels", copy.version_label_line),
    ("edges", copy.edge_line),
    ("endings", copy.ending_line),
    ("decisions", copy.decision_line),
    ("relations", copy.relation_line),
    ("timeline", copy.timeline_line),
    ("conflicts_now", copy.conflict_line),
    ("heads", head_line),
)


def can_be_sent(lines: Lines) -> bool:
    """Spells every line as COPY would; raises what would end the projector."""
    for name, encode in ENCODERS:
        list(starmap(encode, getattr(lines, name)))
    list(map(fact_line, lines.facts))
    return False


def project(value: bytes, *, key: bytes = ADA.fact_id, appended_at: int = 1_764_000_000_000_000) -> str | None:
    """The code under which it parks; fails when anything stops, or another fact waits."""
    topic, store = MemoryTopic(), MemoryStore()
    store.refuses = can_be_sent
    topic.append([ADA.asserts("first", 1_000), BOB.asserts("npm")], appended_at=appended_at)
    topic.append_raw(ADA.partition, key, value, appended_at=appended_at)
    topic.append([BOB.asserts("pnpm", 7_000)], appended_at=appended_at)
    projector, witness = projector_on(topic.join(), store)
    run_until_idle(projector)
    assert witness.hindrances == []
    assert store.state()[BOB.fact_id][0] == 2
    parked = [line for line in store.tables.parked.values() if line.code != "held"]
    assert all(line.code in CODES and line.value == value for line in parked)
    return parked[0].code if parked else None


@st.composite
def mangled(draw: st.DrawFn) -> bytes:
    raw = draw(st.sampled_from(GOOD))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(raw)))
        raw = raw[:at] + draw(st.binary(max_size=4)) + raw[at + draw(st.integers(0, 4)) :]
    return raw


@given(mangled(), st.one_of(st.just(ADA.fact_id), st.binary(max_size=20)))
def test_mangled_bytes(value: bytes, key: bytes) -> None:
    project(value, key=key)


TEXTS = st.text(max_size=8) | st.sampled_from(
    ["one", "ACTIVE", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "a\x00"]
)
IDS = st.sampled_from([str(UUID(int=n)) for n in (1, 2, 3)])
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | IDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
FIELDS = {
    "FactActivated": ("reason", "version_id"),
    "FactSuperseded": ("effective_at", "mode", "new_version_id", "old_version_id", "reason"),
    "FactEnded": ("effective_at", "reason", "version_id"),
    "FactRevoked": ("event_id", "reason", "version_id"),
    "ConflictResolved": ("decided_at", "decided_by", "keep", "left_version_id", "reason", "right_version_id"),
    "RelationsChecked": ("decided", "llm_call_made", "pairs", "pending", "reason", "version_id"),
    "EventDropped": ("dropped_by", "offset", "partition", "reason", "topic_id"),
    "RelationDeclared": (
        "decided_at",
        "decided_by",
        "left_version_id",
        "llm_call_made",
        "model",
        "newer_version_id",
        "reason",
        "relation",
        "right_version_id",
    ),
}


@st.composite
def impossible(draw: st.DrawFn) -> bytes:
    """A payload of the right fields and of any content, under a right event id."""
    kind = draw(st.sampled_from([*FIELDS, "FactAsserted"]))
    if kind == "FactAsserted":
        wrong = draw(st.dictionaries(st.sampled_from(sorted(asserted(ADA))), JSON, max_size=3))
        fields = asserted(ADA, **wrong)
    else:
        fields = {name: draw(IDS if name.endswith("_id") else JSON) for name in FIELDS[kind]}
    payload = spelled(fields)
    if draw(st.booleans()):
        payload = json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass")
    event_id = event_id_of(ADA.fact_id, kind, payload)
    label = draw(st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=4))
    import_time = draw(st.none() | st.integers(-(2**63), 2**63 - 1))
    return encode_event(FactEvent(event_id, kind, ADA.canonical, label, payload, import_time=import_time))


@given(impossible())
def test_impossible_content(value: bytes) -> None:
    project(value)


def test_the_fuzz_reaches_events_that_are_applied() -> None:
    assert [project(value) for value in GOOD] == [None] * len(GOOD)
