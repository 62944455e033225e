"""Every statement of docs/sql.md, executed as it stands there over the README's first example."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any, Final

import psycopg

from chronofact.domain.events import Succession, Verdict
from chronofact.domain.identity import DEVELOPMENT_TENANT, subject_id_of
from tests.integration.pages import DOCS, blocks
from tests.integration.reading import ScopedFact, world_on
from tests.integration.texts import Remembered

PAGE: Final = (DOCS / "sql.md").read_text(encoding="utf-8")
ANA: Final = subject_id_of(DEVELOPMENT_TENANT, "ana")


def answers(database: str) -> list[list[tuple[Any, ...]]]:
    statements: list[Any] = [*blocks("sql.md", "sql")]
    with psycopg.connect(database, autocommit=True) as connection:
        return [connection.execute(one).fetchall() for one in statements]


async def test_every_statement_answers_what_the_page_says(database: str) -> None:
    async with world_on(database) as world:
        fact = ScopedFact("ana", ("repo", "acme/web"))
        world.tell(
            fact.asserts("npm", "2026-01-12T00:00:00Z", succession=Succession.AUTOMATIC),
            fact.asserts("pnpm", "2026-07-01T00:00:00Z", succession=Succession.AUTOMATIC),
        )
        ana = Remembered("ana", "preference")
        python = ana.says_that("Python is the language that Ana prefers", "2026-03-01T00:00:00Z")
        go = ana.says_that("Go is Ana's language now", "2026-06-01T00:00:00Z")
        world.tell(python, go, ana.declares(Verdict.SUPERSEDES, python, go, newer=go))
    which, june, before, current, timeline, events, texts, checkpoints = answers(database)
    assert [(*line[:4], str(line[4])) for line in which] == [
        (DEVELOPMENT_TENANT, ANA, "repo", "acme/web", fact.id_text),
    ]
    assert [line[:2] for line in june] == [("value", "npm")]
    assert before == [("unknown", "not_yet_known")]
    assert [line[:2] for line in current] == [("value", "pnpm")]
    assert {line[2] for line in timeline} == {None, "npm", "pnpm"}
    assert [(line[0], line[1], line[3]["value"]) for line in events] == [
        (1, "FactAsserted", "npm"),
        (2, "FactAsserted", "pnpm"),
    ]
    assert texts == [("Go is Ana's language now", "ACTIVE")]
    assert {line[0] for line in checkpoints} == {"p1"}


def test_the_ids_come_out_as_the_page_spells_them() -> None:
    (line,) = re.findall(r"```sh\npython -c '(.*)'\n```", PAGE)
    told = subprocess.run([sys.executable, "-c", line], check=True, capture_output=True, text=True).stdout
    assert told.split() == [str(DEVELOPMENT_TENANT), str(ANA)]
    assert all(one in PAGE for one in told.split())
