"""The demo's translation, judged by the oracle: commands and questions agree before any service is asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from hashlib import sha256
from random import Random
from typing import Any
from uuid import UUID

import pytest

from chronofact.cli.demo.history import Labelled, Question, Trace, lines_of
from chronofact.client import Ids
from chronofact.client.commands import Command
from chronofact.contracts.commands import COMMANDS
from chronofact.contracts.fact_keys import KeyDeclarations
from chronofact.contracts.payload import happening_of
from chronofact.contracts.scope_kinds import ScopeKinds
from chronofact.domain.canonical import canonical, canonical_text
from chronofact.domain.events import Event
from chronofact.domain.history import History
from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.domain.interval import INSTANT_MAX, parse_instant
from chronofact.domain.resolve import answer_at
from chronofact.writer.accept import Acceptor, Authority
from tests.property.oracle import OAnswer, OAssert, OEvent, OLog, OResolve, ORevoke, OSupersedes, resolve

IDS = Ids()


def oracle_event(command: Command) -> OEvent:
    said = {name: value for name, value in command.items() if name != "recorded_at"}
    head = sha256(canonical(said)).digest()[:16], parse_instant(command["recorded_at"])
    match command["type"]:
        case "assert":
            return asserted(command, *head)
        case "revoke":
            return ORevoke(*head, version=UUID(command["version_id"]).bytes)
        case "resolve_conflict":
            left, right = UUID(command["left_version_id"]).bytes, UUID(command["right_version_id"]).bytes
            keep = None if command["keep"] is None else UUID(command["keep"]).bytes
            return OResolve(*head, left, right, keep, parse_instant(command["decided_at"]))
        case kind:
            raise AssertionError(kind)


def asserted(command: Command, event_id: bytes, recorded_at: int) -> OAssert:
    start, end, source = command.get("valid_from"), command.get("valid_to"), command["source"]["id"]
    claim = IDS.version_id(
        command["subject"], command["key"], command["value"], source=source, valid_from=start, valid_to=end
    )
    edges = [
        OSupersedes(UUID(edge["version_id"]).bytes, parse_instant(edge["effective_at"]), edge["mode"])
        for edge in command.get("supersedes", ())
    ]
    return OAssert(
        event_id=event_id,
        recorded_at=recorded_at,
        version=claim.bytes,
        value=canonical_text(command["value"]),
        valid_from=None if start is None else parse_instant(start),
        valid_to=None if end is None else parse_instant(end),
        succession=command.get("succession", "explicit"),
        supersedes=tuple(edges),
    )


def logs_of(commands: Iterable[Command]) -> dict[tuple[str, str], OLog]:
    logs: dict[tuple[str, str], OLog] = defaultdict(list)
    for command in commands:
        logs[command["subject"], command["key"]].append(oracle_event(command))
    return logs


def answers(logs: dict[tuple[str, str], OLog], question: Question) -> OAnswer:
    query = question.query
    log = logs[query["subject"], query["key"]]
    return resolve(log, parse_instant(query["valid_at"]), parse_instant(query["as_of"]))


def values_of(commands: Iterable[Command]) -> dict[bytes, Any]:
    return {asserted(one, b"", 0).version: one["value"] for one in commands if one["type"] == "assert"}


@pytest.mark.timeout(240)
def test_the_plain_history_answers_its_questions() -> None:
    trace = Trace(lines_of("trace"), IDS)
    logs, values = logs_of(trace.commands), values_of(trace.commands)
    questions = [trace.question(line) for line in lines_of("questions")]
    assert len(questions) == 7_200
    wrong = []
    for question in questions:
        answer = answers(logs, question)
        value = None if answer.winner is None else values[answer.winner]
        if (answer.kind, value) != (question.kind, question.value):
            wrong.append((question, answer))
    assert wrong == []


@pytest.mark.timeout(240)
def test_the_labelled_history_answers_its_questions() -> None:
    history = Labelled(lines_of("commands"), IDS)
    logs = logs_of(history.commands)
    questions = [history.question(line) for line in lines_of("mixed_questions")]
    assert len(questions) == 2_000
    wrong = []
    for question in questions:
        answer = answers(logs, question)
        versions = frozenset(UUID(bytes=version) for version in answer.versions)
        if (answer.kind, answer.reason, versions) != (question.kind, question.reason, question.versions):
            wrong.append((question, answer))
    assert wrong == []


def test_no_two_commands_of_a_history_are_one_event() -> None:
    for commands in (Trace(lines_of("trace"), IDS).commands, Labelled(lines_of("commands"), IDS).commands):
        events = {(command["subject"], oracle_event(command).event_id) for command in commands}
        assert len(events) == len(commands)


def events_of(commands: Iterable[Command], *, at: int | None) -> dict[bytes, list[Event]]:
    """The events that the writer makes of commands, by fact; all at one system time if it is given."""
    acceptor = Acceptor(KeyDeclarations.load(), ScopeKinds.load())
    authority = Authority(DEVELOPMENT_TENANT, ("*",), may_import=True, now=INSTANT_MAX)
    facts: dict[bytes, list[Event]] = defaultdict(list)
    for command in commands:
        fact_id, event, *_ = acceptor.accept(COMMANDS.validate_python(command), authority)
        what = happening_of(event.kind, event.payload, value_hash=event.value_hash)
        facts[fact_id].append(Event(event.event_id, what, event.import_time or 0 if at is None else at))
    return facts


def folded(events: Iterable[Event]) -> History:
    history = History()
    for event in events:
        if not history.knows(event.event_id):
            history.apply(event)
    return history


def test_the_labelled_history_shuffled_at_one_system_time_answers_as_in_order() -> None:
    labelled = Labelled(lines_of("commands"), IDS)
    in_order = {key: folded(events) for key, events in events_of(labelled.commands, at=None).items()}
    shuffled = list(labelled.commands)
    Random(2012).shuffle(shuffled)
    for key, events in events_of(shuffled, at=0).items():
        history, expected = folded(events), in_order[key]
        assert history.take_outcome().state_hash == expected.take_outcome().state_hash
        bounds = {bound for version in expected.standing.numbered for bound in (version.start, version.end)}
        for instant in bounds:
            assert answer_at(history, instant) == answer_at(expected, instant)
