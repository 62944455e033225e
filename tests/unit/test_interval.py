import pytest

from chronofact.domain.errors import Rejected
from chronofact.domain.interval import INSTANT_MAX, INSTANT_MIN, Interval, format_bound, format_instant, parse_instant


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("2026-07-01T00:00:00Z", "2026-07-01T00:00:00Z"),
        ("2026-07-01t02:00:00.5+02:00", "2026-07-01T00:00:00.500000Z"),
        ("2026-07-01 00:00:00.123456789z", "2026-07-01T00:00:00.123456Z"),
        ("2026-07-01T00:00:00-00:00", "2026-07-01T00:00:00Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_instants_are_read_in_utc_and_cut_to_microseconds(text: str, spelled: str) -> None:
    assert format_instant(parse_instant(text)) == spelled


def test_the_range_is_the_years_1_to_9999() -> None:
    assert parse_instant("0001-01-01T00:00:00Z") == INSTANT_MIN
    assert parse_instant("9999-12-31T23:59:59.999999Z") == INSTANT_MAX


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("2026-07-01T00:00:00", "offset_missing"),
        ("2026-07-01", "instant_malformed"),
        ("2026-07-01T00:00Z", "instant_malformed"),
        ("2026-02-30T00:00:00Z", "instant_malformed"),
        ("2026-07-01T24:00:00Z", "instant_malformed"),
        ("2026-07-01T00:00:00+24:00", "instant_malformed"),
        ("2026-07-01T00:00:00,5Z", "instant_malformed"),
        ("٢٠٢٦-07-01T00:00:00Z", "instant_malformed"),
        ("infinity", "instant_malformed"),
        ("", "instant_malformed"),
        ("2016-12-31T23:59:60Z", "leap_second"),
        ("0000-01-01T00:00:00Z", "year_out_of_range"),
        ("0001-01-01T00:00:00+01:00", "year_out_of_range"),
        ("9999-12-31T23:59:59-01:00", "year_out_of_range"),
        ("10000-01-01T00:00:00Z", "instant_malformed"),
    ],
)
def test_what_is_no_instant_is_refused_by_name(text: str, code: str) -> None:
    with pytest.raises(Rejected) as refused:
        parse_instant(text)
    assert refused.value.code == code


def test_an_interval_is_half_open() -> None:
    interval = Interval(1, 3)
    assert [instant in interval for instant in (0, 1, 2, 3)] == [False, True, True, False]
    assert all(instant in Interval() for instant in (INSTANT_MIN, 0, INSTANT_MAX))


@pytest.mark.parametrize(("start", "end", "code"), [(1, 1, "interval_empty"), (2, 1, "interval_reversed")])
def test_an_interval_that_never_holds_is_refused(start: int, end: int, code: str) -> None:
    with pytest.raises(Rejected) as refused:
        Interval(start, end)
    assert (refused.value.code, refused.value.field) == (code, "valid_to")


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        (Interval(1, 3), Interval(3, 4), False),
        (Interval(1, 3), Interval(2, 4), True),
        (Interval(None, 3), Interval(3, None), False),
        (Interval(None, 3), Interval(2, None), True),
        (Interval(), Interval(1, 2), True),
    ],
)
def test_intervals_overlap_when_some_instant_is_in_both(one: Interval, other: Interval, overlap: bool) -> None:
    assert one.overlaps(other) is other.overlaps(one) is overlap


def test_an_open_bound_stays_open() -> None:
    assert format_bound(None) is None
    assert format_bound(0) == "1970-01-01T00:00:00Z"
