"""Typed answers of the services: ``Answer = Value | Values | Conflict | Unknown``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias
from uuid import UUID

During: TypeAlias = tuple[datetime | None, datetime | None]
"""Half open; None is an open bound."""


@dataclass(frozen=True, slots=True)
class Fact:
    """The slot that an answer is about."""

    fact_id: UUID
    subject: str
    scope: str
    key: str


@dataclass(frozen=True, slots=True)
class Freshness:
    """What answered, and how far behind the log it was."""

    projection: str
    rule: int
    position: str | None
    lag_events: int | None
    """None: nobody knows, since the log can't be asked."""
    lag_s: float
    stale: bool
    because: str | None = None
    """Why it is stale, by name."""
    tail_events: int | None = None
    """How many events the projection had not read yet, where those were folded over it."""
    held: int = 0
    """Messages of the fact that are parked."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What every answer says besides its content; ``as_of`` None means everything applied."""

    fact: Fact
    valid_at: datetime
    as_of: datetime | None
    valid_during: During | None
    freshness: Freshness | None


@dataclass(frozen=True, slots=True)
class Claim:
    """One version behind a conflict, or one of many values."""

    version_id: UUID
    value: Any
    valid_during: During | None = None
    source_id: str | None = None
    recorded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """One value holds; ``agreeing`` are all the versions that say it."""

    value: Any
    version_id: UUID
    agreeing: tuple[UUID, ...]
    recorded_at: datetime | None
    reading: Reading


@dataclass(frozen=True, slots=True)
class Values:
    """Everything that a many-valued fact holds."""

    values: tuple[Claim, ...]
    reading: Reading


@dataclass(frozen=True, slots=True)
class Conflict:
    """Versions that differ and all hold: ask, then ``resolve_conflict``."""

    versions: tuple[Claim, ...]
    edges: tuple[Edge, ...]
    reading: Reading


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing holds, and why: ``never_recorded``, ``not_yet_known``, ``ended``, … (semantics §4)."""

    reason: str
    reading: Reading


@dataclass(frozen=True, slots=True)
class Edge:
    """Two versions in conflict: ``OPEN`` or ``RESOLVED``."""

    left: UUID
    right: UUID
    relation: str


Answer: TypeAlias = Value | Values | Conflict | Unknown


@dataclass(frozen=True, slots=True)
class Accepted:
    """One command in the log; ``version_id`` where it asserted one, ``frames`` where that was a text."""

    event_id: UUID
    fact_id: UUID
    version_id: UUID | None
    position: str | None
    frames: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Rejection:
    """One command that the writer refused; ``index`` is its place among those sent."""

    index: int
    code: str
    message: str
    field: str | None


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of several commands, in order; ``position`` covers them all."""

    results: tuple[Accepted | Rejection, ...]
    position: str | None

    @property
    def rejections(self) -> tuple[Rejection, ...]:
        """The refused ones."""
        return tuple(result for result in self.results if isinstance(result, Rejection))


def answer_of(body: Mapping[str, Any], *, freshness: Freshness | None = None) -> Answer:
    """The typed form of one answer; a batch says its freshness once."""
    reading = Reading(
        fact_of(body["fact"]),
        datetime.fromisoformat(body["valid_at"]),
        moment(body.get("as_of")),
        during(body.get("valid_during")),
        freshness_of(body["freshness"]) if "freshness" in body else freshness,
    )
    match body["kind"]:
        case "value":
            agreeing = tuple(map(UUID, body["agreeing"]))
            recorded_at = moment(body.get("recorded_at"))
            return Value(body["value"], UUID(body["version_id"]), agreeing, recorded_at, reading)
        case "values":
            return Values(tuple(map(claim_of, body["values"])), reading)
        case "conflict":
            edges = tuple(Edge(UUID(edge["left"]), UUID(edge["right"]), edge["relation"]) for edge in body["edges"])
            return Conflict(tuple(map(claim_of, body["versions"])), edges, reading)
        case "unknown":
            return Unknown(body["reason"], reading)
        case kind:
            raise ValueError(f"an answer of a kind that this client does not know: {kind}")


def fact_of(body: Mapping[str, Any]) -> Fact:
    """The slot of an answer."""
    return Fact(UUID(body["fact_id"]), body["subject"], body["scope"], body["key"])


def freshness_of(body: Mapping[str, Any]) -> Freshness:
    """How fresh an answer is."""
    return Freshness(
        body["projection"],
        body["rule"],
        body.get("position"),
        body["lag_events"],
        body["lag_s"],
        body["stale"],
        body.get("because"),
        body.get("tail_events"),
        body.get("held", 0),
    )


def claim_of(body: Mapping[str, Any]) -> Claim:
    """One version as answers show it."""
    return Claim(
        UUID(body["version_id"]),
        body["value"],
        during(body.get("valid_during")),
        body.get("source_id"),
        moment(body.get("recorded_at")),
    )


def result_of(body: Mapping[str, Any], index: int) -> Accepted | Rejection:
    """What became of one command."""
    if body["status"] == "accepted":
        version_id = body.get("version_id")
        version = None if version_id is None else UUID(version_id)
        frames = tuple(body.get("frames", ()))
        return Accepted(UUID(body["event_id"]), UUID(body["fact_id"]), version, body.get("position"), frames)
    error = body["error"]
    return Rejection(index, error["code"], error["message"], error.get("field"))


def moment(text: str | None) -> datetime | None:
    """An instant of an answer, aware; None stays open."""
    return None if text is None else datetime.fromisoformat(text)


def during(bounds: tuple[str | None, str | None] | None) -> During | None:
    """A valid interval of an answer."""
    return None if bounds is None else (moment(bounds[0]), moment(bounds[1]))


@dataclass(frozen=True, slots=True)
class Page:
    """Some answers; ``cursor`` continues, None is the end."""

    answers: tuple[Answer, ...]
    cursor: str | None


def page_of(body: Mapping[str, Any]) -> Page:
    """One page of answers."""
    shared = freshness_of(body["freshness"]) if "freshness" in body else None
    return Page(tuple(answer_of(answer, freshness=shared) for answer in body["facts"]), body.get("cursor"))
