"""When a memory and a fact hold, by what the sentence says of time and what its frames are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chronofact.domain.interval import parse_instant
from chronofact.text.dates import Dates, dates_of
from chronofact.text.frames import Frame, Holds, Modality, Polarity, Temporality
from chronofact.text.periods import Lean
from chronofact.text.reasons import Reason
from chronofact.text.slots import KEY_BYTES_MAX, blocked_by, key_of, why_none
from chronofact.text.untaken import Untaken
from chronofact.text.windows import Window, of_fact, of_memory

AT = parse_instant("2026-06-17T10:30:00Z")
LIVES = Frame("user", "residence", "oslo", value_type="place", cardinality=Holds.ONE)
MOVED = replace(LIVES, temporality=Temporality.CHANGE, cues=("changed",))
LIVED = replace(LIVES, temporality=Temporality.PAST)
PLANS = Frame("user", "plan:move oslo", "move oslo", modality=Modality.PLANNED, cardinality=Holds.MANY)
IS_IN = Frame("user", "at:in", "lisbon", cardinality=Holds.MANY)
HAS = Frame("user", "have:appointment", "dentist", cardinality=Holds.MANY)


def instant(day: str | None) -> int | None:
    return AT if day == "at" else None if day is None else parse_instant(f"{day}T00:00:00Z")


def dates(text: str, at: int | None = AT, lean: Lean = Lean.FUTURE) -> Dates:
    found = dates_of(text, at, lean=lean)
    assert found.are_there
    return found


@pytest.mark.parametrize(
    ("text", "frame", "start", "end"),
    [
        ("since March 2024", LIVES, "2024-03-01", None),
        ("until Friday", LIVES, "at", "2026-06-20"),
        ("until 2019", LIVED, None, "2020-01-01"),
        ("in 2019", MOVED, "2019-01-01", None),
        ("in 2019", LIVED, "2019-01-01", None),
        ("this week", LIVES, "2026-06-15", "2026-06-22"),
        ("next month", LIVES, "2026-07-01", "2026-08-01"),
        ("next month", replace(MOVED, temporality=Temporality.STARTED), "2026-07-01", None),
        ("this week", IS_IN, "2026-06-15", "2026-06-22"),
        ("next week", IS_IN, "at", "2026-06-29"),
        ("tomorrow", HAS, "at", None),
        ("this week", HAS, "2026-06-15", None),
        ("next month", PLANS, "at", None),
        ("until next month", PLANS, "at", "2026-07-01"),
        ("by the end of 2026", PLANS, "at", "2027-01-01"),
        ("by the end of 2025", MOVED, "2026-01-01", None),
    ],
)
def test_a_memory_holds(text: str, frame: Frame, start: str | None, end: str | None) -> None:
    found = of_memory(dates(text), [frame], AT)
    assert (found.start, found.end) == (instant(start), instant(end))


def test_a_memory_without_frames_stays_and_one_without_dates_begins_with_its_turn() -> None:
    assert of_memory(dates("yesterday"), [], AT) == Window(instant("2026-06-16"), None, said=True)
    assert of_memory(Dates(), [LIVES], AT) == Window(AT)
    assert of_memory(Dates(), [LIVES], None) == Window(None)


def test_a_memory_whose_dates_can_not_be_told_begins_nobody_knows_when() -> None:
    assert of_memory(Dates(why_not=Untaken.CONTRADICT), [LIVES], AT) == Window(None)


def test_a_time_that_is_what_the_sentence_says_is_not_when_that_holds() -> None:
    due = Frame("flight", "schedule", "tuesday", cardinality=Holds.ONE)
    assert of_memory(dates("on Tuesday"), [due], AT) == Window(AT)


@pytest.mark.parametrize(
    ("text", "frame", "start", "end"),
    [
        ("since March 2024", LIVES, "2024-03-01", None),
        ("until Friday", LIVES, "at", "2026-06-20"),
        ("in 2019", MOVED, "2019-01-01", None),
        ("in 2019", LIVED, "2019-01-01", "2020-01-01"),
        ("from 2015 to 2019", LIVED, "2015-01-01", "2020-01-01"),
        ("next month", LIVES, "2026-07-01", "2026-08-01"),
    ],
)
def test_a_fact_holds(text: str, frame: Frame, start: str, end: str | None) -> None:
    assert of_fact(frame, dates(text), AT) == Window(instant(start), instant(end), said=True)


def test_when_a_fact_holds_may_not_be_known() -> None:
    assert of_fact(LIVED, Dates(), AT) is Untaken.PAST
    assert of_fact(LIVED, dates("until 2019"), AT) is Untaken.PAST
    assert of_fact(LIVES, Dates(), None) is Untaken.TIMELESS
    assert of_fact(LIVES, dates("until 2027", None), None) is Untaken.TIMELESS
    assert of_fact(LIVES, dates("since 2024", None), None) == Window(instant("2024-01-01"), said=True)
    assert of_fact(LIVES, dates("until 2019"), AT) is Untaken.ENDED_BEFORE
    assert of_fact(LIVES, dates("by Friday"), AT) is Untaken.DATED_BY
    assert of_fact(LIVES, Dates(why_not=Untaken.SEVERAL), AT) is Untaken.SEVERAL
    for_now = replace(LIVES, guards=("one_off",))
    assert of_fact(for_now, Dates(), AT) is Untaken.ONE_OFF
    assert of_fact(for_now, dates("until 2027"), AT) == Window(AT, instant("2028-01-01"), said=True)
    assert of_fact(replace(MOVED, guards=("one_off",)), dates("today"), AT) == Window(instant("2026-06-17"), said=True)


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (LIVES, None),
        (MOVED, None),
        (LIVED, None),
        (replace(LIVES, cardinality=Holds.IMMUTABLE), None),
        (replace(LIVES, entity="?"), Untaken.ENTITY_UNKNOWN),
        (replace(LIVES, slot="switch"), Untaken.EVENT),
        (replace(LIVES, temporality=Temporality.ENDED, polarity=Polarity.NEGATIVE), Untaken.EVENT),
        (replace(LIVES, polarity=Polarity.NEGATIVE), Untaken.NEGATED),
        (replace(LIVES, modality=Modality.QUESTION), Untaken.QUESTION),
        (replace(LIVES, modality=Modality.HYPOTHETICAL), Untaken.HYPOTHETICAL),
        (PLANS, Untaken.PLANNED),
        (HAS, Untaken.MANY_VALUED),
        (replace(LIVES, cardinality=Holds.UNKNOWN), Untaken.MANY_VALUED),
        (replace(LIVES, value=""), Untaken.NO_VALUE),
        (replace(LIVES, is_main=False), Untaken.SUBORDINATE),
        (replace(LIVES, guards=("not_asserted",)), Untaken.HYPOTHETICAL),
        (replace(LIVES, guards=("additive",)), Untaken.MANY_VALUED),
        (replace(LIVES, scope="in novel"), Untaken.SCOPED),
        (replace(LIVES, scope="mom:"), Untaken.SCOPED),
        (replace(LIVES, scope="fun fact:"), None),
        (replace(LIVES, scope="with wife"), None),
        (replace(LIVES, slot="use", value_type=""), Untaken.MANY_VALUED),
        (replace(LIVES, slot="use", value_type="editor"), None),
    ],
)
def test_which_frames_say_a_structured_fact(frame: Frame, why: Untaken | None) -> None:
    assert why_none(frame) is why


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (MOVED, None),
        (Frame("user", "prop:favorite color", "blue", value_type="color", cardinality=Holds.ONE), None),
        (LIVES, Reason.NO_CHANGE_CUE),
        (replace(MOVED, guards=("additive",)), Reason.ADDITIVE),
        (replace(MOVED, guards=("of a newer extractor",)), Reason.NOT_ASSERTED),
        (replace(MOVED, is_main=False), Reason.SUBORDINATE),
        (replace(MOVED, scope="with wife"), Reason.SCOPE_DIFFERS),
        (replace(MOVED, value_type="region"), Reason.REGION_AND_PLACE),
        (replace(MOVED, value_type=""), Reason.NOT_A_NAME),
        (replace(MOVED, cardinality=Holds.IMMUTABLE), Reason.IMMUTABLE),
        (replace(MOVED, slot="occupation", value="student", value_type="role"), Reason.MANY_VALUED),
        (
            Frame("user", "prefer", "short email", value_type="email", cardinality=Holds.ONE),
            Reason.MANY_VALUED,
        ),
        (Frame("user", "prefer", "python", value_type="programming language", cardinality=Holds.ONE), None),
        (
            Frame("user", "use", "vim", value_type="editor", cardinality=Holds.ONE),
            Reason.NO_CHANGE_CUE,
        ),
        (LIVED, Reason.PAST),
    ],
)
def test_which_guard_forbids_that_a_value_closes_another(frame: Frame, why: Reason | None) -> None:
    assert blocked_by(frame) is why


@pytest.mark.parametrize(
    ("entity", "slot", "key"),
    [
        ("user", "residence", "residence"),
        ("user:sister", "residence", "user/sister/residence"),
        ("user", "prop:favorite color", "prop/favorite_color"),
        ("billing service", "status", "billing_service/status"),
        ("user:mother-in-law", "residence", "user/mother_in_law/residence"),
        ("café größe", "value", "cafe_grosse/value"),
        ("北京", "status", None),
        ("user", "prop:", None),
        ("x" * KEY_BYTES_MAX, "status", None),
    ],
)
def test_a_key_is_entity_and_slot_in_the_key_alphabet(entity: str, slot: str, key: str | None) -> None:
    assert key_of(Frame(entity, slot, "v")) == key
