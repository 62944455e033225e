"""The look-up in SQL answers as the brute-force reading of semantics.md does, at every two instants, with its stretch."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from psycopg import Connection

from chronofact.domain import picture
from chronofact.postgres.session import connect
from tests.contract.stored_play import KINDS, REASONS, lay, micros, moment
from tests.integration.fixtures_stack import database_like
from tests.property.oracle import resolve, system_times
from tests.property.oracle.timeline import rectangles, valid_during
from tests.property.play import Play, play
from tests.property.strategies import PROFILES, random_history
from tests.property.translate import story, to_oracle

HISTORIES = 25
"""For each profile and size."""
JUDGED = [profile for profile in PROFILES if profile != "texts"]
profiles = pytest.mark.parametrize("profile", JUDGED)
ASK = """
select a.kind, a.reason, a.versions, a.winner, a.valid_from, a.valid_to
from unnest(%s::timestamptz[], %s::timestamptz[]) with ordinality as q (valid_at, system_as_of, place)
cross join lateral p1.answer_at(1, q.valid_at, q.system_as_of) as a
order by q.place
"""


@pytest.fixture(scope="module")
def shared_database(postgres: str, database_template: str) -> Iterator[str]:
    with database_like(postgres, database_template) as address:
        yield address


@pytest.fixture
def connection(shared_database: str) -> Iterator[Connection[Any]]:
    """Nothing that a test lays into the database stays."""
    with connect(shared_database, "test") as connection:
        yield connection
        connection.rollback()


def instants_of(played: Play) -> list[tuple[int, int | None]]:
    bounds = sorted(played.canvas.bounds())
    valid = [bounds[0] - 5, *bounds] if bounds else [0]
    times = system_times(to_oracle(played.counted, played.history.rule))
    return [(valid_at, as_of) for as_of in (times[0] - 1, *times, None) for valid_at in valid]


def wrong_answers(connection: Connection[Any], played: Play) -> list[str]:
    log, ids = to_oracle(played.counted, played.history.rule), played.canvas.ids
    asks = instants_of(played)
    columns = [moment(valid_at) for valid_at, _ in asks], [moment(as_of) for _, as_of in asks]
    wrong = []
    for (valid_at, as_of), row in zip(asks, connection.execute(ASK, columns).fetchall(), strict=True):
        kind, reason, versions, winner, valid_from, valid_to = row
        wanted = resolve(log, valid_at, as_of)
        during = (None, None) if wanted.reason == "not_yet_known" else valid_during(log, valid_at, as_of)
        said = tuple(sorted(ids[number] for number in versions or ())) if kind else ()
        got = (KINDS[kind], REASONS.get(reason), said, ids[winner] if winner else None)
        if got != (wanted.kind, wanted.reason, tuple(sorted(wanted.versions)), wanted.winner):
            wrong.append(f"at {valid_at}, as of {as_of}: {got}, not {wanted}")
        if (micros(valid_from), micros(valid_to)) != during:
            wrong.append(f"at {valid_at}, as of {as_of}: {valid_from} to {valid_to}, not {during}")
    return wrong


def wrong_rectangles(connection: Connection[Any], played: Play) -> list[str]:
    ids = played.canvas.ids
    found = [
        (
            *(KINDS[kind], REASONS.get(reason), tuple(sorted(ids[number] for number in versions))),
            *map(micros, bounds),
        )
        for kind, reason, versions, *bounds in connection.execute("select * from p1.rectangles(1)").fetchall()
    ]
    wanted = {
        (
            *(one.stretch.answer.kind, one.stretch.answer.reason, tuple(sorted(one.stretch.answer.versions))),
            *(one.stretch.valid_from, one.stretch.valid_to, one.known_from, one.known_to),
        )
        for one in rectangles(to_oracle(played.counted, played.history.rule))
    }
    twice = [f"twice: {one}" for one in found if found.count(one) > 1]
    return [*twice, *(f"missing {one}" for one in wanted - {*found}), *(f"extra {one}" for one in {*found} - wanted)]


def judge(connection: Connection[Any], profile: str, size: int, *, histories: int = HISTORIES) -> int:
    asked = 0
    for number in range(histories):
        rng = Random(f"sql {profile} {size} {number}")
        events = random_history(rng, rng.randint(1, size), profile)
        played = play(events)
        with connection.transaction(force_rollback=True):
            lay(connection, played)
            wrong = wrong_answers(connection, played) + wrong_rectangles(connection, played)
        asked += len(instants_of(played))
        if wrong:
            pytest.fail(
                f"seed 'sql {profile} {size} {number}'\n{story(events)}\n" + "\n".join(wrong[:5]), pytrace=False
            )
    return asked


@profiles
def test_random_histories_are_answered_as_the_rules_say(connection: Connection[Any], profile: str) -> None:
    assert judge(connection, profile, 11) > HISTORIES


@profiles
def test_so_are_long_ones_through_whole_repaints(connection: Connection[Any], profile: str) -> None:
    judge(connection, profile, 60, histories=4)


@profiles
def test_so_are_crowds(connection: Connection[Any], profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every set of three versions or more is a crowd here, whose members only the lanes tell."""
    monkeypatch.setattr(picture, "CROWD_MIN", 2)
    judge(connection, profile, 14)


def test_a_run_of_many_restatements_is_one_stretch(connection: Connection[Any]) -> None:
    connection.execute(
        "insert into p1.fact values (1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'user', 'self', 'k',"
        " null, 300, now(), 300, 0, 0, 0, '')"
    )
    connection.execute(
        "insert into p1.timeline select 1, 0, timestamptz '2026-01-01Z' + n * interval '1 hour', n,"
        " timestamptz '2025-01-01Z' + n * interval '1 day', null, 1, null, md5('same')::uuid, array[n], n"
        " from generate_series(1, 300) as n"
    )
    connection.execute(
        "insert into p1.timeline values (1, 0, '2026-01-01T01:00:00Z', 1, null, '2025-01-02Z', 0, 4, null, '{}', null)"
    )
    asked = "select valid_from, valid_to from p1.answer_at(1, timestamptz '2025-01-01Z' + %s * interval '1 day', null)"
    start = connection.execute("select timestamptz '2025-01-02Z'").fetchone()
    for day in (1, 7, 150, 299, 300, 400):
        assert connection.execute(asked, (day,)).fetchone() == (*(start or ()), None)
    known_then = "select valid_from, valid_to from p1.answer_at(1, timestamptz '2025-01-09Z', timestamptz '2026-01-01T20:30:00Z')"
    assert connection.execute(known_then).fetchone() == (*(start or ()), None)
