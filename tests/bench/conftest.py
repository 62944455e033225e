"""Servers that wait for their disk, as a user's do, and the table of figures at the end of a run."""

from __future__ import annotations

import os

import pytest

from tests.bench.figures import FIGURES, table


@pytest.fixture(scope="session")
def stack_is_durable() -> bool:
    """A figure is no figure where a commit waits for nothing."""
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if FIGURES:
        load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
        terminalreporter.section(f"figures on {os.cpu_count()} cores, load {load}")
        for line in table():
            terminalreporter.write_line(line)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A bound that is not kept fails the run, after everything was measured."""
    if any(not figure.holds for figure in FIGURES):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
