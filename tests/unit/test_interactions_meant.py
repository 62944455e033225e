"""What a conversation says with certainty: no words of somebody else, no example, no request for once, no value of another type."""

from __future__ import annotations

import pytest

from chronofact.text.untaken import Untaken
from tests.contract.remembering import RememberingWriter
from tests.unit.test_interactions_route import interact, models, taken, user


@pytest.fixture
def writer() -> RememberingWriter:
    return RememberingWriter(models)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('Bob told me: "I moved to Rome."', Untaken.SUBORDINATE),
        ('He said "I work at Google".', Untaken.SUBORDINATE),
        ('"I live in Paris," said Bob.', Untaken.SUBORDINATE),
        ("My sister said that I live in Paris.", Untaken.SUBORDINATE),
        ("It is not true that I live in Oslo.", Untaken.SUBORDINATE),
        ("I dreamed that I moved to Rome.", Untaken.SUBORDINATE),
        ("Suppose my budget is 500 dollars.", Untaken.SUBORDINATE),
        ("Let's say my name is Bob.", Untaken.SUBORDINATE),
        ("> I live in Rome", Untaken.QUOTED),
        ("`My name is Bob.`", Untaken.QUOTED),
        ('"My name is Bob."', Untaken.QUOTED),
        ("For example, my favorite color is red.", Untaken.SCOPED),
        ("In the novel, my name is Bob.", Untaken.SCOPED),
        ("Mom: I live in Rome", Untaken.SCOPED),
        ("I live in Rome, just kidding.", Untaken.SCOPED),
        ("Every summer I live in Rome.", Untaken.SCOPED),
        ("For now I live in Oslo.", Untaken.ONE_OFF),
        ("I almost moved to Rome.", Untaken.UNSURE),
        ("Sometimes I live in Rome.", Untaken.MANY_VALUED),
        ("I also work at Acme.", Untaken.MANY_VALUED),
        ("Delete the file.", Untaken.REQUEST),
        ("Set the timeout to 30 seconds.", Untaken.REQUEST),
        ("We use Figma.", Untaken.MANY_VALUED),
        ("My favorite food is no longer pizza.", Untaken.EVENT),
        ("My favorite color is blue, not red.", Untaken.UNSURE),
        ("My manager, I guess, is Tom.", Untaken.UNSURE),
        ("I live in Oslo or Bergen.", Untaken.UNSURE),
        ("I live in fear.", Untaken.NO_VALUE),
        ("I work at night.", Untaken.NO_VALUE),
        ("I use Python and Go.", Untaken.MANY_VALUED),
    ],
)
def test_what_is_not_said_of_somebody_at_large_is_no_fact(
    writer: RememberingWriter, text: str, reason: Untaken
) -> None:
    (turn,) = taken(writer, user(text))
    assert [one["text"] for one in turn["memories"]] == [text]
    assert turn["facts"] == []
    assert reason in {one["reason"] for one in turn["not_taken"]}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I have been promoted to senior engineer last week.", ("occupation", "senior engineer", "2026-06-08")),
        ("I have lived in Oslo since May.", ("residence", "oslo", "2026-05-01")),
        ("I no longer work at Acme and I moved to Oslo.", ("residence", "oslo", "2026-06-17")),
    ],
)
def test_what_is_left_of_a_sentence_is_what_it_says(
    writer: RememberingWriter, text: str, fact: tuple[str, str, str]
) -> None:
    (turn,) = taken(writer, user(text))
    assert [(one["key"], one["value"], one["valid_from"][:10]) for one in turn["facts"]] == [fact]


@pytest.mark.parametrize("text", ["My phone is a Pixel since last Christmas.", "I have been vegan since I was 12."])
def test_a_start_that_is_not_read_is_not_the_turns(writer: RememberingWriter, text: str) -> None:
    (turn,) = taken(writer, user(text))
    assert (turn["facts"], turn["memories"][0]["valid_from"]) == ([], None)
    assert "date_unread" in {one["reason"] for one in turn["not_taken"]}


@pytest.mark.parametrize("text", ["My birthday is 1990-05-03.", "The release date is 2026-07-01."])
def test_a_date_that_is_the_value_is_no_window(writer: RememberingWriter, text: str) -> None:
    (turn,) = taken(writer, user(text))
    (memory,) = turn["memories"]
    assert not {one["value"] for one in turn["facts"]} - {"1990-05-03", "2026-07-01"}
    assert (memory["valid_from"], memory["valid_to"], memory["is_dated"]) == ("2026-06-17T10:30:00Z", None, False)


def test_a_quotation_goes_on_over_sentences(writer: RememberingWriter) -> None:
    text = 'Bob wrote: "Hi all. I moved to Rome. My name is Bob." I live in Oslo. My screen is 27" wide. My manager is Tom.'
    (turn,) = taken(writer, user(text))
    assert [one["value"] for one in turn["facts"] if one["key"] in {"residence", "prop/name", "prop/manager"}] == [
        "oslo",
        "tom",
    ]
    assert sum(one["reason"] == "quoted" for one in turn["not_taken"]) >= 2


@pytest.mark.parametrize(
    ("text", "key", "value", "valid_from"),
    [
        ("Please remember that I live in Oslo.", "residence", "oslo", None),
        ("By the way, I moved to Oslo last month.", "residence", "oslo", "2026-05-01T00:00:00Z"),
        ("Note: my email is ana@example.com.", "prop/email", "ana@example.com", None),
        ("Remember that I moved to Oslo in March.", "residence", "oslo", "2026-03-01T00:00:00Z"),
        ("- My email is ana@example.com.", "prop/email", "ana@example.com", None),
        ("1. I moved to Oslo last month.", "residence", "oslo", "2026-05-01T00:00:00Z"),
        ("* By the way, I moved to Oslo.", "residence", "oslo", None),
        ("Keep in mind that my meeting is on Friday.", "user/meeting/schedule", "friday", None),
    ],
)
def test_what_only_leads_to_something_is_left_away(
    writer: RememberingWriter, text: str, key: str, value: str, valid_from: str | None
) -> None:
    (turn,) = taken(writer, user(text))
    (fact,) = [one for one in turn["facts"] if one["key"] == key]
    assert (fact["value"], fact["valid_from"]) == (value, valid_from or "2026-06-17T10:30:00Z")
    assert [one["text"] for one in turn["memories"]] == [text]


def test_a_preference_closes_one_of_its_own_type(writer: RememberingWriter) -> None:
    texts = ["I prefer tea.", "I prefer Python.", "I prefer short emails.", "I use Vim.", "My favorite editor is Vim."]
    turns = taken(writer, *map(user, [*texts, "I prefer Go for backend services."]))
    told = [(one["key"], one["value"], one["blocked_by"]) for turn in turns for one in turn["facts"]]
    assert told == [
        ("prefer/drink", "tea", None),
        ("prefer/programming_language", "python", None),
        ("prefer/email", "short email", "many_valued"),
        ("use/editor", "vim", "no_change_cue"),
        ("prefer/editor", "vim", None),
        ("prefer/programming_language/for_backend_service", "go", None),
    ]


def test_a_switch_closes_what_was_used_and_preferred(writer: RememberingWriter) -> None:
    texts = ["I am switching to Go.", "The backend switched from MySQL to Postgres.", "I might switch to Rust."]
    texts += ["My sister switched from Java to Go in 2024."]
    turns = taken(writer, *map(user, texts))
    told = [[(one["key"], one["value"], one["succession"]) for one in turn["facts"]] for turn in turns]
    assert told == [
        [("use/programming_language", "go", "automatic"), ("prefer/programming_language", "go", "automatic")],
        [("backend/use/database", "postgres", "automatic"), ("backend/made_with/database", "postgres", "automatic")],
        [],
        [
            ("user/sister/use/programming_language", "go", "automatic"),
            ("user/sister/prefer/programming_language", "go", "automatic"),
        ],
    ]
    assert [one["valid_from"] for one in turns[-1]["facts"]] == ["2024-01-01T00:00:00Z"] * 2


@pytest.mark.parametrize(
    ("text", "at", "valid_from", "valid_to"),
    [
        ("I moved to Oslo yesterday.", "2026-06-17T01:00:00+05:00", "2026-06-15T19:00:00Z", None),
        ("I moved to Oslo yesterday.", "2026-06-16T22:00:00-05:00", "2026-06-15T05:00:00Z", None),
        ("I moved to Oslo today.", "2026-06-17T01:00:00+05:00", "2026-06-16T19:00:00Z", None),
        ("I live in Oslo until Friday.", "2026-06-19T22:00:00-05:00", "2026-06-20T03:00:00Z", "2026-06-20T05:00:00Z"),
        ("I live in Oslo since March 2024.", "2026-06-17T01:00:00+05:00", "2024-03-01T00:00:00Z", None),
        ("I lived in Oslo in 2019.", "2026-06-17T01:00:00-05:00", "2019-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
    ],
)
def test_days_are_those_of_the_turns_offset_and_years_those_of_all(
    writer: RememberingWriter, text: str, at: str, valid_from: str, valid_to: str | None
) -> None:
    (turn,) = taken(writer, user(text, at=at))
    (fact,) = turn["facts"]
    assert (fact["valid_from"], fact["valid_to"]) == (valid_from, valid_to)


def test_the_ends_of_the_calendar_are_no_crash_in_any_offset(writer: RememberingWriter) -> None:
    turns = [
        user("I moved to Oslo yesterday. I live in Rome until tomorrow.", at=at)
        for at in ("0001-01-01T23:00:00+23:00", "9999-12-31T00:30:00-23:00", "0001-01-01T00:00:00-12:00")
    ]
    assert interact(writer, *turns).status_code in {200, 201}
