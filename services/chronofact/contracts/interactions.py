"""A conversation as ``POST /v1/interactions`` takes it; a field that is not named here is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from chronofact.contracts.commands import Instant, Name, Source
from chronofact.contracts.refusals import refusal_of
from chronofact.domain.errors import Rejected

CATEGORY: Final = "conversation"
TURNS_MAX: Final = 1_000
SOURCE_CHARACTERS_MAX: Final = 1_000
"""Of the request's source; that of a turn is longer by the turn's number."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Turn(_Part):
    """What one of them said, and when. Only what the role ``user`` says is kept."""

    role: Literal["user", "assistant", "system", "developer", "tool"]
    text: str
    at: Instant | None = None


class Interaction(_Part):
    """Turns in order, and about whom they are."""

    subject: Name
    turns: list[Any]
    source: Source
    scope: str | None = None
    category: str = CATEGORY
    recorded_at: Instant | None = None


class TurnRejected(ValueError):
    """What is wrong with one turn: the request is refused for it. No ``Rejected``, which is compiled: nothing can inherit it."""

    def __init__(self, error: Rejected, index: int) -> None:
        field = ".".join(filter(None, ("turns", str(index), error.field)))
        self.refusal = Rejected(error.code, error.message, field=field)
        self.index = index
        super().__init__(str(self.refusal))


def interaction_of(body: Mapping[str, Any]) -> tuple[Interaction, list[Turn]]:
    """The request, and its turns.

    Raises:
        Rejected: what is wrong with it.
        TurnRejected: what is wrong with a turn.
    """
    try:
        said = Interaction.model_validate(body)
    except ValidationError as error:
        raise refusal_of(error, fields=tuple(Interaction.model_fields)) from None
    if not said.turns:
        raise Rejected("field_empty", "turns has none", field="turns")
    if len(said.turns) > TURNS_MAX:
        raise Rejected("turns_too_many", f"one request has at most {TURNS_MAX} turns", field="turns")
    if len(said.source.id) > SOURCE_CHARACTERS_MAX:
        raise Rejected("field_too_long", f"source.id has at most {SOURCE_CHARACTERS_MAX} characters", field="source.id")
    return said, [_turn(index, one) for index, one in enumerate(said.turns)]


def _turn(index: int, said: Any) -> Turn:
    if not isinstance(said, dict):
        raise TurnRejected(Rejected("field_type", "a turn is a JSON object"), index)
    try:
        return Turn.model_validate(said)
    except ValidationError as error:
        raise TurnRejected(refusal_of(error, fields=tuple(Turn.model_fields)), index) from None
