"""Takes a request's text memories: each accepted or refused for itself, read once, and appended with what was derived."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import orjson
from pydantic import ValidationError

from chronofact.contracts.commands import Memory
from chronofact.contracts.log import Message
from chronofact.contracts.refusals import refusal_of
from chronofact.domain.errors import Rejected
from chronofact.text.worker import Reading
from chronofact.writer.accept import Accepted, Acceptor, Authority
from chronofact.writer.body import Parsed
from chronofact.writer.notices import Notices, notice_of
from chronofact.writer.remember import remembered
from chronofact.writer.service import Outcome, Result, Taken, Writer
from chronofact.writer.texts import Texts

_FIELDS: Final = tuple(Memory.model_fields)
_SLICE: Final = 200
_LEAVE_S: Final = 2.0


class _Claimed(NamedTuple):
    """A memory that is accepted and not read yet."""

    accepted: Accepted
    text: str
    idempotency_key: str | None


_Judged: TypeAlias = _Claimed | Rejected


class Memories:
    """The way of a text to the log."""

    def __init__(self, writer: Writer, acceptor: Acceptor, texts: Texts, notices: Notices) -> None:
        self._writer = writer
        self._acceptor = acceptor
        self._texts = texts
        self._notices = notices

    async def take(
        self, commands: list[Parsed], authority: Authority, *, is_dry_run: bool, trace: str | None = None
    ) -> Taken:
        """Accepts each memory for itself, reads what was accepted, and appends it.

        Raises:
            Rejected: ``queue_full``, ``outcome_unknown``, ``shutting_down``, or what hinders the log: the request as a whole.
        """
        if not is_dry_run:
            self._writer.require_log()
        judged = await self._judged(commands, authority, trace)
        claimed = [one for one in judged if isinstance(one, _Claimed)]
        readings = await self._texts.read([one.text for one in claimed])
        position = None
        if not is_dry_run:
            messages = [self._message(one, reading) for one, reading in zip(claimed, readings, strict=True)]
            position = await self._writer.append(messages)
            self._notices.tell(
                notice_of(authority.tenant_id, one.accepted.fact_id, version_id, position, partition=message.partition)
                for one, message in zip(claimed, messages, strict=True)
                if (version_id := one.accepted.version_id) is not None
            )
        told = iter(readings)
        results: list[Result] = [one if isinstance(one, Rejected) else _outcome(one, next(told)) for one in judged]
        self._writer.count(results, is_dry_run=is_dry_run)
        return Taken(results, position)

    async def _judged(self, commands: list[Parsed], authority: Authority, trace: str | None) -> list[_Judged]:
        judged: list[_Judged] = []
        for start in range(0, len(commands), _SLICE):
            judged += [self._judge(one, authority, trace) for one in commands[start : start + _SLICE]]
            await asyncio.sleep(0)
        return judged

    def _judge(self, command: Parsed, authority: Authority, trace: str | None) -> _Judged:
        if isinstance(command, Rejected):
            return command
        try:
            memory = Memory.model_validate(command)
            accepted = remembered(self._acceptor, memory, authority, trace=trace)
        except ValidationError as error:
            return refusal_of(error, fields=_FIELDS)
        except Rejected as error:
            return error
        return _Claimed(accepted, memory.text, memory.idempotency_key)

    def _message(self, one: _Claimed, reading: Reading) -> Message:
        event = one.accepted.event._replace(derived=reading.derived)
        return self._writer.message(one.accepted._replace(event=event))


@dataclass(frozen=True, slots=True)
class TextSide:
    """What a writer that takes texts has beside its log."""

    texts: Texts
    notices: Notices
    close_log: Callable[[], None]

    async def close(self) -> None:
        """Refuses texts that are not begun, and ends what tells of memories."""
        self.texts.close()
        await self.notices.settled(_LEAVE_S)
        await asyncio.to_thread(self.close_log)


class NoMemories:
    """In a writer that takes no texts."""

    def __init__(self, refusal: Rejected) -> None:
        self._refusal = refusal

    async def take(
        self, commands: list[Parsed], authority: Authority, *, is_dry_run: bool, trace: str | None = None
    ) -> Taken:
        """Nothing is taken.

        Raises:
            Rejected: why.
        """
        del commands, authority, is_dry_run, trace
        raise Rejected(self._refusal.code, self._refusal.message)


def _outcome(one: _Claimed, reading: Reading) -> Outcome:
    accepted = one.accepted
    frames = orjson.dumps([frame.to_json() for frame in reading.frames])
    return Outcome(accepted.event.event_id, accepted.fact_id, accepted.version_id, one.idempotency_key, frames)
