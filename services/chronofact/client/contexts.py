"""Typed contexts and settlements: what may go into a prompt, what to ask a person, and what came of a decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from chronofact.client.answers import Accepted, Answer, During, Fact, Freshness, during, fact_of, freshness_of, moment


@dataclass(frozen=True, slots=True)
class Settled:
    """One value that holds and that nothing speaks against; ``sources`` are who says so.

    ``is_checked`` is False where a text memory was not held against the others yet, None for what is no text memory.
    """

    key: str
    scope: str
    value: Any
    valid_during: During | None
    sources: tuple[str, ...]
    version_ids: tuple[UUID, ...]
    fact_id: UUID
    is_checked: bool | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """Something only a person can answer: ``kind`` is conflict, review, relation or proposal; ``body`` has sides and commands."""

    kind: str
    fact: Fact
    ask: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Context:
    """What may go into a prompt: ``text`` is ``settled`` in lines; ``left_out`` of them follow with ``cursor``."""

    settled: tuple[Settled, ...]
    text: str
    questions: tuple[Question, ...]
    questions_count: Mapping[str, int]
    left_out: int
    cursor: str | None
    valid_at: datetime
    as_of: datetime | None
    freshness: Freshness
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Settlement:
    """What came of a decision: ``counts`` says whether it is the one that counts, None that this can't be seen yet."""

    accepted: Accepted
    counts: bool | None
    answer: Answer


def context_of(body: Mapping[str, Any]) -> Context:
    """The typed form of a context; ``body`` is all of it."""
    return Context(
        tuple(map(_settled_of, body["settled"])),
        body["text"],
        tuple(Question(one["kind"], fact_of(one["fact"]), one["ask"], one) for one in body["questions"]),
        body["questions_count"],
        body["left_out"],
        body["cursor"],
        datetime.fromisoformat(body["valid_at"]),
        moment(body["as_of"]),
        freshness_of(body["freshness"]),
        body,
    )


def _settled_of(body: Mapping[str, Any]) -> Settled:
    sources = body["sources"]
    return Settled(
        body["key"],
        body["scope"],
        body["value"],
        during(body["valid_during"]),
        tuple(dict.fromkeys(one["source_id"] for one in sources)),
        tuple(UUID(one["version_id"]) for one in sources),
        UUID(body["fact_id"]),
        body.get("checked"),
    )
