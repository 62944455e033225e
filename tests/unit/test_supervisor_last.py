"""What a stack does not wait for: it starts when the others are ready, and only where its packages are."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from chronofact.embedded import supervisor as supervising
from chronofact.embedded.process import Command, KeptProcess
from chronofact.embedded.stack import Addresses, Stack
from chronofact.embedded.supervisor import SERVICES, Service, Supervisor

SLEEPS = "import time; time.sleep(60)"


def test_the_adjudicator_starts_once_the_others_are_ready_and_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = Stack(tmp_path)
    stack.folder.make()
    stack.ports = {one.name: number for number, one in enumerate(SERVICES, 1)}
    ready: list[str] = []
    supervisor = Supervisor(stack, Addresses(), {}, ready.append)
    command = Command("child", [sys.executable, "-c", SLEEPS], tmp_path / "logs" / "child.log", {})
    launched: list[tuple[str, int]] = []
    for name, unit in supervisor._units.items():

        def launch(name: str = name) -> KeptProcess:
            launched.append((name, len(ready)))
            return KeptProcess(command)

        unit.launch = launch
    names = {number: name for name, number in stack.ports.items()}
    monkeypatch.setattr(supervising, "why_not_ready", lambda port: "never" if names[port] == "adjudicator" else None)
    try:
        supervisor.start()
        awaited = [one.name for one in supervisor.services if one.is_awaited]
        assert launched == [*((name, 0) for name in awaited), ("adjudicator", len(awaited))]
        assert ready == [f"{name} is ready" for name in awaited]
    finally:
        supervisor.stop()


def test_a_service_whose_packages_are_missing_is_no_part_of_the_stack() -> None:
    assert Service("writer", "CHRONOFACT_WRITER_PORT").exists
    assert not Service("writer", "CHRONOFACT_WRITER_PORT", needs=("no_such_package",)).exists
    assert not Service("no_such_part", "CHRONOFACT_X_PORT").exists


def test_a_package_that_is_in_use_is_installed_whatever_it_says_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = ModuleType("faust")
    assert bare.__spec__ is None
    monkeypatch.setitem(sys.modules, "faust", bare)
    assert all(one.exists for one in SERVICES)
