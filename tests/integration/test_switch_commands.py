"""``chronofact switch | rollback | routes``, as they are typed: what they need, tell, and refuse."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator

import pytest
from typer.testing import CliRunner

from chronofact.cli.__main__ import app
from chronofact.cli.outcome import ExitCode, Failure
from chronofact.domain.identity import DEVELOPMENT_TENANT, tenant_id_of
from tests.integration.reading import World, world_on
from tests.integration.saying import Fact
from tests.integration.test_switch import OTHER, SHADOWED
from tests.integration.two_sides import Side, asked, side_of


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database) as made:
        made.tell(Fact("ada").asserts("npm"), Fact("ada", tenant=OTHER).asserts("yarn"))
        yield made


@pytest.fixture
def p2(database: str, world: World) -> Iterator[Side]:
    with side_of(database, world.topic) as side:
        yield side


def run(database: str, monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[int, str]:
    monkeypatch.setenv("CHRONOFACT_POSTGRES", database)
    monkeypatch.setenv("CHRONOFACT_AUTH", "off")
    found = CliRunner().invoke(app, list(words))
    return found.exit_code, found.stdout + (str(found.exception) if found.exit_code else "")


@pytest.mark.usefixtures("p2")
def test_the_commands_need_postgres_alone(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHRONOFACT_KAFKA", "127.0.0.1:1")
    code, told = run(database, monkeypatch, "switch", "acme", str(OTHER), "--to", "p2", "--reason", "try", "--json")
    assert code == 0, told
    line = json.loads(told)
    assert (line["tenants"], line["projection"]) == (2, "p2")
    assert {one["tenant"] for one in line["changes"]} == {str(tenant_id_of("acme")), str(OTHER)}
    code, told = run(database, monkeypatch, "rollback", "acme", "--json")
    assert (code, json.loads(told)["tenants"], json.loads(told)["projection"]) == (0, 1, "p1")
    code, told = run(database, monkeypatch, "routes", "--json")
    assert next((one["tenant"], one["projection"]) for one in json.loads(told)["routes"]) == (None, "p1")
    code, told = run(database, monkeypatch, "routes", "--changes", "--json")
    assert [one["kind"] for one in json.loads(told)["changes"]] == ["rollback", "switch", "switch"]
    code, told = run(database, monkeypatch, "switch", "--all", "--to", "p2")
    assert (code, "all without a line of their own: p1 → p2" in told) == (0, True)
    code, told = run(database, monkeypatch, "routes")
    assert (code, "all others" in told) == (0, True)


@pytest.mark.usefixtures("p2")
def test_a_tenant_that_is_named_is_told_by_name_and_id(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    acme = str(tenant_id_of("acme"))
    code, told = run(database, monkeypatch, "switch", "acme", str(OTHER), "--to", "p2")
    assert code == 0
    assert f"tenant acme ({acme}): p1 → p2" in told
    assert f"tenant {OTHER}: p1 → p2" in told
    assert f"tenant acme ({acme}): p2, there already" in run(database, monkeypatch, "switch", "acme", "--to", "p2")[1]
    code, told = run(database, monkeypatch, "routes", "acme", "nobody", "--json")
    assert json.loads(told) == {
        "routes": [
            {"name": "acme", "tenant": acme, "projection": "p2"},
            {"name": "nobody", "tenant": str(tenant_id_of("nobody")), "projection": "p1"},
        ]
    }
    assert run(database, monkeypatch, "routes", "acme", "--changes")[0] == 1


@pytest.mark.usefixtures("p2")
def test_the_table_of_changes_says_what_was_overridden_and_undone(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(database, SHADOWED, ("open",))
    assert run(database, monkeypatch, "switch", "--all", "--to", "p2", "--force", "--reason", "why")[0] == 0
    assert run(database, monkeypatch, "rollback", "--all")[0] == 0
    head, back, forth = run(database, monkeypatch, "routes", "--changes")[1].splitlines()
    assert {"undoes", "overridden"} <= set(head.split())
    assert back.split()[:6] == ["2", "all", "others", "rollback", "1", "p2"]
    assert "route_shadow_open" in forth


@pytest.mark.usefixtures("p2")
def test_a_refused_command_names_why_and_what_helps(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked(database, SHADOWED, ("open",))
    code, told = run(database, monkeypatch, "switch", str(DEVELOPMENT_TENANT), "--to", "p2")
    assert (code, "route_shadow_open" in told, "shadow report --projection p2`" in told) == (1, True, True)
    code, told = run(database, monkeypatch, "switch", str(DEVELOPMENT_TENANT), "--to", "p2", "--force")
    assert (code, "reason_missing" in told) == (1, True)
    code, told = run(database, monkeypatch, "switch", "--to", "p2")
    assert (code, "--all" in told) == (1, True)
    code, told = run(database, monkeypatch, "switch", "acme", "--to", "p2", "--force", "--reason", "an outage")
    assert (code, "overridden" in told) == (0, True)


def test_postgres_away_is_an_exit_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHRONOFACT_POSTGRES", "postgresql://127.0.0.1:1/nowhere")
    found = CliRunner().invoke(app, ["rollback", "acme"])
    assert isinstance(found.exception, Failure)
    assert found.exception.code is ExitCode.UNREACHABLE
