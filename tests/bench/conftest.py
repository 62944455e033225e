"""Prints the table of figures at the end of a run."""

from __future__ import annotations

import os

import pytest

from tests.bench.figures import FIGURES, table


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
