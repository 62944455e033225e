from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from structlog.testing import capture_logs
from typer.testing import CliRunner

from chronofact.cli.__main__ import app
from chronofact.cli.outcome import ExitCode, Failure
from chronofact.runtime.config import _WRITTEN, Settings, faults_told, settings_or_exit
from chronofact.runtime.environment import log_unknown_settings, unknown_settings


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "chronofact.toml"
    file.write_text('kafka = "from-file:9092"\nwriter_port = 9999\n')
    monkeypatch.setenv("CHRONOFACT_CONFIG", str(file))
    monkeypatch.setenv("CHRONOFACT_WRITER_PORT", "7777")
    monkeypatch.delenv("CHRONOFACT_KAFKA", raising=False)
    settings = Settings()
    assert (settings.kafka, settings.writer_port) == ("from-file:9092", 7777)


def test_an_option_that_no_one_knows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "chronofact.toml"
    file.write_text("writer_prot = 9999\n")
    monkeypatch.setenv("CHRONOFACT_CONFIG", str(file))
    with pytest.raises(ValidationError, match="writer_prot"):
        Settings()


def test_a_file_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHRONOFACT_CONFIG", "nowhere.toml")
    with pytest.raises(FileNotFoundError, match="CHRONOFACT_CONFIG"):
        Settings()


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"auth": "off", "writer_host": "0.0.0.0"}, "loopback"),
        ({"auth": "off", "reader_host": "192.0.2.1"}, "loopback"),
        ({"auth": "off", "projector_host": "example.org"}, "loopback"),
        ({"body_bytes_max": 2**20, "bodies_bytes_max": 2**10}, "bodies_bytes_max"),
        ({"queue_messages_max": 10}, "queue_messages_max"),
        ({"queue_bytes_max": 2**20}, "queue_bytes_max"),
        ({"delivery_timeout_s": 19}, "drain_timeout_s"),
        ({"commands_max": 0}, "commands_max"),
        ({"writer_port": 70_000}, "writer_port"),
        ({"projection": "public"}, "projection"),
    ],
)
def test_limits_that_contradict_are_refused(said: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        Settings(**said)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.9.10"])
def test_loopback_may_go_without_authentication(host: str) -> None:
    assert Settings(auth="off", writer_host=host).writer_host == host


def test_secrets_never_print() -> None:
    settings = Settings.model_validate(
        {"postgres": "postgresql://u:hunter2@h/d", "kafka_options": {"sasl.password": "hunter2"}}
    )
    assert "hunter2" not in repr(settings) + str(settings)
    assert "hunter2" in settings.postgres.get_secret_value()


@pytest.mark.parametrize(
    "given", ["", "dbname=x", "host = /run/pg dbname=x", "postgres://h/d", "postgresql://u:a%25b@h/d"]
)
def test_an_address_of_postgres_is_a_url_or_words_with_values(given: str) -> None:
    assert Settings.model_validate({"postgres": given}).postgres.get_secret_value() == given


@pytest.mark.parametrize("given", ["nonsense", "127.0.0.1:5432/x", "http://h/d", "postgresql://u:hunter2%@h/d"])
def test_another_one_is_refused_without_repeating_it(
    given: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHRONOFACT_POSTGRES", given)
    with pytest.raises(SystemExit) as left:
        settings_or_exit()
    told = capsys.readouterr().err
    assert (left.value.code, told.count("\n")) == (2, 1)
    assert told.startswith("chronofact: CHRONOFACT_POSTGRES: say it like postgresql://")
    assert given not in told
    failure = CliRunner().invoke(app, ["routes"]).exception
    assert isinstance(failure, Failure)
    assert (failure.code, "CHRONOFACT_POSTGRES: say it like" in failure.message) == (ExitCode.USAGE, True)


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("CHRONOFACT_MODEL_URL", "http://127.0.0.1:1/v1", "CHRONOFACT_MODEL_NAME must say"),
        ("CHRONOFACT_AUTH", "maybe", "CHRONOFACT_AUTH: it should be 'off' or 'tokens'"),
    ],
)
def test_what_is_wrong_with_a_setting_is_said_by_the_variable_and_in_our_words(
    name: str, given: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, given)
    with pytest.raises(SystemExit):
        settings_or_exit()
    assert capsys.readouterr().err.startswith(f"chronofact: {told}")


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("MODEL_URL", "localhost:11434", "it should be like http://127.0.0.1:11434/v1"),
        ("MODEL_URL", "http://[::1", "it should be like http://127.0.0.1:11434/v1"),
        ("ADJUDICATOR_WRITER", "http://::::", "it should be like http://127.0.0.1:8080"),
        ("PROJECTION", "main", "it should be p and a number, like p1"),
        ("FEEDS", "p1 p2", "it should be projections by comma, like p1,p2"),
        ("CHECK_DAILY_AT", "3 am", "it should be a time of the day in UTC, like 03:30"),
        ("PROJECTOR_NAME", "a b", "it should be 1 to 100 of a-z, A-Z, 0-9, '.', '_' and '-'"),
    ],
)
def test_how_a_setting_is_written_is_said_in_words(
    name: str, given: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"CHRONOFACT_{name}", given)
    with pytest.raises(ValidationError) as wrong:
        Settings()
    assert faults_told(wrong.value) == [f"CHRONOFACT_{name}: {told}"]


def test_every_setting_with_a_pattern_has_it_in_words() -> None:
    with_pattern = {name for name, one in Settings.model_json_schema()["properties"].items() if "pattern" in one}
    assert with_pattern == _WRITTEN.keys()


@pytest.mark.parametrize("url", ["", "http://[::1]:8080", "https://models.example/v1/", "http://me:secret@proxy:80/v1"])
def test_addresses_of_all_forms_are_taken(url: str) -> None:
    assert Settings(adjudicator_writer=url).adjudicator_writer == url


def test_settings_are_frozen() -> None:
    settings = Settings()
    with pytest.raises(ValidationError, match="frozen"):
        settings.kafka = "elsewhere:9092"  # type: ignore[misc]


def test_a_variable_spelt_almost_as_a_setting_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHRONOFACT_READER_SERVICE_HOST", "10.0.0.1")  # what an orchestrator adds
    Settings()
    monkeypatch.setenv("CHRONOFACT_REDAER_PORT", "9")
    with pytest.raises(ValueError, match="CHRONOFACT_REDAER_PORT is no setting; CHRONOFACT_READER_PORT is"):
        Settings()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("CHRONOFACT_BATCH_EVENTS", "CHRONOFACT_BATCH_EVENTS_MAX"),
        ("CHRONOFACT_SHADOW_DAYS", "CHRONOFACT_SHADOW_"),
        ("CHRONOFACT_XYZZY", "docs/reference/settings.md"),
        ("CHRONOFACT_READER_SERVICE_HOST", None),  # an orchestrator's
        ("CHRONOFACT_PORT_8080_TCP_ADDR", None),
        ("CHRONOFACT_FACTS_TOPIC", None),
        ("CHRONOFACT_CACHE", None),
        ("KAFKA_TOPIC", None),
    ],
)
def test_a_variable_that_nothing_reads_is_told_with_the_nearest(name: str, told: str | None) -> None:
    found = list(unknown_settings([name]))
    assert len(found) == (told is not None)
    assert all(one.startswith(f"{name} is no setting") and str(told) in one for one in found)


def test_a_command_warns_of_it_on_stderr_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHRONOFACT_XYZZY", "1")
    ran = CliRunner().invoke(app, ["down", "--data", "nowhere"])
    assert "warning: CHRONOFACT_XYZZY is no setting" in ran.stderr
    assert "XYZZY" not in CliRunner().invoke(app, ["writer", "--help"]).stderr


def test_a_service_logs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHRONOFACT_XYZZY", "1")
    with capture_logs() as logged:
        log_unknown_settings()
    assert [(one["event"], one["log_level"]) for one in logged] == [("setting_unknown", "warning")]
    assert "CHRONOFACT_XYZZY" in logged[0]["message"]
