"""What a search costs by how many memories a subject has: what holds, both ways of searching, and the page (ADR 37)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from struct import unpack
from typing import Any, Final
from uuid import UUID, uuid4

import psycopg
import pytest

from chronofact.contracts.derived import DIMENSIONS
from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.text.embed import Embedder
from tests.bench.figures import Figure, record
from tests.bench.meter import percentile
from tests.integration.reading import world_on
from tests.integration.texts import Remembered

PAIRS: Final = Path(__file__).parents[1] / "data" / "subject_pairs.jsonl"
SIZES: Final = (1_000, 10_000, 100_000)
POOL: Final = 2_000
SEARCHES: Final = {1_000: 100, 10_000: 50, 100_000: 15}
MARCH: Final = "2026-03-01"
NOTHING: Final = (None, None, None)


def sentences() -> list[str]:
    lines = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    return sorted({line[side]["text"] for line in lines for side in ("candidate", "new")})


def near(embedding: bytes, dice: Random) -> str:
    """Another text's place, near this one's."""
    numbers = [number + dice.gauss(0, 0.025) for number in unpack(f"<{DIMENSIONS}e", embedding)]
    return str([round(number, 4) for number in numbers])


def filled(database: str, fact_no: int, ada: Remembered, said: Sequence[tuple[str, str]], embedder: str) -> None:
    """Laid into the tables as a projector leaves them: one in ten gave way."""
    count, ids = len(said), [uuid4() for _ in said]
    head = (fact_no, UUID(bytes=ada.fact_id), DEVELOPMENT_TENANT, ada.identity.subject_id, ada.identity.fact_key)
    with psycopg.connect(database) as connection, connection.cursor() as cursor:
        cursor.execute(
            "insert into p1.fact values (%s, %s, %s, %s, 'user', 'self', %s, %s, %s, now(), %s, 1, 0, 0, '')",
            (*head, ada.label, count, count),
        )
        laid: dict[str, Iterator[tuple[Any, ...]]] = {
            "memory (fact_no, version_no, event_seq, text, extractor, frames, keys, embedder, embedding)": (
                (fact_no, n, n, text, "x", "[]", [], embedder, place) for n, (text, place) in enumerate(said, start=1)
            ),
            "event": (
                (fact_no, n, uuid4(), MARCH, "FactAsserted", [ids[n - 1]], '{"lifecycle":"ACTIVE"}', b"", 0, n)
                for n in range(1, count + 1)
            ),
            "version": (
                (
                    fact_no,
                    n,
                    ids[n - 1],
                    json.dumps(text),
                    b"",
                    MARCH,
                    None,
                    MARCH,
                    n,
                    "chat",
                    b"",
                    None,
                    "ACTIVE",
                    *NOTHING,
                )
                for n, (text, _) in enumerate(said, start=1)
            ),
            "timeline": (
                line
                for n in range(count + 1)
                for line in (
                    [(fact_no, 0, MARCH, 1, None, None, 3, None, None, None, None)]
                    if n == 0
                    else [
                        (fact_no, n, MARCH, n, None, MARCH, 0, 4, None, None, None),
                        (fact_no, n, MARCH, n, MARCH, None, 1, None, None, None, None),
                        *([(fact_no, n, MARCH, count + n, "2026-04-01", None, 0, 3, None, None, None)] * (n % 10 == 0)),
                    ]
                )
            ),
        }
        for table, lines in laid.items():
            with cursor.copy(f"copy p1.{table} from stdin") as copy:
                for line in lines:
                    copy.write_row(line)


@pytest.mark.timeout(900)
async def test_a_search_by_how_many_memories_there_are(database: str) -> None:
    dice, embedder, texts = Random(1), Embedder(), sentences()
    places = embedder.embed_many(texts)
    pool = [(texts[one], near(places[one], dice)) for one in dice.choices(range(len(texts)), k=POOL)]
    for number, size in enumerate(SIZES, start=1):
        chosen = dice.choices(pool, k=size)
        said = [(f"{text} {dice.choice(texts).split()[-1]}", place) for text, place in chosen]
        filled(database, number, Remembered(f"subject {size}"), said, embedder.version)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("vacuum analyze")
    async with world_on(database) as world:
        for size in SIZES:
            for way, asked in (("searched", True), ("listed", False)):
                took = []
                for _ in range(SEARCHES[size]):
                    query = {"query": " ".join(dice.choice(texts).split()[-5:])} if asked else {}
                    began = time.perf_counter()
                    body = await world.get("/v1/memories", subject=f"subject {size}", limit=20, **query)
                    took.append((time.perf_counter() - began) * 1_000)
                    assert len(body["memories"]) == 20
                name = f"{size:,} memories {way}, 20 shown, p50"
                beside = f"p99 {percentile(took, 0.99):.0f} ms"
                record(Figure(name, percentile(took, 0.5), "ms", "told", None, "every memory is looked at", beside))
