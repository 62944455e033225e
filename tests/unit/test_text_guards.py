"""Pairs that look like a change and are none, and changes however they are put: the guards of semantics §7, rule 1."""

from __future__ import annotations

import pytest

from chronofact.domain.events import Verdict
from chronofact.text.pairs import Outcome, judge
from chronofact.text.reasons import Reason
from tests.labelled_pairs import memory

pytestmark = pytest.mark.unit

MARCH, JUNE = "2026-03-10T00:00:00Z", "2026-06-10T00:00:00Z"


@pytest.mark.parametrize(
    ("march", "june", "reason"),
    [
        ("I live in Berlin.", "I moved to Hamburg.", Reason.VALUE_CHANGED),
        ("Lives in Seattle.", "Moved to Portland.", Reason.VALUE_CHANGED),
        ("Caroline lives in Bristol.", "Caroline moved to Cardiff.", Reason.VALUE_CHANGED),
        ("Works at Nokia.", "Left Nokia.", Reason.ENDED),
        ("User uses yarn.", "User has moved from yarn to bun.", Reason.SWITCHED),
        ("User's rent is $900.", "User's rent went up to $950.", Reason.VALUE_CHANGED),
        ("User's team has 4 people.", "There are now 9 people on User's team.", Reason.VALUE_CHANGED),
        ("The demo is on Friday.", "The demo was moved to Monday.", Reason.VALUE_CHANGED),
        ("User collects stamps.", "User no longer collects stamps.", Reason.ENDED),
        ("User plans to open a cafe.", "User opened a cafe.", Reason.ENDED),
        ("User lives in Reno.", "User left Asana and moved to Boise.", Reason.VALUE_CHANGED),
        ("Keep replies under 100 words.", "Keep replies under 200 words.", Reason.VALUE_CHANGED),
    ],
)
def test_a_change_needs_no_model(march: str, june: str, reason: Reason) -> None:
    judgement = judge(memory(b"june", june, JUNE), memory(b"march", march, MARCH), 0.1)
    assert (judgement.outcome, judgement.verdict) == (Outcome.DECIDED, Verdict.SUPERSEDES)
    assert (judgement.newer, judgement.reason) == (b"june", reason)


@pytest.mark.parametrize(
    ("march", "june", "reason"),
    [
        ("User uses Vim.", "User might switch to Emacs.", Reason.NOT_ASSERTED),
        ("User uses Excel.", "Should User switch to Google Sheets?", None),
        ("User lives in Boston.", "User plans to move to Seattle.", None),
        ("User lives in Boston.", "If rents rise, User will move to Seattle.", None),
        ("User lives in Boston.", "User is moving to Seattle next month.", Reason.ONE_OFF),
        ("User lives in Boston.", "User moved to Seattle ten years ago.", Reason.PAST),
        ("User works at Boeing.", "User has never left Boeing.", None),
        ("User works at Shopify.", "User's husband joined Wealthsimple.", None),
        ("User works at Google.", "User works at Meta.", Reason.NO_CHANGE_CUE),
        ("User works at a bakery.", "User now works at Meta.", Reason.NOT_A_NAME),
        ("User is a nurse.", "User is also a musician.", Reason.ADDITIVE),
        ("User is a musician.", "User now works as a baker.", Reason.MANY_VALUED),
        ("User lives in New York.", "User moved to Queens.", None),
        ("User lives in Spain.", "User moved to Seville.", Reason.REGION_AND_PLACE),
        ("User lives in Paris.", "User moved from Gmail to Proton.", Reason.FROM_ANOTHER),
        ("User prefers red wine.", "User prefers white wine today.", Reason.ONE_OFF),
        ("User prefers Python for data analysis.", "User prefers Go for backend services.", Reason.SCOPE_DIFFERS),
        ("User eats meat.", "User doesn't eat meat on Fridays.", Reason.SCOPE_DIFFERS),
        ("User's manager is Dana.", "User's manager is, people say, Omar now.", None),
        ("User is on the day shift.", "User is mostly on the night shift.", Reason.UNREAD_WORDS),
        ("Joanna's favorite food is pasta.", "Joanna's favorite food is carbonara.", Reason.NO_CHANGE_CUE),
        ("User prefers short answers.", "User prefers concise answers.", Reason.MANY_VALUED),
        ("The pull request is merged.", "The pull request is ready.", Reason.NO_CHANGE_CUE),
        ("The audit is finished.", "The audit has been completed.", Reason.SAME_VALUE),
        ("The platform uses AWS.", "The platform now uses Azure.", Reason.MANY_VALUED),
        ("User is divorced.", "User is single.", Reason.NO_CHANGE_CUE),
        ("User is an accountant and a yoga teacher.", "User was promoted to finance manager.", Reason.MANY_VALUED),
        ("User is married with two kids.", "User is not married.", Reason.SCOPE_DIFFERS),
        ("User does code reviews in Gerrit.", "User switched from VS Code to Zed.", None),
        ("User works in Ohio.", "User now works in Columbus.", Reason.REGION_AND_PLACE),
        ("User has a meeting on Tuesday.", "User has a meeting on Thursday.", Reason.MANY_VALUED),
        ("Languages: Go, Rust", "Languages: Zig", Reason.MANY_VALUED),
        ("Appointment: 3 May", "Appointment: 9 June", Reason.MANY_VALUED),
        ("Contact: Dana", "Contact: Omar", Reason.MANY_VALUED),
        ("Alice: 42", "Alice: 17", Reason.MANY_VALUED),
        ("Dana Smith: agreed", "Dana Smith: refused", Reason.MANY_VALUED),
        ("Dana Smith: 3 boxes", "Dana Smith: 5 boxes", Reason.MANY_VALUED),
        ("retries = 3", "retries = 5", None),
        ("const max retries = 3", "const max retries = 5", None),
        ("Session timeout: 30 minutes", "Session timeout: 1800 seconds", Reason.TYPE_DIFFERS),
        ("User works at Google.", "User is now a mentor at Techstars.", None),
        ("User goes to the gym.", "User goes to the pool now.", Reason.MANY_VALUED),
        ("The feed is read by Acme.", "The feed is now read by Globex.", Reason.MANY_VALUED),
        ("Idea: rent a van", "Idea: buy a bike", None),
        ("User was born in 1985.", "User was born in 1987.", Reason.IMMUTABLE),
        ("User is 30 years old.", "User is 29 years old.", Reason.IMMUTABLE),
        ("User weighs 80 kg.", "User weighs 170 pounds.", Reason.TYPE_DIFFERS),
        ("User is a developer.", "User is a senior developer.", Reason.CONTAINED_VALUE),
        ("User uses Python and Docker.", "User no longer uses Docker.", Reason.NOT_ALL_ANSWERED),
        ("User lives in Lille and works at Decathlon.", "User moved to Paris.", Reason.NOT_ALL_ANSWERED),
        ("User, who is a baker, lives in Sofia.", "User moved to Varna.", Reason.NOT_ALL_ANSWERED),
        ("User lives in Boston.", "User said that she moved to Seattle.", None),
        ("User lives in Boston.", "Anna, who moved to Seattle, called User.", None),
        ("User lives in Boston.", "Since User moved to Seattle, rents rose.", Reason.SUBORDINATE),
        ("He lives in Rome.", "He moved to Oslo.", Reason.PRONOUN),
        ("User moved to Oslo.", "user moved to  Oslo", Reason.EQUAL_TEXT),
        ("My name is Ana. I live in Porto and work at Feedzai.", "I moved to Lisbon.", Reason.NOT_ALL_ANSWERED),
        ("User and his wife live in Oslo.", "User moved to Bergen.", Reason.NOT_ALL_ANSWERED),
        ("User prefers coffee.", "User ordered tea instead of coffee.", None),
        ("User owns three guitars.", "User sold some guitars.", None),
        ("User has a cat called Miso.", "User's mom had a cat.", None),
        ("User drinks green tea.", "User quit drinking.", None),
        ("User prefers short meetings.", "User prefers morning meetings.", Reason.MANY_VALUED),
        ("User plays golf on Saturdays.", "User plays golf on Wednesdays.", Reason.MANY_VALUED),
        ("User is single.", "User was married before.", Reason.PAST),
        ("User enjoys chess.", "User abandoned the chess engine.", None),
        ("The store in Lyon is open.", "The store in Nice is closed.", None),
        ("User's name is Oscar.", "His name is Felix.", None),
        ("User plans to visit Rome.", "User visited Rome in 2015.", None),
        ("User likes tea and coffee.", "User no longer likes coffee.", Reason.NOT_ALL_ANSWERED),
    ],
)
def test_what_is_no_change_is_never_decided(march: str, june: str, reason: Reason | None) -> None:
    judgement = judge(memory(b"june", june, JUNE), memory(b"march", march, MARCH), 0.7)
    assert judgement.outcome is not Outcome.DECIDED
    if reason is not None:
        assert (judgement.outcome, judgement.reason) == (Outcome.MODEL, reason)


def test_a_long_sentence_is_not_decided() -> None:
    long = "User moved to Seattle because the weather there suits the roses that grow so well behind the old house."
    judgement = judge(memory(b"june", long, JUNE), memory(b"march", "User lives in Boston.", MARCH), None)
    assert (judgement.outcome, judgement.reason) == (Outcome.MODEL, Reason.LONG_SENTENCE)


def test_cosine_sends_what_is_blocked_or_a_near_duplicate_and_nothing_else() -> None:
    march = memory(b"march", "User works at Google.", MARCH)
    june = memory(b"june", "User works at Meta.", JUNE)
    assert judge(june, march, 0.59).outcome is Outcome.NOTHING
    assert judge(june, march, 0.60).outcome is Outcome.MODEL
    assert judge(june, march, None).outcome is Outcome.MODEL
    other = memory(b"other", "User has a boat.", JUNE)
    assert judge(other, march, 0.84).outcome is Outcome.NOTHING
    assert judge(other, march, 0.85).reason is Reason.CLOSE_TEXTS


def test_an_unknown_start_goes_to_the_model_by_its_slot_without_any_cosine() -> None:
    unknown = memory(b"unknown", "User moved to Berlin.", None)
    march = memory(b"march", "User lives in Paris.", MARCH)
    for one, other in ((unknown, march), (march, unknown)):
        judgement = judge(one, other, None)
        assert (judgement.outcome, judgement.reason) == (Outcome.MODEL, Reason.VALID_FROM_UNKNOWN)


def test_an_ended_memory_is_left_alone() -> None:
    march = memory(b"march", "User lives in Paris.", MARCH, "2026-04-01T00:00:00Z")
    judgement = judge(memory(b"june", "User moved to Berlin.", JUNE), march, 0.9)
    assert (judgement.outcome, judgement.reason) == (Outcome.NOTHING, Reason.INTERVALS_APART)
