"""A rebuild in the hands of its runner: whatever it writes counts only while no other has taken it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from psycopg import Connection
from psycopg.rows import dict_row

from chronofact.contracts.rebuilding import (
    Comparable,
    Rebuild,
    RebuildCancelled,
    RebuildLost,
    RebuildState,
    RebuildTold,
)
from chronofact.postgres.errors import failures_named
from chronofact.postgres.projections import publish
from chronofact.postgres.template import script

FED: Final = {RebuildState.CATCHING_UP, RebuildState.VERIFYING}
"""States of a rebuild that its projection shares: projectors feed it."""

_FIELDS: Final = (
    *("rebuild_id", "projection", "rule", "workers", "epoch", "started_at", "topic_id", "fingerprint", "compared_with"),
    *("shadow_window_s", "phases", "finished_at", "heartbeat_at", "waiting", "cancel_asked_at", "failure"),
    *("failure_code", "remedy"),
)
_SUMS: Final = ("messages_total", "messages_read", "messages", "events", "facts", "parked")


class RebuildHold:
    """One rebuild; ``connection`` holds its locks, and may be used by several threads."""

    def __init__(self, connection: Connection[Any], rebuild: Rebuild) -> None:
        self._connection = connection
        self.rebuild = rebuild

    def look_again(self) -> None:
        """``rebuild`` as it is kept now, under the epoch that is ours."""
        parameters = {"rebuild_id": self.rebuild.rebuild_id, "before": None, "limit": 1}
        with failures_named():
            cursor = self._connection.cursor(row_factory=dict_row)
            found = cursor.execute(script("rebuilds", "listed").filled(self._connection), parameters).fetchall()
        self.rebuild = replace(told(found[0]).rebuild, epoch=self.rebuild.epoch)

    def beat(
        self, *, phase: str | None = None, seconds: float = 0.0, waiting: str | None = None, against: str | None = None
    ) -> None:
        """Says that it is alive, what took so long, and for what it waits.

        Raises:
            RebuildCancelled: somebody asked for its end.
            RebuildLost: another runner has it.
        """
        found = self._line("beat", phase=phase, seconds=seconds, waiting=waiting, compared_with=against)
        if found["is_cancelled"]:
            raise RebuildCancelled

    def move(self, state: RebuildState) -> None:
        """To the next state; its projection follows, so that projectors begin to feed it."""
        with failures_named(), self._connection.transaction():
            projection = self._moved(state)
            if state in FED:
                self._set_projection(projection, state)
            if state is RebuildState.CATCHING_UP:
                # nobody has it yet; the first projector that claims a partition makes this 1
                self._connection.execute(
                    "update chronofact.checkpoint set epoch = 0 where projection = %s", (projection,)
                )

    def fail(self, code: str, failure: str, remedy: str) -> None:
        """It has failed; what it made stays to be looked at, fed by nobody."""
        with failures_named(), self._connection.transaction():
            self._set_projection(self._moved(RebuildState.FAILED, code, failure, remedy), RebuildState.FAILED)

    def end(self) -> None:
        """Ends the feeding of what is about to be removed."""
        with failures_named(), self._connection.transaction():
            self._set_projection(self._line("is_mine")["projection"], RebuildState.FAILED)

    def serve(self) -> None:
        """Its projection may be routed to from now on, and is where nobody was routed to any."""
        parameters = {"projection": self.rebuild.projection, "fingerprint": self.rebuild.fingerprint}
        with failures_named():
            with self._connection.transaction():
                self._line("is_mine")
                self._connection.execute(script("rebuilds", "serve").filled(self._connection), parameters)
            publish(self._connection)

    def is_serving(self) -> bool:
        """Whether its projection may be routed to already."""
        return self.rule_of(self.rebuild.projection) is not None

    def comparable(self) -> Comparable | None:
        """What the new projection is held against."""
        found = self._lines("comparable", projection=self.rebuild.projection, rule=self.rebuild.rule)
        return Comparable(found[0]["name"], found[0]["rule"]) if found else None

    def rule_of(self, projection: str) -> int | None:
        """The rule of a projection that serves."""
        with failures_named():
            statement = "select rule from chronofact.projection where name = %s and state in ('live', 'ready')"
            found = self._connection.execute(statement, (projection,)).fetchone()
        return None if found is None else int(found[0])

    def checkpoints(self, projection: str) -> Mapping[int, tuple[int, int]]:
        """Next offset and epoch of each partition."""
        found = self._lines("checkpoints", projection=projection)
        return {line["partition"]: (line["next_offset"], line["epoch"]) for line in found}

    def _moved(
        self, state: RebuildState, code: str | None = None, failure: str | None = None, remedy: str | None = None
    ) -> str:
        found = self._line("move", state=state.value, code=code, failure=failure, remedy=remedy)
        return str(found["projection"])

    def _set_projection(self, projection: str, state: RebuildState) -> None:
        self._connection.execute(
            "update chronofact.projection set state = %s where name = %s and state not in ('ready', 'live')",
            (state.value, projection),
        )

    def _line(self, name: str, **parameters: Any) -> dict[str, Any]:
        found = self._lines(name, **parameters)
        if not found:
            raise RebuildLost(self.rebuild.rebuild_id)
        return found[0]

    def _lines(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        rebuild = self.rebuild
        named = {"rebuild_id": rebuild.rebuild_id, "epoch": rebuild.epoch, "topic_id": rebuild.topic_id, **parameters}
        with failures_named():
            cursor = self._connection.cursor(row_factory=dict_row)
            return cursor.execute(script("rebuilds", name).filled(self._connection), named).fetchall()


def told(line: Mapping[str, Any]) -> RebuildTold:
    """A line of the list."""
    named = {name: line[name] for name in _FIELDS}
    rebuild = Rebuild(**named, state=RebuildState(line["state"]), targets=tuple(line["targets"] or ()))
    return RebuildTold(rebuild, **{name: line[name] for name in _SUMS})
