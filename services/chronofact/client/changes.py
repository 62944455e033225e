"""Following changed answers without the I/O: what to ask, what came, when to come again and when to give up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson

from chronofact.client.answers import Claim, During, Fact
from chronofact.client.errors import ClientError, Unreachable
from chronofact.client.exchange import FIRST_PAUSE_S, PAUSE_MAX_S, TRY_AGAIN, Reply, failure_of, stated_pause_s

SILENCE_S: Final = 30.0
"""A stream that is silent for so long, heartbeats included, is taken for lost."""
_BLOCK_BYTES_MAX: Final = 4 * 2**20


@dataclass(frozen=True, slots=True)
class ChangedAnswer:
    """The answer over a stretch of valid time, from the change on.

    ``kind`` is ``value`` (with value, version_id, agreeing), ``values`` or ``conflict`` (with versions; ``count`` where
    not all are listed), ``unknown`` (with reason), or ``unlisted``: too much to be told, ask ``resolve``.
    """

    kind: str
    valid_during: During
    reason: str | None = None
    value: Any = None
    version_id: UUID | None = None
    agreeing: tuple[UUID, ...] = ()
    versions: tuple[Claim, ...] = ()
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One event that changed an answer; ``id`` is where to go on from."""

    id: str
    fact: Fact
    event_id: UUID
    event_seq: int
    event_type: str
    recorded_at: datetime
    changed: tuple[ChangedAnswer, ...]
    body: Mapping[str, Any] = field(repr=False)
    """As the reader gave it."""


@dataclass(slots=True)
class Following:
    """One listener over all its streams; ``last_id`` is what it has had."""

    url: str
    params: tuple[tuple[str, str], ...]
    last_id: str | None
    patience_s: float
    pause_s: float = 0.0
    on_opened: Callable[[], None] | None = None
    on_lost: Callable[[str], None] | None = None
    """Told why, each time that a stream ended or none came about and it is tried again."""
    _waited_s: float = 0.0
    _buffer: bytearray = field(default_factory=bytearray)

    def headers(self) -> dict[str, str]:
        """With which to come, or to come again."""
        accept = {"Accept": "text/event-stream"}
        return accept if self.last_id is None else {**accept, "Last-Event-ID": self.last_id}

    def opened(self) -> None:
        """A stream begins: what was left of the one before was not whole, and comes again."""
        self._buffer.clear()
        if self.on_opened is not None:
            self.on_opened()

    def ended(self) -> None:
        """The service has ended it, to be gone on with."""
        self.pause_s = FIRST_PAUSE_S
        if self.on_lost is not None:
            self.on_lost("the service has ended the stream")

    def lost(self, error: Unreachable) -> None:
        """No connection, or one that broke.

        Raises:
            Unreachable: for ``patience_s`` there was none.
        """
        self._wait(min(max(2 * self.pause_s, FIRST_PAUSE_S), PAUSE_MAX_S), error)

    def refused(self, reply: Reply) -> None:
        """An answer that is no stream.

        Raises:
            Refused: it will never be one.
            Busy: it stayed so for ``patience_s``.
        """
        failure = failure_of(reply, waited_s=self._waited_s)
        if reply.status not in TRY_AGAIN:
            raise failure
        self._wait(stated_pause_s(reply) or min(max(2 * self.pause_s, FIRST_PAUSE_S), PAUSE_MAX_S), failure)

    def came(self, chunk: bytes) -> Iterator[Change]:
        """The changes that are whole by now."""
        self.pause_s = self._waited_s = 0.0
        self._buffer += chunk
        *blocks, rest = bytes(self._buffer).split(b"\n\n")
        self._buffer = bytearray(rest)
        if len(rest) > _BLOCK_BYTES_MAX:
            raise Unreachable(self.url, "it sends no server-sent events")
        for block in blocks:
            fields = dict(_field(line) for line in block.split(b"\n") if line and not line.startswith(b":"))
            self.last_id = fields["id"].decode() if "id" in fields else self.last_id
            if "data" in fields:
                yield change_of(orjson.loads(fields["data"]), self.last_id or "")

    def _wait(self, pause_s: float, failure: ClientError) -> None:
        if self._waited_s + pause_s > self.patience_s:
            raise failure
        self._waited_s += pause_s
        self.pause_s = pause_s
        if self.on_lost is not None:
            self.on_lost(str(failure))


def following(
    reader: str,
    *,
    subject: str | None = None,
    scope: str | None = None,
    key: str | None = None,
    prefix: str | None = None,
    after: str | None = None,
    patience_s: float,
) -> Following:
    """Who follows what from where on; ``after`` None is from now."""
    named = {"subject": subject, "scope": scope, "key": key, "prefix": prefix}
    params = tuple((name, said) for name, said in named.items() if said is not None)
    return Following(f"{reader}/v1/changes", params, after, patience_s)


def change_of(body: Mapping[str, Any], id_: str) -> Change:
    """A message of the stream."""
    fact = body["fact"]
    return Change(
        id_,
        Fact(UUID(fact["fact_id"]), fact["subject"], fact["scope"], fact["key"]),
        UUID(body["event_id"]),
        body["event_seq"],
        body["event_type"],
        datetime.fromisoformat(body["recorded_at"]),
        tuple(map(_changed_answer, body["changed"])),
        body,
    )


def _changed_answer(body: Mapping[str, Any]) -> ChangedAnswer:
    start, end = (None if bound is None else datetime.fromisoformat(bound) for bound in body["valid_during"])
    version_id = body.get("version_id")
    claims = body.get("versions", body.get("values", ()))
    return ChangedAnswer(
        body["kind"],
        (start, end),
        body.get("reason"),
        body.get("value"),
        None if version_id is None else UUID(version_id),
        tuple(map(UUID, body.get("agreeing", ()))),
        tuple(Claim(UUID(one["version_id"]), one["value"], source_id=one["source_id"]) for one in claims),
        body.get("count"),
    )


def _field(line: bytes) -> tuple[str, bytes]:
    name, _, said = line.partition(b":")
    return name.decode(), said.removeprefix(b" ")
