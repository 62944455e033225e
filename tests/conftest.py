"""Tiers by folder, their time limits, where their files lie, and the Hypothesis profile."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
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

MEMORY = Path("/dev/shm")
MEMORY_NEEDED = 6 << 30
"""Of main memory that nobody uses, and half of it as room for files in it."""

settings.register_profile(
    "chronofact",
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors],
)
settings.load_profile("chronofact")


def pytest_configure(config: pytest.Config) -> None:
    """Temporary files, and with them the servers' data, in memory where there is room; not where a disk is measured."""
    if "not bench and not soak" in config.option.markexpr and "TMPDIR" not in os.environ and _has_memory():
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def _has_memory() -> bool:
    try:
        room = shutil.disk_usage(MEMORY).free
    except OSError:
        return False
    return os.access(MEMORY, os.W_OK) and min(2 * room, psutil.virtual_memory().available) > MEMORY_NEEDED


def tier_of(item: pytest.Item) -> str:
    """Its folder."""
    return item.path.relative_to(TESTS).parts[0]


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """A test's time limit is its tier's unless it says its own; long files come first, lest one is left for last."""
    for item in items:
        tier = tier_of(item)
        item.add_marker(getattr(pytest.mark, tier))
        if item.get_closest_marker("soak") is None and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(TIMEOUT_S[tier]))
    yield  # others choose by these marks, and shuffle
    items.sort(key=lambda item: tier_of(item) != "integration")
