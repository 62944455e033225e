"""What commands refuse before anything is asked, and what helps where something was."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from chronofact.cli.__main__ import app
from chronofact.cli.outcome import ExitCode, Failure
from chronofact.domain.errors import Rejected
from chronofact.reconciler.rebuild_http import wanted_of
from tests.unit.scripted_service import Told, serving


def refused(*words: str) -> Failure:
    failure = CliRunner().invoke(app, list(words)).exception
    assert isinstance(failure, Failure), failure
    return failure


def test_a_shadow_window_without_another_rule_is_refused() -> None:
    failure = refused("rebuild", "start", "--shadow-window", "7d", "--reconciler", "127.0.0.1:1")
    assert failure.code is ExitCode.USAGE
    assert "--shadow-window goes with --rule" in failure.message


def test_the_same_over_http() -> None:
    with pytest.raises(Rejected, match="shadow_window_s goes with rule"):
        wanted_of({"shadow_window_s": 60})
    assert wanted_of({"rule": 2, "shadow_window_s": 60}).shadow_window_s == 60


def test_a_rebuild_that_is_not_there_is_answered_by_where_the_others_are() -> None:
    body = {"error": {"code": "not_found", "message": "no rebuild has this number", "field": "rebuild_id"}}
    with serving(Told(body, status=404)) as reconciler:
        failure = refused("rebuild", "status", "99", "--reconciler", reconciler.url)
    assert (failure.code, failure.remedy) == (ExitCode.FAILED, "chronofact rebuild list names those that there were")


@pytest.mark.parametrize("words", [("topics", "--data", "here", "seal", "--to", "there")])
def test_a_folder_before_the_command_that_it_is_of_is_refused(words: tuple[str, ...]) -> None:
    ran = CliRunner().invoke(app, list(words))
    assert (ran.exit_code, "say it behind seal" in ran.output) == (ExitCode.USAGE, True)
