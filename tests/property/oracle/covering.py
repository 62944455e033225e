"""Who covers whom, who is excluded and who is eligible, at one instant (semantics §3)."""

from __future__ import annotations

from typing import TypeAlias

from .state import State

Pairs: TypeAlias = "set[tuple[bytes, bytes]]"


def excluded_at(state: State, t: int) -> set[bytes]:
    """The versions that a decision excludes at ``t``."""
    excluded: set[bytes] = set()
    for (left, right), decision in state.decisions.items():
        if not (left in state.versions and right in state.versions):
            continue
        a, b = state.versions[left], state.versions[right]
        if not (a.claims(t) and b.claims(t)):
            continue
        if decision.keep is None:
            excluded |= {left, right} if a.is_active and b.is_active else set()
        elif state.versions[decision.keep].is_active:
            excluded.add(right if decision.keep == left else left)
    return excluded


def covers_at(state: State, t: int) -> Pairs:
    """The pairs (n, m) where n covers m at ``t``, covers inside a strongly connected component cancelled."""
    covers = covers_before_cancelling(state, t)
    reached = {n: _reachable({n}, covers) for n in state.versions}
    return {(n, m) for n, m in covers if n not in reached[m]}


def covers_before_cancelling(state: State, t: int) -> Pairs:
    """(a) and (b) as worded."""
    allowed = {
        (n, m)
        for n in state.versions
        for m in state.versions
        if n != m and _may_cover(state, n, t) and not _keeps_against(state, m, n)
    }
    by_a = allowed & _reached_over_stated(state, t)
    by_b = {(n, m) for n, m in allowed & _effective(state, t, is_stated=False) if (m, n) not in by_a}
    return by_a | by_b


def eligible_at(state: State, t: int) -> list[bytes]:
    """The versions that are eligible at ``t``, by id."""
    covered = {m for _, m in covers_at(state, t)}
    out = covered | excluded_at(state, t) | set(state.merged)
    return sorted(
        v.version_id for v in state.versions.values() if v.is_active and v.holds(t) and v.version_id not in out
    )


def _may_cover(state: State, n: bytes, t: int) -> bool:
    version = state.versions[n]
    return version.is_active and version.ends_after_its_start and n not in excluded_at(state, t)


def _keeps_against(state: State, kept: bytes, other: bytes) -> bool:
    left, right = sorted((kept, other))
    decision = state.decisions.get((left, right))
    return decision is not None and decision.keep == kept and state.versions[kept].is_active


def _effective(state: State, t: int, *, is_stated: bool) -> Pairs:
    """The edges of one sort with effect at ``t``; an edge to one of a group is an edge to all of it."""
    return {
        (edge.new, member)
        for edge in state.edges
        if edge.is_stated == is_stated and edge.has_effect(t)
        for member in state.groups[edge.old]
    }


def _reached_over_stated(state: State, t: int) -> Pairs:
    """(n, m): a stated edge n -> o has effect, and m is o or is reached from o."""
    stated = _effective(state, t, is_stated=True)
    automatic = {(n, m) for n, m in _effective(state, t, is_stated=False) if state.versions[n].is_active}
    return {
        (n, m) for n in state.versions for m in _reachable({o for new, o in stated if new == n}, stated | automatic)
    }


def _reachable(starts: set[bytes], edges: Pairs) -> set[bytes]:
    """The starts and everything behind them."""
    reached = set(starts)
    waiting = list(starts)
    while waiting:
        here = waiting.pop()
        for old in {old for new, old in edges if new == here} - reached:
            reached.add(old)
            waiting.append(old)
    return reached
