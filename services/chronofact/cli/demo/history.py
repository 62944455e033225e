"""The legislators' history as commands and questions (tests/data/legislators/README.md says what its lines mean)."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from chronofact.client import Answer, Conflict, Ids, Unknown, Value
from chronofact.client.commands import Command, Supersedes, assertion, said

PACKAGE: Final = Path(__file__).resolve().parents[2]

Line = Mapping[str, Any]


def history_folder() -> Path:
    """Where the files lie: in the wheel, or in the repository."""
    installed = PACKAGE / "cli" / "demo" / "legislators"
    return installed if installed.is_dir() else PACKAGE.parents[1] / "tests" / "data" / "legislators"


def lines_of(name: str) -> list[Line]:
    """The lines of one file of the folder."""
    with gzip.open(history_folder() / f"{name}.ndjson.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@dataclass(frozen=True, slots=True)
class Question:
    """A query, and what its answer must say; only what is stated is compared."""

    query: Mapping[str, str]
    kind: str
    value: Any = None
    versions: frozenset[UUID] | None = None
    reason: str | None = None

    def is_answered_by(self, answer: Answer) -> bool:
        """Whether the answer is right."""
        match answer:
            case Value():
                behind = frozenset((answer.version_id, *answer.agreeing))
                return self.kind == "value" and self._are_behind(behind) and self.value in (None, answer.value)
            case Conflict():
                return self.kind == "conflict" and self._are_behind(
                    frozenset(one.version_id for one in answer.versions)
                )
            case Unknown():
                return self.kind == "unknown" and self.reason in (None, answer.reason)
            case _:
                return False

    def _are_behind(self, versions: frozenset[UUID]) -> bool:
        return self.versions in (None, versions)


class Trace:
    """The plain history: what each revision of the files said, or no longer said."""

    def __init__(self, lines: Iterable[Line], ids: Ids) -> None:
        self.recorded_at: dict[int, str] = {}
        self.commands: list[Command] = []
        self._ids = ids
        self._said_by: dict[tuple[str, ...], str] = {}
        for line in lines:
            self.recorded_at[line["rev"]] = line["at"]
            self.commands.append(self._command(line))

    def _command(self, line: Line) -> Command:
        claim = (line["s"], line["k"], line["v"], line["lo"], line["hi"])
        subject, key, value = line["s"], line["k"], json.loads(line["v"])
        start, end, at = _midnight(line["lo"]), _midnight(line["hi"]), line["at"]
        if line["op"] == "assert":
            source = self._said_by[claim] = f"rev-{line['rev']}"
            return assertion(subject, key, value, source=source, valid_from=start, valid_to=end, recorded_at=at)
        # the version that is no longer said is the one whose source last said it
        source = self._said_by.pop(claim)
        version_id = self._ids.version_id(subject, key, value, source=source, valid_from=start, valid_to=end)
        return said(type="revoke", subject=subject, key=key, version_id=str(version_id), recorded_at=at)

    def question(self, line: Line) -> Question:
        """``after_rev`` means as of the instant of that revision."""
        query = {
            "subject": line["s"],
            "key": line["k"],
            "valid_at": _midnight(line["valid_at"]),
            "as_of": self.recorded_at[line["after_rev"]],
        }
        values = [json.loads(value) for value in line["values"]]
        return Question(query, line["kind"], value=values[0] if values else None)


class Labelled:
    """The harder history: its lines name versions by labels, which stand for version ids."""

    def __init__(self, lines: Iterable[Line], ids: Ids) -> None:
        kept = list(lines)
        self._ids = ids
        self._versions = {
            (line["subject"], line["version"]): self._id(line) for line in kept if line["type"] == "assert"
        }
        self.commands: list[Command] = [self._command(line) for line in kept]

    def _id(self, line: Line) -> UUID:
        valid = {"valid_from": line["valid_from"], "valid_to": line["valid_to"]}
        return self._ids.version_id(line["subject"], line["key"], line["value"], source=line["source"], **valid)

    def _version(self, line: Line, label: str | None) -> str | None:
        return None if label is None else str(self._versions[line["subject"], label])

    def _command(self, line: Line) -> Command:
        about = {"type": line["type"], "subject": line["subject"], "key": line["key"]}
        match line["type"]:
            case "assert":
                return self._assertion(line)
            case "revoke":
                named = {"version_id": self._version(line, line["version"])}
            case "resolve_conflict":
                sides = ("left_version_id", line["left"]), ("right_version_id", line["right"]), ("keep", line["keep"])
                named = {field: self._version(line, label) for field, label in sides}
                named["decided_at"] = line["decided_at"]
            case kind:
                raise ValueError(f"no line of this history is of type {kind}")
        return {**about, **named, "recorded_at": line["recorded_at"]}

    def _assertion(self, line: Line) -> Command:
        edges = [
            Supersedes(self._versions[line["subject"], edge["version"]], edge.get("effective_at"), edge.get("mode"))
            for edge in line.get("supersedes", ())
        ]
        return assertion(
            line["subject"],
            line["key"],
            line["value"],
            source=line["source"],
            valid_from=line["valid_from"],
            valid_to=line["valid_to"],
            supersedes=edges,
            succession=line.get("succession"),
            recorded_at=line["recorded_at"],
        )

    def question(self, line: Line) -> Question:
        """The labels of an answer are the versions behind it."""
        query = {name: line[name] for name in ("subject", "key", "valid_at", "as_of")}
        versions = frozenset(self._versions[line["subject"], label] for label in line.get("versions", ()))
        return Question(query, line["kind"], versions=versions, reason=line.get("reason"))


def wrong(questions: Iterable[Question], answers: Iterable[Answer]) -> Iterator[tuple[Question, Answer]]:
    """The questions that were not answered right, with the answer given."""
    for question, answer in zip(questions, answers, strict=True):
        if not question.is_answered_by(answer):
            yield question, answer


def _midnight(day: str) -> str:
    return f"{day}T00:00:00Z"
