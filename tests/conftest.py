"""Tiers by folder, their time limits, and the Hypothesis profile."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.integration.fixtures_stack"]

TESTS = Path(__file__).parent

TIMEOUT_S = {
    "unit": 20,
    "property": 120,
    "contract": 120,
    "integration": 240,
    "simulation": 240,
    "migration": 120,
    "compatibility": 30,
    "architecture": 120,
    "bench": 1_200,
}

settings.register_profile(
    "chronofact",
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors],
)
settings.load_profile("chronofact")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test's tier is its folder; its time limit is the tier's unless it says its own."""
    for item in items:
        tier = item.path.relative_to(TESTS).parts[0]
        item.add_marker(getattr(pytest.mark, tier))
        if item.get_closest_marker("soak") is None and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(TIMEOUT_S[tier]))
