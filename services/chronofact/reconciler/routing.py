"""Moves tenants from one projection to another, or says by name what speaks against it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from chronofact.contracts.routing import (
    Beside,
    Kind,
    Known,
    Line,
    Move,
    Refusal,
    Routed,
    RouteRefused,
    RouteWanted,
    Undoable,
)
from chronofact.domain.errors import Rejected
from chronofact.postgres.route_store import RouteChanging, RouteStore
from chronofact.runtime.failures import Transient

READY: Final = frozenset({"ready", "live"})
TRIES: Final = 20
"""Against readers that hold the views just then; each try is short."""


class Router:
    """Changes routes of one database."""

    def __init__(self, store: RouteStore, *, lag_events_max: int) -> None:
        self._store = store
        self._lag_events_max = lag_events_max

    def route(self, wanted: RouteWanted) -> Routed:
        """Switches, or rolls back, all that is wanted or nothing.

        Raises:
            RouteRefused: something speaks against it that was not, or can't be, forced.
            Rejected: ``reason_missing``.
            Transient, Unfit: Postgres is away or not migrated.
        """
        if wanted.is_forced and not (wanted.reason or "").strip():
            raise Rejected("reason_missing", "to force a switch takes a reason, which is kept", field="reason")
        started = time.perf_counter()
        for tries_left in reversed(range(TRIES)):
            try:
                with self._store.changing() as change:
                    connected = time.perf_counter()
                    routed = self._route(change, wanted)
                ended = time.perf_counter()
                return replace(routed, seconds=ended - started, transaction_s=ended - connected)
            except Transient as failure:
                if failure.code != "postgres_busy" or not tries_left:
                    raise
        raise AssertionError("the last try returns or raises")

    def _route(self, change: RouteChanging, wanted: RouteWanted) -> Routed:
        known = change.projections()
        lines = change.lines_of_default() if wanted.everyone else change.lines(wanted.tenant_ids)
        if not lines:
            raise RouteRefused([Refusal("tenant_not_routed", "no projection serves by default", can_be_forced=False)])
        moves, unchanged, stay = _moves(change, wanted, lines)
        refusals = list(self._against(change, wanted, known, moves))
        if [one for one in refusals if not (wanted.is_forced and one.can_be_forced)]:
            raise RouteRefused(refusals)
        targets = sorted({one.to_projection for one in moves})
        if moves:
            change.change(wanted, moves, [one.code for one in refusals])
            change.publish(targets)
        elsewhere = change.elsewhere(wanted.to_projection) if wanted.everyone and wanted.to_projection else {}
        return Routed(moves, unchanged, elsewhere, stay, refusals)

    def _against(
        self, change: RouteChanging, wanted: RouteWanted, known: Mapping[str, Known], moves: Sequence[Move]
    ) -> Iterator[Refusal]:
        left_at = {move[1:3]: move.left_at for move in sorted(moves, key=lambda one: str(one.left_at), reverse=True)}
        for (source, target), left in sorted(left_at.items(), key=lambda one: one[0]):
            new = known.get(target)
            if new is None or not new.is_there:
                code, gone = (
                    ("rollback_gone", "it is retired")
                    if wanted.kind is Kind.ROLLBACK
                    else ("projection_unknown", "there is none; `chronofact doctor` names all")
                )
                yield Refusal(code, f"{target} can't be read: {gone}", can_be_forced=False)
                continue
            if left is not None and not new.is_what_was_left(left):
                told = f"{target} is another projection than the one of that name that was left at {left:%Y-%m-%d %H:%M:%SZ}"
                yield Refusal("rollback_gone", f"{told}; `chronofact switch --to` goes there", can_be_forced=False)
                continue
            beside = change.beside(target, source)
            yield from _unfit_to_read(new, beside, source, self._lag_events_max, wanted.kind)
            if wanted.kind is Kind.SWITCH:
                who = [one.tenant_id for one in moves if one[1:3] == (source, target)]
                was_read = new.was_live and change.went_there(target, who)
                yield from _unproven(new, beside, source, known, was_read=was_read)


def _moves(
    change: RouteChanging, wanted: RouteWanted, lines: Sequence[Line]
) -> tuple[list[Move], list[Line], list[Line]]:
    """What is to be changed, what is there already, and what has nothing to be taken back."""
    target = wanted.to_projection
    if target is not None:
        moves = [Move(one.tenant_id, one.projection, target) for one in lines if one.projection != target]
        return moves, [one for one in lines if one.projection == target], []
    undoable = change.undoable(lines)
    moves, stay, refusals = [], list[Line](), list[Refusal]()
    for line in lines:
        found = undoable.get(line.tenant_id)
        if found is not None and found.to_projection == line.projection:
            move = Move(line.tenant_id, line.projection, found.from_projection, found.number, found.changed_at)
            moves.append(move)
        elif wanted.everyone and line.tenant_id is not None:
            stay.append(line)
        else:
            refusals.append(_nothing_to_undo(line, found))
    if refusals:
        raise RouteRefused(refusals)
    return moves, [], stay


def _nothing_to_undo(line: Line, found: Undoable | None) -> Refusal:
    who = "the line for all tenants without one" if line.tenant_id is None else f"tenant {line.tenant_id}"
    if found is not None:
        told = f"{who} reads {line.projection}, while its last switch went to {found.to_projection}: its line was changed by other means"
        return Refusal("rollback_unclear", f"{told}; say where to by `chronofact switch --to`", can_be_forced=False)
    if not line.has_line:
        told = f"{who} has no line of its own and goes where all others go, to {line.projection}"
        remedy = "`chronofact rollback --all` takes all of them back, `chronofact switch --to` this one"
        return Refusal("rollback_nothing", f"{told}; {remedy}", can_be_forced=False)
    told = f"{who} reads {line.projection}, and no switch is left to be taken back"
    return Refusal("rollback_nothing", f"{told}; say where to by `chronofact switch --to`", can_be_forced=False)


def _unfit_to_read(new: Known, beside: Beside, source: str, lag_events_max: int, kind: Kind) -> Iterator[Refusal]:
    """Whether its answers are as fresh as those of now."""
    if new.state == "building" or (new.state == "failed" and not beside.is_begun):
        told = f"{new.name} is {new.state}: its tables are not whole"
        yield Refusal("route_unfinished", f"{told}; see `chronofact rebuild status`", can_be_forced=False)
        return
    if new.state == "retired" and kind is Kind.ROLLBACK:
        told = f"{new.name} is retired: nothing feeds it any more"
        yield Refusal("rollback_gone", f"{told}; rebuild, and switch to that", can_be_forced=False)
        return
    if new.state not in READY:
        yield Refusal("route_not_ready", f"{new.name} is {new.state}; {_HELP.get(new.state, 'wait until it is ready')}")
    if not beside.is_begun:
        yield Refusal("route_not_fed", f"no projector has begun with {new.name}; start `chronofact projector`")
    elif beside.is_held:
        yield Refusal("route_not_fed", f"{new.name} is held for a verification; wait until that is over")
    if beside.is_of_other_topic:
        yield from _unproven_across(new, beside, source)
    elif beside.is_begun and beside.lag_events > lag_events_max:
        told = f"{new.name} lacks {beside.lag_events:,} events that {source} has, more than {lag_events_max:,}"
        yield Refusal("route_lags", f"{told}; wait until it has caught up, or see why it does not")


def _unproven_across(new: Known, beside: Beside, source: str) -> Iterator[Refusal]:
    """Whether it was shown to have all that the old one has: no offset tells."""
    if beside.applied_since == 0:
        return
    told = f"{new.name} is made of another topic than {source}, so nobody can say how far it lags"
    if beside.applied_since is not None:
        more = f"{source} has applied {beside.applied_since:,} more since"
        told = f"{new.name}, which is made of another topic, was found to be the same as {source}, but {more}"
    compare = f"`chronofact verify {source} {new.name} --across-topics` tells, while nothing is written"
    yield Refusal("route_other_topic", f"{told}; {compare} (docs/operations/more-partitions.md)")


_HELP: Final = {
    "catching_up": "wait until it has caught up: `chronofact rebuild watch`",
    "verifying": "wait for the verification: `chronofact rebuild watch`",
    "failed": "see why by `chronofact rebuild status`, and rebuild",
    "retired": "rebuild; it is fed no more",
}


def _unproven(
    new: Known, beside: Beside, source: str, known: Mapping[str, Known], *, was_read: bool
) -> Iterator[Refusal]:
    """Whether it was shown to be right: what was rebuilt is verified, and another rule is looked at in shadow first."""
    if beside.verification_id is not None and not beside.identical:
        told = f"the last verification of {new.name}, number {beside.verification_id}, found it to differ from {beside.beside}"
        yield Refusal("route_verification_failed", f"{told}; see `chronofact verify {beside.beside} {new.name}`")
    elif beside.is_unverified and not was_read:
        other = beside.compared_with or source
        told = f"{new.name} was rebuilt, and never verified"
        yield Refusal("route_unverified", f"{told}; run `chronofact verify {other} {new.name}`")
    yield from _unlooked_at(new, beside, known.get(source), known, was_read=was_read)


def _unlooked_at(
    new: Known, beside: Beside, old: Known | None, known: Mapping[str, Known], *, was_read: bool
) -> Iterator[Refusal]:
    if old is not None and old.rule != new.rule and not was_read and not _is_of_two_rules(new, beside, known):
        told = f"{new.name} is of rule {new.rule}, {old.name} of rule {old.rule}, and they were never compared"
        begin = f"`chronofact shadow start {new.name} --against {old.name}` begins with it"
        yield Refusal("route_shadow_absent", f"{told}; {begin}")
    if beside.shadow_id is None:
        return
    if beside.unknown:
        told = f"{beside.unknown:,} differences of {new.name} to {beside.old_projection} are unexplained"
        yield Refusal("route_shadow_unknown", f"{told}; see `chronofact shadow report --projection {new.name}`")
    if not beside.is_over:
        told = f"the shadow window of {new.name} is open until {beside.until:%Y-%m-%d %H:%M:%SZ}"
        if beside.shadow_failure is not None:
            told = f"the shadow comparison of {new.name} ended early: {beside.shadow_failure}"
        yield Refusal("route_shadow_open", f"{told}; see `chronofact shadow report --projection {new.name}`")


def _is_of_two_rules(new: Known, beside: Beside, known: Mapping[str, Known]) -> bool:
    """Whether the last window saw a change of rule: beside one of its own rule there is none to be seen."""
    other = known.get(beside.old_projection or "")
    return beside.shadow_id is not None and (other is None or other.rule != new.rule)
