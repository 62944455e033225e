"""Memories as a projection keeps them: what a new one is held against, who was looked at, and what counts for a pair."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

import psycopg
import pytest
from psycopg import AsyncConnection

from chronofact.domain.events import (
    Cardinality,
    Decider,
    FactActivated,
    FactEnded,
    FactRevoked,
    Lifecycle,
    RelationDeclared,
    RelationsChecked,
    Verdict,
)
from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.postgres import memories
from chronofact.postgres.looking import Look, Reach, Ref, looks
from chronofact.postgres.session import conninfo_for
from tests.contract.filling import fill, log_order, sliced
from tests.contract.memory_log import MemoryTopic
from tests.integration.deriving import derived, frame, pointing
from tests.integration.fixtures_stack import database_like
from tests.integration.saying import Fact, Said

T = TypeVar("T")

BASE = 1_796_000_000_000_000
SECOND = 1_000_000
FACT = Fact("ann", "memory/drinks")
OTHER = Fact("bob", "memory/drinks")


def remembers(text: str, at: int | None, *keys: str, fact: Fact = FACT, **said: Any) -> Said:
    """A memory with these keys, and an embedding where ``towards`` says so."""
    embedding = said.pop("towards", None)
    known = derived(keys, None if embedding is None else pointing(**embedding), frames=[frame("drink", text)])
    said = {"cardinality": Cardinality.MANY, "source": text, "derived": known, **said}
    return fact.asserts(text, at, valid_from_known=at is not None, **said)


TEA = remembers("tea", 10, "drink", towards={"tea": 1})
COFFEE = remembers("coffee", 20, "drink", "hot", towards={"coffee": 1})
SENCHA = remembers("sencha", 30, "leaf", towards={"tea": 0.9, "water": 0.3})
WATER = remembers("water", None, "cold")
PROPOSED = remembers("matcha", 40, "leaf", towards={"tea": 0.8, "go": 0.6}, lifecycle=Lifecycle.PROPOSED)
NOTHING = remembers("nothing", 45, towards={})
REVOKED = remembers("cocoa", 50, "drink", towards={"tea": 1})
PLAIN = FACT.asserts("milk", 60, cardinality=Cardinality.MANY)
ELSEWHERE = remembers("tea", 10, "drink", fact=OTHER, towards={"tea": 1})
LAST = remembers("oolong", 70, "drink", towards={"tea": 1})


def ids(*said: Said) -> list[bytes]:
    return [one.version_id or b"" for one in said]


def relate(
    one: Said, other: Said, verdict: Verdict, newer: Said | None = None, *, at: int = 1, by: Decider = Decider.RULE
) -> Said:
    left, right = sorted(ids(one, other))
    return FACT.says(RelationDeclared(left, right, verdict, None if newer is None else newer.version_id, at, by))


def checked(one: Said, pairs: int, pending: int, reason: str | None = None) -> Said:
    return FACT.says(RelationsChecked(ids(one)[0], pairs, pairs - pending, pending, reason))


STORY = (
    *(TEA, COFFEE, SENCHA, WATER, PROPOSED, NOTHING, REVOKED, PLAIN, ELSEWHERE, LAST),
    FACT.says(FactRevoked(version_id=REVOKED.version_id, reason="wrong source")),
    FACT.says(FactEnded(ids(COFFEE)[0], 25, "over")),
    relate(TEA, SENCHA, Verdict.UNRELATED, at=9, by=Decider.MODEL),
    relate(TEA, SENCHA, Verdict.NEAR_DUPLICATE, at=2, by=Decider.PERSON),
    relate(TEA, COFFEE, Verdict.CONTRADICTS, at=7, by=Decider.MODEL),
    relate(TEA, COFFEE, Verdict.SUPERSEDES, COFFEE, at=8),
    relate(COFFEE, SENCHA, Verdict.SUPERSEDES, LAST, at=9),
    checked(TEA, 0, 0),
    checked(COFFEE, 3, 2, "model_away"),
    checked(SENCHA, 2, 1),
    checked(COFFEE, 3, 1, "model_away"),
    checked(SENCHA, 2, 0),
)


@pytest.fixture(scope="module")
def filled(postgres: str, database_template: str) -> Iterator[str]:
    with database_like(postgres, database_template) as address:
        topic = MemoryTopic()
        for number, one in enumerate(STORY):
            topic.append([one], appended_at=BASE + number * SECOND)
        fill(address, "p1", topic, sliced(log_order(topic), 3))
        yield address


def ask(address: str, call: Callable[[AsyncConnection[Any], int], Awaitable[T]]) -> T:
    """What a look-up answers, told the fact's number."""

    async def asked() -> T:
        async with await AsyncConnection.connect(conninfo_for(address, "test"), autocommit=True) as connection:
            found = await connection.execute(
                "select fact_no from p1.fact where fact_id = %s", (UUID(bytes=FACT.fact_id),)
            )
            line = await found.fetchone()
            assert line is not None
            return await call(connection, line[0])

    return asyncio.run(asked())


def found(address: str, before_seq: int, *keys: str, nearest: int = 20, **towards: float) -> dict[str, tuple[str, ...]]:
    embedding = pointing(**towards) if towards else None
    told = ask(address, lambda at, no: memories.candidates(at, "p1", no, before_seq, keys, embedding, nearest=nearest))
    assert [one.event_seq for one in told] == sorted(one.event_seq for one in told)
    return {one.text: one.how for one in told}


EVERY = 1_000
NEAR = ("cosine", "cosine_of_standing")


def test_a_candidate_is_found_by_a_key_whatever_its_cosine_and_by_cosine_whatever_its_keys(filled: str) -> None:
    assert found(filled, EVERY, "hot") == {"coffee": ("keys",)}
    assert found(filled, EVERY, "hot", tea=1) == {
        "tea": ("cosine",),
        "coffee": ("keys",),
        "sencha": ("cosine",),
        "matcha": ("cosine",),
        "oolong": NEAR,
    }
    assert found(filled, EVERY, "none", water=1) == {}, "0.3 is too far"
    assert found(filled, EVERY) == {}


def test_only_memories_that_came_before_are_candidates(filled: str) -> None:
    seq = look(filled, SENCHA).memory.event_seq
    assert found(filled, seq, "drink", "leaf", tea=1) == {"tea": ("keys", "cosine"), "coffee": ("keys",)}
    assert found(filled, seq + 1, "drink", "leaf").keys() == {"tea", "coffee", "sencha"}


def test_what_gave_way_was_merged_or_is_proposed_stays_one_and_what_was_revoked_does_not(filled: str) -> None:
    told = ask(filled, lambda at, no: memories.candidates(at, "p1", no, EVERY, ["drink", "leaf"], None))
    standing = {one.text: (one.lifecycle, one.merged_into) for one in told}
    assert standing == {
        "tea": ("SUPERSEDED", None),
        "coffee": ("ACTIVE", None),
        "sencha": ("SUPERSEDED", ids(TEA)[0]),
        "matcha": ("PROPOSED", None),
        "oolong": ("ACTIVE", None),
    }


def test_those_that_gave_way_crowd_out_none_that_stands(filled: str) -> None:
    by_one = found(filled, EVERY, nearest=1, tea=0.8, go=0.6)
    assert by_one == {"matcha": ("cosine",), "oolong": ("cosine_of_standing",)}


def test_a_candidate_says_how_long_it_holds_and_how_near_it_is(filled: str) -> None:
    told = ask(
        filled, lambda at, no: memories.candidates(at, "p1", no, EVERY, ["drink", "cold"], pointing(tea=0.8, go=0.6))
    )
    by_text = {one.text: one for one in told}
    assert (by_text["coffee"].valid_from, by_text["coffee"].valid_to) == (20, 25)
    assert (by_text["tea"].valid_from, by_text["tea"].valid_to) == (10, None)
    assert (by_text["water"].valid_from, by_text["water"].valid_from_known, by_text["water"].cosine) == (
        None,
        False,
        None,
    )
    assert by_text["tea"].valid_from_known
    assert by_text["tea"].cosine == pytest.approx(0.8, abs=0.001)
    assert by_text["coffee"].cosine == pytest.approx(0, abs=0.001)
    assert by_text["tea"].frames == [frame("drink", "tea")]


def test_a_memory_is_what_was_derived(filled: str) -> None:
    told = look(filled, SENCHA).memory
    assert (told.text, told.keys, told.frames) == ("sencha", ["leaf"], [frame("drink", "sencha")])
    assert (told.extractor, told.embedder, told.embedding) == (
        "hand-1",
        "hand-embedder-1",
        pointing(tea=0.9, water=0.3),
    )
    assert (told.valid_from, told.valid_to, told.recorded_at) == (30, None, BASE + 2 * SECOND)
    without = look(filled, WATER).memory
    assert (without.embedder, without.embedding, without.valid_from_known) == (None, None, False)
    elsewhere = SENCHA._replace(key=OTHER.fact_id)
    strangers = [PLAIN, SENCHA._replace(version_id=None), elsewhere]
    assert ask(filled, partial(looked_at, strangers)) == [None] * 3
    (foreign,) = ask(
        filled,
        lambda at, _: looks(
            at, "p1", [Ref(bytes(16), SENCHA.key, ids(SENCHA)[0])], Reach(lambda memory: memory.keys, 0.4, 20)
        ),
    )
    assert foreign is None, "another tenant's"


def test_a_memory_whose_fact_is_held_is_not_looked_at(filled: str) -> None:
    with psycopg.connect(filled, autocommit=True) as connection:
        connection.execute(
            "insert into chronofact.parked_event (projection, topic_id, partition, kafka_offset, fact_id, appended_at, code, reason)"
            " values ('p1', gen_random_uuid(), 0, 99, %s, now(), 'held', '')",
            (UUID(bytes=OTHER.fact_id),),
        )
        held, other = ask(filled, partial(looked_at, [ELSEWHERE, TEA]))
        connection.execute("delete from chronofact.parked_event")
    assert held is None
    assert other is not None


def test_several_memories_looked_at_together_are_told_apart(filled: str) -> None:
    several = [WATER, PLAIN, SENCHA, ELSEWHERE, SENCHA, COFFEE]
    told = ask(filled, partial(looked_at, several))
    assert told[1] is None
    for said, one in zip(several, told, strict=True):
        assert one is None or (one == look(filled, said) and one.memory.version_id == said.version_id)
    assert told[2] is not None
    assert {one.text for one in told[2].candidates} == {"tea"}
    assert told[5] is not None
    assert {one.text for one in told[5].candidates} == {"tea"}
    assert (told[2].names.scope, told[2].names.key) == ("user:self", FACT.identity.fact_key)


async def page_behind(place: tuple[int, int], at: AsyncConnection[Any], _no: int) -> list[memories.Unchecked]:
    return await memories.unchecked(at, "p1", older_than=2**60, limit=2, after=place)


async def looked_at(said: Sequence[Said], at: AsyncConnection[Any], _no: int) -> list[Look | None]:
    wanted = [Ref(DEVELOPMENT_TENANT.bytes, one.key, one.version_id or bytes(16)) for one in said]
    return await looks(at, "p1", wanted, Reach(lambda memory: memory.keys, 0.4, 20))


def look(address: str, said: Said) -> Look:
    (found,) = ask(address, partial(looked_at, [said]))
    assert found is not None
    return found


def test_the_sweep_finds_what_nobody_looked_at_page_by_page(filled: str) -> None:
    told = ask(filled, lambda at, _: memories.unchecked(at, "p1", older_than=BASE + 60 * SECOND, limit=100))
    assert {one.version_id for one in told} == set(ids(WATER, PROPOSED, NOTHING, LAST, ELSEWHERE))
    assert {one.fact_id for one in told} == {FACT.fact_id, OTHER.fact_id}
    young = ask(filled, lambda at, _: memories.unchecked(at, "p1", older_than=BASE + 4 * SECOND, limit=100))
    assert {one.version_id for one in young} == set(ids(WATER, PROPOSED))
    paged, place = [], (0, 0)
    while page := ask(filled, partial(page_behind, place)):
        paged += page
        place = page[-1].place
    assert [one.version_id for one in paged] == [one.version_id for one in told]


async def within(windows: list[memories.Window], at: AsyncConnection[Any], _no: int) -> list[memories.Unchecked]:
    return await memories.unchecked_within(at, "p1", windows)


def test_the_sweep_finds_by_their_offsets_what_came_lately(filled: str) -> None:
    with psycopg.connect(filled) as connection:
        places: dict[UUID, str] = dict(
            connection.execute(
                "select v.version_id, (e.kafka_partition, e.kafka_offset)::text from p1.memory as m"
                " inner join p1.version as v using (fact_no, version_no)"
                " inner join p1.event as e on e.fact_no = m.fact_no and e.event_seq = m.event_seq"
            ).fetchall()
        )
    unchecked = set(ids(WATER, PROPOSED, NOTHING, LAST, ELSEWHERE))
    every = [memories.Window(partition, 0, 1_000) for partition in range(12)]
    assert {one.version_id for one in ask(filled, partial(within, every))} == unchecked
    for said in (WATER, LAST, TEA, ELSEWHERE):
        (version_id,) = ids(said)
        partition, offset = (int(one) for one in places[UUID(bytes=version_id)].strip("()").split(","))
        told = ask(filled, partial(within, [memories.Window(partition, offset, offset + 1)]))
        assert {one.version_id for one in told} == {version_id} & unchecked
        assert {
            one.version_id for one in ask(filled, partial(within, [memories.Window(partition, offset + 1, offset + 1)]))
        } == set()


def test_of_several_checks_the_newest_is_told(filled: str) -> None:
    checks = [look(filled, one).check for one in (COFFEE, SENCHA, WATER)]
    assert [one and (one.version_id, one.decided, one.pending) for one in checks] == [
        (ids(COFFEE)[0], 2, 1),
        (ids(SENCHA)[0], 2, 0),
        None,
    ]


def test_per_pair_a_person_counts_then_what_was_decided_last(filled: str) -> None:
    counting = {
        frozenset((one.left, one.right)): (one.relation, one.decided_by, one.newer)
        for one in look(filled, TEA).declared
    }
    with_tea = {
        frozenset(ids(TEA, SENCHA)): ("near_duplicate", "person", None),
        frozenset(ids(TEA, COFFEE)): ("supersedes", "rule", ids(COFFEE)[0]),
    }
    assert counting == with_tea
    of_coffee = [frozenset((one.left, one.right)) for one in look(filled, COFFEE).declared]
    assert of_coffee == [frozenset(ids(TEA, COFFEE))], "the other pair's newer one is none of the two"


def test_later_assertions_of_a_version_change_nothing_that_was_derived(database: str) -> None:
    topic = MemoryTopic()
    other = derived(["other"], pointing(water=1), extractor="later")
    again = FACT.asserts(
        "tea", 10, source="tea", cardinality=Cardinality.MANY, lifecycle=Lifecycle.PROPOSED, derived=other
    )
    broken = FACT.asserts("milk", 60, cardinality=Cardinality.MANY, derived=b'{"extractor":')
    late = FACT.asserts("milk", 60, cardinality=Cardinality.MANY, confidence=0.5, derived=other)
    number = FACT.asserts(5, 70, cardinality=Cardinality.MANY, derived=other)
    for step, one in enumerate((TEA, again, broken, late, number, FACT.says(FactActivated(ids(TEA)[0], "x")))):
        topic.append([one], appended_at=BASE + step * SECOND)
    fill(database, "p1", topic, sliced(log_order(topic), 2))
    with psycopg.connect(database) as connection:
        kept = connection.execute("select version_no, text, extractor, keys from p1.memory").fetchall()
    assert kept == [(1, "tea", "hand-1", ["drink"])]
