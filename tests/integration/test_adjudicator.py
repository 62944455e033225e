"""The adjudicator's process over a real log, projection, writer and model: what it decides, and what no crash takes away."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest

from chronofact.contracts.pending import pending_in
from chronofact.domain.interval import parse_instant
from chronofact.text.frames import Frame, Holds, Polarity, Temporality
from chronofact.text.told import Given
from tests.integration import model_server as faults
from tests.integration.adjudicating import (
    GO,
    JUNE,
    MARCH,
    PYTHON,
    Held,
    Judged,
    Relation,
    eventually,
    judged_on,
    remembered,
)
from tests.integration.fixtures_stack import database_like
from tests.integration.model_server import Side, model_server
from tests.integration.saying import Fact, Said


@pytest.fixture(scope="module")
def stack(kafka: str, postgres: str, database_template: str) -> Iterator[Judged]:
    with (
        database_like(postgres, database_template) as database,
        judged_on(kafka, f"test.facts.{uuid4().hex}", database) as judged,
    ):
        yield judged


@pytest.fixture
def judged(stack: Judged) -> Judged:
    stack.begin()
    return stack


def python_and_go(subject: str, *, is_known: bool = True) -> tuple[Said, Said]:
    since = (MARCH, JUNE) if is_known else (None, None)
    return (
        remembered(subject, f"{subject} prefers Python", PYTHON, since=since[0]),
        remembered(subject, f"{subject} is switching to Go", GO, since=since[1]),
    )


def go_is_newer(left: Side, right: Side) -> tuple[str, Side | None]:
    go = [side for side in (left, right) if "Go" in side.text]
    return ("supersedes", go[0]) if len(go) == 1 else ("near_duplicate", None)


def test_march_and_june_are_decided_by_rule_in_either_order_and_no_model_is_called(judged: Judged) -> None:
    with model_server() as server, judged.adjudicator(model_url=server.url, model_name="m") as adjudicator:
        for number, order in enumerate(permutations((0, 1))):
            both = python_and_go(f"order {number}")
            python, go = both
            for place in order:
                judged.say(both[place])
                judged.await_checks(both[place])
            first, second = (judged.checks(both[place]) for place in order)
            assert [tuple(one) for one in first] == [(0, 0, 0, "no_pairs", False)]
            assert [tuple(one) for one in second] == [(1, 1, 0, "rule", False)]
            assert judged.relations(python, go) == [
                Relation("supersedes", go.version_id, "rule", "value_changed", None)
            ]
            assert (judged.lifecycle(python), judged.lifecycle(go)) == ("SUPERSEDED", "ACTIVE")
        assert server.requests == []
        assert adjudicator.metric('chronofact_adjudicator_pairs_total{outcome="rule",reason="value_changed"}') == 2
        # and what other tests of this world left to be looked at again
        assert adjudicator.metric('chronofact_adjudicator_runs_total{llm_call_made="false"}') >= 4
        assert adjudicator.metric("chronofact_adjudicator_decided_without_model_share") == 1
        # told of again, as after a rebalance: the log says already what became of it
        judged.tell(python, go)
        eventually(lambda: adjudicator.metric('chronofact_adjudicator_memories_total{outcome="already_checked"}') >= 2)
        assert adjudicator.stop() == 0
    assert len(judged.checks(go)) == 1


def test_pairs_wait_for_a_model_that_is_away_seen_and_counted_and_are_decided_when_it_is_back(judged: Judged) -> None:
    python, go = python_and_go("away", is_known=False)
    with model_server(go_is_newer) as server:
        server.always = faults.status(503)
        with judged.adjudicator(
            model_url=server.url, model_name="m", model_attempts_max=1, pending_retry_s=0.5, model_price_read=2
        ) as adjudicator:
            judged.say(python, go)
            (waiting,) = judged.await_checks(go)
            assert (waiting.pairs, waiting.decided, waiting.pending, waiting.llm_call_made) == (1, 0, 1, True)
            assert [tuple(one) for one in pending_in(waiting.reason)] == [(python.version_id, "model_failed")]
            eventually(lambda: adjudicator.pending()["pairs"].get("model_failed") == 1)
            listed = [one for one in adjudicator.pending()["listed"] if one["text"] == "away is switching to Go"]
            assert [[(pair["reason"], pair["other_text"]) for pair in one["pairs"]] for one in listed] == [
                [("model_failed", "away prefers Python")]
            ]
            assert listed[0]["calls"] >= 1
            assert "away prefers Python" in adjudicator.get("/").text
            assert adjudicator.metric('chronofact_adjudicator_pending_pairs{reason="model_failed"}') == 1
            # it goes on waiting without a word more in the log
            eventually(lambda: adjudicator.metric('chronofact_adjudicator_memories_total{outcome="still_pending"}') > 0)
            assert len(judged.checks(go)) == 1
            server.always = None
            _, done = judged.await_checks(go, 2)
            assert tuple(done) == (1, 1, 0, "model", True)
            assert judged.relations(python, go) == [
                Relation(
                    "supersedes",
                    go.version_id,
                    "model",
                    "valid_from_unknown:attribute_changed",
                    "small-model-2026-11-01 fp_7",
                )
            ]
            eventually(lambda: "model_failed" not in adjudicator.pending()["pairs"])
            assert adjudicator.metric('chronofact_adjudicator_pending_pairs{reason="model_failed"}') == 0
            assert adjudicator.metric('chronofact_adjudicator_model_tokens_total{direction="read"}') == 700
            assert adjudicator.metric("chronofact_adjudicator_model_cost_total") == pytest.approx(0.0014)
            assert adjudicator.metric("chronofact_adjudicator_decided_without_model_share") == 0
    *refused, answered = [line for line in judged.answers() if line[0].bytes == go.version_id]
    assert {line[1] for line in refused} == {"model_failed"}
    assert answered[1:4] == ("answered", "small-model-2026-11-01 fp_7", 700)
    assert orjson.loads(answered[4])["choices"][0]["message"]["content"]


def job_left(subject: str) -> tuple[Said, Said, Said]:
    """A fact, the memory of the sentence that gave it, and that of its ending."""
    acme = Frame("user", "employer", "acme", "organisation", cardinality=Holds.ONE)
    over = replace(acme, polarity=Polarity.NEGATIVE, temporality=Temporality.ENDED, cues=("now",))
    fact = Fact(subject, "employer").asserts("acme", MARCH)
    given = Given("employer", fact.version_id or b"", parse_instant(MARCH), None, is_automatic=False, frame=acme)
    works = remembered(subject, f"{subject} works at Acme", acme, since=MARCH, gave=[given])
    return fact, works, remembered(subject, f"{subject} no longer works at Acme", over, since=JUNE)


def test_a_kill_before_the_check_judges_nothing_twice_ends_no_fact_twice_and_forgets_no_call(judged: Judged) -> None:
    python, go = python_and_go("killed", is_known=False)
    fact, works, left = job_left("killed")
    ended = [(JUNE, f"ended by memory {UUID(bytes=left.version_id or b'')}")]
    another, change = python_and_go("budget", is_known=False)
    with model_server(go_is_newer) as server:
        writer = str(judged.writer.http.base_url).rstrip("/")
        spent = judged.calls_today()
        model: dict[str, Any] = {"model_url": server.url, "model_name": "m", "model_calls_per_day": spent + 1}
        with Held(writer) as held, judged.adjudicator(adjudicator_writer=held.url, **model) as adjudicator:
            judged.say(python, fact, works, is_told=False)
            judged.say(go)
            assert held.held.wait(30)
            assert len(server.requests) == 1
            judged.say(left)
            eventually(lambda: judged.ends(fact) == ended)
            adjudicator.kill()
        assert judged.checks(go) == judged.checks(left) == []
        with judged.adjudicator(**model) as adjudicator:
            (check,) = judged.await_checks(go)
            assert [one.reason for one in judged.await_checks(left)] == ["rule"]
            # said again by the same event, and by none of the memory that is told of again
            assert adjudicator.metric("chronofact_adjudicator_facts_ended_total") == 1
            judged.tell(left, works)
            # the day's one call is spent, though who made it is gone
            judged.say(another, change)
            (waiting,) = judged.await_checks(change)
        assert [one.reason for one in pending_in(waiting.reason)] == ["budget_calls"]
        judged.decide("budget", another, change)
        assert judged.calls_today() == spent + 1
        assert tuple(check) == (1, 1, 0, "model", True)
        assert len(server.requests) == 1
        assert len(judged.relations(python, go)) == 1
        assert (judged.ends(fact), judged.lifecycle(works)) == (ended, "SUPERSEDED")


def test_a_rebalance_and_a_kill_lose_nothing_and_judge_nothing_twice(judged: Judged) -> None:
    said = [python_and_go(f"rebalance {number}", is_known=number % 4 != 0) for number in range(48)]
    judged.say(*(python for python, _ in said), is_told=False)
    with model_server(go_is_newer) as server:
        server.always = faults.slow(0.05)
        model = {"model_url": server.url, "model_name": "m"}
        with judged.adjudicator("one", **model) as one, judged.adjudicator("two", **model) as two:
            judged.say(*(go for _, go in said[:16]))
            one.await_readyz()
            two.await_readyz()
            judged.say(*(go for _, go in said[16:32]))
            one.kill()
            judged.say(*(go for _, go in said[32:]))
            for _, go in said:
                judged.await_checks(go)
            assert two.stop() == 0
    for python, go in said:
        assert len(judged.checks(go)) == 1
        assert len(judged.relations(python, go)) == 1
    # who was killed may have asked without having said it; nobody else asks twice
    asked = len(server.requests)
    assert 12 <= asked <= 12 + 4


def test_one_that_stands_still_keeps_no_memory_from_the_others_and_says_nothing_when_it_wakes(judged: Judged) -> None:
    said = [python_and_go(f"still {number}", is_known=False) for number in range(6)]
    judged.say(*(python for python, _ in said), is_told=False)
    with model_server(go_is_newer) as server:
        server.always = faults.slow(1)
        model = {"model_url": server.url, "model_name": "m", "adjudicator_at_once": 3}
        with judged.adjudicator("one", **model) as one:
            one.await_readyz()
            judged.say(*(go for _, go in said[:3]))
            eventually(lambda: len(server.requests) == 3)
            one.process.send_signal(signal.SIGSTOP)
            server.always = None
            with judged.adjudicator("two", **model) as two:
                judged.say(*(go for _, go in said[3:]))
                for _, go in said:
                    judged.await_checks(go)
                one.process.send_signal(signal.SIGCONT)
                one.await_readyz()
                assert (one.stop(), two.stop()) == (0, 0)
    for python, go in said:
        assert [one.reason for one in judged.checks(go)] == ["model"]
        assert len(judged.relations(python, go)) == 1
    assert len(server.requests) == 3 + 6


def test_what_was_never_told_is_swept_what_waits_too_long_is_a_persons_and_a_person_ends_it(judged: Judged) -> None:
    python, go = python_and_go("swept", is_known=False)
    with judged.adjudicator(sweep_s=0.5, pending_retry_s=0.5, pending_review_s=2) as adjudicator:
        judged.say(python, go, is_told=False)
        first, review = judged.await_checks(go, 2)
        assert [one.reason for one in pending_in(first.reason)] == ["model_not_configured"]
        assert [one.reason for one in pending_in(review.reason)] == ["review"]
        assert orjson.loads(review.reason)["why"] == "review"
        eventually(lambda: adjudicator.pending()["pairs"].get("review", 0) >= 1)
        assert adjudicator.metric("chronofact_adjudicator_swept_total") >= 2
        judged.decide("swept", python, go)
        *_, done = judged.await_checks(go, 3)
        assert tuple(done) == (1, 1, 0, "rule", False)
        # long after all was looked at, by what came since
        late = remembered("swept later", "swept later prefers Rust", PYTHON, since=MARCH)
        judged.say(late, is_told=False)
        judged.await_checks(late)
    assert [one.decided_by for one in judged.relations(python, go)] == ["person"]
