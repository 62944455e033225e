"""The daily check is of what tenants read, whichever projection that is by now."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from chronofact.contracts.checking import CheckRunning, CheckWanted, Tally
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
