"""What a sentence says of its time: many examples, and any text at any time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronofact.domain.interval import INSTANT_MAX, INSTANT_MIN, format_bound, parse_instant
from chronofact.text.dates import CHARACTERS_MAX, Dates, dates_of, of_several
from chronofact.text.periods import Lean
from chronofact.text.untaken import Untaken

WEDNESDAY = parse_instant("2026-06-17T10:30:00Z")
PAST, FUTURE = Lean.PAST, Lean.FUTURE


def read(text: str, lean: Lean = FUTURE, *, at: int | None = WEDNESDAY, is_perfect: bool = False) -> Dates:
    return dates_of(text, at, lean=lean, is_perfect=is_perfect)


def days(*bounds: int | None) -> list[str | None]:
    """The days of bounds, all of which are midnights."""
    told = [format_bound(bound) for bound in bounds]
    assert all(one is None or one.endswith("T00:00:00Z") for one in told)
    return [None if one is None else one[:10] for one in told]


BOUNDS = [
    ("I have lived in Paris since March 2024.", PAST, "2024-03-01", None),
    ("Since 3 May 2024 he works at Acme", FUTURE, "2024-05-03", None),
    ("ever since 2019", FUTURE, "2019-01-01", None),
    ("since May 3rd, 2024", FUTURE, "2024-05-03", None),
    ("since March", FUTURE, "2026-03-01", None),
    ("since August", FUTURE, "2025-08-01", None),
    ("since Friday", FUTURE, "2026-06-12", None),
    ("since yesterday", FUTURE, "2026-06-16", None),
    ("since last week", FUTURE, "2026-06-08", None),
    ("since two weeks ago", FUTURE, "2026-06-03", None),
    ("since early 2024", FUTURE, "2024-01-01", None),
    ("since late 2024", FUTURE, "2024-09-01", None),
    ("since the end of 2023", FUTURE, "2023-12-01", None),
    ("since Q3 2024", FUTURE, "2024-07-01", None),
    ("as of 2026-07-01 it is live", FUTURE, "2026-07-01", None),
    ("as of next month I work at Globex", FUTURE, "2026-07-01", None),
    ("starting next week", FUTURE, "2026-06-22", None),
    ("starting on 1 July", FUTURE, "2026-07-01", None),
    ("effective from January 2027", FUTURE, "2027-01-01", None),
    ("from Monday on I work at Acme", FUTURE, "2026-06-22", None),
    ("I use Go from next year", FUTURE, "2027-01-01", None),
    ("From Monday on the price is 20 dollars", FUTURE, "2026-06-22", None),
    ("I work from Monday on the new team", FUTURE, "2026-06-22", None),
    ("from now on", FUTURE, "2026-06-17", None),
    ("after 2020", PAST, "2021-01-01", None),
    ("for the last two years", FUTURE, "2024-06-17", None),
    ("over the past 3 months", FUTURE, "2026-03-17", None),
    ("for the past year", FUTURE, "2025-06-17", None),
    ("I work at Acme until Friday.", FUTURE, None, "2026-06-20"),
    ("until the end of the year", FUTURE, None, "2027-01-01"),
    ("until next month", FUTURE, None, "2026-07-01"),
    ("through next month", FUTURE, None, "2026-08-01"),
    ("until the end of next month", FUTURE, None, "2026-08-01"),
    ("till 2027", FUTURE, None, "2028-01-01"),
    ("until the end of March 2027", FUTURE, None, "2027-04-01"),
    ("before 2019", PAST, None, "2019-01-01"),
    ("for the rest of the week", FUTURE, None, "2026-06-22"),
    ("for the next two weeks", FUTURE, "2026-06-17", "2026-07-01"),
    ("from 3 May to 10 June", PAST, "2026-05-03", "2026-06-11"),
    ("from 3 May to 10 June", FUTURE, "2027-05-03", "2027-06-11"),
    ("from 3 May to 30 June", FUTURE, "2026-05-03", "2026-07-01"),
    ("from 3 May to 10 June 2025", FUTURE, "2025-05-03", "2025-06-11"),
    ("from 20 December to 3 January", FUTURE, "2026-12-20", "2027-01-04"),
    ("from 3 to 10 July", FUTURE, "2026-07-03", "2026-07-11"),
    ("from 2015 until 2019", PAST, "2015-01-01", "2020-01-01"),
    ("from 2015\N{EN DASH}2019", PAST, "2015-01-01", "2020-01-01"),
    ("between March 2023 and May 2024", PAST, "2023-03-01", "2024-06-01"),
    ("Since 2020 and until Friday", FUTURE, "2020-01-01", "2026-06-20"),
    ("I'm staying in Madrid for two weeks", FUTURE, None, "2026-07-01"),
    ("My visa is valid for a year", FUTURE, None, "2027-06-17"),
    ("From 1 July I'm in Madrid for two weeks", FUTURE, "2026-07-01", "2026-07-15"),
    ("I work at Acme for two more weeks", FUTURE, None, "2026-07-01"),
    ("I train for two weeks before a race", FUTURE, None, None),
    ("I was in Madrid for two weeks", PAST, None, None),
]


@pytest.mark.parametrize(("text", "lean", "start", "end"), BOUNDS)
def test_bounds_are_whole_days(text: str, lean: Lean, start: str | None, end: str | None) -> None:
    found = read(text, lean)
    assert found.why_not is None
    assert days(found.start, found.end) == [start, end]
    assert (found.within, found.by) == (None, None)


WITHIN = [
    ("In 2019 I lived in Berlin.", PAST, "2019-01-01", "2020-01-01"),
    ("I moved in March 2024", PAST, "2024-03-01", "2024-04-01"),
    ("I moved in March", PAST, "2026-03-01", "2026-04-01"),
    ("I am there in March", FUTURE, "2027-03-01", "2027-04-01"),
    ("on May 3, 2024", PAST, "2024-05-03", "2024-05-04"),
    ("on the 3rd of May", PAST, "2026-05-03", "2026-05-04"),
    ("on 29 February", PAST, "2024-02-29", "2024-03-01"),
    ("I moved yesterday", PAST, "2026-06-16", "2026-06-17"),
    ("the day before yesterday", PAST, "2026-06-15", "2026-06-16"),
    ("Today I work from home", FUTURE, "2026-06-17", "2026-06-18"),
    ("I moved to Oslo last week.", PAST, "2026-06-08", "2026-06-15"),
    ("this week", FUTURE, "2026-06-15", "2026-06-22"),
    ("next weekend", FUTURE, "2026-06-27", "2026-06-29"),
    ("last year", PAST, "2025-01-01", "2026-01-01"),
    ("next quarter", FUTURE, "2026-07-01", "2026-10-01"),
    ("next Friday", FUTURE, "2026-06-19", "2026-06-20"),
    ("last Wednesday", PAST, "2026-06-10", "2026-06-11"),
    ("on Wednesday", PAST, "2026-06-17", "2026-06-18"),
    ("last June", PAST, "2025-06-01", "2025-07-01"),
    ("two weeks ago", PAST, "2026-06-03", "2026-06-04"),
    ("a couple of years ago", PAST, "2024-06-17", "2024-06-18"),
    ("in two weeks", FUTURE, "2026-06-29", "2026-07-06"),
    ("in the 1990s", PAST, "1990-01-01", "2000-01-01"),
    ("in 2024, in March 2024", PAST, "2024-03-01", "2024-04-01"),
]


@pytest.mark.parametrize(("text", "lean", "start", "end"), WITHIN)
def test_a_stretch_is_that_of_the_calendar(text: str, lean: Lean, start: str, end: str) -> None:
    found = read(text, lean)
    assert found.within is not None
    assert days(*found.within) == [start, end]
    assert (found.start, found.end, found.by) == (None, None, None)


def test_a_time_by_which_something_is_to_be() -> None:
    assert days(read("It is done by the end of 2025.").by) == ["2026-01-01"]
    assert days(read("by Friday").by) == ["2026-06-20"]


def test_how_long_is_since_when_only_of_what_goes_on() -> None:
    text = "I lived in Oslo for two years"
    assert not read(text, PAST).are_there
    assert days(read(text, PAST, is_perfect=True).start) == ["2024-06-17"]


@pytest.mark.parametrize(
    "text",
    [
        "I may move",
        "I drive a 2019 Honda",
        "The meeting moved to next week",
        "last week's plan",
        "I run on Fridays",
        "I work from Monday to Friday",
        "I have the notes from last week",
        "since forever",
        "since he moved",
        "until 5pm",
        "until further notice",
        "from 9 to 5",
        "May 3 is not said with a word before it",
        "I have 2024 euros",
        "I finished it in two weeks",
        "I fall asleep early",
        "version 2024-05-03-beta",
        "x" * CHARACTERS_MAX + " since 2024",
        "",
    ],
)
def test_what_is_no_window_is_none(text: str) -> None:
    found = read(text, PAST)
    assert not found.are_there
    assert found.why_not is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("since 2024 until 2019", Untaken.CONTRADICT),
        ("from 10 June 2024 to 3 May 2024", Untaken.CONTRADICT),
        ("since 2019 and since 2021", Untaken.CONTRADICT),
        ("until Friday, until Monday", Untaken.CONTRADICT),
        ("in Rome in 2019 and in Paris in 2020", Untaken.SEVERAL),
        ("since 2019, and last week too", Untaken.SEVERAL),
        ("since 31 February 2024", Untaken.IMPOSSIBLE),
        ("on 2024-13-01", Untaken.IMPOSSIBLE),
        ("I moved on 03/05/2024", Untaken.UNREAD),
        ("I moved in the summer of 2022", Untaken.UNREAD),
        ("since last winter", Untaken.UNREAD),
        ("I moved a few years ago", Untaken.UNREAD),
        ("I moved years ago", Untaken.UNREAD),
        ("for the last few weeks", Untaken.UNREAD),
    ],
)
def test_dates_that_do_not_agree_are_none_and_why_is_said(text: str, why: Untaken) -> None:
    found = read(text, PAST)
    assert (found.why_not, found.are_there) == (why, False)


def test_of_several_main_clauses_nobody_knows_which_one_is_dated() -> None:
    assert of_several(read("I moved in 2020 and my brother lives here", PAST)).why_not is Untaken.SEVERAL
    assert of_several(read("I moved and I like it")).why_not is None


def test_without_a_time_of_its_turn_only_years_count() -> None:
    found = read("since March 2024", at=None)
    assert (days(found.start), found.is_absolute) == (["2024-03-01"], True)
    assert read("since March", at=None).why_not is Untaken.TIMELESS
    assert read("I moved yesterday", PAST, at=None).why_not is Untaken.TIMELESS
    assert not read("since March").is_absolute


def test_dates_beside_the_main_clause_are_not_taken() -> None:
    text = "I live in the house that was built in 1920"
    found = dates_of(text, WEDNESDAY, aside=[(text.index("that"), len(text))])
    assert (found.are_there, found.why_not) == (False, None)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("In 2019, I lived in Berlin.", "I lived in Berlin."),
        ("I work at Acme until Friday.", "I work at Acme."),
        ("as of next month I work at Globex", "I work at Globex"),
        ("From next month on my manager is Ana.", "My manager is Ana."),
        ("User moved last week to Oslo!", "User moved to Oslo!"),
        ("I like tea.", "I like tea."),
    ],
)
def test_the_rest_is_the_text_without_its_dates(text: str, rest: str) -> None:
    assert read(text, PAST).undated == rest


SAID = (
    "since until from to in on by as of for the last next this end early 2 31 3rd February May March Friday week years ago two 2019 2024 "
    "9999 2199 1900 0001 yesterday now and between - , . ' \U0001f642 \u202e decade decades 999 couple a quarter Q4 2024-02-30"
)
WORDS = st.sampled_from(SAID.split())


@given(
    st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=14).map(" ".join)),
    st.one_of(st.none(), st.integers(INSTANT_MIN, INSTANT_MAX)),
    st.sampled_from(Lean),
    st.booleans(),
)
def test_any_text_at_any_time_is_read_or_not_and_never_ends_before_it_starts(
    text: str, at: int | None, lean: Lean, is_perfect: bool
) -> None:
    found = dates_of(text, at, lean=lean, is_perfect=is_perfect)
    if found.start is not None and found.end is not None:
        assert found.start < found.end
    if found.within is not None:
        assert found.within[0] < found.within[1]
    assert found.why_not is None or not found.are_there
    for bound in (found.start, found.end, found.by, *(found.within or ())):
        assert bound is None or INSTANT_MIN <= bound <= INSTANT_MAX
