"""Takes a request's text memories: each accepted or refused for itself, then on the way of all commands."""

from __future__ import annotations

from typing import Any, Final

from pydantic import ValidationError

from chronofact.contracts.commands import Memory
from chronofact.contracts.refusals import refusal_of
from chronofact.domain.errors import Rejected
from chronofact.writer.accept import Accepted, Acceptor, Authority
from chronofact.writer.body import Parsed
from chronofact.writer.remember import remembered
from chronofact.writer.service import Taken, Writer

_FIELDS: Final = tuple(Memory.model_fields)


class Memories:
    """The way of a text to the log."""

    def __init__(self, writer: Writer, acceptor: Acceptor) -> None:
        self._writer = writer
        self._acceptor = acceptor

    async def take(
        self, commands: list[Parsed], authority: Authority, *, is_dry_run: bool, trace: str | None = None
    ) -> Taken:
        """Accepts each memory for itself, reads what was accepted, and appends it.

        Raises:
            Rejected: ``queue_full``, ``outcome_unknown``, ``shutting_down``, or what hinders the log: the request as a whole.
        """
        return await self._writer.take(commands, authority, is_dry_run=is_dry_run, trace=trace, judge=self._judge)

    def _judge(self, command: dict[str, Any], authority: Authority, trace: str | None) -> tuple[Accepted, str | None]:
        try:
            memory = Memory.model_validate(command)
        except ValidationError as error:
            raise refusal_of(error, fields=_FIELDS) from None
        return remembered(self._acceptor, memory, authority, trace=trace), memory.idempotency_key


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
