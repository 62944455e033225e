"""The call that gives a conversation to the writer, which keeps what the user said in it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from chronofact.client.commands import When, encoded, instant_text, said
from chronofact.client.exchange import Steps
from chronofact.client.numbered import each
from chronofact.domain.errors import Rejected


class InteractionCalls:
    """Of a client that writes."""

    @abstractmethod
    def told(self, path: str, content: bytes, *, dry_run: bool = False) -> Steps[Any]: ...

    def interact(
        self,
        subject: str,
        turns: Iterable[Mapping[str, Any]],
        *,
        source: str,
        scope: str | None = None,
        category: str | None = None,
        recorded_at: When | None = None,
        dry_run: bool = False,
    ) -> Steps[Any]:
        """Keeps what the user says in a conversation, all of it or nothing; the answer is the writer's, turn by turn.

        Args:
            subject: Whom it is about.
            turns: At most 1,000, in order, each with ``role``, ``text`` and, where it is known, ``at``.
            source: What the conversation is called; a turn's source is this and its number, so sending more of the same later is safe.
            scope: Where what was said holds.
            category: Of the memories; default ``conversation``.
            recorded_at: When it was learned, of an import (role ``import``).
            dry_run: Only say what would be kept.
        """
        body = said(
            subject=subject,
            scope=scope,
            category=category,
            source={"id": source},
            turns=[*_turns(turns)],
            recorded_at=instant_text(recorded_at, "recorded_at"),
        )
        return self.told("/v1/interactions", encoded(body), dry_run=dry_run)


def _turns(turns: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    try:
        yield from each("turn", _turn, turns)
    except Rejected as error:
        raise error.at("turns") from None


def _turn(role: str, text: str, at: When | None = None) -> dict[str, Any]:
    return said(role=role, text=text, at=instant_text(at, "at"))
