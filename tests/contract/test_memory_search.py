"""A search finds what the plainest statement of it finds, in the same order with the same scores, whatever memories there are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from struct import pack
from typing import Any, Final

import psycopg
import pytest

from chronofact.contracts.derived import DIMENSIONS
from chronofact.contracts.memories import Asked, Ranked
from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.postgres import memory_reads
from chronofact.postgres.reading_store import PostgresSnapshot, ReadingStore

PLAINLY: Final = (Path(__file__).parent / "memory_search_plainly.sql").read_text(encoding="utf-8")
WORDS: Final = (
    *("user", "language", "languages", "live", "lives", "lively", "Go", "go", "drink", "prefer", "The", "who"),
    *("bus", "buses", "slot", "type", "|", "c++", "a%b", "100%", "foo_bar", "foo-bar", "node.js", "back\\slash"),
    *("(paren", "don't", "日本語", "東京", "naïve"),
)
HEADS: Final = (
    *("slot", "state-type", "event-type", "x-type-type", "-type"),
    *("type", "line", "home", "SLOT", "state-value", ""),
)
INSERT: Final = """
insert into p1.memory (fact_no, version_no, event_seq, text, extractor, frames, keys, embedder, embedding)
values (%s, %s, %s, %s, 'x', '[]', %s, %s, %s)
"""
FACT_NOS: Final = (3, 1 << 40, 5)


def key_of(dice: Random) -> str:
    """As keys are written, and as they never should be: parts missing, too many, line ends within."""
    parts = [dice.choice(HEADS), *(said(dice, 2) for _ in range(dice.choice((0, 1, 2, 2, 2, 3))))]
    return "|".join(parts) + dice.choice(("", "", "", "\n", "\nslot|user|drink", "_x"))


def said(dice: Random, words_max: int) -> str:
    return dice.choice((" ", " ", ":", "")).join(dice.choices(WORDS, k=dice.randint(1, words_max)))


def place_of(dice: Random) -> bytes | None:
    """One of few, so that many are as near as others; all zero, which is near nothing; none."""
    angle = dice.randrange(3)
    numbers = [0.0] * DIMENSIONS
    if angle:
        numbers[0], numbers[angle] = 1.0, angle - 2.5
    return None if dice.random() < 0.1 else pack(f"<{DIMENSIONS}e", *numbers)


def memory_of(dice: Random) -> tuple[Any, ...]:
    place = place_of(dice)
    keys = [key_of(dice) for _ in range(dice.randrange(5))]
    return said(dice, 6), keys, place and dice.choice(("m", "m", "n")), halves(place)


def fill(database: str, dice: Random) -> dict[int, list[int]]:
    """Some facts' memories; by fact those that are to be searched, the last first."""
    among = {}
    with psycopg.connect(database, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("truncate p1.memory")
        for fact_no in FACT_NOS:
            numbers = range(1, dice.choice((1, 5, 40, 120)))
            cursor.executemany(INSERT, [(fact_no, number, number, *memory_of(dice)) for number in numbers])
            among[fact_no] = [number for number in reversed(numbers) if dice.random() < 0.8]
    return among


def halves(place: bytes | None) -> str | None:
    return memory_reads._halfvec(place)


def plainly(database: str, among: dict[int, list[int]], asked: Asked, passed: int, limit: int) -> list[Ranked]:
    wanted: dict[str, Any] = {
        "fact_nos": [fact_no for fact_no, numbers in among.items() for _ in numbers],
        "version_nos": [number for numbers in among.values() for number in numbers],
        "query": asked.words,
        "embedder": asked.embedder,
        "embedding": halves(asked.embedding),
        "ranked_max": memory_reads.RANKED_MAX,
        "near_at": memory_reads.NEAR_AT,
        "smoothing": memory_reads.SMOOTHING,
        "weight_near": memory_reads.WEIGHT_NEAR,
        "weight_worded": memory_reads.WEIGHT_WORDED,
        "weight_kind": memory_reads.WEIGHT_KIND,
        "passed": passed,
        "limit": limit,
    }
    with psycopg.connect(database) as connection:
        return [Ranked(*line) for line in connection.execute(PLAINLY, wanted)]


@asynccontextmanager
async def snapshot_of(database: str) -> AsyncIterator[PostgresSnapshot]:
    store = ReadingStore(database)
    await store.open()
    try:
        async with store.snapshot(DEVELOPMENT_TENANT) as snapshot:
            yield snapshot
    finally:
        await store.close()


@pytest.mark.parametrize("seed", range(3))
async def test_a_search_finds_what_it_finds_plainly(database: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = Random(seed)
    kinds = 0
    for ranked_max in (1_000, 7, 1):
        monkeypatch.setattr(memory_reads, "RANKED_MAX", ranked_max)
        among = fill(database, dice)
        async with snapshot_of(database) as snapshot:
            for _ in range(12):
                place = place_of(dice)
                asked = Asked(said(dice, 5), None if place is None else "m", place)
                passed, limit = dice.choice((0, 0, 3)), dice.choice((2, 21, 1_000))
                found = await snapshot.memories_ranked(among, asked, passed=passed, limit=limit)
                assert found == plainly(database, among, asked, passed, limit), (seed, asked.words)
                kinds += sum(one.place_kind is not None for one in found)
    assert kinds
