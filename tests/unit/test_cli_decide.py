"""``chronofact decide``: what it asks, what it sends, and what it refuses to send."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.unit.scripted_service import Asked, Told, serving
from tests.unit.test_cli import Command
from tests.unit.test_cli_memories import FACT, ONE, OTHER, PENDING, RELATION
from tests.unit.test_client import FRESH, token

EVENT = "0190a0a0-0000-7000-8000-00000000000e"
ACCEPTED = {"status": "accepted", "event_id": EVENT, "fact_id": OTHER, "position": token(p0=1)}


@pytest.fixture
def chronofact(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def page(*relations: Any, pending: Any = (), fact: Any = FACT) -> Told:
    listed = {"relations": list(relations), "pending": list(pending), "checked": True, "fact": fact}
    return Told({**listed, "cursor": None, "freshness": FRESH})


def said(relation: str, newer: str | None = None, **more: Any) -> dict[str, Any]:
    told = {"relation": relation, "newer": newer, "decided_by": "person", "event_id": EVENT, "reason": "bob: asked"}
    return {**RELATION, "fact": FACT, **told, **more}


WAITS, RIGHT, PASSED = page(pending=[PENDING]), page(), Told({"conflicts": [], "freshness": FRESH})


def sent(asked: list[Asked]) -> Any:
    (command,) = [one.json() for one in asked if one.method == "POST"]
    return command


def test_a_verdict_is_sent_as_a_persons_and_told_once_it_counts(chronofact: Command) -> None:
    script = (WAITS, RIGHT, Told(ACCEPTED, 201), PASSED, page(said("supersedes", OTHER)))
    with serving(*script) as service:
        words = ("decide", OTHER.upper(), "supersedes", ONE, "--by", "bob", "--reason", "asked")
        assert chronofact(*words, "--reader", service.url, "--writer", service.url) == 0
    command = sent(service.asked)
    assert command.pop("decided_at")
    assert command == {
        "type": "declare_relation",
        "subject": "ana",
        "key": "memory/preference",
        "scope": "user:self",
        "left_version_id": OTHER,
        "right_version_id": ONE,
        "relation": "supersedes",
        "newer_version_id": OTHER,
        "decided_by": "person",
        "reason": "bob: asked",
    }
    told = " ".join(chronofact.out.split())
    assert "“User is switching to Go” supersedes “User prefers Python”" in told
    assert f"to take it back: chronofact decide {ONE} unrelated {OTHER}" in told


def test_what_counts_already_is_not_said_again(chronofact: Command) -> None:
    with serving(page(said("unrelated")), RIGHT) as service:
        words = ("decide", ONE, "unrelated", OTHER, "--json", "--reader", service.url, "--writer", service.url)
        assert chronofact(*words) == 0
    assert [one.method for one in service.asked] == ["GET", "GET"]
    assert orjson.loads(chronofact.out)["event_id"] is None


ENDED = [{"key": "employer", "version_id": ONE, "event_id": OTHER}]


def test_facts_that_were_ended_with_it_are_named_and_taken_back_where_that_is_said(chronofact: Command) -> None:
    before, after = said("supersedes", OTHER, decided_by="rule", ended=ENDED), said("unrelated", ended=ENDED)
    with serving(page(before), RIGHT, Told(ACCEPTED, 201), PASSED, page(after)) as service:
        words = ("decide", ONE, "unrelated", OTHER, "--reader", service.url, "--writer", service.url)
        assert chronofact(*words) == 0
    assert sent(service.asked)["type"] == "declare_relation"
    told = " ".join(chronofact.out.split())
    again = f"chronofact decide {ONE} unrelated {OTHER} --revoke-ends"
    assert f"ended by what the later one says: employer; to take that back, too: {again}" in told
    # said already: only the end is taken back
    with serving(page(after), RIGHT, Told(ACCEPTED, 201), PASSED) as service:
        assert chronofact(*words[:4], "--revoke-ends", "--reader", service.url, "--writer", service.url) == 0
    assert sent(service.asked) == {
        "type": "revoke",
        "subject": "ana",
        "key": "employer",
        "scope": "user:self",
        "event_id": OTHER,
    }
    assert "--revoke-ends" not in chronofact.out


@pytest.mark.parametrize("before", [said("unrelated", decided_by="rule"), said("contradicts")])
def test_another_word_or_one_of_a_lower_rank_is_overruled(chronofact: Command, before: Any) -> None:
    with serving(page(before), RIGHT, Told(ACCEPTED, 201), PASSED, page(said("unrelated"))) as service:
        words = ("decide", ONE, "unrelated", OTHER, "--json", "--reader", service.url, "--writer", service.url)
        assert chronofact(*words) == 0
    assert sent(service.asked)["relation"] == "unrelated"
    told = orjson.loads(chronofact.out)
    assert (told["counts"], told["event_id"], told["position"]) == (True, EVENT, token(p0=1))


def test_a_word_that_does_not_count_is_a_failure(chronofact: Command) -> None:
    later = said("contradicts", event_id=ONE)
    with serving(WAITS, RIGHT, Told(ACCEPTED, 201), PASSED, page(later)) as service:
        words = ("decide", ONE, "unrelated", OTHER, "--reader", service.url, "--writer", service.url)
        assert chronofact(*words) == 1
    assert "of a later instant counts" in chronofact.err


def test_memories_that_nobody_checked_are_named_by_their_fact(chronofact: Command) -> None:
    nothing = page(fact=None)
    with serving(nothing) as service:
        words = ("decide", ONE, "unrelated", OTHER, "--reader", service.url, "--writer", service.url)
        assert chronofact(*words) == 1
    assert "--subject NAME --category WORD" in chronofact.err
    with serving(nothing, Told(ACCEPTED, 201), PASSED, page(said("unrelated"))) as service:
        more = ("--subject", "ana", "--reader", service.url, "--writer", service.url)
        assert chronofact(*words[:4], *more) == 0
    assert (sent(service.asked)["subject"], sent(service.asked)["key"]) == ("ana", "memory/note")


def test_memories_of_two_facts_do_not_relate(chronofact: Command) -> None:
    with serving(WAITS, page(fact=FACT | {"fact_id": ONE})) as service:
        words = ("decide", ONE, "unrelated", OTHER, "--reader", service.url, "--writer", service.url)
        assert chronofact(*words) == 1
    assert "two facts" in chronofact.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((ONE,), "LEFT RELATION RIGHT"),
        ((ONE, OTHER), "LEFT RELATION RIGHT"),
        ((ONE, "replaces", OTHER), "supersedes, contradicts, near_duplicate, unrelated"),
        ((ONE, "unrelated", ONE.upper()), "two different memories"),
        ((ONE, "unrelated", OTHER, "now"), "LEFT RELATION RIGHT"),
    ],
)
def test_a_wrong_usage_asks_nobody(chronofact: Command, words: tuple[str, ...], told: str) -> None:
    assert chronofact("decide", *words, "--reader", "http://127.0.0.1:9", "--writer", "http://127.0.0.1:9") == 2
    assert told in chronofact.err


@pytest.mark.parametrize(
    ("typed", "relation", "newer"),
    [
        (["x", "2"], "supersedes", OTHER),
        (["1"], "supersedes", ONE),
        (["n"], "near_duplicate", None),
        (["s"], None, None),
    ],
)
def test_without_a_relation_it_shows_both_and_asks(
    chronofact: Command, monkeypatch: pytest.MonkeyPatch, typed: list[str], relation: str | None, newer: str | None
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    answers = iter(typed)
    monkeypatch.setattr("typer.prompt", lambda _: next(answers))
    counting = said(relation or "unrelated", newer)
    with serving(WAITS, RIGHT, Told(ACCEPTED, 201), PASSED, page(counting)) as service:
        assert chronofact("decide", ONE, OTHER, "--reader", service.url, "--writer", service.url) == 0
    assert "1  User prefers Python" in chronofact.out
    assert "2  User is switching to Go" in chronofact.out
    assert "\x1b[2J" not in chronofact.out
    posted = [one.json() for one in service.asked if one.method == "POST"]
    assert [(one["relation"], one.get("newer_version_id")) for one in posted] == (
        [(relation, newer)] if relation else []
    )
    assert not [*answers]
