"""Two pictures beside one another: where they differ, what each difference is, and what stands for the rest."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from uuid import UUID

import pytest

from chronofact.contracts.shadow import NOT_DRAWN, Candidate, Sort, Stretch, Verdict
from chronofact.reconciler.differing import LINES_A_FACT_MAX, beside, differences

START = datetime(2026, 1, 1, tzinfo=UTC)
AGREES = Verdict()
FACT = Candidate(UUID(int=1), 1, 2, b"o", b"n", 3, 3, is_said_otherwise=False)


def day(number: int | None) -> datetime | None:
    return None if number is None else START + timedelta(days=number)


def stretch(start: int | None, stop: int | None, said: str, kind: str = "value") -> Stretch:
    hashes = (said.encode(),) if kind in {"value", "values"} else ()
    return Stretch(day(start), day(stop), kind, None, hashes, said, said, {"kind": kind, "value": said})


def told(fact: Candidate, verdict: Verdict, old: list[Stretch], new: list[Stretch]) -> list[tuple[object, ...]]:
    found = differences(fact, verdict, old=old, new=new, behind=({"state_hash": "o"}, {"state_hash": "n"}))
    return [(one.valid_from, one.valid_to, one.sort.value, one.reason, one.gone, one.come) for one in found]


def test_only_the_stretches_that_differ_are_told_cut_at_the_bounds_of_either() -> None:
    old = [stretch(None, 10, "a"), stretch(10, None, "b")]
    new = [stretch(None, 5, "a"), stretch(5, 20, "b"), stretch(20, None, "x", "conflict")]
    assert told(FACT, AGREES, old, new) == [
        (day(5), day(10), "correcting", "check_agrees", (b"a",), (b"b",)),
        (day(20), None, "discovered_conflict", "check_agrees", (b"b",), ()),
    ]


@pytest.mark.parametrize(
    ("fact", "verdict", "sort", "reason"),
    [
        (FACT, Verdict(wrong="timeline.kind"), "unknown", "check_disagrees timeline.kind"),
        (FACT, Verdict(is_judged=False), "unknown", "check_could_not_judge"),
        (Candidate(UUID(int=1), 1, None, b"o", None, 3, 0, is_said_otherwise=False), AGREES, "unknown", "not_in_new"),
        (Candidate(UUID(int=1), 1, 2, b"o", b"n", 3, 2, is_said_otherwise=False), AGREES, "unknown", "fewer_events_in_new"),
        (Candidate(UUID(int=1), None, 2, None, b"n", 0, 3, is_said_otherwise=False), AGREES, "correcting", "not_in_old"),
        (Candidate(UUID(int=1), 1, 2, b"o", b"n", 2, 3, is_said_otherwise=False), AGREES, "correcting", "more_events_in_new"),
        (Candidate(UUID(int=1), 1, 2, b"o", b"n", 3, 3, is_said_otherwise=True), AGREES, "correcting", "said_otherwise_in_old"),
    ],
)  # fmt: skip
def test_nothing_is_explained_that_the_check_does_not_agree_with(
    fact: Candidate, verdict: Verdict, sort: str, reason: str
) -> None:
    found = told(fact, verdict, [stretch(None, None, "a")], [stretch(None, None, "b")])
    assert [one[2:4] for one in found] == [(sort, reason)]


def test_the_same_answers_at_all_times_leave_one_line_of_what_lies_behind() -> None:
    (one,) = differences(
        FACT, AGREES, old=[stretch(None, None, "a")], new=[stretch(None, None, "a")], behind=({"h": 1}, {"h": 2})
    )
    assert (one.is_behind, one.sort, one.old_said, one.new_said) == (True, Sort.CORRECTING, {"h": 1}, {"h": 2})


def test_the_last_instant_that_can_be_said_is_not_open() -> None:
    last = datetime.max.replace(tzinfo=UTC)
    until = replace(stretch(None, None, "a"), valid_to=last)
    since = replace(stretch(None, None, "b"), valid_from=last)
    assert told(FACT, AGREES, [until, since], [stretch(None, None, "a")]) == [
        (last, None, "correcting", "check_agrees", (b"b",), (b"a",))
    ]


def test_what_nobody_has_drawn_is_unknown() -> None:
    def rest(side: str) -> Stretch:
        return Stretch(day(5), None, NOT_DRAWN, None, (), None, side, {"kind": NOT_DRAWN})

    found = told(FACT, AGREES, [stretch(None, 5, "a"), rest("old")], [stretch(None, 5, "a"), rest("new")])
    assert [one[:3] for one in found] == [(day(5), None, "unknown")]


def test_many_stretches_of_a_fact_are_counted_and_the_last_line_is_as_grave_as_the_gravest() -> None:
    count = LINES_A_FACT_MAX * 2
    old = [stretch(n or None, n + 1 if n < count - 1 else None, f"a{n}") for n in range(count)]
    new = [
        stretch(n or None, n + 1 if n < count - 1 else None, f"b{n}", "conflict" if n == 90 else "value")
        for n in range(count)
    ]
    found = differences(FACT, AGREES, old=old, new=new, behind=({}, {}))
    assert (len(found), sum(one.stretches for one in found)) == (LINES_A_FACT_MAX, count)
    assert (found[-1].sort, found[-1].valid_to) == (Sort.DISCOVERED_CONFLICT, None)


@pytest.mark.parametrize("seed", range(50))
def test_the_cut_says_at_every_instant_what_either_side_says(seed: int) -> None:
    random = Random(seed)

    def picture() -> list[Stretch]:
        bounds = [None, *sorted(random.sample(range(20), random.randrange(6))), None]
        return [stretch(start, stop, random.choice("ab")) for start, stop in pairwise(bounds)]

    def at(some: list[Stretch], instant: datetime) -> str | None:
        return next(
            one.values_digest
            for one in some
            if (one.valid_from is None or one.valid_from <= instant)
            and (one.valid_to is None or instant < one.valid_to)
        )

    old, new = picture(), picture()
    cut = list(beside(old, new))
    assert [one[0] for one in cut[1:]] == [one[1] for one in cut[:-1]]
    assert (cut[0][0], cut[-1][1]) == (None, None)
    for number in range(-1, 21):
        instant = START + timedelta(days=number)
        here = next(
            one for one in cut
            if (one[0] is None or one[0] <= instant) and (one[1] is None or instant < one[1])
        )  # fmt: skip
        assert (here[2].values_digest, here[3].values_digest) == (at(old, instant), at(new, instant))
