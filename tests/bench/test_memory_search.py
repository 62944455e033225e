"""What a search, a list and a context cost by how many memories a subject has: what holds, and what is shown (ADR 37)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from struct import unpack
from typing import Any, Final, NamedTuple
from uuid import UUID, uuid4

import psutil
import psycopg
import pytest

from chronofact.contracts.derived import DIMENSIONS, Derived, decode
from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.text.embed import Embedder
from chronofact.text.extract import Extractor
from chronofact.text.worker import Models
from tests.bench.figures import Figure, record
from tests.bench.meter import cpu_s, percentile
from tests.integration.reading import World, world_on
from tests.integration.texts import Remembered

PAIRS: Final = Path(__file__).parents[1] / "data" / "subject_pairs.jsonl"
SIZES: Final = (50, 1_000, 10_000, 100_000)
POOL: Final = 2_000
WARM: Final = 4
ASKED: Final = {50: 100, 1_000: 100, 10_000: 50, 100_000: 15}
QUESTIONS: Final = ("which language", "where does the user live", "favourite drink", "what does the user do for work")
MARCH: Final = "2026-03-01"
NOTHING: Final = (None, None, None)


def sentences() -> list[str]:
    lines = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    return sorted({line[side]["text"] for line in lines for side in ("candidate", "new")})


class Told(NamedTuple):
    """A text, with all that is derived of it as a writer does, but its place."""

    text: str
    derived: Derived
    place: str


def near(embedding: bytes, dice: Random) -> str:
    """Another text's place, near this one's."""
    numbers = [number + dice.gauss(0, 0.025) for number in unpack(f"<{DIMENSIONS}e", embedding)]
    return str([round(number, 4) for number in numbers])


def pool_of(texts: Sequence[str], dice: Random) -> list[Told]:
    """Texts as often as they are chosen, each near its place."""
    readings = Models(Extractor(), Embedder()).derive(texts)
    derived = [one for one in (decode(reading.derived) for reading in readings) if one is not None]
    chosen = dice.choices(list(zip(texts, derived, strict=True)), k=POOL)
    return [Told(text, one, near(one.embedding, dice)) for text, one in chosen if one.embedding is not None]


def filled(database: str, fact_no: int, ada: Remembered, said: Sequence[Told]) -> None:
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
                (fact_no, n, n, text, "x", json.dumps(of.frames), of.keys, of.embedder, place)
                for n, (text, of, place) in enumerate(said, start=1)
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
                    str(n).encode(),
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
                for n, (text, *_) in enumerate(said, start=1)
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


def backends_cpu_s(database: str) -> float:
    """Of those that serve the reader."""
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "select pid from pg_stat_activity where datname = current_database() and application_name = 'chronofact reader'"
        ).fetchall()
    return cpu_s([psutil.Process(pid) for (pid,) in found])


async def asked_often(world: World, size: int, path: str, asked: Sequence[dict[str, Any]], database: str) -> None:
    """One after another; of Postgres the processor time, too, which others on the machine change less."""
    took: list[float] = []
    for one in asked[:WARM]:
        await world.get(path, subject=f"subject {size}", **one)
    spent = backends_cpu_s(database)
    for one in asked:
        began = time.perf_counter()
        body = await world.get(path, subject=f"subject {size}", **one)
        took.append((time.perf_counter() - began) * 1_000)
        assert len(body.get("memories", body.get("settled"))) >= 20
    spent = (backends_cpu_s(database) - spent) * 1_000 / len(asked)
    way = path.removeprefix("/v1/") + (" searched" if "query" in asked[0] else "")
    beside = f"p99 {percentile(took, 0.99):.0f} ms, {spent:.1f} ms of Postgres' processor time"
    record(
        Figure(f"{size:,}: {way}, p50", percentile(took, 0.5), "ms", "told", None, "every memory is looked at", beside)
    )


@pytest.mark.timeout(900)
async def test_what_reads_cost_by_how_many_memories_there_are(database: str) -> None:
    dice, texts = Random(1), sentences()
    pool = pool_of(texts, dice)
    for number, size in enumerate(SIZES, start=1):
        chosen = dice.choices(pool, k=size)
        said = [one._replace(text=f"{one.text} {dice.choice(texts).split()[-1]}") for one in chosen]
        filled(database, number, Remembered(f"subject {size}"), said)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("vacuum analyze")
    async with world_on(database) as world:
        for size in SIZES:
            count = ASKED[size]
            words = [
                " ".join(dice.choice(texts).split()[-5:]) if n % 2 else QUESTIONS[n // 2 % len(QUESTIONS)]
                for n in range(count)
            ]
            await asked_often(world, size, "/v1/memories", [{"limit": 20, "query": one} for one in words], database)
            await asked_often(world, size, "/v1/memories", [{"limit": 20}] * count, database)
            await asked_often(world, size, "/v1/context", [{"scope": "user:self"}] * count, database)
