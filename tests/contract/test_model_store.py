"""A day's budget over a real database: never more than allowed, whoever asks, and kept beyond who asked; claims likewise."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import psycopg
import pytest

from chronofact.adjudicator.ledger import DayLedger, claimed, judged
from chronofact.postgres.claims import Claim, Claims
from chronofact.postgres.judging_store import JudgingStore, Released
from chronofact.postgres.looking import Ref
from chronofact.postgres.model_store import RAW_BYTES_MAX, ModelStore
from chronofact.postgres.projections import create_projection
from chronofact.runtime.failures import Transient
from chronofact.text.budget import Call, Spent
from tests.unit.adjudicator_twins import FACT, TENANT, version

REF = Ref(TENANT, FACT, version(1))


@pytest.fixture
async def store(database: str) -> AsyncIterator[JudgingStore]:
    made = JudgingStore(database)
    await made.open()
    yield made
    await made.close()


def call(read: int, written: int, raw: bytes | None = b"{}") -> Call:
    return Call(REF.version_id, 2, "answered", "m 1", "pairs-1", read, written, 0.5, 1.25, raw)


async def test_calls_and_tokens_are_never_beyond_the_days_however_many_ask(database: str, store: JudgingStore) -> None:
    ledgers = [DayLedger(ModelStore(store.pool), calls_max=20, tokens_max=10_000) for _ in range(2)]
    told = await asyncio.gather(*(ledgers[n % 2].reserve(100) for n in range(60)))
    assert sum(isinstance(one, int) for one in told) == 20
    assert {one for one in told if isinstance(one, Spent)} == {Spent.CALLS}
    again = DayLedger(ModelStore(store.pool), calls_max=20, tokens_max=10_000)
    assert await again.reserve(100) is Spent.CALLS
    more = DayLedger(ModelStore(store.pool), calls_max=100, tokens_max=2_050)
    assert await more.reserve(100) is Spent.TOKENS
    assert isinstance(await more.reserve(50), int)


async def test_what_was_used_takes_the_place_of_what_was_reserved_and_the_answer_is_kept(
    database: str, store: JudgingStore
) -> None:
    kept = ModelStore(store.pool)
    ledger = DayLedger(kept, calls_max=10, tokens_max=10_000)
    judged.set(REF)
    for raw in (b'{"choices": []}', None, b"x" * (RAW_BYTES_MAX + 1)):
        reserved = await ledger.reserve(3_000)
        assert isinstance(reserved, int)
        await ledger.settle(reserved, call(70, 9, raw))
    assert await kept.spent() == (3, 3 * 79)
    with psycopg.connect(database) as connection:
        lines = connection.execute(
            "select tenant_id, fact_id, version_id, outcome, model, tokens_read, cost, raw from chronofact.model_answer order by 1"
        ).fetchall()
        connection.execute("update chronofact.model_answer set asked_at = now() - interval '9 days'")
    assert [one.bytes for one in lines[0][:3]] == [TENANT, FACT, REF.version_id]
    assert lines[0][3:] == ("answered", "m 1", 70, 0.5, b'{"choices": []}')
    assert [None if line[-1] is None else len(line[-1]) for line in lines] == [15, None, RAW_BYTES_MAX]
    await kept.forget(10)
    with psycopg.connect(database) as connection:
        assert connection.execute("select count(*) from chronofact.model_answer").fetchone() == (3,)
    await kept.forget(8)
    with psycopg.connect(database) as connection:
        assert connection.execute("select count(*) from chronofact.model_answer").fetchone() == (0,)


async def test_a_new_day_begins_with_nothing(database: str, store: JudgingStore) -> None:
    kept = ModelStore(store.pool)
    ledger = DayLedger(kept, calls_max=1, tokens_max=1_000)
    assert isinstance(await ledger.reserve(1), int)
    assert await ledger.reserve(1) is Spent.CALLS
    with psycopg.connect(database) as connection:
        connection.execute("update chronofact.model_day set day = day - 1")
    assert await kept.spent() == (0, 0)
    assert isinstance(await ledger.reserve(1), int)


async def test_a_memory_is_one_process_s_until_it_gives_it_back_or_is_gone(database: str, store: JudgingStore) -> None:
    other = JudgingStore(database)
    await other.open()
    mine = await store.claims.take(version(1))
    assert mine
    assert not await store.claims.take(version(1))
    assert not await other.claims.take(version(1))
    assert await other.claims.take(version(2))
    await store.claims.check(mine)
    await store.claims.give_back(mine)
    with pytest.raises(Transient, match="another"):
        await store.claims.check(mine)
    assert await other.claims.take(version(1))
    await store.claims.give_back(mine)
    assert not await store.claims.take(version(1))
    await other.close()
    await taken(store.claims)


async def test_a_connection_that_broke_has_given_all_back_and_another_is_made(
    database: str, store: JudgingStore
) -> None:
    before = await store.claims.take(version(1))
    assert before
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
    with pytest.raises(Transient):
        await store.claims.take(version(2))
    assert await store.claims.take(version(2))
    now = await store.claims.take(version(1))
    assert now
    # what was lost is not given back in the place of what was taken since
    await store.claims.give_back(before)
    await store.claims.check(now)
    await store.claims.give_back(now)


async def test_who_stands_still_claims_nothing_any_more_and_hears_of_it_when_it_wakes(database: str) -> None:
    still, other = Claims(database, still_s=0.3, sign_s=3_600), Claims(database, still_s=0.3, sign_s=0.05)
    mine = await still.take(version(1))
    assert mine
    theirs = await taken(other)
    await asyncio.sleep(0.6)
    with pytest.raises(Transient):
        await still.check(mine)
    with pytest.raises(Transient, match="another"):
        await still.check(mine)
    # who works on gives signs, however long it asks for nothing
    await other.check(theirs)
    assert await still.take(version(1)) is None
    await still.close()
    await other.close()


async def test_no_call_is_counted_for_a_memory_that_is_another_s_by_now(database: str, store: JudgingStore) -> None:
    claims = Claims(database, still_s=0.2, sign_s=3_600)
    ledger = DayLedger(ModelStore(store.pool), calls_max=9, tokens_max=10_000, claims=claims)
    mine = await claims.take(version(1))
    assert mine
    claimed.set(mine)
    assert isinstance(await ledger.reserve(100), int)
    await taken(store.claims)
    with pytest.raises(Transient):
        await ledger.reserve(100)
    assert await ModelStore(store.pool).spent() == (1, 100)
    await claims.close()


async def taken(claims: Claims) -> Claim:
    """The first memory, once nobody else has it."""
    for _ in range(100):
        if (claim := await claims.take(version(1))) is not None:
            return claim
        await asyncio.sleep(0.02)
    raise AssertionError("a claim outlived its process")


async def test_what_was_released_is_told_the_newest_first_and_behind_a_number(
    database: str, store: JudgingStore
) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        create_projection(connection, "p2", rule=1)
        for projection, offset, fact_id in (("p1", 4, FACT), ("p2", 5, FACT), ("p1", 6, None), ("p1", 7, FACT)):
            connection.execute(
                "insert into chronofact.released_event (projection, topic_id, partition, kafka_offset, fact_id)"
                " values (%s, gen_random_uuid(), 3, %s, %s)",
                (projection, offset, fact_id and UUID(bytes=fact_id)),
            )
    told = await store.released("p1", after=0, limit=9)
    assert told == [Released(4, 3, 7), Released(1, 3, 4)]
    assert await store.released("p1", after=0, limit=1) == told[:1]
    assert await store.released("p1", after=1, limit=9) == told[:1]
    assert await store.released("p1", after=4, limit=9) == []
