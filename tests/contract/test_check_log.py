"""The log beside what the projection keeps of it: every way in which a line can be wrong is told by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from struct import pack, unpack
from typing import Any

import pytest

from chronofact.contracts.checking import Divergence, StoredLine
from chronofact.contracts.codec import decode_event
from chronofact.domain.canonical import canonical
from chronofact.domain.events import EventDropped
from chronofact.domain.interval import INSTANT_MIN
from chronofact.reconciler.log_pass import PartitionPass
from tests.contract.memory_log import Appended
from tests.integration.deriving import derived, frame, pointing
from tests.integration.saying import Fact, Said

FACT = Fact("ann")
SAID = [FACT.asserts(f"v{number}", source=f"s{number}") for number in range(4)]
FIRST = {1, 2, 3, 4}
"""Events that are the first to assert their version."""
HALVES = pointing(tea=1, go=0.25)
MEMORY = FACT.asserts("tea", derived=derived(["drink|tea"], HALVES, frames=[frame("drink", "tea")]))
KEPT = (
    b"hand-1",
    canonical([frame("drink", "tea")]),
    b'["drink|tea"]',
    b"hand-embedder-1",
    b"\x01\x80\0\0" + pack(">384e", *unpack("<384e", HALVES)),
)


class StoredCut:
    """What a projection keeps, as given."""

    def __init__(self, lines: Sequence[StoredLine], known: Sequence[tuple[bytes, int]] = ()) -> None:
        self._lines = lines
        self._known = known

    def judge(self, first: int, last: int) -> Any:
        raise NotImplementedError

    def first_asserted(self, events: Sequence[tuple[int | None, int]]) -> set[int]:
        return {place for place, (_, event_seq) in enumerate(events) if event_seq in FIRST}

    def stored(self, partition: int) -> Iterator[StoredLine]:
        return iter(self._lines)

    def known(self, messages: Sequence[tuple[bytes, bytes, int]]) -> set[int]:
        return {
            place
            for place, (_, event_id, offset) in enumerate(messages)
            if any(one == event_id and at < offset for one, at in self._known)
        }


def message(offset: int, said: Said) -> Appended:
    return Appended(FACT.partition, offset, said.key, said.value, 1_000 + offset)


def line(offset: int, said: Said, seq: int) -> StoredLine:
    event = decode_event(said.value)
    before = 1_000 + offset - 1 if seq > 1 else None
    return StoredLine(
        offset, "event", 7, FACT.fact_id, event.event_id, seq, event.kind, 1_000 + offset, before, event.payload, "ann"
    )


MESSAGES = [message(offset, said) for offset, said in enumerate(SAID)]
LINES = [line(offset, said, offset + 1) for offset, said in enumerate(SAID)]


def told(lines: Sequence[StoredLine], messages: Sequence[Appended] = MESSAGES, **known: Any) -> list[Divergence]:
    found: list[Divergence] = []
    at = PartitionPass(FACT.partition, StoredCut(lines, **known), found.extend)
    for one in messages:
        at.take([one])
    at.finish()
    return found


def test_what_agrees_is_not_told() -> None:
    assert told(LINES) == []


@pytest.mark.parametrize(
    ("aspect", "change"),
    [
        ("fact_no", {"fact_id": bytes(16)}),
        ("event_id", {"event_id": bytes(16)}),
        ("event_type", {"event_type": "FactEnded"}),
        ("canonical_payload", {"payload": b"{}"}),
        ("recorded_at", {"recorded_at": 5}),
        ("subject_label", {"subject_label": None, "event_seq": 1}),
    ],
)
def test_a_wrong_line_is_told_by_what_is_wrong(aspect: str, change: dict[str, Any]) -> None:
    lines = [*LINES[:2], replace(LINES[2], **change), LINES[3]]
    assert [one.aspect for one in told(lines)] == [aspect]


def test_what_was_learned_before_all_time_was_learned_in_the_year_one() -> None:
    said = FACT.asserts("old", import_time=-(2**63))
    kept = replace(line(0, said, 1), recorded_at=INSTANT_MIN)
    assert told([kept], [message(0, said)]) == []
    assert [one.aspect for one in told([replace(kept, recorded_at=-(2**63))], [message(0, said)])] == ["recorded_at"]


def test_loss_doubles_and_lines_without_a_message_are_told() -> None:
    assert [one.aspect for one in told([LINES[0], *LINES[2:]])] == ["lost"]
    assert [one.aspect for one in told([LINES[0], LINES[0], *LINES[1:]])] == ["double"]
    assert [one.aspect for one in told([*LINES, replace(LINES[3], offset=9)])] == ["offset"]
    assert [one.aspect for one in told(LINES, [MESSAGES[0], *MESSAGES[2:]])] == ["offset"]


def test_a_repeat_a_drop_and_what_is_parked_are_no_loss() -> None:
    repeat = message(4, SAID[0])
    first = decode_event(SAID[0].value).event_id
    assert told(LINES, [*MESSAGES, repeat], known=[(first, 0)]) == []
    assert [one.aspect for one in told(LINES, [*MESSAGES, repeat], known=[(first, 8)])] == ["lost"]
    drop = message(4, FACT.says(EventDropped("t", 0, 1, "ada", "r")))
    assert told(LINES, [*MESSAGES, drop]) == []
    poison = Appended(FACT.partition, 4, b"k", b"poison", 9)
    parked = replace(LINES[0], offset=4, sort="parked", fact_no=None, payload=b"poison")
    assert told([*LINES, parked], [*MESSAGES, poison]) == []
    assert [one.aspect for one in told([*LINES, replace(parked, payload=b"x")], [*MESSAGES, poison])] == ["message"]
    assert [one.aspect for one in told(LINES, [*MESSAGES, poison])] == ["lost"]
    assert told([*LINES, replace(parked, sort="dropped")], [*MESSAGES, poison]) == []


def of_memory(seq: int, kept: Sequence[bytes | None] | None, said: Said = MEMORY) -> list[tuple[str, str]]:
    found = told([replace(line(0, said, seq), derived=kept)], [message(0, said)])
    return [(one.relation, one.aspect) for one in found]


def test_what_was_derived_is_the_first_assertion_s_in_every_part() -> None:
    assert of_memory(1, KEPT) == []
    assert of_memory(1, None) == [("memory", "missing")]
    assert of_memory(9, None) == [], "a later assertion of the version: what is derived counts once"
    for place, aspect in enumerate(("extractor", "frames", "keys", "embedder", "embedding")):
        other = {"frames": b"[]", "keys": b"[]"}.get(aspect, KEPT[place] + b"x")
        for change in (other, None):
            assert of_memory(1, [*KEPT[:place], change, *KEPT[place + 1 :]]) == [("memory", aspect)]


@pytest.mark.parametrize(
    "said", [FACT.asserts("tea"), FACT.asserts(5, derived=derived()), FACT.asserts("tea", derived=b"{}")]
)
def test_of_what_is_no_text_or_has_nothing_derived_there_is_no_memory(said: Said) -> None:
    assert of_memory(1, None, said) == []
    assert of_memory(1, KEPT, said) == [("memory", "extra")]
