"""Takes a request's commands: each is accepted or refused for itself, all that are accepted are appended at once."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import structlog
from pydantic import ValidationError

from chronofact.contracts.codec import encode_event
from chronofact.contracts.commands import COMMANDS
from chronofact.contracts.drops import Drop, DropCommand
from chronofact.contracts.log import Message, OutcomeUnknown, QueueFull
from chronofact.contracts.position import Position
from chronofact.contracts.refusals import refusal_of
from chronofact.domain.errors import Rejected
from chronofact.kafka.partitioning import partition_of
from chronofact.runtime.health import Health
from chronofact.runtime.metrics import Metrics
from chronofact.writer.accept import Accepted, Acceptor, Authority
from chronofact.writer.body import Parsed
from chronofact.writer.ports import Log
from chronofact.writer.watch import PART, Watch

_DONE: Final[Parsed] = {}
_SLICE: Final = 200
"""Commands between two turns of the event loop, about 10 ms."""


class Outcome(NamedTuple):
    """The ids of an accepted command; not its event, of which a request may have thousands. ``frames`` is JSON."""

    event_id: bytes
    fact_id: bytes
    version_id: bytes | None
    idempotency_key: str | None
    frames: bytes | None = None


Result: TypeAlias = Outcome | Rejected


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a request, in order; no position when nothing was to be published."""

    results: list[Result]
    position: Position | None


class Writer:
    """The one way to the log."""

    def __init__(
        self, log: Log, acceptor: Acceptor, *, partitions: int, watch: Watch, health: Health, metrics: Metrics
    ) -> None:
        self._log = log
        self._acceptor = acceptor
        self._partitions = partitions
        self._watch = watch
        self._health = health
        self._metrics = metrics

    async def take(
        self, commands: list[Parsed], authority: Authority, *, is_dry_run: bool, trace: str | None = None
    ) -> Taken:
        """Accepts each command for itself and appends what was accepted; uses ``commands`` up.

        Raises:
            Rejected: ``queue_full``, ``outcome_unknown``, or what hinders the log: the request as a whole.
        """
        if not is_dry_run:
            self.require_log()
        results: list[Result] = []
        messages: list[Message] = []
        for start in range(0, len(commands), _SLICE):
            part = commands[start : start + _SLICE]
            results += [self._result(one, authority, trace, None if is_dry_run else messages) for one in part]
            # a command is not needed any more: of a large body only one copy is held at a time
            commands[start : start + _SLICE] = [_DONE] * len(part)
            await asyncio.sleep(0)
        position = None if is_dry_run else await self.append(messages)
        self.count(results, is_dry_run=is_dry_run)
        return Taken(results, position)

    async def drop(self, command: DropCommand, *, trace: str | None = None) -> tuple[Drop, Position]:
        """Appends one EventDropped; whether the message is parked only a projection can tell.

        Raises:
            Rejected: the command is wrong, or what hinders the log.
        """
        self.require_log()
        drop = command.drop(topic_id=self._watch.topic_id, partitions=self._partitions)
        return drop, await self.append([drop.message(trace=trace)])

    def require_log(self) -> None:
        """Refuses what can't be appended now.

        Raises:
            Rejected: what hinders the log.
        """
        if (reason := self._health.why(PART)) is not None:
            raise Rejected(reason.code, reason.message)

    def _result(
        self, command: Parsed, authority: Authority, trace: str | None, messages: list[Message] | None
    ) -> Result:
        if isinstance(command, Rejected):
            return command
        try:
            checked = COMMANDS.validate_python(command)
            accepted = self._acceptor.accept(checked, authority, trace=trace)
        except ValidationError as error:
            return refusal_of(error)
        except Rejected as error:
            return error
        if messages is not None:
            messages.append(self.message(accepted))
        return Outcome(accepted.event.event_id, accepted.fact_id, accepted.version_id, checked.idempotency_key)

    def message(self, accepted: Accepted) -> Message:
        """The event as the log takes it."""
        fact_id = accepted.fact_id
        return Message(fact_id, encode_event(accepted.event), partition_of(fact_id, self._partitions))

    async def append(self, messages: list[Message]) -> Position:
        """Where the messages lie, once every replica has them.

        Raises:
            Rejected: ``queue_full``, ``outcome_unknown``.
        """
        started = time.perf_counter()
        try:
            next_offsets = await self._log.append(messages)
        except QueueFull:
            self._metrics.counter("chronofact_writer_queue_full_total").inc()
            raise Rejected("queue_full", "no room for the whole request now; nothing was sent") from None
        except OutcomeUnknown:
            self._metrics.counter("chronofact_writer_append_failures_total").inc()
            self._watch.soon()
            structlog.get_logger().warning("outcome_unknown", messages=len(messages))
            raise Rejected("outcome_unknown", "Kafka did not acknowledge in time; sending again is safe") from None
        self._metrics.histogram("chronofact_writer_append_seconds").observe(time.perf_counter() - started)
        return Position(self._watch.topic_id, next_offsets)

    def count(self, results: list[Result], *, is_dry_run: bool) -> None:
        """Counts what became of a request's commands."""
        refused = [one for one in results if isinstance(one, Rejected)]
        if not is_dry_run:
            self._metrics.counter("chronofact_writer_commands_accepted_total").inc(len(results) - len(refused))
        for one in refused:
            self._metrics.counter("chronofact_writer_commands_rejected_total").labels(one.code).inc()
