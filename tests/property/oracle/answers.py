"""resolve(fact, valid_at, system_as_of), conflicts and lifecycle labels (semantics §3, §4)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from .covering import covers_at, eligible_at, excluded_at
from .edges import dangling
from .log import known_by
from .says import OLog
from .standing import Version, lies_in, starts_before
from .state import State, fold


@dataclass(frozen=True)
class OAnswer:
    """``unknown`` has a reason, the others versions by id; a ``value`` also its winner."""

    kind: str
    reason: str | None = None
    versions: tuple[bytes, ...] = ()
    winner: bytes | None = None


def resolve(events: OLog, valid_at: int, as_of: int | None) -> OAnswer:
    """The answer at two instants; ``as_of`` None takes every event."""
    if not events:
        return OAnswer("unknown", "never_recorded")
    log = known_by(events, as_of)
    if not log:
        return OAnswer("unknown", "not_yet_known")
    return answer_at(fold(log), valid_at)


def answer_at(state: State, t: int) -> OAnswer:
    """The answer of a folded set of events at one instant of valid time."""
    eligible = eligible_at(state, t)
    if not eligible:
        return OAnswer("unknown", _reason(state, t))
    if not state.is_single:
        return OAnswer("values", None, tuple(eligible))
    if len({state.versions[v].value for v in eligible}) > 1:
        return OAnswer("conflict", None, tuple(eligible))
    return OAnswer("value", None, tuple(eligible), _winner([state.versions[v] for v in eligible]))


def conflicts(state: State) -> set[tuple[bytes, bytes, str]]:
    """The conflict edges, each pair sorted."""
    resolved = {pair for pair in state.decisions if all(_is_ever_active(state, v) for v in pair)}
    rivals = {pair for t in instants(state) for pair in _rivals(state, t)}
    opened = (rivals | state.contradictions) - resolved
    return {(*pair, "OPEN") for pair in opened} | {(*pair, "RESOLVED") for pair in resolved}


def dangling_edges(state: State) -> set[tuple[bytes, bytes]]:
    """Stated edges that never apply."""
    return dangling(state.said, state.versions)


def labels(state: State) -> dict[bytes, str]:
    """The lifecycle of every asserted version."""
    return {version.version_id: _label(state, version) for version in state.versions.values()}


def supersedes(state: State) -> dict[bytes, bytes]:
    """Of a version's stated edges that apply the old end of the one with the earliest effect, ties lowest id."""
    found: dict[bytes, tuple[bool, int, bytes]] = {}
    for said in state.said:
        if said.new != said.old and _is_ever_active(state, said.new) and _is_ever_active(state, said.old):
            at = state.versions[said.new].valid_from if said.effective_at is None else said.effective_at
            candidate = (at is not None, at or 0, said.old)
            found[said.new] = min(candidate, found.get(said.new, candidate))
    return {new: old for new, (_, _, old) in found.items()}


def superseded_by(state: State, version_id: bytes) -> set[bytes]:
    """What covers a version at the last instant of its interval; any of them may be named."""
    version = state.versions[version_id]
    inside = [t for t in instants(state) if lies_in(t, version.valid_from, version.end)]
    return {n for n, m in covers_at(state, inside[-1]) if m == version_id}


def instants(state: State) -> list[int]:
    """One instant of every elementary stretch of valid time: before the first bound, and each bound."""
    bounds = state.bounds()
    return [bounds[0] - 1, *bounds] if bounds else [0]


def _reason(state: State, t: int) -> str:
    active = [version for version in state.versions.values() if version.is_active]
    excluded, covered = excluded_at(state, t), {m for _, m in covers_at(state, t)}
    holding = {version.version_id for version in active if version.holds(t)}
    if holding & excluded:
        return "excluded"
    if any(version.end is not None and t >= version.end for version in active):
        return "ended"
    if holding & covered:
        return "superseded"
    if any(_is_yet_to_start(version, t) for version in active):
        return "not_yet_valid"
    if any(version.is_revoked for version in state.versions.values()):
        return "revoked"
    return "proposed_only" if state.versions else "never_recorded"


def _is_yet_to_start(version: Version, t: int) -> bool:
    if not version.ends_after_its_start:
        return version.end is not None and t < version.end
    return version.valid_from is not None and t < version.valid_from


def _winner(agreeing: list[Version]) -> bytes:
    """The latest ``valid_from``, ties by the lowest id."""
    best = agreeing[0]
    for version in agreeing[1:]:
        if starts_before(best.valid_from, version.valid_from):
            best = version
    return best.version_id


def _rivals(state: State, t: int) -> set[tuple[bytes, bytes]]:
    if not state.is_single:
        return set()
    pairs = combinations(eligible_at(state, t), 2)
    return {(a, b) for a, b in pairs if state.versions[a].value != state.versions[b].value}


def _is_ever_active(state: State, version_id: bytes) -> bool:
    return version_id in state.versions and state.versions[version_id].is_ever_active


def _label(state: State, version: Version) -> str:
    if version.is_revoked:
        return "REVOKED"
    if not version.is_ever_active:
        return "PROPOSED"
    inside = [t for t in instants(state) if lies_in(t, version.valid_from, version.end)]
    is_covered_at_last = bool(inside) and version.version_id in {m for _, m in covers_at(state, inside[-1])}
    return "SUPERSEDED" if is_covered_at_last else "ACTIVE"
