"""The limits of parking over messages set aside are those that the projector would have met over all of them."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest

from chronofact.postgres.load_work import AsideMessage
from chronofact.projecting.parking import ParkingLimit, ParkingLimits, ParkingMeter
from chronofact.reconciler.rebuilding.aside import GapMeter, note_gaps

LIMITS = ParkingLimits(share_max=0.002, row_max=5)


def stops_at(meter: ParkingMeter, offsets: list[tuple[int, bool]]) -> int | None:
    for offset, is_parked in offsets:
        try:
            meter.park(0, offset) if is_parked else meter.applied()
        except ParkingLimit:
            return offset
    return None


@pytest.mark.parametrize("seed", range(40))
def test_it_stops_where_a_meter_of_all_messages_stops(seed: int) -> None:
    random = Random(seed)
    share = random.choice((0.001, 0.01, 0.3))
    log = [
        (offset, random.choice(("parks", "aside")) if random.random() < share else "plain") for offset in range(9_000)
    ]
    live = ParkingMeter(limits=LIMITS)
    wanted = stops_at(live, [(offset, kind == "parks") for offset, kind in log])
    gaps: list[int] = []
    aside = [(offset, kind == "parks") for offset, kind in log if kind != "plain"]
    note_gaps([AsideMessage(0, offset, b"", b"", 0) for offset, _ in aside], -1, gaps)
    meter: ParkingMeter = GapMeter(gaps=gaps, limits=LIMITS)
    assert stops_at(meter.copy(), aside) == wanted
    middle = len(aside) // 2
    with suppress(ParkingLimit):
        for offset, is_parked in aside[:middle]:
            meter.park(0, offset) if is_parked else meter.applied()
        assert stops_at(meter.copy(), aside[middle:]) == wanted
