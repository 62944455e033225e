"""Projection and check in SQL say by either rule what fold and oracle say, for values in many spellings (docs/rules.md)."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from random import Random
from typing import Any

import pytest
from psycopg import Connection

from chronofact.domain import picture
from chronofact.domain.events import Event
from chronofact.domain.rules import _LATER, RULES, value_key
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.postgres.projections import create_projection
from chronofact.postgres.session import connect
from chronofact.postgres.template import script
from chronofact.runtime.failures import Unfit
from chronofact.runtime.fingerprint import fold_fingerprint
from tests.contract.checking import append, connection_of, cut_of, folded_by, judged, lay_events
from tests.contract.memory_log import TOPIC_ID, MemoryTopic
from tests.contract.projecting import projector_on, run_until_idle
from tests.contract.stored_play import lay
from tests.contract.test_answers_in_sql import JUDGED, wrong_answers, wrong_rectangles
from tests.contract.test_check_rules import wrong_answers as check_answers
from tests.contract.test_check_rules import wrong_edges as check_edges
from tests.integration.fixtures_stack import database_like
from tests.integration.saying import Fact
from tests.property.play import play
from tests.property.spelled import spelled
from tests.property.strategies import PROFILES, random_history
from tests.property.translate import story
from tests.simulation.histories import written_history

HISTORIES = 15
"""For each profile and rule."""
rules = pytest.mark.parametrize("rule", RULES)
KEYS = """
select array_agg(p1.value_key(to_json(t), sha256(convert_to(to_json(t)::text, 'UTF8'))) order by place)
from unnest(%s::text []) with ordinality as v (t, place)
"""
CHECK_KEYS = """
select array_agg(pg_temp.same_hash(to_json(t)::text, sha256(convert_to(to_json(t)::text, 'UTF8'))) order by place)
from unnest(%s::text []) with ordinality as v (t, place)
"""


@pytest.fixture(scope="module")
def shared_database(postgres: str, database_template: str) -> Iterator[str]:
    with database_like(postgres, database_template) as address:
        yield address


@pytest.fixture
def connection(shared_database: str) -> Iterator[Connection[Any]]:
    with connect(shared_database, "test") as connection:
        yield connection
        connection.rollback()


def spelled_history(profile: str, number: int, size: int = 11) -> list[Event]:
    rng = Random(f"spelled {profile} {number}")
    return spelled(random_history(rng, rng.randint(2, size), profile))


@rules
@pytest.mark.parametrize("crowd", [False, True])
def test_the_projection_answers_by_its_rule(
    connection: Connection[Any], monkeypatch: pytest.MonkeyPatch, rule: int, *, crowd: bool
) -> None:
    if crowd:
        monkeypatch.setattr(picture, "CROWD_MIN", 2)
    folded_by(connection, rule)
    for profile in JUDGED:
        for number in range(HISTORIES):
            played = play(spelled_history(profile, number), rule=rule)
            with connection.transaction(force_rollback=True):
                lay(connection, played)
                wrong = wrong_answers(connection, played) + wrong_rectangles(connection, played)
            assert not wrong, f"{profile} {number}\n{story(played.counted)}\n" + "\n".join(wrong[:5])


@rules
def test_the_check_answers_by_the_rule_of_its_projection(database: str, rule: int) -> None:
    with connect(database, "test") as connection:
        folded_by(connection, rule)
    histories: dict[int, list[Event]] = {}
    for profile in PROFILES:
        for number in range(HISTORIES):
            histories[len(histories) + 1] = list(play(spelled_history(profile, number)).counted)
    with cut_of(database, with_ids=False) as cut:
        connection = connection_of(cut)
        for number, counted in histories.items():
            lay_events(connection, counted, fact_no=number)
        judged(cut)
        assert check_answers(connection, histories, rule=rule) > len(histories)
        check_edges(connection, histories, rule=rule)


def said_of(profile: str, number: int) -> tuple[Fact, list[Event]]:
    fact, rng = Fact(f"{profile}-{number}"), Random(f"said {profile} {number}")
    return fact, written_history(rng, rng.randint(2, 11), profile, fact_id=fact.fact_id, is_spelled=True)


def projected(database: str, rule: int) -> None:
    """All profiles, spelled, in several batches."""
    with connect(database, "test") as connection:
        folded_by(connection, rule)
    topic = MemoryTopic()
    store = ProjectionStore(database, "p1")
    projector, witness = projector_on(topic.join(), store)
    facts = [said_of(profile, number) for profile in PROFILES for number in range(HISTORIES)]
    for part in range(2):
        for fact, events in facts:
            append(topic, fact, events[len(events) * part // 2 : len(events) * (part + 1) // 2])
        run_until_idle(projector)
    store.close()
    assert (witness.total.applied > len(facts), witness.total.parked) == (True, {})


@rules
def test_a_projection_by_either_rule_has_no_divergence_but_by_the_other_it_has(database: str, rule: int) -> None:
    projected(database, rule)
    with cut_of(database, with_ids=False) as cut:
        assert judged(cut) == []
    with connect(database, "test") as connection:
        connection.execute("update chronofact.projection set rule = %s where name = 'p1'", (3 - rule,))
    with cut_of(database, with_ids=False) as cut:
        found = {(one.relation, one.aspect) for one in judged(cut)}
    assert {("fact", "state_hash"), ("timeline", "kind"), ("fact", "conflicts_open")} <= found


MUTATIONS = {
    "answer_key": "update p1.timeline as t set answer_key = substr(v.value_hash::text, 3, 32)::uuid from p1.version as v"
    " where v.fact_no = t.fact_no and v.version_no = t.winner and t.kind = 1"
    " and substr(v.value_hash::text, 3, 32)::uuid <> t.answer_key",
    "conflict": "insert into p1.conflict select a.fact_no, least(a.version_id, b.version_id),"
    " greatest(a.version_id, b.version_id), 'OPEN', 2, now() from p1.version as a join p1.version as b"
    " on a.fact_no = b.fact_no and a.version_no = 1 and b.version_no = 2"
    " where p1.value_key(a.value_json, a.value_hash) = p1.value_key(b.value_json, b.value_hash)"
    " and a.value_hash <> b.value_hash on conflict do nothing",
    "kind": "update p1.timeline set kind = 2, winner = null where kind = 1 and versions[2] is not null and lane = 0",
    "value_hash": "update p1.version set value_hash = p1.value_key(value_json, value_hash)"
    " where value_hash <> p1.value_key(value_json, value_hash)",
}


def test_what_rule_2_forbids_is_found(database: str) -> None:
    projected(database, 2)
    for name, mutation in MUTATIONS.items():
        with cut_of(database, with_ids=False) as cut:
            changed = connection_of(cut).execute(mutation)
            assert changed.rowcount > 0, name
            assert judged(cut), name


def test_single_facts_are_judged_by_their_numbers(database: str) -> None:
    """As a comparison of projections asks."""
    projected(database, 2)
    with cut_of(database, with_ids=False) as cut:
        numbers = [no for (no,) in connection_of(cut).execute("select fact_no from p1.fact").fetchall()]
        connection_of(cut).execute("update p1.fact set state_hash = '\\x00' where fact_no = %s", (numbers[3],))
        for fact_no in numbers[:6]:
            found, tally = cut.judge(fact_no, fact_no)
            assert (tally.facts, {one.fact_no for one in found}) == (1, {fact_no} if fact_no == numbers[3] else set())


@rules
def test_keys_are_those_of_the_fold_for_every_character(database: str, rule: int) -> None:
    """Between letters that compose and marks that are ordered, whichever Unicode this Python and this Postgres know."""
    with connect(database, "test") as connection:
        folded_by(connection, rule)
    places = [*range(1, 0xD800), *range(0xE000, 0x20000), *range(0x2F800, 0x2FA20), *range(0xE0000, 0xE0200)]
    texts = [f"e{chr(one)}\u0323\u0301" for one in places]
    with cut_of(database, with_ids=False) as cut:
        connection = connection_of(cut)
        for first in range(0, len(texts), 20_000):
            some = [text for text in texts[first : first + 20_000] if text[1] not in '"\\' and text[1] >= " "]
            spelled_values = [f'"{text}"'.encode() for text in some]
            wanted = [value_key(value, sha256(value).digest(), rule) for value in spelled_values]
            for statement in (KEYS, CHECK_KEYS):
                found = connection.execute(statement, (some,)).fetchone()
                assert found is not None
                assert list(map(bytes, found[0])) == wanted


def test_both_scripts_name_the_characters_that_the_fold_leaves_alone() -> None:
    for name in (("projection", "045_value_key"), ("check", "prepare", "010_functions")):
        text = script(*name).text
        listed = "".join(part for line in text.splitlines() for part in line.split("E'")[1:])
        assert listed.replace("'", "").encode().decode("unicode_escape") == _LATER.pattern


def test_the_first_who_feeds_a_projection_leaves_the_fingerprint_of_its_fold(database: str) -> None:
    def kept() -> object:
        with connect(database, "test") as connection:
            found = connection.execute("select fingerprint from chronofact.projection where name = 'p1'").fetchone()
            assert found is not None
            return found[0]

    def say(fingerprint: str) -> None:
        with connect(database, "test") as connection:
            connection.execute("update chronofact.projection set fingerprint = %s", (fingerprint,))

    assert kept() == fold_fingerprint(1)
    say("of whoever made it")
    store = ProjectionStore(database, "p1")
    store.claim(TOPIC_ID, 0, watermarks=(0, 5))
    assert kept() == fold_fingerprint(1)
    with connect(database, "test") as connection:
        connection.execute("update chronofact.checkpoint set next_offset = 5")
    say("of another version")
    store.claim(TOPIC_ID, 0, watermarks=(0, 5))
    store.claim(TOPIC_ID, 1, watermarks=(0, 5))
    assert kept() == "of another version"
    store.close()


def test_a_projection_of_a_rule_that_nobody_knows_is_neither_fed_nor_checked(database: str) -> None:
    with connect(database, "test") as connection:
        connection.execute("update chronofact.projection set rule = 9 where name = 'p1'")
        with pytest.raises(Unfit) as unfit:
            create_projection(connection, "p9", rule=9)
        assert unfit.value.code == "rule_unknown"
        assert connection.execute("select from chronofact.projection where name = 'p9'").fetchone() is None
    store = ProjectionStore(database, "p1")
    with pytest.raises(Unfit) as unfit:
        store.claim(TOPIC_ID, 0, watermarks=(0, 5))
    assert unfit.value.code == "rule_unknown"
    store.close()
    with pytest.raises(Unfit) as unfit, cut_of(database, with_ids=False):
        pass
    assert unfit.value.code == "rule_unknown"
