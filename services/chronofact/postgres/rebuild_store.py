"""Rebuilds as Postgres keeps them: begun, listed, cancelled, and taken by one runner at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from psycopg import Connection
from psycopg.rows import dict_row

from chronofact.contracts.rebuilding import NOTHING, Rebuild, RebuildPart, RebuildState, RebuildTold, RebuildWanted
from chronofact.contracts.standstill import IDLE_S, STILL_S, Ended, Standstill, nobody_is_told
from chronofact.domain.errors import Rejected
from chronofact.domain.rules import RULE_DEFAULT, RULES
from chronofact.postgres.errors import failures_named
from chronofact.postgres.holding import Lock, alive, held, standing_still
from chronofact.postgres.load_work import session_of_workers
from chronofact.postgres.migrate import migrate, status
from chronofact.postgres.rebuild_hold import RebuildHold, told
from chronofact.postgres.session import connect
from chronofact.postgres.template import script

LOCK_CLASS: Final = 0x72626C64  # "rbld"
_ONE_AT_WORK: Final = Lock("rebuild turn", LOCK_CLASS, "")


class RebuildStore:
    """The rebuilds of one database; every call has a connection of its own."""

    def __init__(self, conninfo: str, *, still_s: float = STILL_S, still_ended: Ended = nobody_is_told) -> None:
        self._conninfo = conninfo
        self._still_s = still_s
        self._still_ended = still_ended

    def begin(self, wanted: RebuildWanted, *, workers: int) -> RebuildTold:
        """A new rebuild, which waits for a runner; a database without any table of ours gets them first.

        Raises:
            Rejected: ``rebuild_running``, ``projection_exists``, ``field_value``.
            Transient, Unfit: Postgres is away, or is not migrated.
        """
        if not status(self._conninfo).applied:
            migrate(self._conninfo, projection=None)
        with self._connected() as connection, connection.transaction():
            connection.execute("select pg_advisory_xact_lock(%s, hashtext('begin'))", (LOCK_CLASS,))
            projection = wanted.projection or f"p{_one(connection, 'free_number')['number']}"
            _refuse_taken(projection, _one(connection, "taken", projection=projection))
            parameters = {
                "projection": projection,
                "rule": _rule(connection, wanted.rule),
                "workers": wanted.workers or workers,
                "compared_with": _comparable(connection, wanted.compare_with),
                "shadow_window_s": wanted.shadow_window_s,
            }
            rebuild_id = _one(connection, "begin", **parameters)["rebuild_id"]
            return told(_one(connection, "listed", rebuild_id=rebuild_id, before=None, limit=1))

    def rebuilds(self, *, before: int | None = None, limit: int = 100) -> list[RebuildTold]:
        """Newest first."""
        with self._connected() as connection:
            found = map(told, _lines(connection, "listed", rebuild_id=None, before=before, limit=limit))
            return _with_stills(connection, [*found])

    def rebuild(self, rebuild_id: int) -> tuple[RebuildTold, list[RebuildPart]] | None:
        """One of them, with its partitions."""
        with self._connected() as connection:
            found = _lines(connection, "listed", rebuild_id=rebuild_id, before=None, limit=1)
            if not found:
                return None
            parts = _lines(connection, "parts", rebuild_id=rebuild_id)
            (one,) = _with_stills(connection, [told(found[0])])
        return one, [RebuildPart(**line) for line in parts]

    def counts(self) -> Mapping[RebuildState, int]:
        """How many there are, by state."""
        return {RebuildState(line["state"]): line["rebuilds"] for line in self._if_there("counts")}

    def unfinished(self) -> Sequence[int]:
        """Those to be gone on with, the oldest first; none where the tables are not there yet."""
        return [line["rebuild_id"] for line in self._if_there("unfinished")]

    def cancels(self) -> Sequence[int]:
        """Those of which nothing is to stay, though something does."""
        return [line["rebuild_id"] for line in self._if_there("cancels")]

    def ask_cancel(self, rebuild_id: int) -> None:
        """Asks for a rebuild's end; its runner, or whoever is free, sees to it that nothing of it stays.

        Raises:
            Rejected: ``not_found``; ``rebuild_over`` where it is ready; ``retire_routed`` where tenants read it.
        """
        with self._connected() as connection:
            found = _lines(connection, "listed", rebuild_id=rebuild_id, before=None, limit=1)
            if not found:
                raise Rejected("not_found", "no rebuild has this number", field="rebuild_id")
            if found[0]["state"] == RebuildState.READY:
                name = found[0]["projection"]
                raise Rejected(
                    "rebuild_over",
                    f"rebuild {rebuild_id} is done; `chronofact retire {name} --drop` removes what it made",
                    field="rebuild_id",
                )
            name = found[0]["projection"]
            if _one(connection, "is_routed", projection=name)["is_routed"]:
                told = f"tenants read {name}; have them read another first: `chronofact switch --to`"
                raise Rejected("retire_routed", told, field="rebuild_id")
            connection.execute(script("rebuilds", "ask_cancel").filled(connection), {"rebuild_id": rebuild_id})

    def verify_again(self, rebuild_id: int, compare_with: str | None) -> None:
        """Has a failed rebuild that was loaded caught up and verified once more, against another one if that is named.

        Raises:
            Rejected: ``not_found``, ``field_value``; ``rebuild_running`` where it has not failed; ``rebuild_over`` where
                there is nothing to verify.
        """
        with self._connected() as connection, connection.transaction():
            parameters = {"rebuild_id": rebuild_id, "compared_with": _comparable(connection, compare_with)}
            found = _lines(connection, "verify_again", **parameters)
            if not found:
                raise _not_again(_lines(connection, "listed", rebuild_id=rebuild_id, before=None, limit=1))
            connection.execute(
                "update chronofact.projection set state = 'catching_up' where name = %s and state = 'failed'",
                (found[0]["projection"],),
            )

    @contextmanager
    def take(self, rebuild_id: int, *, to_build: bool = True) -> Iterator[RebuildHold | None]:
        """Become its runner while the block runs; None where another has it, or one is at work and this is ``to_build``.

        Who has it and stands still is ended for that; whatever it still tries when it wakes names an epoch of before.
        """
        settings: dict[str, str | int] = {"idle_session_timeout": 0, "client_connection_check_interval": 2_000}
        with (
            failures_named(),
            connect(self._conninfo, "rebuild", autocommit=True, **settings) as connection,
            self._held(connection, Lock(f"rebuild {rebuild_id}", LOCK_CLASS, str(rebuild_id))) as is_free,
        ):
            if not is_free:
                yield None
                return
            with self._held(connection, _ONE_AT_WORK) if to_build else nullcontext(True) as is_turn:
                taken = _lines(connection, "take", rebuild_id=rebuild_id) if is_turn else []
                if not taken:
                    yield None
                    return
                _lines(connection, "end_workers", worker=f"chronofact {session_of_workers(rebuild_id)}")
                rebuild = told(_one(connection, "listed", rebuild_id=rebuild_id, before=None, limit=1)).rebuild
                with alive(connection):
                    yield RebuildHold(connection, rebuild)

    def _held(self, connection: Connection[Any], lock: Lock) -> AbstractContextManager[bool]:
        return held(connection, lock, still_s=self._still_s, ended=self._still_ended)

    def _if_there(self, name: str) -> list[dict[str, Any]]:
        with self._connected() as connection:
            there = connection.execute("select to_regclass('chronofact.rebuild') is not null").fetchone()
            return _lines(connection, name) if there and there[0] else []

    @contextmanager
    def _connected(self) -> Iterator[Connection[Any]]:
        with failures_named(), connect(self._conninfo, "rebuild", autocommit=True) as connection:
            yield connection


def _with_stills(connection: Connection[Any], found: Sequence[RebuildTold]) -> list[RebuildTold]:
    """The same, each with what is known of a runner of it that stands still, or of work that does."""
    keys = [str(one.rebuild.rebuild_id) for one in found]
    stills = standing_still(connection, LOCK_CLASS, keys)
    now = connection.execute("select clock_timestamp()").fetchone()
    return [
        replace(one, still=stills.get(key), idle=now and _idle(one.rebuild, now[0]))
        for one, key in zip(found, keys, strict=True)
    ]


def _idle(rebuild: Rebuild, now: datetime) -> Standstill | None:
    """By the beats of whoever does the work: its connection may give signs of life for a thread that does not."""
    beat_at = rebuild.heartbeat_at
    if beat_at is None or rebuild.state.is_over:
        return None
    seconds = (now - beat_at).total_seconds()
    return Standstill(beat_at, seconds) if seconds >= IDLE_S else None


def _refuse_taken(projection: str, found: Mapping[str, Any]) -> None:
    state = found["rebuild_state"]
    if state is not None and not RebuildState(state).is_over:
        told = f"rebuild {found['rebuild_id']} of {projection} is not over; one at a time"
        raise Rejected("rebuild_running", told, field="projection")
    if found["projection_state"] is None and not found["has_schema"]:
        return
    if state == RebuildState.FAILED:
        why = (
            f"{projection} is what a failed rebuild left; `chronofact rebuild cancel {found['rebuild_id']}` removes it,"
            f" `chronofact rebuild verify {found['rebuild_id']}` verifies it once more"
        )
    else:
        why = f"{projection} is there already; name another, or none for the next free name"
    raise Rejected("projection_exists", why, field="projection")


def _not_again(found: Sequence[Mapping[str, Any]]) -> Rejected:
    if not found:
        return Rejected("not_found", "no rebuild has this number", field="rebuild_id")
    number, name, state = found[0]["rebuild_id"], found[0]["projection"], RebuildState(found[0]["state"])
    if not state.is_over:
        told = f"rebuild {number} of {name} is not over: it is verified when it comes to that"
        return Rejected("rebuild_running", told, field="rebuild_id")
    if state is RebuildState.READY:
        why = f"is done; `chronofact verify` holds {name} against another at any time"
    elif state is RebuildState.CANCELLED or found[0]["cancel_asked_at"]:
        why = "is cancelled; `chronofact rebuild start` begins another"
    else:
        why = f"failed before all was loaded; `chronofact rebuild cancel {number}`, then `chronofact rebuild start`"
    return Rejected("rebuild_over", f"rebuild {number} {why}", field="rebuild_id")


def _rule(connection: Connection[Any], wanted: int | None) -> int:
    if wanted is None:
        routed = _lines(connection, "routed_rule")
        return int(routed[0]["rule"]) if routed else RULE_DEFAULT
    if wanted not in RULES:
        raise Rejected("field_value", f"the rules are {', '.join(map(str, RULES))}", field="rule")
    return wanted


def _comparable(connection: Connection[Any], wanted: str | None) -> str | None:
    if wanted in {None, NOTHING}:
        return wanted
    if _one(connection, "taken", projection=wanted)["projection_state"] not in {"live", "ready"}:
        raise Rejected("field_value", f"no projection {wanted} is ready or live", field="compare_with")
    return wanted


def _lines(connection: Connection[Any], name: str, **parameters: Any) -> list[dict[str, Any]]:
    cursor = connection.cursor(row_factory=dict_row)
    return cursor.execute(script("rebuilds", name).filled(connection), parameters).fetchall()


def _one(connection: Connection[Any], name: str, **parameters: Any) -> dict[str, Any]:
    (found,) = _lines(connection, name, **parameters)
    return found
