"""Many random histories through the real projector, SQL and reader: what is settled for a prompt is just what the rules call so.

Chains of up to three scopes; each answer is held against the brute-force reading of semantics.md: no version that is in
conflict, proposed, revoked, superseded, ended, excluded, under review or not yet valid stands in ``settled`` or ``text``,
no wider scope answers for a nearer one that is in conflict, and nothing that is settled is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import UUID

import orjson
import pytest

from chronofact.domain.events import Event, EventDropped
from chronofact.domain.interval import format_instant
from tests.integration.genuine import Genuine
from tests.integration.reading import ScopedFact, World, world_on
from tests.property.oracle import (
    OAnswer,
    OLog,
    ORelation,
    State,
    answer_at,
    fold,
    known_by,
    pending_review,
    system_times,
)
from tests.property.strategies import GRID, STEP, random_history
from tests.property.translate import story, to_oracle

SCOPES = (("task", "t"), ("repo", "r"), ("user", "self"))
PROFILES = {
    "facts": ("all", "decisions", "many", "same_start", "automatic", "cycles", "stated_chain"),
    "texts": ("texts",),
}
SUBJECTS = 20
KEYS = 6
ALL = 200_000


class Told:
    """One random history said of one fact."""

    def __init__(self, fact: ScopedFact, events: Sequence[Event]) -> None:
        self.fact = fact
        kept = [event for event in events if not isinstance(event.what, EventDropped)]
        genuine = Genuine(fact, kept)
        self.events = [genuine.event(event) for event in kept]
        self.messages = [(genuine.message(event, label=fact.label), event.recorded_at) for event in kept]
        self.log = to_oracle(self.events)


@dataclass(frozen=True)
class Expected:
    """What a chain's context must say about its one key."""

    settled: frozenset[tuple[str, str, frozenset[str]]]
    """Scope, value, and who says so."""
    asked: frozenset[tuple[str, str, frozenset[str]]]
    """Kind of question, scope, and the versions it is about."""


def expected(chain: Sequence[Told], valid_at: int, as_of: int | None) -> Expected:
    states = [(told, known_by(told.log, as_of)) for told in chain]
    answers = [_answer(log, valid_at) for _, log in states]
    at = next((n for n, one in enumerate(answers) if one.kind != "unknown"), None)
    asked: set[tuple[str, str, frozenset[str]]] = set()
    for told, log in states if at is None else states[: at + 1]:
        for version_id in _waiting(fold(log), valid_at):
            asked.add(("proposal", scope_of(told), frozenset({text(version_id)})))
    if at is None:
        return Expected(frozenset(), frozenset(asked))
    told, log = states[at]
    state, answer = fold(log), answers[at]
    if answer.kind == "conflict":
        asked.add(("conflict", scope_of(told), frozenset(map(text, answer.versions))))
        return Expected(frozenset(), frozenset(asked))
    under_review = set()
    for pair in state.contradictions - state.decisions.keys():
        (weaker,) = pending_review(_only(log, pair), state.versions)
        under_review.add(weaker)
        if weaker in answer.versions:
            asked.add(("review", scope_of(told), frozenset(map(text, pair))))
    by_value: dict[str, set[str]] = {}
    for version_id in set(answer.versions) - under_review:
        by_value.setdefault(state.versions[version_id].value, set()).add(text(version_id))
    settled = {(scope_of(told), value, frozenset(ids)) for value, ids in by_value.items()}
    return Expected(frozenset(settled), frozenset(asked))


def _answer(log: OLog, valid_at: int) -> OAnswer:
    return answer_at(fold(log), valid_at) if log else OAnswer("unknown", "not_yet_known")


def _only(log: OLog, pair: tuple[bytes, bytes]) -> OLog:
    """Without what is said about other pairs."""
    return [one for one in log if not isinstance(one, ORelation) or {one.left, one.right} == set(pair)]


def _waiting(state: State, valid_at: int) -> Iterator[bytes]:
    for version_id, version in state.versions.items():
        is_over = version.end is not None and version.end <= valid_at
        if not version.is_ever_active and not version.is_revoked and not is_over:
            yield version_id


def scope_of(told: Told) -> str:
    return f"{told.fact.identity.scope_kind}:{told.fact.identity.scope_key}"


def text(version_id: bytes) -> str:
    return str(UUID(bytes=version_id))


def said_by(body: Any, key: str) -> Expected:
    settled = {
        (one["scope"], orjson.dumps(one["value"]).decode(), frozenset(said["version_id"] for said in one["sources"]))
        for one in body["settled"]
        if one["key"] == key
    }
    asked = {
        (one["kind"], one["fact"]["scope"], frozenset(side["version_id"] for side in one["sides"]))
        for one in body["questions"]
        if one["fact"]["key"] == key
    }
    return Expected(frozenset(settled), frozenset(asked))


def chain_of(rng: Random, subject: str, key: str, profiles: Sequence[str]) -> list[Told]:
    scopes = [scope for scope in SCOPES if rng.random() < 0.6] or [SCOPES[0]]
    return [
        Told(ScopedFact(subject, scope, key), random_history(rng, rng.randint(1, 9), rng.choice(profiles)))
        for scope in scopes
    ]


def instants_of(rng: Random, chains: Iterable[Sequence[Told]]) -> Iterator[tuple[int, int | None]]:
    bounds = sorted({GRID[0] - STEP, *GRID, *(point + 1 for point in GRID)})
    times = sorted({time for chain in chains for told in chain for time in system_times(told.log)})
    for as_of in (None, None, None, *rng.sample(times, 4)):
        yield rng.choice(bounds), as_of


async def ask(world: World, subject: str, valid_at: int, as_of: int | None) -> Any:
    known = {} if as_of is None else {"as_of": format_instant(as_of)}
    scopes = [f"{kind}:{key}" for kind, key in SCOPES]
    at = format_instant(valid_at)
    body = await world.get("/v1/context", subject=subject, scope=scopes, valid_at=at, budget=ALL, **known)
    assert (body["cursor"], body["left_out"], body["too_long"]) == (None, 0, [])
    assert len(body["questions"]) == sum(body["questions_count"].values()), "more than are listed: ask about fewer keys"
    return body


def wrong_lines(body: Any) -> Iterator[str]:
    """The text says what is settled, in order, and nothing else."""
    lines = body["text"].splitlines()
    if len(lines) != len(body["settled"]):
        yield f"{len(lines)} lines for {len(body['settled'])} values"
    for line, one in zip(lines, body["settled"], strict=False):
        if not line.startswith(f"- {one['key']} in {one['scope']}: {orjson.dumps(one['value']).decode()} ("):
            yield f"a line that tells of something else: {line}"


@pytest.mark.parametrize("family", PROFILES)
async def test_what_is_settled_is_what_the_rules_call_so(database: str, family: str) -> None:
    rng = Random(f"context {family}")
    told = {
        f"subject {number}": {
            f"k{key}": chain_of(rng, f"subject {number}", f"k{key}", PROFILES[family]) for key in range(KEYS)
        }
        for number in range(SUBJECTS)
    }
    seen: Counter[str] = Counter()
    async with world_on(database) as world:
        for chains in told.values():
            for message, appended_at in (one for chain in chains.values() for fact in chain for one in fact.messages):
                world.topic.append([message], appended_at=appended_at)
        world.project()
        for subject, chains in told.items():
            for valid_at, as_of in instants_of(rng, chains.values()):
                body = await ask(world, subject, valid_at, as_of)
                assert list(wrong_lines(body)) == []
                for key, chain in chains.items():
                    wanted, got = expected(chain, valid_at, as_of), said_by(body, key)
                    if wanted != got:
                        stories = "\n".join(f" {scope_of(one)}\n{story(one.events)}" for one in chain)
                        where = f"family {family}, {subject}, {key}, at {valid_at} as of {as_of}"
                        pytest.fail(f"{where}\n{stories}\n got {got}\n not {wanted}", pytrace=False)
                seen["settled"] += len(body["settled"])
                seen.update(question["kind"] for question in body["questions"])
    wanted_kinds = {"settled", "proposal", "conflict" if family == "facts" else "review"}
    assert all(seen[kind] > 20 for kind in wanted_kinds), seen
