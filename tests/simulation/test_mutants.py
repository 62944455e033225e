"""The simulation can fail: each safeguard of the projector that is taken out is missed within the usual seeds."""

import pytest

from tests.simulation.mutants import MUTANTS
from tests.simulation.running import run
from tests.simulation.test_simulation import SEEDS

OWN_FAULTS = ("TypeError", "AttributeError", "NameError")
"""Of a mutant that does not fit the code any more: what it was to leave out is not left out."""


@pytest.mark.parametrize("name", MUTANTS)
def test_a_safeguard_that_is_missing_is_missed(name: str) -> None:
    with MUTANTS[name]():
        found = next((report for seed in range(SEEDS) if (report := run(seed)).problems), None)
    assert found is not None, f"{SEEDS} worlds end right without it"
    assert not found.problems[-1].startswith(OWN_FAULTS), found.problems[-1]
