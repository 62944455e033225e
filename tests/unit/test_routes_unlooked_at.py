"""Another rule is looked at beside the old one: a window beside a third projection stands for nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from chronofact.contracts.routing import Beside, Kind, Known
from chronofact.reconciler.routing import _unfit_to_read, _unlooked_at

AT = datetime(2026, 1, 1, tzinfo=UTC)
OLD, NEW, THIRD = (Known(name, "ready", rule, None, is_there=True) for name, rule in (("p1", 1), ("p2", 2), ("p3", 2)))
KNOWN = {one.name: one for one in (OLD, NEW, THIRD)}


def beside(old: str | None) -> Beside:
    shadow = None if old is None else 1
    return Beside(
        is_begun=True, is_of_other_topic=False, is_held=False, lag_events=0, applied_since=None, is_rebuilt=True, compared_with="p1",
        verification_id=1, beside="p1", identical=True, clean_check=None, shadow_id=shadow, old_projection=old,
        is_over=True, until=AT, shadow_failure=None, unknown=0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("compared_with", "codes"),
    [
        (None, ["route_shadow_absent"]),
        ("p3", ["route_shadow_absent"]),  # of the same rule: no change of rule was looked at
        ("p1", []),
        ("p9", []),  # gone since: nobody knows its rule
    ],
)
def test_a_window_is_of_two_rules(compared_with: str | None, codes: list[str]) -> None:
    assert [one.code for one in _unlooked_at(NEW, beside(compared_with), OLD, KNOWN, was_read=False)] == codes
    assert [*_unlooked_at(THIRD, beside(compared_with), NEW, KNOWN, was_read=False)] == []


@pytest.mark.parametrize(
    ("applied_since", "told"),
    [(None, "nobody can say how far it lags"), (3, "p1 has applied 3 more since"), (0, None)],
)
def test_another_topic_is_gone_to_once_both_are_the_same(applied_since: int | None, told: str | None) -> None:
    found = replace(beside("p1"), is_of_other_topic=True, lag_events=9_999, applied_since=applied_since)
    refusals = list(_unfit_to_read(NEW, found, "p1", 1_000, Kind.SWITCH))
    if told is None:
        assert refusals == []
        return
    assert [one.code for one in refusals] == ["route_other_topic"]
    assert told in refusals[0].message
    assert "chronofact verify p1 p2 --across-topics" in refusals[0].message
