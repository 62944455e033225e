import pytest

from chronofact.projecting.parking import PARKED_ROW_MAX, WINDOW_EVENTS, ParkingLimit, ParkingLimits, ParkingMeter


def test_fifty_in_a_row_are_too_many() -> None:
    meter = ParkingMeter()
    for offset in range(PARKED_ROW_MAX - 1):
        meter.park(3, offset)
    with pytest.raises(ParkingLimit) as stopped:
        meter.park(3, PARKED_ROW_MAX - 1)
    assert (stopped.value.partition, stopped.value.offset) == (3, PARKED_ROW_MAX - 1)


def test_an_applied_event_ends_the_row() -> None:
    meter = ParkingMeter()
    for offset in range(0, 98, 2):
        meter.park(0, offset)
        meter.applied()
    meter.park(0, 98)


def test_more_than_one_percent_of_the_last_ten_thousand_are_too_many() -> None:
    meter = ParkingMeter()
    for number in range(100):
        meter.park(0, number * 99)
        meter.applied()
    with pytest.raises(ParkingLimit):
        meter.park(0, 9_901)


def test_what_lies_further_back_is_forgiven() -> None:
    meter = ParkingMeter()
    for number in range(1_000):
        meter.park(0, number * WINDOW_EVENTS // 100)
        meter.applied()


def test_a_restart_remembers_the_row() -> None:
    offsets = range(1_000, 1_000 + PARKED_ROW_MAX - 1)
    meter = ParkingMeter(offsets, next_offset=offsets[-1] + 1)
    with pytest.raises(ParkingLimit):
        meter.park(0, offsets[-1] + 1)


def test_a_restart_after_an_applied_event_begins_a_new_row() -> None:
    offsets = range(1_000, 1_000 + PARKED_ROW_MAX - 1)
    meter = ParkingMeter(offsets, next_offset=offsets[-1] + 2)
    meter.park(0, offsets[-1] + 2)


def test_a_copy_is_independent() -> None:
    meter = ParkingMeter()
    twin = meter.copy()
    for offset in range(PARKED_ROW_MAX - 1):
        twin.park(0, offset)
    meter.park(0, 0)


def test_what_is_released_or_dropped_does_not_count_any_more() -> None:
    meter = ParkingMeter()
    for number in range(99):
        meter.park(0, number * 100)
        meter.applied()
    for number in range(50):
        meter.forget(number * 100)
    meter.forget(123_456)
    for number in range(99, 100 + 49):
        meter.park(0, 9_900 + (number - 99))
        meter.applied()


def test_a_row_that_an_operator_broke_up_begins_anew() -> None:
    meter = ParkingMeter()
    for offset in range(PARKED_ROW_MAX - 1):
        meter.park(0, offset)
    meter.forget(7)
    meter.park(0, PARKED_ROW_MAX)


def test_an_operator_may_raise_the_limits() -> None:
    meter = ParkingMeter(limits=ParkingLimits(share_max=0.5, row_max=1_000))
    twin = meter.copy()
    for offset in range(999):
        twin.park(0, offset)
    with pytest.raises(ParkingLimit):
        twin.park(0, 999)
