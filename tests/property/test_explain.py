"""An explanation says what the brute-force reading of semantics.md says, and the causes that it names are real."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from chronofact.domain.events import Event, FactAsserted
from chronofact.domain.explain import explain
from chronofact.domain.explained import CoveredBy, Explanation, Hop, Stands, Stood
from chronofact.domain.resolve import resolve
from chronofact.domain.sentences import Around, sentences
from tests.property.oracle import (
    OEnd,
    ORevoke,
    State,
    counted,
    covers_at,
    dangling_edges,
    eligible_at,
    excluded_at,
    fold,
    known_by,
    pending_review,
)
from tests.property.oracle.covering import covers_before_cancelling
from tests.property.oracle.standing import Version, not_taken_back
from tests.property.strategies import GRID, PROFILES, STEP, random_history
from tests.property.test_resolve_against_oracle import spelled
from tests.property.translate import short_id, story, to_oracle

HISTORIES = 120
INSTANTS = [GRID[0] - STEP, *GRID, GRID[-1] + STEP // 2]
profiles = pytest.mark.parametrize("profile", PROFILES)


def cases(profile: str, *, count: int = HISTORIES, size: int = 9) -> Iterator[tuple[str, list[Event], int, int | None]]:
    """Histories, each at some random pairs of instants."""
    for number in range(count):
        rng = Random(f"explain {profile} {number}")
        events = random_history(rng, rng.randint(1, size), profile)
        times = sorted({event.recorded_at for event in events})
        for at in rng.sample(INSTANTS, 4):
            as_of = rng.choice([times[0] - 1, *times, None, None])
            yield f"{profile} {number} at {at} as of {as_of}\n{story(events)}", events, at, as_of


def stands(state: State, version: Version, t: int) -> Stands:
    """As semantics §3 words it."""
    if version.is_revoked:
        return Stands.REVOKED
    if not version.is_ever_active:
        return Stands.PROPOSED
    if not version.ends_after_its_start:
        return Stands.NEVER_HOLDS
    if not version.holds(t):
        return Stands.ENDED if version.end is not None and t >= version.end else Stands.LATER
    if version.version_id in excluded_at(state, t):
        return Stands.EXCLUDED
    if version.version_id in {m for _, m in covers_at(state, t)}:
        return Stands.SUPERSEDED
    return Stands.MERGED if version.version_id in state.merged else Stands.ELIGIBLE


@profiles
def test_every_version_stands_as_the_oracle_says(profile: str) -> None:
    for case, events, at, as_of in cases(profile):
        log = to_oracle(events)
        known = known_by(log, as_of)
        state = fold(known)
        told = explain(events, valid_at=at, system_as_of=as_of)
        expected = {v: stands(state, version, at) for v, version in state.versions.items()}
        assert {one.version_id: one.stands for one in told.versions} == expected, case
        assert told.counts == {kind: list(expected.values()).count(kind) for kind in {*expected.values()}}, case
        assert [one.version_id for one in told.versions if one.is_pending_review] == [
            one.version_id
            for one in told.versions
            if one.version_id in pending_review(known, state.versions, state.decisions)
        ], case
        assert sorted(v for v, one in expected.items() if one is Stands.ELIGIBLE) == eligible_at(state, at), case


@profiles
def test_the_answer_is_what_resolve_says_and_what_was_learned_later_is_left_out(profile: str) -> None:
    for case, events, at, as_of in cases(profile):
        told = explain(events, valid_at=at, system_as_of=as_of)
        assert spelled(told.answer) == spelled(resolve(events, valid_at=at, system_as_of=as_of)), case
        later = [one for one in counted(to_oracle(events)) if as_of is not None and one.recorded_at > as_of]
        assert [one.event.event_id for one in told.left_out] == [one.event_id for one in later], case
        assert [one.event.recorded_at for one in told.left_out] == [one.recorded_at for one in later], case
        assert [one.event_seq for one in told.log.values()] == list(range(1, len(told.log) + 1)), case
        assert {*told.decided_by} <= {*told.log} - {one.event.event_id for one in told.left_out}, case


@profiles
def test_the_covers_that_are_named_are_all_that_there_are_and_their_ways_exist(profile: str) -> None:
    for case, events, at, as_of in cases(profile):
        state = fold(known_by(to_oracle(events), as_of))
        covers = covers_at(state, at)
        cancelled = covers_before_cancelling(state, at) - covers
        for one in explain(events, valid_at=at, system_as_of=as_of).versions:
            if not state.versions[one.version_id].holds(at) or not state.versions[one.version_id].is_active:
                assert not one.covered_by, case
                continue
            assert {(cover.version_id, one.version_id) for cover in one.covered_by} == {
                (n, m) for n, m in covers if m == one.version_id
            }, case
            assert {(n, one.version_id) for n in one.cancelled} == {
                (n, m) for n, m in cancelled if m == one.version_id
            }, case
            for cover in one.covered_by:
                assert_a_way(state, at, one, cover, case)


def assert_a_way(state: State, at: int, one: Stood, cover: CoveredBy, case: str) -> None:
    """Each hop is an edge with effect then; the first is a stated one unless it is the only one."""
    path = cover.path
    assert (path[0].new, path[-1].old) == (cover.version_id, one.version_id), case
    assert all(left.old == right.new for left, right in pairwise(path)), case
    effective = {
        (edge.new, edge.old, edge.is_stated, edge.start, edge.stop) for edge in state.edges if edge.has_effect(at)
    }
    for number, hop in enumerate(path):
        for edge in hop.edges:
            assert edge.named in state.groups[hop.old], case
            said = (hop.new, edge.named, edge.event_id is not None, edge.effective_from, edge.effective_to)
            assert said in effective, f"{case}\n{short_id(hop.new)} > {short_id(hop.old)}"
            assert number or len(path) == 1 or edge.event_id is not None, case


@profiles
def test_decisions_ends_and_revocations_that_are_named_are_those_that_count(profile: str) -> None:
    for case, events, at, as_of in cases(profile):
        known = known_by(to_oracle(events), as_of)
        state = fold(known)
        counting = {event.event_id for event in not_taken_back(known)}
        for one in explain(events, valid_at=at, system_as_of=as_of).versions:
            version = state.versions[one.version_id]
            assert one.end == version.end, case
            if version.is_active and version.holds(at) and version.ends_after_its_start:
                assert {*one.excluded_by} == {*excluders(state, version.version_id, at)}, case
            kept = {pair.event_id for pair in state.decisions.values() if pair.keep == one.version_id}
            assert {*one.kept_by} == kept, case
            revocations = {e.event_id for e in known if isinstance(e, ORevoke) and e.version == one.version_id}
            assert {*one.revoked_by} == revocations, case
            said = [e for e in known if isinstance(e, OEnd) and e.version == one.version_id]
            ends = {e.event_id for e in said if e.event_id in counting and e.effective_at == version.end}
            assert {*one.ended_by} == ends, case


def excluders(state: State, version_id: bytes, t: int) -> Iterator[bytes]:
    """The decisions without which nothing excludes it then, each by itself."""
    for pair, decision in state.decisions.items():
        alone = replace(state, decisions={pair: decision})
        if version_id in pair and version_id in excluded_at(alone, t):
            yield decision.event_id


@profiles
def test_to_undo_all_that_is_named_changes_how_a_version_stands(profile: str) -> None:
    undone = 0
    for case, events, at, as_of in cases(profile, count=80):
        log = [one.event for one in explain(events, valid_at=at, system_as_of=as_of).log.values()]
        known = [one for one in log if as_of is None or one.recorded_at <= as_of]
        for one in explain(known, valid_at=at, system_as_of=None).versions:
            if one.stands in {Stands.ELIGIBLE, Stands.LATER, Stands.PROPOSED}:
                continue
            undone += 1
            assert_undoing_helps(known, one, at, case)
    assert undone


def assert_undoing_helps(known: list[Event], one: Stood, at: int, case: str) -> None:
    """What takes the place of a cause is named in its turn: an overridden decision, an automatic edge, an earlier end."""
    first, events = one, known
    for _ in range(len(known) + 1):
        fewer = without(events, one, at)
        found = {other.version_id: other for other in explain(fewer, valid_at=at, system_as_of=None).versions}
        now = found.get(one.version_id)
        if now is None or now.stands is not first.stands:
            return
        assert fewer != events or is_own_doing(now, at), f"{case}\nnothing to undo for {short_id(one.version_id)}"
        if fewer == events:
            return
        events, one = fewer, now
    raise AssertionError(f"{case}\n{short_id(one.version_id)} stays {one.stands}")


def without(events: Sequence[Event], one: Stood, at: int) -> list[Event]:
    """The events without the causes; of an assertion only the edges go, of an automatic edge the newer version."""
    automatic = {
        hop.new for cover in one.covered_by for hop in cover.path for edge in hop.edges if edge.event_id is None
    }
    return [
        replace(event, what=replace(event.what, supersedes=()))
        if isinstance(event.what, FactAsserted) and event.event_id in one.causes()
        else event
        for event in events
        if (isinstance(event.what, FactAsserted) or event.event_id not in one.causes())
        and not (isinstance(event.what, FactAsserted) and event.what.version_id in automatic)
    ]


def is_own_doing(one: Stood, at: int) -> bool:
    """It ended by its own ``valid_to``."""
    until = one.said.valid.end
    return one.stands is Stands.ENDED and until is not None and until <= at


@profiles
def test_without_one_edge_of_an_only_way_nothing_covers_but_what_takes_its_place(profile: str) -> None:
    undone = 0
    for case, events, at, as_of in cases(profile):
        log = [one.event for one in explain(events, valid_at=at, system_as_of=as_of).log.values()]
        known = [one for one in log if as_of is None or one.recorded_at <= as_of]
        for one in explain(known, valid_at=at, system_as_of=None).versions:
            for cover in one.covered_by:
                for hop in cover.path if cover.is_only_way and one.stands is Stands.SUPERSEDED else ():
                    if any(edge.event_id is None for edge in hop.edges):
                        continue  # it goes with its version only, and with that what decisions said of it
                    lone = replace(one, covered_by=(replace(cover, path=(hop,)),))
                    found = explain(without(known, lone, at), valid_at=at, system_as_of=None).versions
                    now = {other.version_id: other for other in found}.get(one.version_id)
                    circle = covers_before_cancelling(fold(counted(to_oracle(known))), at)
                    assert now is None or now.stands is not Stands.SUPERSEDED or is_in_place(now, hop, one, circle), (
                        case
                    )
                    undone += 1
    assert undone or profile == "automatic"


def is_in_place(now: Stood, hop: Hop, one: Stood, circle: set[tuple[bytes, bytes]]) -> bool:
    """Each way goes over an automatic edge of the version that had stated one, or was in a circle that is open now."""
    ways = {
        cover.version_id: [(step.new, edge.event_id) for step in cover.path for edge in step.edges]
        for cover in now.covered_by
    }
    circled = {new for new in ways if new in one.cancelled or (one.version_id, new) in circle}
    return all((hop.new, None) in way or new in circled for new, way in ways.items())


@profiles
def test_sentences_speak_of_versions_that_are_there_and_of_each_that_does_not_hold(profile: str) -> None:
    for case, events, at, as_of in cases(profile, count=40):
        told = explain(events, valid_at=at, system_as_of=as_of)
        spoken = " ".join(sentences(told, Around(as_of=as_of), name=lambda value: f"⟦{value}⟧"))
        there = {one.said.value.decode() for one in told.versions}
        named = {*re.findall("⟦(.*?)⟧", spoken)}
        assert named <= there, case
        assert {one.said.value.decode() for one in told.versions if one.stands is not Stands.ELIGIBLE} <= named, case
        assert "not listed" not in spoken, case


@profiles
def test_what_is_named_as_dangling_is_what_dangles(profile: str) -> None:
    for case, events, at, as_of in cases(profile):
        known = known_by(to_oracle(events), as_of)
        expected = dangling_edges(fold(known))
        told = explain(events, valid_at=at, system_as_of=as_of)
        kinds = {"FactAsserted", "FactSuperseded"}
        found = {
            (one.version_ids[0], one.version_ids[-1])
            for one in told.ignored
            if one.why in {"to_itself", "version_unknown"} and kind(told, one.event_id) in kinds
        }
        assert {pair for pair in expected if pair in found} == expected, case


def kind(told: Explanation, event_id: bytes) -> str:
    return type(told.log[event_id].event.what).__name__


@profiles
def test_what_is_ignored_decides_nothing_and_without_it_the_answer_is_the_same(profile: str) -> None:
    """An assertion is exempt: it decides by what it claims, while an edge that it states may have no effect then."""
    ignored = 0
    for case, events, at, as_of in cases(profile, size=14):
        told = explain(events, valid_at=at, system_as_of=as_of)
        known = [one.event for one in told.log.values() if as_of is None or one.event.recorded_at <= as_of]
        expected = spelled(explain(known, valid_at=at, system_as_of=None).answer)
        for one in told.ignored:
            if kind(told, one.event_id) == "FactAsserted":
                continue
            ignored += 1
            why = f"{case}\n{kind(told, one.event_id)} {short_id(one.event_id)} {one.why}"
            assert one.event_id not in told.decided_by, why
            fewer = [event for event in known if event.event_id != one.event_id]
            if fewer:
                assert spelled(explain(fewer, valid_at=at, system_as_of=None).answer) == expected, why
    assert ignored
