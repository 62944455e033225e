"""Which edges there are and when each has effect (semantics §3 Edges)."""

from __future__ import annotations

from dataclasses import dataclass

from .relations import relation_edges
from .says import OLog, OSupersede
from .standing import Version, earlier_stop, later_start, lies_in, not_taken_back, starts_before


@dataclass(frozen=True)
class Said:
    """An edge as stated, before anyone looks whether it applies."""

    new: bytes
    old: bytes
    effective_at: int | None
    mode: str | None


@dataclass(frozen=True)
class Edge:
    """An edge that applies, with its effect ``[start, stop)`` in valid time."""

    new: bytes
    old: bytes
    start: int | None
    stop: int | None
    is_stated: bool

    def has_effect(self, t: int) -> bool:
        """Whether it has effect at an instant."""
        return lies_in(t, self.start, self.stop)


def said_edges(log: OLog, versions: dict[bytes, Version]) -> list[Said]:
    """Every edge that assertions that count, supersessions and relations state."""
    edges = [
        Said(version.version_id, s.version, s.effective_at, s.mode)
        for version in versions.values()
        for event in version.heard
        for s in event.supersedes
    ]
    edges += [Said(e.new, e.old, e.effective_at, e.mode) for e in not_taken_back(log) if isinstance(e, OSupersede)]
    edges += [Said(new, old, at, None) for new, old, at in relation_edges(log, versions)]
    return edges


def dangling(said: list[Said], versions: dict[bytes, Version]) -> set[tuple[bytes, bytes]]:
    """Edges from a version to itself, or with an end that this fact does not know."""
    return {(s.new, s.old) for s in said if s.new == s.old or s.new not in versions or s.old not in versions}


def edges_of(said: list[Said], versions: dict[bytes, Version], *, is_single: bool) -> list[Edge]:
    """The edges that apply: stated ones, and automatic ones where nothing is stated."""
    stated = [_stated(s, versions) for s in said if s.new != s.old and _joins(s.new, s.old, versions)]
    if not is_single:
        return stated
    pairs = {(edge.new, edge.old) for edge in stated}
    return stated + [
        _edge(new, old.version_id, None, None, is_stated=False)
        for new in versions.values()
        for old in versions.values()
        if new.succession == "automatic"
        and starts_before(old.valid_from, new.valid_from)
        and _joins(new.version_id, old.version_id, versions)
        and (new.version_id, old.version_id) not in pairs
    ]


def _joins(new: bytes, old: bytes, versions: dict[bytes, Version]) -> bool:
    return all(v in versions and versions[v].is_ever_active for v in (new, old))


def _stated(said: Said, versions: dict[bytes, Version]) -> Edge:
    return _edge(versions[said.new], said.old, said.effective_at, said.mode, is_stated=True)


def _edge(new: Version, old: bytes, effective_at: int | None, mode: str | None, *, is_stated: bool) -> Edge:
    start = new.valid_from if effective_at is None else effective_at
    stop = None
    if (mode or default_mode(new)) == "override":
        start, stop = later_start(start, new.valid_from), earlier_stop(stop, new.end)
    return Edge(new.version_id, old, start, stop, is_stated)


def default_mode(new: Version) -> str:
    """``replace`` when its ``valid_to`` is open as asserted, else ``override``."""
    return "replace" if new.valid_to is None else "override"
