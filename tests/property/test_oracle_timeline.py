"""The oracle's own pictures hang together: rectangles tile both axes and say what ``resolve`` says."""

from __future__ import annotations

from itertools import combinations, pairwise
from random import Random

import pytest

from tests.property.oracle import (
    OAnswer,
    OAssert,
    OLog,
    ORelation,
    Rectangle,
    Stretch,
    conflicts,
    counted,
    fold,
    known_by,
    labels,
    pending_review,
    rectangles,
    resolve,
    stretches,
    system_times,
    valid_during,
)
from tests.property.strategies import PROFILES, random_history
from tests.property.translate import to_oracle

A, B, C = (bytes(15) + bytes([number]) for number in (1, 2, 3))


def logs(profile: str, count: int) -> list[OLog]:
    return [to_oracle(random_history(Random(f"{profile} {number}"), 7, profile)) for number in range(count)]


def overlap(a_from: int | None, a_to: int | None, b_from: int | None, b_to: int | None) -> bool:
    return (a_to is None or b_from is None or b_from < a_to) and (b_to is None or a_from is None or a_from < b_to)


def share_an_instant(a: Rectangle, b: Rectangle) -> bool:
    in_valid_time = overlap(a.stretch.valid_from, a.stretch.valid_to, b.stretch.valid_from, b.stretch.valid_to)
    return in_valid_time and overlap(a.known_from, a.known_to, b.known_from, b.known_to)


def over(found: set[Rectangle], valid_at: int, as_of: int) -> list[OAnswer]:
    point = Rectangle(as_of, as_of + 1, Stretch(valid_at, valid_at + 1, OAnswer("unknown")))
    return [rectangle.stretch.answer for rectangle in found if share_an_instant(rectangle, point)]


@pytest.mark.parametrize("profile", PROFILES)
def test_rectangles_tile_both_axes_and_answer_as_resolve(profile: str) -> None:
    for log in logs(profile, 40):
        found = rectangles(log)
        assert not any(share_an_instant(a, b) for a, b in combinations(found, 2))
        for as_of in system_times(log):
            for valid_at in range(-5, 95, 5):
                assert over(found, valid_at, as_of) == [resolve(log, valid_at, as_of)]


@pytest.mark.parametrize("profile", PROFILES)
def test_valid_during_spans_stretches_that_say_the_same(profile: str) -> None:
    for log in logs(profile, 40):
        state = fold(known_by(log, None))
        cut = stretches(state)
        assert all(a.valid_to == b.valid_from and a.answer != b.answer for a, b in pairwise(cut))
        for stretch in cut:
            inside = -5 if stretch.valid_from is None else stretch.valid_from
            start, end = valid_during(log, inside, None)
            assert start is None or (stretch.valid_from is not None and start <= stretch.valid_from)
            assert end is None or (stretch.valid_to is not None and stretch.valid_to <= end)


def test_valid_during_survives_a_restatement() -> None:
    log: OLog = [_text(A, '"tea"', 10, 30), _text(B, '"tea"', 20, 50), _text(C, '"milk"', 60, None)]
    assert valid_during(log, 25, None) == (10, 50)
    assert [len(s.answer.versions) for s in stretches(fold(log))] == [0, 1, 2, 1, 0, 1]


def test_a_text_supersedes_from_its_known_start_or_from_the_decision() -> None:
    texts: OLog = [_text(A, '"a"', 10, None), _text(B, '"b"', 30, None), _text(C, '"c"', None, None, known=False)]
    log: OLog = [*texts, _relation(A, B, "supersedes", newer=B), _relation(A, C, "supersedes", newer=C, at=20)]
    answers = [resolve(log, t, None).versions for t in (15, 25, 35)]
    assert answers == [(A, C), (C,), (B, C)]


def test_near_duplicates_leave_one_survivor_and_share_what_supersedes_them() -> None:
    log: OLog = [_text(A, '"a"', 20, None), _text(B, '"b"', 10, None), _text(C, '"c"', 40, None)]
    log += [_relation(A, B, "near_duplicate"), _relation(A, C, "supersedes", newer=C)]
    assert resolve(log, 30, None) == OAnswer("values", None, (B,))
    assert resolve(log, 50, None) == OAnswer("values", None, (C,))
    assert labels(fold(log)) == {A: "SUPERSEDED", B: "SUPERSEDED", C: "ACTIVE"}


def test_a_contradiction_is_an_open_edge_and_the_less_sure_one_waits_for_review() -> None:
    log: OLog = [_text(A, '"a"', 20, None, confidence=0.4), _text(B, '"b"', 10, None)]
    log.append(_relation(A, B, "contradicts"))
    assert conflicts(fold(log)) == {(A, B, "OPEN")}
    assert pending_review(log, fold(log).versions) == {B}
    assert resolve(log, 30, None) == OAnswer("values", None, (A, B))


def test_a_person_outranks_a_later_model() -> None:
    log: OLog = [_text(A, '"a"', 20, None), _text(B, '"b"', 10, None)]
    log += [_relation(A, B, "unrelated", at=1, by="person"), _relation(A, B, "contradicts", at=9)]
    assert conflicts(fold(counted(log))) == set()


def _text(
    version: bytes,
    value: str,
    start: int | None,
    end: int | None,
    *,
    known: bool = True,
    confidence: float | None = None,
) -> OAssert:
    return OAssert(
        b"t" + version[1:], 0, version, value, start, end, "ACTIVE", "many", "explicit", confidence, (), known
    )


def _relation(
    left: bytes, right: bytes, relation: str, *, newer: bytes | None = None, at: int = 5, by: str = "model"
) -> ORelation:
    event_id = (relation.encode() + left[-1:] + right[-1:] + bytes([at])).ljust(16)[:16]
    return ORelation(event_id, 0, left, right, relation, newer, at, by)
