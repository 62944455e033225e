"""What all calls that read have in common: whom they ask, and how their parameters are spelled."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from chronofact.client.commands import When, instant_text
from chronofact.client.exchange import Steps


class ReadCalls:
    """Of a client that reads."""

    @abstractmethod
    def get(
        self, path: str, params: Iterable[tuple[str, str]] = (), *, after: str | None = None, wait_ms: int | None = None
    ) -> Steps[Any]: ...


def params_of(**fields: Any) -> list[tuple[str, str]]:
    """The parameters that were given."""
    return [(name, str(field)) for name, field in fields.items() if field is not None]


def instants_of(valid_at: When | None, as_of: When | None) -> dict[str, str | None]:
    """The two clocks of a question.

    Raises:
        Rejected: one of them is no instant; names which.
    """
    return {"valid_at": instant_text(valid_at, "valid_at"), "as_of": instant_text(as_of, "as_of")}


def repeated(name: str, said: str | Iterable[str] | None) -> list[tuple[str, str]]:
    """A parameter that may be given several times."""
    return [(name, one) for one in ([said] if isinstance(said, str) else said or ())]


def id_text(named: UUID | str) -> str:
    """An id as the services spell it."""
    return str(named).lower()
