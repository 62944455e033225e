"""What the adjudicator needs from outside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple, Protocol

from chronofact.postgres.claims import Claim
from chronofact.postgres.judging_store import Place, Released, Standing, Waiting
from chronofact.postgres.looking import FactNames, Look, Reach, Ref
from chronofact.postgres.memories import Unchecked, Window
from chronofact.postgres.model_store import AnswerLine
from chronofact.text.gate import Asked
from chronofact.text.prompt import Told


class Ends(NamedTuple):
    """Where the facts topic ends."""

    topic_id: bytes
    next_offsets: Mapping[int, int]


Still = Callable[[], Awaitable[None]]
"""Whether what is to be said is ours to say; raises ``Transient`` where it is not."""
LogEnds = Callable[[], Awaitable[Ends]]
"""As of after the call."""


class Memories(Protocol):
    """The projections, as they are read to judge."""

    async def routes(self) -> list[str]: ...

    async def route(self, tenant_id: bytes) -> str: ...

    async def standing(self, asked: Sequence[Place]) -> list[Standing | None]: ...

    async def look(self, projection: str, wanted: Ref, reach: Reach) -> Look | None: ...

    async def unchecked(
        self, projection: str, *, older_than: int, limit: int, after: tuple[int, int]
    ) -> list[Unchecked]: ...

    async def unchecked_within(self, projection: str, windows: Sequence[Window]) -> list[Unchecked]: ...

    async def ends(self, projection: str) -> list[tuple[bytes, int, int]]: ...

    async def released(self, projection: str, *, after: int, limit: int) -> list[Released]: ...

    async def pending(self, projection: str, *, limit: int, after: tuple[int, int]) -> list[Waiting]: ...


class Claims(Protocol):
    """Which memories this process judges, of all that might."""

    async def take(self, version_id: bytes) -> Claim | None: ...

    async def check(self, claim: Claim) -> None:
        """Raises ``Transient`` where it is ours no more."""
        ...

    async def give_back(self, claim: Claim) -> None: ...


class Writer(Protocol):
    """Appends events, and returns once they are in the log, however long that takes.

    ``still`` is asked before they are said again: what it raises comes out.

    Raises:
        Rejected: a command is refused, and always will be.
    """

    async def send(
        self, tenant_id: bytes, names: FactNames, commands: Sequence[Mapping[str, Any]], *, still: Still
    ) -> None: ...


class Asker(Protocol):
    """A model, behind its gate."""

    @property
    def opens_in_s(self) -> float: ...

    @property
    def silent_why(self) -> str | None: ...

    async def ask(self, new: Told, others: Sequence[Told]) -> Asked: ...


class Spending(Protocol):
    """A day's calls and tokens, kept beyond this process."""

    async def reserve(self, tokens: int, *, calls_max: int, tokens_max: int) -> date | None: ...

    async def spent(self) -> tuple[int, int]: ...

    async def settle(self, day: date, reserved: int, line: AnswerLine) -> None: ...
