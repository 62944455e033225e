"""A context reads the answers that everybody reads, but for how long many values stay the same."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Final

import pytest
from psycopg import Connection, sql

from chronofact.domain import picture
from chronofact.postgres.session import LOOK_UPS, connect
from chronofact.postgres.template import script
from tests.contract.stored_play import lay, moment
from tests.contract.test_answers_in_sql import instants_of, profiles
from tests.integration.fixtures_stack import database_like
from tests.property.play import play
from tests.property.strategies import random_history

HISTORIES: Final = 4
INSTANTS: Final = 12
PLANNED: Final[dict[str, Any]] = LOOK_UPS
READ: Final = "select * from p1.read_at(1, %s, %s)"
MANY, UNKNOWN = 3, 0


@pytest.fixture(scope="module")
def connection(postgres: str, database_template: str) -> Iterator[Connection[Any]]:
    with database_like(postgres, database_template) as address, connect(address, "test", **PLANNED) as connection:
        yield connection


@profiles
def test_a_context_answers_as_a_fact_does(
    connection: Connection[Any], profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture, "CROWD_MIN", 2)
    statement = script("reader", "context_facts").filled(connection, schema="p1")
    for number in range(HISTORIES):
        dice = Random(f"context {profile} {number}")
        played = play(random_history(dice, dice.randint(1, 20), profile))
        with connection.transaction(force_rollback=True):
            lay(connection, played)
            instants = instants_of(played)
            for valid_at, as_of in dice.sample(instants, min(INSTANTS, len(instants))):
                told, read = both(connection, statement, valid_at, as_of)
                assert told[:3] == read[:3]
                assert told[5:] == read[5:]
                assert told[3:5] == read[3:5] or (read[0] in {MANY, UNKNOWN} and told[3:5] == (None, None))


def both(connection: Connection[Any], statement: sql.SQL, valid_at: int, as_of: int | None) -> list[tuple[Any, ...]]:
    """As the context has it, and as any read has it."""
    owner = connection.execute("select tenant_id, subject_id from p1.fact where fact_no = 1").fetchone()
    assert owner is not None
    wanted = {
        "tenant_id": owner[0],
        "subject_id": owner[1],
        "scope_kinds": ["user"],
        "scope_keys": ["self"],
        "prefix": "",
        "valid_at": moment(valid_at),
        "system_as_of": moment(as_of),
        "next_offsets": None,
        "limit": 10,
    }
    (told,) = connection.execute(statement, wanted).fetchall()
    (read,) = connection.execute(READ, (moment(valid_at), moment(as_of))).fetchall()
    return [told[6:], read]
