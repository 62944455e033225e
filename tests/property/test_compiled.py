"""What is compiled says the same as its sources: of the same histories, and of the same messages, good and bad."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chronofact.embedded.compiled import compiled_modules, current_build

HISTORIES = 100
TELL = f"""
from random import Random
from tests.property.spelled import spelled
from tests.property.strategies import PROFILES, random_history
import chronofact.domain.history as folding
from chronofact.domain.canonical import canonical
from chronofact.domain.errors import Rejected
from chronofact.domain.explain import explain
from chronofact.domain.sentences import Around, sentences

print(folding.__file__.endswith(".py"))
for value in (True, 1, 1.0, -0.0, 2.5, 2**53, 2**53 + 1, -(2**53) - 1, 2**64, 10**16, 10**20, 10**21, 10**400, 1e16, 1e21,
              5e-324, 1.7976931348623157e308, float("nan"), float("-inf"), [2**53 + 1, 0.1], {{"b": 2**53 + 1}}, chr(0xD800),
              {{chr(0x1F600): 1, chr(0xFB33): 10**17, "a": None}}):
    try:
        print(canonical(value))
    except Rejected as refused:
        print(refused.code)
for profile in PROFILES:
    for number in range({HISTORIES}):
        rng = Random(f"compiled {{profile}} {{number}}")
        rule = 1 + number % 2
        history = folding.History(rule)
        events = random_history(rng, rng.randint(2, 12), profile)
        events = spelled(events) if number % 3 else events
        for event in events:
            if not history.knows(event.event_id):
                print(profile, number, sorted(str(tuple(one)) for one in history.apply(event).paintings))
        outcome = history.take_outcome()
        labels = sorted((number, str(tuple(label))) for number, label in outcome.labels)
        print(labels, sorted(outcome.conflicts_now), outcome.conflicts_open, outcome.state_hash.hex())
        print(sentences(explain(events, valid_at=40, system_as_of=None, rule=rule), Around()))
"""


def told(path: list[str], *arguments: str) -> list[str]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([*path, os.curdir]), "PYTHONHASHSEED": "0"}
    run = subprocess.run([sys.executable, *arguments], env=environ, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


@pytest.fixture
def build() -> str:
    found = current_build()
    if found is None:
        pytest.skip("no C compiler made a build of these sources here")
    return str(found)


@pytest.mark.parametrize("arguments", [("-c", TELL), ("-m", "tests.property.told_path")], ids=["fold", "path"])
def test_what_is_compiled_says_the_same(build: str, arguments: tuple[str, str]) -> None:
    interpreted, compiled = told([], *arguments), told([build], *arguments)
    assert (interpreted[0], compiled[0]) == ("True", "False")
    assert compiled[1:] == interpreted[1:]


def test_each_compiled_module_has_its_machine_code(build: str) -> None:
    names = [name.removesuffix(".py") for name in compiled_modules()]
    assert [name for name in names if not list((Path(build) / "chronofact").glob(f"{name}.*"))] == []
