"""Commands of operators that name what is not there: each says so, and what helps."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from chronofact.cli.__main__ import app
from chronofact.cli.outcome import ExitCode, Failure


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("check run --projection p9 --no-log", "there is no projection p9"),
        ("parked list --projection p9", "there is no projection p9"),
        ("verify p1 p9", "there is no projection p9;"),
        ("verify p9 p1", "there is no projection p9;"),
        ("verify p8 p9", "there is no projection p8 and no projection p9;"),
        ("shadow start p9", "there is no projection p9"),
        ("shadow stop p9", "no window of p9 is open"),
        ("shadow report --projection p9", "p9 was never compared"),
        ("shadow report", "no projection has been compared"),
        ("retire p9", "there is no projection p9"),
        ("switch acme --to p9", "p9 can't be read"),
        ("rollback acme", "no line of its own"),
    ],
)
def test_it_is_named(database: str, words: str, told: str) -> None:
    ran = CliRunner().invoke(app, words.split(), env={"CHRONOFACT_POSTGRES": database, "CHRONOFACT_AUTH": "off"})
    assert isinstance(ran.exception, Failure), ran.exception
    assert told in ran.exception.message
    assert ran.exception.code is ExitCode.FAILED


@pytest.mark.parametrize(
    "words", [["switch", "", "--to", "p1"], ["rollback", "acme", ""], ["switch", "a" * 257, "--to", "p1"]]
)
def test_a_tenant_without_a_name_is_none(words: list[str]) -> None:
    ran = CliRunner().invoke(app, words, env={"CHRONOFACT_POSTGRES": "host=127.0.0.1 port=1", "CHRONOFACT_AUTH": "off"})
    assert isinstance(ran.exception, Failure), ran.exception
    assert ran.exception.code is ExitCode.USAGE
