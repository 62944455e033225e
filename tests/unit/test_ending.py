"""What a later sentence ends of the facts that an earlier one gave, both as the writer keeps them (ADR 44)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chronofact.adjudicator.weighing import memory_of
from chronofact.domain.interval import parse_instant
from chronofact.text.ending import End, ends_by_rule, ends_by_verdict
from chronofact.text.pairs import Memory
from tests.unit.conversing import JUNE, MARCH, facts_of, heard, keys

ACME = "I work at Acme."


def said(text: str, at: str | None = MARCH) -> Memory:
    return memory_of(heard(text, at))


def by_rule(was: str, now: str) -> list[str]:
    return keys(ends_by_rule(said(now, JUNE), said(was)))


@pytest.mark.parametrize(
    ("was", "now", "over"),
    [
        (ACME, "I no longer work at Acme.", ["employer"]),
        (ACME, "I left Acme.", ["employer"]),
        (ACME, "I don't work at Acme anymore.", ["employer"]),
        ("I live in Oslo.", "I no longer live in Oslo.", ["residence"]),
        ("I drive a Honda Civic.", "I sold my Honda Civic.", ["vehicle"]),
        ("I am vegan.", "I started eating meat again.", ["diet"]),
        ("My favorite color is blue.", "I switched from blue to something else.", ["prop/favorite_color"]),
        ("I prefer Slack.", "I no longer use Slack.", []),
    ],
)
def test_what_is_said_to_be_over_is_over(was: str, now: str, over: list[str]) -> None:
    assert by_rule(was, now) == over


def test_the_end_is_of_the_very_version_that_the_writer_made_from_the_endings_start_on() -> None:
    was, now = said(ACME), said("I no longer work at Acme.", JUNE)
    ((version_id, fact),) = facts_of(ACME).items()
    assert fact == ("employer", "acme")
    ends = [End("employer", version_id, parse_instant(JUNE), now.version_id)]
    assert ends_by_rule(now, was) == ends_by_rule(was, now) == ends
    dated = said("I left Acme last week.", JUNE)
    assert [one.effective_at for one in ends_by_rule(dated, was)] == [parse_instant("2026-06-08T00:00:00Z")]


@pytest.mark.parametrize(
    ("was", "now", "over"),
    [
        ("I work at Acme and live in Oslo.", "I no longer work at Acme.", ["employer"]),
        ("I work at Acme as an engineer.", "I no longer work at Acme.", ["employer"]),
        ("I am an engineer at Acme.", "I left Acme.", ["employer", "occupation"]),
        ("I am a nurse at Mercy.", "I am now a doctor at Mercy.", []),
    ],
)
def test_of_a_sentence_only_what_the_ending_speaks_of(was: str, now: str, over: list[str]) -> None:
    assert sorted(by_rule(was, now)) == over


@pytest.mark.parametrize(
    "now",
    [
        "I no longer work at Globex.",
        "I quit my job.",
        "My sister no longer works at Acme.",
        "I will leave Acme in August.",
        "Should I leave Acme?",
        "I might leave Acme.",
        "If I left Acme, I would move.",
        "I supposedly no longer work at Acme.",
        "I'm not working at Acme today.",
        "I am not working at Acme until September.",
        "I still work at Acme.",
        "> I no longer work at Acme",
        '"I no longer work at Acme."',
        "Bob said that he no longer works at Acme.",
        "My sister said that I no longer work at Acme.",
        "In the novel, I no longer work at Acme.",
        "By the way, if I left Acme last week, I would be rich.",
        "I am switching to Whereby.",
        "I left Acme for lunch.",
        "I left Acme for the weekend.",
        "I left Acme early yesterday.",
        "I no longer work at Acme on Mondays.",
        "I left a message at Acme.",
    ],
)
def test_what_says_no_such_thing_ends_nothing(now: str) -> None:
    assert by_rule(ACME, now) == []


def test_the_end_of_another_value_ends_nothing() -> None:
    assert by_rule("My favorite food is sushi.", "My favorite food is no longer pizza.") == []


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (ACME, "I left Acme and joined Globex."),
        ("I prefer Python.", "I am switching to Go."),
        ("I use Vim.", "I switched from Vim to Emacs."),
        ("I use Trello.", "I switched from Trello to Foobarly."),
        ("I live in Oslo.", "I moved to Bergen."),
        ("I live in Oslo.", "I live in Bergen."),
        ("I live in Norway.", "I moved to Sweden."),
        ("At work my manager is Ana.", "At work my manager is now Bo."),
    ],
)
def test_what_another_value_closes_or_is_to_be_asked_about_is_left_to_that(was: str, now: str) -> None:
    """So the old value holds again once the new one is revoked."""
    assert by_rule(was, now) == []


def test_what_is_said_outright_to_be_over_is_so_beside_a_value_that_closes_nothing() -> None:
    now, globex = said("I no longer work at Acme.", JUNE), said("I work at Globex.", JUNE).told.given
    assert not globex[0].is_automatic
    for is_automatic, over in ((False, ["employer"]), (True, [])):
        given = (globex[0]._replace(is_automatic=is_automatic),)
        beside = replace(now, told=replace(now.told, given=given))
        assert keys(ends_by_rule(beside, said(ACME))) == over


def test_an_ending_is_read_without_what_leads_to_it_as_facts_are() -> None:
    for was in (ACME, f"Please remember that {ACME}", "By the way, I work at Acme."):
        for now in ("Please remember that I no longer work at Acme.", "By the way, I no longer work at Acme."):
            assert by_rule(was, now) == ["employer"], (was, now)


def test_a_date_may_be_what_an_ending_speaks_of() -> None:
    assert by_rule("The meeting is on Monday.", "The meeting on Tuesday was cancelled.") == []
    assert by_rule(ACME, "By the way, I left Acme last week.") == ["employer"]
    assert by_rule("By the way, I have worked at Acme since 2020.", "I left Acme in May.") == ["employer"]


def test_what_started_later_or_was_over_by_then_is_left_alone() -> None:
    ending = said("I no longer work at Acme.", "2026-02-01T00:00:00Z")
    assert ends_by_rule(said(ACME), ending) == []
    assert ends_by_rule(said(ACME, JUNE), said("I no longer work at Acme.", JUNE)) == []
    assert by_rule("I work at Acme until May.", "I no longer work at Acme.") == []
    assert ends_by_verdict(said(ACME, JUNE), said("I quit my job.", MARCH)) == []


def test_what_holds_for_a_while_suspends_and_ends_nothing() -> None:
    now = said("I no longer work at Acme.", JUNE)
    assert ends_by_rule(now, said(ACME)) != []
    assert ends_by_rule(replace(now, valid_to=parse_instant("2026-09-01T00:00:00Z")), said(ACME)) == []


def test_an_ending_that_says_no_time_ends_nothing() -> None:
    assert ends_by_rule(said("I no longer work at Acme.", None), said(ACME)) == []
    assert ends_by_verdict(said(ACME), said("I no longer work at Acme.", None)) == []


@pytest.mark.parametrize(
    ("was", "now", "over"),
    [
        (ACME, "I quit my job.", ["employer"]),
        (ACME, "I got laid off.", ["employer"]),
        (ACME, "Acme is history for me.", ["employer"]),
        ("I work at Acme and live in Oslo.", "I quit my job.", ["employer"]),
        ("I work at Acme and live in Oslo.", "I got laid off.", []),
        (ACME, "I left Globex.", []),
        (ACME, "I will quit my job in August.", []),
        (ACME, "I also work at Globex.", []),
        (ACME, "> I quit my job", []),
        (ACME, "I still work at Acme.", []),
        (ACME, "I work at Globex.", []),
        (ACME, "I work at Acme on Mondays.", []),
        ("I work at Acme and live in Oslo.", "My sister quit her job.", []),
        ("My sister lives in Oslo.", "I moved.", []),
        ("I work at Acme as an engineer.", "Mondays I work at Acme.", []),
        (ACME, "Ich arbeite nicht mehr bei Acme.", []),
    ],
)
def test_where_somebody_says_that_it_supersedes_the_plain_statement_ends_what_it_speaks_of(
    was: str, now: str, over: list[str]
) -> None:
    assert keys(ends_by_verdict(said(was), said(now, JUNE))) == over
