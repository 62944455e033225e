"""A day's budget over a real database: never more than allowed, whoever asks, and kept beyond who asked; claims likewise."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest

from chronofact.adjudicator.ledger import DayLedger, judged
from chronofact.adjudicator.ports import Ref
from chronofact.postgres.judging_store import JudgingStore
from chronofact.postgres.model_store import RAW_BYTES_MAX, ModelStore
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
    assert await store.claims.take(version(1))
    assert not await store.claims.take(version(1))
    assert not await other.claims.take(version(1))
    assert await other.claims.take(version(2))
    await store.claims.give_back(version(1))
    assert await other.claims.take(version(1))
    await other.close()
    for _ in range(100):
        if await store.claims.take(version(1)):
            break
        await asyncio.sleep(0.02)
    else:
        pytest.fail("a claim outlived its process")


async def test_a_connection_that_broke_has_given_all_back_and_another_is_made(
    database: str, store: JudgingStore
) -> None:
    assert await store.claims.take(version(1))
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
    with pytest.raises(Transient):
        await store.claims.take(version(2))
    assert await store.claims.take(version(2))
    assert await store.claims.take(version(1))
    await store.claims.give_back(version(1))
