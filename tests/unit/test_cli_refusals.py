"""What commands refuse before anything is asked, and what helps where something was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from chronofact.cli.__main__ import app
from chronofact.cli.options import outside_told
from chronofact.cli.outcome import ExitCode, Failure
from chronofact.cli.rebuild_asking import Away
from chronofact.domain.errors import Rejected
from chronofact.embedded.folder import DataFolder
from chronofact.postgres.session import conninfo_for
from chronofact.reconciler.rebuild_http import wanted_of
from chronofact.runtime.failures import Transient, Unfit
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


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("resolve", "ana"), "Missing argument 'KEY'"),
        (("memories", "ana", "--include", "all"), "'--include': 'all' is not one of"),
        (("memories", "ana", "--limit", "0"), "'--limit': it should be greater"),
        (("resolve", "ana", "k", "--valid-at", "March"), "'March': not an RFC 3339 instant"),
        (("resolve", "ana", "k", "--as-of", "March"), "a UTC day like"),
        (("resolve", "ana", "k", "--valid-at", "2026-03-01T10:00:00"), "'2026-03-01T10:00:00': an instant needs an"),
        (("resolve", "ana", "k", "--valid-at", "2026-02-30"), "day is out of range"),
    ],
)
def test_what_is_typed_wrong_is_said_in_words_of_the_reference(words: tuple[str, ...], told: str) -> None:
    ran = CliRunner().invoke(app, [*words], env={"COLUMNS": "200"})
    assert (ran.exit_code, told in ran.output) == (ExitCode.USAGE, True), ran.output


@pytest.mark.parametrize("address", ["::::", "http://[::1", "ftp://127.0.0.1", "http://", "127.0.0.1:99999"])
@pytest.mark.parametrize("words", [("resolve", "ana", "k", "--reader"), ("remember", "ana", "text", "--writer")])
def test_what_is_no_address_is_refused_as_one(words: tuple[str, ...], address: str) -> None:
    failure = refused(*words, address)
    assert (failure.code, failure.message.startswith(f"{address!a} is no address")) == (ExitCode.USAGE, True)


@pytest.mark.parametrize("words", [("--data", ".chronofact"), ()])
def test_a_stack_that_is_just_starting_is_told_as_that(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("chronofact.client.shells.READER", "http://127.0.0.1:1")
    monkeypatch.setattr("chronofact.cli.options.configured", lambda: {"reader": "http://127.0.0.1:1"})
    folder = DataFolder(Path(".chronofact"))
    folder.take()
    failure = refused("resolve", "ana", "k", *words)
    doctor = CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "200"}).output
    folder.release()
    assert failure.code is ExitCode.UNREACHABLE
    assert "again in some seconds" in str(failure.remedy)
    for told in (failure.message, doctor):
        assert f"is starting or stopping (process {os.getpid()})" in told


@pytest.mark.parametrize(
    ("named", "is_here", "is_told"),
    [
        (None, False, True),
        (None, True, False),
        ("CHRONOFACT_POSTGRES", False, False),
        ("CHRONOFACT_KAFKA", False, False),
    ],
)
def test_where_nothing_runs_and_nothing_is_named_that_is_what_is_said(
    named: str | None, is_here: bool, is_told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if named is not None:
        monkeypatch.setenv(named, "somewhere")
    if is_here:
        (tmp_path / ".chronofact").mkdir()
        (tmp_path / ".chronofact" / "stack.json").write_text("{}")
    with pytest.raises(Failure) as failure, outside_told():
        raise Transient("postgres_away", "Postgres can't be reached")
    said = "no stack runs in .chronofact; start one: chronofact up --detach"
    assert str(failure.value.remedy).startswith(said) == is_told
    assert str(Away("http://127.0.0.1:8082", "refused").remedy).startswith(said) == is_told
    assert "is the stack up" in str(Away("http://127.0.0.1:1", "refused").remedy)


def test_an_address_that_libpq_can_not_read_is_not_repeated() -> None:
    with pytest.raises(Unfit, match="can't be read") as refusal:
        conninfo_for("host=h hunter2", "test")
    assert "hunter2" not in str(refusal.value)
    assert refusal.value.__cause__ is None
