"""Text memories through the HTTP interfaces: written, decided by rule or by a model, found, and decided anew by a person."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import pytest

from chronofact.client import Accepted, Source, Unknown, Value
from tests.integration import model_server as faults
from tests.integration.adjudicating import eventually
from tests.integration.fixtures_stack import database_like
from tests.integration.remembering_all import Everything, everything_on

MARCH, APRIL, JUNE, JULY = (f"2026-{month:02d}-01T00:00:00Z" for month in (3, 4, 6, 7))
KEY = "memory/preference"
PYTHON, GO = "User prefers Python", "User is switching to Go"


@pytest.fixture(scope="module")
def stack(kafka: str, postgres: str, database_template: str) -> Iterator[Everything]:
    with database_like(postgres, database_template) as database, everything_on(kafka, database) as everything:
        yield everything


def id_of(said: Accepted) -> UUID:
    assert said.version_id is not None
    return said.version_id


@pytest.mark.parametrize("order", ["as it was", "the other way"])
def test_march_and_june_are_a_change_and_no_model_is_called(stack: Everything, order: str) -> None:
    subject, said = f"ana, {order}", {PYTHON: MARCH, GO: JUNE}
    known = {
        text: stack.remember(subject, text, said[text]) for text in (said if order == "as it was" else reversed(said))
    }
    python, go = known[PYTHON], known[GO]
    relation = stack.relation(python, go)
    assert (relation["relation"], relation["newer"]) == ("supersedes", str(go.version_id))
    assert (relation["decided_by"], relation["llm_call_made"]) == ("rule", False)
    assert stack.asked_about(PYTHON, GO) == 0
    old, new = stack.label(python), stack.label(go)
    assert (old["lifecycle"], old["superseded_by_id"]) == ("SUPERSEDED", str(go.version_id))
    assert (new["lifecycle"], new["supersedes_id"]) == ("ACTIVE", str(python.version_id))
    assert stack.texts(subject, valid_at=APRIL) == [PYTHON]
    assert stack.texts(subject, "which language", valid_at=JULY) == [GO]
    assert stack.in_postgres(
        "select r.relation, r.newer_version_id, r.decided_by, r.llm_call_made, v.lifecycle, v.superseded_by_id"
        " from chronofact.memory_relationship as r"
        " inner join chronofact.memory_fact_version as v on v.id = %s and r.fact_id = v.fact_id",
        python.version_id,
    ) == [("supersedes", go.version_id, "rule", False, "SUPERSEDED", go.version_id)]


def test_what_a_rule_decided_says_why_and_a_person_undoes_it(stack: Everything) -> None:
    python, go = stack.remember("fay", PYTHON, MARCH), stack.remember("fay", GO, JUNE)
    assert stack.relation(python, go)["reason"]
    assert stack.texts("fay", valid_at=JULY) == [GO]
    stack.client.declare_relation(
        "fay",
        KEY,
        id_of(python),
        id_of(go),
        "unrelated",
        decided_at=MARCH,  # a person's word outranks a rule's, however old it is
        decided_by="person",
        reason="she writes both",
    )
    assert stack.texts("fay", valid_at=JULY) == [GO, PYTHON]
    assert stack.relation(python, go)["reason"] == "she writes both"
    assert (stack.label(python)["lifecycle"], stack.label(python)["superseded_by_id"]) == ("ACTIVE", None)


def test_what_overlaps_and_differs_is_asked_about_and_the_less_sure_one_waits_for_a_person(stack: Everything) -> None:
    sure = stack.remember("bea", "User prefers Java", MARCH, confidence=0.9)
    unsure = stack.remember("bea", "User prefers Rust", MARCH, confidence=0.3)
    relation = stack.relation(sure, unsure)
    assert (relation["relation"], relation["decided_by"], relation["llm_call_made"]) == ("contradicts", "model", True)
    assert stack.asked_about("User prefers Java", "User prefers Rust") == 1
    (edge,) = stack.client.conflicts(subject="bea")["conflicts"]
    assert (edge["relation"], edge["pending_review"]) == ("OPEN", str(unsure.version_id))
    assert stack.texts("bea") == ["User prefers Java"]
    context = stack.client.context("bea")
    assert "Java" in context.text
    assert "Rust" not in context.text
    assert [one.kind for one in context.questions] == ["review"]
    stack.client.settle("bea", KEY, id_of(sure), id_of(unsure), keep=id_of(unsure), reason="she said so")
    assert stack.texts("bea") == ["User prefers Rust"]
    assert stack.client.context("bea").questions == ()


def test_a_near_duplicate_is_merged_and_a_person_takes_it_apart_again(stack: Everything) -> None:
    first = stack.remember("cem", "User prefers Python", MARCH)
    second = stack.remember("cem", "User really prefers Python", APRIL)
    third = stack.remember("cem", "User really does prefer Python", JUNE)
    assert stack.relation(first, second)["relation"] == "near_duplicate"
    assert stack.label(second)["merged_into_id"] == stack.label(third)["merged_into_id"] == str(first.version_id)
    assert stack.texts("cem", "Python") == ["User prefers Python"]
    for other in (first, third):
        stack.client.declare_relation(
            "cem",
            KEY,
            id_of(second),
            id_of(other),
            "unrelated",
            decided_at=MARCH,
            decided_by="person",
        )
    assert stack.label(second)["merged_into_id"] is None
    assert set(stack.texts("cem")) == {"User prefers Python", "User really prefers Python"}


def test_a_start_that_is_not_known_is_never_decided_by_rule(stack: Everything) -> None:
    python, go = stack.remember("dan", PYTHON), stack.remember("dan", "User now prefers Go")
    relation = stack.relation(python, go)
    assert (relation["relation"], relation["decided_by"], relation["newer"]) == (
        "supersedes",
        "model",
        str(go.version_id),
    )
    assert stack.texts("dan") == ["User now prefers Go"]
    assert set(stack.texts("dan", valid_at=APRIL)) == {PYTHON, "User now prefers Go"}, "it holds from the decision on"
    stack.client.declare_relation(
        "dan",
        KEY,
        id_of(python),
        id_of(go),
        "supersedes",
        newer=python.version_id,
        decided_at=MARCH,
        decided_by="person",
    )
    assert stack.texts("dan") == [PYTHON]


def test_a_pair_waits_while_no_model_answers_and_is_out_of_every_prompt(stack: Everything) -> None:
    stack.model.always = faults.status(503)
    try:
        python, go = stack.remember("eva", PYTHON), stack.remember("eva", "User now prefers Go")
        (pending,) = stack.relations(go)["pending"]
        assert {pending["left"], pending["right"]} == {str(python.version_id), str(go.version_id)}
        assert pending["reason"] == "model_failed"
        assert stack.texts("eva") == [PYTHON]
        assert set(stack.texts("eva", include="pending_pairs")) == {PYTHON, "User now prefers Go"}
        context = stack.client.context("eva")
        assert "Go" not in context.text
        assert [one.kind for one in context.questions] == ["relation"]
    finally:
        stack.model.always = None
    eventually(lambda: stack.texts("eva") == ["User now prefers Go"])
    assert stack.relations(go)["pending"] == []


def test_a_person_decides_a_pair_that_waits_and_takes_it_back_by_command(stack: Everything) -> None:
    stack.model.always = faults.status(503)
    try:
        python, go = stack.remember("ivy", PYTHON), stack.remember("ivy", "User now prefers Go")
        (waits,) = stack.chronofact("relations", "ivy")["pending"]
        assert {waits["left_text"], waits["right_text"]} == {PYTHON, "User now prefers Go"}
        told = stack.chronofact("decide", str(go.version_id), "supersedes", str(python.version_id), "--by", "bob")
        assert (told["counts"], told["decided"]["decided_by"], told["decided"]["reason"]) == (True, "person", "bob")
        assert stack.texts("ivy") == ["User now prefers Go"]
        assert stack.relations(go)["pending"] == []
        again = stack.chronofact("decide", str(go.version_id), "supersedes", str(python.version_id))
        assert (again["event_id"], again["decided"]) == (None, told["decided"])
    finally:
        stack.model.always = None
    words = waits["decide_command"].split()[1:]
    stack.chronofact(words[0], words[1], "unrelated", words[2], "--by", "bob", "--reason", "both")
    assert set(stack.texts("ivy")) == {PYTHON, "User now prefers Go"}
    (relation,) = stack.chronofact("relations", "ivy")["relations"]
    assert (relation["relation"], relation["reason"]) == ("unrelated", "bob: both")
    stack.remember("kit", PYTHON)
    asked = stack.remember("kit", "User now prefers Go")
    eventually(
        lambda: stack.relations(asked)["pending"] == []
    )  # the model is asked again, in the tests that follow too


def test_a_person_outranks_the_others_whose_latest_word_counts(stack: Everything) -> None:
    python, go = stack.remember("joe", PYTHON, MARCH), stack.remember("joe", GO, JUNE)
    assert stack.relation(python, go)["decided_by"] == "rule"  # decided at the later arrival: now
    far, farther = "2100-01-01T00:00:00Z", "2100-01-02T00:00:00Z"
    for decided_by, decided_at, relation, counts in (
        ("model", MARCH, "unrelated", "rule"),
        ("model", far, "unrelated", "model"),
        ("rule", farther, "near_duplicate", "rule"),
        ("person", MARCH, "contradicts", "person"),
        ("model", "2100-01-03T00:00:00Z", "unrelated", "person"),
    ):
        pair = id_of(python), id_of(go)
        stack.client.declare_relation("joe", KEY, *pair, relation, decided_by=decided_by, decided_at=decided_at)
        assert stack.relation(python, go)["decided_by"] == counts, (decided_by, relation)
    stack.client.decide("joe", "preference", id_of(python), id_of(go), "unrelated", decided_at=APRIL)
    assert stack.relation(python, go)["relation"] == "unrelated"
    late = stack.client.decide("joe", "preference", id_of(python), id_of(go), "contradicts", decided_at=MARCH, by="bob")
    assert (late.counts, late.relation and late.relation["relation"]) == (False, "unrelated")
    assert set(stack.texts("joe", valid_at=JULY)) == {PYTHON, GO}


def test_what_is_asserted_on_a_memory_key_is_judged_as_any_memory(stack: Everything) -> None:
    python = stack.client.assert_fact("kim", KEY, PYTHON, source=Source("chat", text=PYTHON), valid_from=MARCH)
    go = stack.remember("kim", GO, JUNE)
    assert (stack.relation(python, go)["relation"], stack.relation(python, go)["decided_by"]) == ("supersedes", "rule")
    (found,) = stack.client.memories("kim", "which language", valid_at=APRIL)["memories"]
    assert (found["text"], found["checked"]) == (PYTHON, True)
    assert found["places"]["nearness"] == 1


def test_what_is_said_in_a_conversation_is_judged_as_any_memory(stack: Everything) -> None:
    turns = [
        {"role": "user", "text": "I prefer Python.", "at": MARCH},
        {"role": "assistant", "text": "Noted."},
        {"role": "user", "text": "I am switching to Go.", "at": JUNE},
    ]
    told = stack.client.interact("hal", turns, source="chat-1")
    python, go = (told["turns"][number]["memories"][0]["version_id"] for number in (0, 2))
    found = stack.client.relations(version_id=go, wait_ms=30_000)
    assert found["checked"]
    (relation,) = found["relations"]
    assert {relation["left"], relation["right"]} == {python, go}
    assert (relation["relation"], relation["newer"], relation["llm_call_made"]) == ("supersedes", go, False)
    assert stack.texts("hal", valid_at=APRIL) == ["I prefer Python."]
    assert stack.texts("hal", valid_at=JULY) == ["I am switching to Go."]


@pytest.mark.parametrize("order", ["as it was", "the ending first"])
def test_what_a_conversation_says_is_over_is_no_answer_any_more_whichever_was_told_first(
    stack: Everything, order: str
) -> None:
    subject, said = f"lea, {order}", {"I work at Acme. I live in Oslo.": MARCH, "I no longer work at Acme.": JUNE}
    for text in said if order == "as it was" else reversed(said):
        told = stack.client.interact(subject, [{"role": "user", "text": text, "at": said[text]}], source=text)
        for one in told["turns"][0]["memories"]:
            assert stack.client.relations(version_id=one["version_id"], wait_ms=30_000)["checked"]
    (works,) = stack.client.relations(subject, relation="supersedes")["relations"]
    assert (works["reason"], works["llm_call_made"]) == ("ended", False)
    acme, over = (stack.client.resolve(subject, "employer", valid_at=at) for at in (APRIL, JULY))
    oslo = stack.client.resolve(subject, "residence", valid_at=JULY)
    assert isinstance(acme, Value)
    assert isinstance(over, Unknown)
    assert isinstance(oslo, Value)
    assert (acme.value, over.reason, oslo.value) == ("acme", "ended", "oslo")
    asserted, end = stack.client.events(acme.reading.fact.fact_id)["events"]
    assert (asserted["event_type"], end["event_type"]) == ("FactAsserted", "FactEnded")
    assert end["payload"]["reason"] == f"ended by memory {works['newer']}"
    # a person's word on the two memories, and then on the fact
    ended = [{"key": "employer", "version_id": str(acme.version_id), "event_id": end["event_id"]}]
    assert works["ended"] == ended
    stack.chronofact("decide", works["left"], "unrelated", works["right"], "--by", "bob")
    assert isinstance(stack.client.resolve(subject, "employer", valid_at=JULY), Unknown)
    told = stack.chronofact("decide", works["left"], "unrelated", works["right"], "--revoke-ends")
    assert (told["event_id"], told["revoked"]) == (None, [end["event_id"]])
    assert isinstance(stack.client.resolve(subject, "employer", valid_at=JULY, wait_ms=20_000), Value)
    eventually(lambda: stack.client.relations(subject)["relations"][0]["ended"] == [])
