"""docs/operations/conflicts.md and parked.md, as they are written, on one stack of ``chronofact up`` over servers of the tests."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.contract.writing import assertion
from tests.integration.pages import Walk
from tests.integration.projecting import append
from tests.integration.saying import Fact, Said

POISON: Final = b"\xc3\x01 no event"
ADA, BOB, CID = Fact("ada"), Fact("bob"), Fact("cid")
WAIT_S: Final = 30
OVER: Final = 60
"""Messages in a row that can't be read: more than a projector parks before it stops."""


class Stack:
    """Services of their own on a topic and in a database of the test."""

    def __init__(self, kafka: str, topic: str, database: str, folder: Path) -> None:
        self.kafka, self.topic, self.folder = kafka, topic, folder
        self._where: dict[str, object] = {"kafka": kafka, "facts_topic": topic, "postgres": database}

    def walk(self, page: str) -> Walk:
        return Walk(page, folder=self.folder, **self._where)

    def said(self, *messages: Said) -> None:
        append(self.kafka, self.topic, messages)

    def writes(self, subject: str, *values: str) -> None:
        writer = json.loads((self.folder / ".chronofact" / "stack.json").read_text())["writer"]
        for value in values:
            httpx.post(f"{writer}/v1/events", json=assertion(subject=subject, value=value)).raise_for_status()


@pytest.fixture
def stack(kafka: str, topic_name: str, database: str, stack_folder: Path) -> Iterator[Stack]:
    made = Stack(kafka, topic_name, database, stack_folder)
    walk = made.walk("operations/parked.md")
    began = walk.execute("chronofact up --detach")
    assert began.returncode == 0, began.stderr
    try:
        yield made
    finally:
        walk.execute("chronofact down")


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def poison(fact: Fact) -> Said:
    return Said(fact.partition, fact.fact_id, POISON, b"", None)


def test_conflicts_and_parked_messages_are_worked_off_as_the_pages_say(stack: Stack) -> None:
    stack.writes("ada", "npm", "pnpm")
    with stack.walk("operations/conflicts.md") as walk:
        until(lambda: "npm" in walk.execute("chronofact conflicts list").stdout)
        assert "chronofact conflicts settle --fact" in walk.step("chronofact conflicts list")
        assert "npm" in walk.step("chronofact conflicts list ada --relation all")
        (conflict,) = json.loads(walk.execute("chronofact conflicts list --json").stdout)["conflicts"]
        fact_id = conflict["fact"]["fact_id"]
        walk.step("chronofact conflicts settle", but=lambda line: line.replace("ID", fact_id))
        until(lambda: json.loads(walk.execute("chronofact conflicts list --json").stdout)["conflicts"] == [])
    with stack.walk("operations/parked.md") as walk:
        stack.said(poison(ADA), *(ADA.asserts(number) for number in range(3)), poison(BOB), poison(CID))
        until(lambda: _parked(walk) == 6)
        _look_release_and_drop(walk, stack.folder)
        _past_a_poisoned_topic(walk, stack)


def _look_release_and_drop(walk: Walk, folder: Path) -> None:
    listed = json.loads(walk.execute("chronofact parked list --json").stdout)["messages"]
    place = next(f"{ADA.partition}:{one['offset']}" for one in listed if one["partition"] == ADA.partition)

    def here(line: str) -> str:
        return line.replace("3:1207", place).replace("--partition 3", f"--partition {BOB.partition}")

    assert "3" in walk.step("chronofact parked list")
    assert json.loads(walk.step("chronofact parked list --json"))["parked"] == 6
    assert "undecodable" in walk.step("chronofact parked show", but=here)
    walk.step("chronofact parked show", but=here)
    assert (folder / "message.bin").read_bytes() == POISON
    for _ in range(3):  # nothing heals it, so each says what stays
        assert "stay parked" in walk.step("chronofact parked release", code=1, but=here)
    assert "3 were applied" in walk.step("chronofact parked drop", but=here)
    assert "garbage" in walk.step("chronofact parked list --dropped")
    assert "dropped 1 message" in walk.step("chronofact parked drop --code", but=here)
    assert "dropped 1 message" in walk.step("chronofact parked drop --all")
    assert _parked(walk) == 0


def _past_a_poisoned_topic(walk: Walk, stack: Stack) -> None:
    stack.said(*(Said(7, b"no fact", POISON, b"", None) for _ in range(OVER)))
    logs = stack.folder / ".chronofact" / "logs"
    until(lambda: any("ParkingLimit" in log.read_text() for log in logs.glob("projector*.log")))
    walk.step("chronofact down")
    walk.step("CHRONOFACT_PARKED_ROW_MAX")
    until(lambda: _parked(walk) == OVER)
    told = walk.step("chronofact doctor", code=1)
    assert f"{OVER} messages are parked" in told
    assert "all of the log is applied" in told
    assert "message_key_malformed" in walk.step("chronofact parked list")
    assert f"dropped {OVER} messages" in walk.step("chronofact parked drop")
    walk.step("chronofact down")
    walk.step("chronofact up")
    assert _parked(walk) == 0


def _parked(walk: Walk) -> int:
    return int(json.loads(walk.execute("chronofact parked list --json").stdout)["parked"])
