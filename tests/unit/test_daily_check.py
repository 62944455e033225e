"""The daily check is of what tenants read, whichever projection that is by now."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from chronofact.contracts.checking import CheckRunning, CheckWanted, Tally
from chronofact.domain.errors import Rejected
from chronofact.reconciler.check import Outcome
from chronofact.reconciler.service import Reconciler
from chronofact.runtime.metrics import Metrics


class Checked:
    """Checks that end at once, and the routes."""

    def __init__(self, *routed: str, busy: str = "") -> None:
        self._routed, self._busy = routed, busy
        self.asked: list[str | None] = []

    def routed(self) -> list[str]:
        return [*self._routed]

    def check(self, wanted: CheckWanted, begun: Any) -> Outcome:
        if wanted.projection == self._busy:
            raise CheckRunning(wanted.projection)
        self.asked.append(wanted.projection)
        begun(len(self.asked))
        return Outcome(len(self.asked), Tally(facts=1), Counter(), 0.1)


def reconciler(checked: Any) -> Reconciler:
    return Reconciler(checked, lambda: checked, Metrics("reconciler"))


@pytest.mark.parametrize(
    ("checked", "asked"),
    [
        (Checked("p2", "p3"), ["p2", "p3"]),
        (Checked(), ["p1"]),
        (Checked("p2", "p3", busy="p2"), ["p3"]),
    ],
)
async def test_each_projection_that_tenants_read_is_checked(checked: Checked, asked: list[str]) -> None:
    await reconciler(checked).check_daily("p1")
    assert checked.asked == asked


async def test_what_most_read_is_meant_where_none_is_named() -> None:
    assert await reconciler(Checked("p2", "p3")).served("p1") == "p2"
    assert await reconciler(Checked()).served("p1") == "p1"


class Faulty(Checked):
    """Checks that end by a fault of ours, before or after they have begun."""

    def __init__(self, *, begins: bool) -> None:
        super().__init__("p2")
        self._begins = begins

    def check(self, wanted: CheckWanted, begun: Any) -> Outcome:
        if self._begins:
            begun(7)
        raise LookupError("a fault of ours")


@pytest.mark.parametrize("begins", [True, False])
async def test_a_daily_check_with_a_fault_of_ours_is_no_wait_for_ever(begins: bool) -> None:
    with pytest.raises(LookupError):
        await asyncio.wait_for(reconciler(Faulty(begins=begins)).check_daily("p1"), 10)


async def test_who_asks_for_a_check_with_a_fault_of_ours_hears_of_it() -> None:
    with pytest.raises(LookupError):
        await asyncio.wait_for(reconciler(Faulty(begins=False)).start(CheckWanted("p1", seed=1)), 10)


async def test_who_asks_for_a_check_while_one_runs_is_refused() -> None:
    with pytest.raises(Rejected) as refused:
        await reconciler(Checked(busy="p1")).start(CheckWanted("p1", seed=1))
    assert refused.value.code == "check_running"
