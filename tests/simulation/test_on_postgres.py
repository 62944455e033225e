"""Some worlds on the real store, the log being the twin: the same promises under Postgres's own transactions and locks."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.integration.fixtures_stack import database_like
from tests.simulation.postgres_side import PostgresSide
from tests.simulation.running import Report, run
from tests.simulation.test_simulation import fail_on
from tests.simulation.world import World

SEEDS = (*range(12), 75)
"""Of the last, messages are refused by constraints in a database that is restored."""
SOAK_SEEDS = int(os.environ.get("CHRONOFACT_SOAK_POSTGRES_SEEDS", "500"))


def run_on(postgres: str, template: str, seed: int) -> Report:
    with database_like(postgres, template) as database:

        def side(world: World) -> PostgresSide:
            return PostgresSide(world, database)

        return run(seed, side)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_projection_in_postgres_is_what_its_log_says(postgres: str, database_template: str, seed: int) -> None:
    fail_on([run_on(postgres, database_template, seed)])


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_many_worlds_end_in_postgres_as_their_logs_say(postgres: str, database_template: str) -> None:
    reports = [run_on(postgres, database_template, seed) for seed in range(SOAK_SEEDS)]
    print(sum((report.counts for report in reports), Counter()))
    fail_on(reports)
