"""The check's SQL answers as the brute-force reading of semantics.md does, and finds nothing wrong where nothing is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from psycopg import Connection

from chronofact.domain.canonical import digest
from chronofact.domain.events import Event, FactAsserted, Succession
from chronofact.domain.interval import Interval
from chronofact.postgres.projection_store import ProjectionStore
from tests.contract.checking import append, connection_of, cut_of, judged, lay_events
from tests.contract.memory_log import MemoryTopic
from tests.contract.projecting import projector_on, run_until_idle
from tests.integration.fixtures_stack import database_like
from tests.integration.saying import Fact
from tests.property.cases import cases
from tests.property.oracle import OAnswer, answer_at, conflicts, fold, labels, supersedes
from tests.property.play import play
from tests.property.strategies import CROWD, PROFILES, random_history
from tests.property.translate import story, to_oracle
from tests.simulation.histories import written_history
from tests.unit.test_semantics_cases import events_of

HOT, HOT_S = 10_000, 60
HISTORIES, SIZE = 40, 11
"""For each profile."""
KINDS = ("unknown", "value", "conflict", "values")
REASONS = ("excluded", "ended", "superseded", "not_yet_valid", "revoked", "proposed_only", "never_recorded")
NEG = -(2**63)
profiles = pytest.mark.parametrize("profile", sorted(PROFILES))

ANSWERS = """
select a.fact_no, a.k, a.t, a.kind, a.reason, v.version_id,
    array(select w.version_id from code as o join ver as w on w.fact_no = a.fact_no and w.no = o.no
        where o.cell = a.cell and o.code = 0 order by w.version_id)
from answer as a left join ver as v on v.fact_no = a.fact_no and v.rank = a.rank and a.kind = 1
order by a.fact_no, a.k, a.t
"""


@pytest.fixture(scope="module")
def shared_database(postgres: str, database_template: str) -> Iterator[str]:
    with database_like(postgres, database_template) as address:
        yield address


def counted_of(profile: str, number: int) -> list[Event]:
    rng = Random(f"check {profile} {number}")
    return list(play(random_history(rng, rng.randint(1, SIZE), profile)).counted)


@profiles
def test_answers_are_those_of_the_rules(shared_database: str, profile: str) -> None:
    histories = {number: counted_of(profile, number) for number in range(1, HISTORIES + 1)}
    with cut_of(shared_database, with_ids=False) as cut:
        connection = connection_of(cut)
        for number, counted in histories.items():
            lay_events(connection, counted, fact_no=number)
        judged(cut)
        looked_at = wrong_answers(connection, histories)
        wrong_edges(connection, histories)
        wrong_labels(connection, histories)
    assert looked_at > 10 * HISTORIES


def wrong_answers(connection: Connection[Any], histories: dict[int, list[Event]], *, rule: int = 1) -> int:
    states = {}
    lines = connection.execute(ANSWERS).fetchall()
    for fact_no, k, t, kind, reason, winner, versions in lines:
        counted = histories[fact_no]
        if (fact_no, k) not in states:
            states[fact_no, k] = fold(to_oracle(counted[:k], rule))
        state = states[fact_no, k]
        bounds = state.bounds()
        instant = t if t > NEG else (bounds[0] - 1 if bounds else 0)
        wanted = answer_at(state, instant)
        got = OAnswer(
            KINDS[kind],
            REASONS[reason - 1] if reason else None,
            tuple(one.bytes for one in versions),
            None if winner is None else winner.bytes,
        )
        assert got == wanted, f"{story(counted)}\nby event {k}, at {t}: {got}, not {wanted}"
    assert {(number, k) for number, counted in histories.items() for k in range(1, len(counted) + 1)} == set(states)
    return len(lines)


def wrong_edges(connection: Connection[Any], histories: dict[int, list[Event]], *, rule: int = 1) -> None:
    found: dict[int, set[tuple[bytes, bytes, str]]] = {number: set() for number in histories}
    for fact_no, left, right, relation in connection.execute(
        "select fact_no, left_id, right_id, relation from pair"
    ).fetchall():
        found[fact_no].add((left.bytes, right.bytes, relation))
    for number, counted in histories.items():
        assert found[number] == conflicts(fold(to_oracle(counted, rule))), story(counted)


def wrong_labels(connection: Connection[Any], histories: dict[int, list[Event]]) -> None:
    lines = connection.execute(
        "select l.fact_no, v.version_id, l.lifecycle, l.supersedes_id, l.merged_into_id, l.confidence"
        " from label as l join ver as v on v.fact_no = l.fact_no and v.no = l.no"
        " join slice as s on s.slice = l.slice where s.is_last"
    ).fetchall()
    for number, counted in histories.items():
        state = fold(to_oracle(counted))
        mine = {line[1].bytes: line[2:] for line in lines if line[0] == number}
        assert {one: said[0] for one, said in mine.items()} == labels(state), story(counted)
        named = {one: said[1].bytes for one, said in mine.items() if said[1] is not None}
        assert named == supersedes(state), story(counted)
        merged = {one: said[2].bytes for one, said in mine.items() if said[2] is not None}
        assert merged == state.merged, story(counted)
        confidence = {one: said[3] for one, said in mine.items() if state.versions[one].is_ever_active}
        assert confidence == {one: state.versions[one].confidence for one in confidence}, story(counted)


def said_of(rng: Random, fact: Fact, size: int, profile: str) -> tuple[Fact, list[Event]]:
    """A history with the ids that a writer would give it, else all of it would be parked."""
    return fact, written_history(rng, size, profile, fact_id=fact.fact_id)


@profiles
def test_a_projection_of_random_histories_has_no_divergence(database: str, profile: str) -> None:
    """Repeats, several batches and the labels between them included."""
    topic = MemoryTopic()
    store = ProjectionStore(database, "p1")
    projector, witness = projector_on(topic.join(), store)
    rng = Random(f"projected {profile}")
    facts = [said_of(rng, Fact(f"{profile}-{n}"), rng.randint(1, SIZE), profile) for n in range(HISTORIES)]
    for part in range(3):
        for fact, events in facts:
            append(topic, fact, events[len(events) * part // 3 : len(events) * (part + 1) // 3])
        run_until_idle(projector)
    store.close()
    assert (witness.total.applied > HISTORIES, witness.total.parked) == (True, {})
    with cut_of(database, with_ids=True) as cut:
        assert judged(cut) == []


def test_so_has_one_of_crowds(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = MemoryTopic()
    store = ProjectionStore(database, "p1")
    projector, witness = projector_on(topic.join(), store)
    monkeypatch.setitem(PROFILES, "crowd", CROWD)
    rng = Random("projected crowds")
    for number in range(4):
        append(topic, *said_of(rng, Fact(f"crowd-{number}"), 45, "crowd"))
    run_until_idle(projector)
    store.close()
    assert (witness.total.applied > 100, witness.total.parked) == (True, {})
    with cut_of(database, with_ids=True, past_max=12) as cut:
        assert judged(cut) == []


def test_every_scenario_is_answered_as_written(shared_database: str) -> None:
    """Those of semantics.json, which the oracle answers as they say (tests/property/test_oracle_cases.py)."""
    histories = {}
    for number, case in enumerate(cases(), start=1):
        if case["events"]:
            histories[number] = list(play(events_of(case)).counted)
    with cut_of(shared_database, with_ids=False) as cut:
        connection = connection_of(cut)
        for number, counted in histories.items():
            lay_events(connection, counted, fact_no=number)
        judged(cut)
        assert wrong_answers(connection, histories) > len(histories)
        wrong_edges(connection, histories)


@pytest.mark.parametrize("succession", list(Succession))
def test_a_fact_of_ten_thousand_versions_is_judged_by_samples(shared_database: str, succession: Succession) -> None:
    """Bounded, and right where it looks."""
    counted = [
        Event(
            number.to_bytes(16),
            FactAsserted(
                number.to_bytes(16),
                b'"%d"' % (number % 7),
                digest(b'"%d"' % (number % 7)),
                Interval(number * 10, None),
                "s",
                bytes(32),
                succession=succession,
            ),
            number,
        )
        for number in range(1, HOT + 1)
    ]
    with cut_of(shared_database, with_ids=False, past_max=8) as cut:
        connection = connection_of(cut)
        lay_events(connection, counted, fact_no=1)
        began = time.monotonic()
        _, done = cut.judge(0, 2)
        assert time.monotonic() - began < HOT_S
        assert (done.facts, done.events, done.bounded) == (1, HOT, 1)
        lines = connection.execute("select k, t, kind, versions from answer where t > %s", (NEG,)).fetchall()
        assert len(lines) > 8
        for k, t, kind, versions in lines:
            started = min(k, t // 10)
            wanted = (1, 1) if succession is Succession.AUTOMATIC or started == 1 else (2, started)
            assert (kind, versions) == (wanted if started else (0, 0))
