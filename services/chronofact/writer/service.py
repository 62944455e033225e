"""Takes a request's commands: each is accepted or refused for itself, all that are accepted are appended at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, TypeAlias

import orjson
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
from chronofact.text.worker import Reading
from chronofact.writer.accept import Accepted, Acceptor, Authority
from chronofact.writer.body import Parsed
from chronofact.writer.notices import Notice, notice_of
from chronofact.writer.ports import Log
from chronofact.writer.text_side import TextSide
from chronofact.writer.watch import PART, Watch

_DONE: Final[Parsed] = {}
_SLICE: Final = 200
"""Commands between two turns of the event loop, about 10 ms."""
_UNREAD: Final = b""
"""Stands for the frames of a memory until its text is read."""

Judge: TypeAlias = Callable[[dict[str, Any], Authority, str | None], tuple[Accepted, str | None]]
"""A command, who says it and its trace to its event and idempotency key; raises ``Rejected``."""


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


class _Memory(NamedTuple):
    """A text memory of a batch, and where its message lies among the others."""

    accepted: Accepted
    place: int


@dataclass(slots=True)
class _Batch:
    """What one request's commands came to so far."""

    authority: Authority
    trace: str | None
    is_kept: bool
    judge: Judge
    messages: list[Message] = field(default_factory=list)
    memories: list[_Memory] = field(default_factory=list)


class Writer:
    """The one way to the log; ``texts`` is what reads the texts of memories, or why they are refused."""

    def __init__(
        self,
        log: Log,
        acceptor: Acceptor,
        *,
        partitions: int,
        watch: Watch,
        health: Health,
        metrics: Metrics,
        texts: TextSide | Rejected,
    ) -> None:
        self._log = log
        self._acceptor = acceptor
        self._partitions = partitions
        self._watch = watch
        self._health = health
        self._metrics = metrics
        self._texts = texts

    async def take(
        self,
        commands: list[Parsed],
        authority: Authority,
        *,
        is_dry_run: bool,
        trace: str | None = None,
        judge: Judge | None = None,
    ) -> Taken:
        """Accepts each command for itself, reads texts of memories, and appends what was accepted; uses ``commands`` up.

        Raises:
            Rejected: ``queue_full``, ``outcome_unknown``, or what hinders the log: the request as a whole.
        """
        if not is_dry_run:
            self.require_log()
        results: list[Result] = []
        batch = _Batch(authority, trace, not is_dry_run, judge or self._judge)
        for start in range(0, len(commands), _SLICE):
            part = commands[start : start + _SLICE]
            results += [self._result(one, batch) for one in part]
            # a command is not needed any more: of a large body only one copy is held at a time
            commands[start : start + _SLICE] = [_DONE] * len(part)
            await asyncio.sleep(0)
        if batch.memories and isinstance(self._texts, TextSide):
            return await self._remembered(results, batch, self._texts)
        position = None if is_dry_run else await self.append(batch.messages)
        self.count(results, is_dry_run=is_dry_run)
        return Taken(results, position)

    async def _remembered(self, results: list[Result], batch: _Batch, side: TextSide) -> Taken:
        """The same of a request that has memories: what is derived of their texts goes into their events."""
        readings = await side.texts.read([one.accepted.text or "" for one in batch.memories])
        if batch.is_kept:
            await self._derive(batch, readings)
        told = iter(readings)
        results = [_with_frames(one, told) for one in results]
        position = await self.append(batch.messages) if batch.is_kept else None
        if position is not None:
            side.notices.tell(_notices(batch, position))
        self.count(results, is_dry_run=not batch.is_kept)
        return Taken(results, position)

    async def _derive(self, batch: _Batch, readings: list[Reading]) -> None:
        for number, (one, reading) in enumerate(zip(batch.memories, readings, strict=True), start=1):
            event = replace(one.accepted.event, derived=reading.derived)
            batch.messages[one.place] = self.message(one.accepted._replace(event=event))
            if number % _SLICE == 0:
                await asyncio.sleep(0)

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

    def _result(self, command: Parsed, batch: _Batch) -> Result:
        if isinstance(command, Rejected):
            return command
        try:
            accepted, idempotency_key = batch.judge(command, batch.authority, batch.trace)
        except Rejected as error:
            return error
        is_memory = accepted.text is not None
        if is_memory:
            if isinstance(self._texts, Rejected):
                return Rejected(self._texts.code, self._texts.message, field="key")
            batch.memories.append(_Memory(accepted, len(batch.messages)))
        if batch.is_kept:
            batch.messages.append(self.message(accepted))
        frames = _UNREAD if is_memory else None
        return Outcome(accepted.event.event_id, accepted.fact_id, accepted.version_id, idempotency_key, frames)

    def _judge(self, command: dict[str, Any], authority: Authority, trace: str | None) -> tuple[Accepted, str | None]:
        try:
            checked = COMMANDS.validate_python(command)
        except ValidationError as error:
            raise refusal_of(error) from None
        return self._acceptor.accept(checked, authority, trace=trace), checked.idempotency_key

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


def _with_frames(result: Result, readings: Iterator[Reading]) -> Result:
    """The result; that of a memory with the frames of the next reading."""
    if isinstance(result, Rejected) or result.frames is None:
        return result
    return result._replace(frames=orjson.dumps([frame.to_json() for frame in next(readings).frames]))


def _notices(batch: _Batch, position: Position) -> Iterator[Notice]:
    for accepted, place in batch.memories:
        if accepted.version_id is not None:
            partition = batch.messages[place].partition
            yield notice_of(
                batch.authority.tenant_id, accepted.fact_id, accepted.version_id, position, partition=partition
            )
