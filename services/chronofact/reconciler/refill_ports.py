"""What a refill needs: what is kept of the old topic, and the new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from chronofact.contracts.refilling import Gap, KeptEvent, KeptMessage, Source, Stamped


class Message(Protocol):
    """A message of the new topic."""

    @property
    def key(self) -> bytes: ...
    @property
    def value(self) -> bytes: ...
    @property
    def appended_at(self) -> int: ...


class State(Protocol):
    """The new topic as it is."""

    @property
    def topic_id(self) -> bytes: ...
    @property
    def config(self) -> Mapping[str, str]: ...
    @property
    def high_watermarks(self) -> Mapping[int, int]: ...


class Kept(Protocol):
    """A projection in one snapshot."""

    @property
    def found(self) -> Source: ...

    def gaps(self) -> tuple[int, Sequence[Gap]]: ...

    def kept(self, partition: int) -> Iterator[KeptEvent | KeptMessage]: ...


class Topic(Protocol):
    """The topic that is filled. Every call may raise ``Transient`` or ``Unfit``."""

    @property
    def name(self) -> str: ...

    def look(self) -> State | None: ...

    def begin(self) -> State: ...

    def read(self, partition: int, start: int, end: int) -> Iterator[Sequence[Message]]: ...

    def append(self, partition: int, message: Stamped) -> None: ...

    def flush(self) -> Mapping[int, int]: ...

    def seal(self) -> State: ...


class Begun(Protocol):
    """A topic that writers began meanwhile; nobody writes to it any more."""

    @property
    def topic_id(self) -> bytes: ...

    @property
    def counts(self) -> Mapping[int, int]: ...

    def messages(self, partition: int) -> Iterator[Stamped]: ...


class Tally(NamedTuple):
    """How far a refill has come."""

    doing: str
    messages: int
    total: int


Progress = Callable[[Tally], None]
