"""``chronofact why`` and ``explain`` of the client: what is asked, and what is shown of the answer."""

from __future__ import annotations

import sys
from typing import Any
from uuid import UUID

import orjson
import pytest

from chronofact.cli.__main__ import main
from chronofact.client import AsyncClient, Client, Value
from tests.unit.scripted_service import Told, serving
from tests.unit.test_client import AT, value


def version(number: int, standing: str, text: str) -> dict[str, Any]:
    during = ["2026-03-01T00:00:00Z", None]
    return {
        "version_id": str(UUID(int=number)), "value": text, "standing": standing, "valid_during": during, "valid_to": None, "source_id": "[b]chat",
    }  # fmt: skip


def explanation(*versions: dict[str, Any]) -> dict[str, Any]:
    answer = value()
    return {
        "answer": answer,
        "sentences": ["npm has held since 1 March 2026.", "yarn was taken back (“[b]a joke[/b]”)."],
        "versions": list(versions),
        "versions_count": len(versions),
        **{name: answer[name] for name in ("fact", "valid_at", "as_of", "freshness")},
    }


def why(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    monkeypatch.setattr(sys, "argv", ["chronofact", "why", "ana", "package_manager", *arguments])
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0
    return capsys.readouterr().out


def test_why_says_sentences_and_shows_each_version(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    body = explanation(version(1, "eligible", "npm"), version(2, "never_holds", "yarn"))
    with serving(Told(body)) as reader:
        out = why(
            capsys,
            monkeypatch,
            "--scope",
            "repo:a/b",
            "--valid-at",
            "2026-07-01",
            "--as-of",
            AT,
            "--reader",
            reader.url,
        )
    (asked,) = reader.asked
    assert asked.path == "/v1/explain"
    assert asked.params == [
        ("subject", "ana"), ("key", "package_manager"), ("scope", "repo:a/b"),
        ("valid_at", "2026-07-01T00:00:00Z"), ("as_of", AT),
    ]  # fmt: skip
    assert "npm has held since 1 March 2026.\nyarn was taken back (“[b]a joke[/b]”)." in out
    assert "never holds" in out
    assert "[b]chat" in out
    assert "since 2026-03-01" in out


def test_an_end_by_an_event_is_told_apart_from_the_claim(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    march, june = "2026-03-01T00:00:00Z", "2026-06-01T00:00:00Z"
    ended = {**version(1, "ended", "npm"), "valid_during": [march, june]}
    bounded = {**version(2, "superseded", "yarn"), "valid_during": [march, june], "valid_to": june}
    with serving(Told(explanation(ended, bounded))) as reader:
        out = why(capsys, monkeypatch, "--reader", reader.url)
    assert "since 2026-03-01" in out
    assert out.count("ended at 2026-06-01") == 1
    assert "2026-03-01 to 2026-06-01" in out


def test_why_names_whole_versions_and_what_is_held(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    body = explanation(version(1, "eligible", "npm " * 50))
    held = {**body["freshness"], "stale": True, "because": "held", "held": 2, "lag_events": 1}
    with serving(Told({**body, "freshness": held})) as reader:
        out = why(capsys, monkeypatch, "--reader", reader.url)
    assert any(line.startswith(f"{UUID(int=1)}  npm npm") for line in out.splitlines())
    assert "1 event behind, 2 messages parked, STALE (held)" in out


def test_why_as_json_is_what_the_reader_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Told(explanation())) as reader:
        assert orjson.loads(why(capsys, monkeypatch, "--json", "--reader", reader.url)) == explanation()


def test_many_versions_are_shown_in_part(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(
        Told(explanation(*(version(number, "superseded", f"v{number}") for number in range(1, 51))))
    ) as reader:
        out = why(capsys, monkeypatch, "--reader", reader.url)
    assert "v20" in out
    assert "v21" not in out
    assert "30 more; --json lists up to 1,000" in out


def test_the_client_explains_with_a_typed_answer() -> None:
    with serving(Told(explanation(version(1, "eligible", "npm")))) as reader, Client(reader=reader.url) as client:
        found = client.explain(
            "ana", "package_manager", scope=["task:t", "user:self"], valid_at=AT, after="p", wait_ms=7
        )
    assert isinstance(found.answer, Value)
    assert found.sentences[0] == "npm has held since 1 March 2026."
    assert found.standings == {UUID(int=1): "eligible"}
    assert found.body["versions_count"] == 1
    assert ("scope", "task:t") in reader.asked[0].params
    assert ("after", "p") in reader.asked[0].params
    assert ("valid_at", AT) in reader.asked[0].params


async def test_the_client_of_an_event_loop_explains_the_same() -> None:
    with serving(Told(explanation())) as reader:
        async with AsyncClient(reader=reader.url) as client:
            assert (await client.explain("ana", "package_manager", scope="user:self")).standings == {}
    assert reader.asked[0].params == [("subject", "ana"), ("key", "package_manager"), ("scope", "user:self")]


def test_where_nothing_was_ever_said_it_names_what_lists_the_rest(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = explanation() | {"answer": {"kind": "unknown", "reason": "never_recorded"}}
    with serving(Told(nothing)) as reader:
        monkeypatch.setattr(sys, "argv", ["chronofact", "why", "ana", "k", "--reader", reader.url])
        with pytest.raises(SystemExit):
            main()
    assert capsys.readouterr().err == "chronofact facts SUBJECT lists what is known; --scope names another scope\n"
