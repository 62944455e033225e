"""The work of ``chronofact revoke``: finds a source's versions, sends their revocations, and waits for them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from chronofact.cli.options import kafka_address, read_settings
from chronofact.cli.outcome import Failure
from chronofact.contracts.position import Position
from chronofact.postgres.source_store import Sourced

if TYPE_CHECKING:
    from pathlib import Path

    from chronofact.client import Client
    from chronofact.postgres.source_store import SourcedVersion, SourceStore, SourceWanted

LOG_WAIT_S: Final = 10.0
"""For what the log has and the projection has not, before the search begins."""
APPLY_WAIT_S: Final = 60.0
"""Without any progress."""
LOOK_S: Final = 0.1
BATCH: Final = 1_000
"""Commands that are sent at once."""


@dataclass(slots=True)
class Revoked:
    """What became of it."""

    source: str
    projection: str
    versions: int = 0
    facts: int = 0
    already: int = 0
    held: int = 0
    parked: list[tuple[str, str]] = field(default_factory=list)
    """Messages that are parked and assert something by this source: the place of each, and its fact."""
    is_parked_cut: bool = False
    unseen: int | None = None
    """Events that the log had, and the projection had not, when the search began; None: nobody could say."""
    revoked: int = 0
    rejected_by: Counter[str] = field(default_factory=Counter)
    is_dry_run: bool = False
    is_applied: bool | None = None
    position: str | None = None
    seconds: float = 0.0

    @property
    def rejected(self) -> int:
        """Revocations that the writer refused."""
        return self.rejected_by.total()

    def body(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "source": self.source,
            "projection": self.projection,
            "versions": self.versions,
            "facts": self.facts,
            "already_revoked": self.already,
            "facts_held": self.held,
            "parked": [{"at": place, "fact_id": fact_id} for place, fact_id in self.parked],
            "unseen": self.unseen,
            "revoked": 0 if self.is_dry_run else self.revoked,
            "rejected": self.rejected,
            "rejected_by": dict(self.rejected_by),
            "dry_run": self.is_dry_run,
            "applied": self.is_applied,
            "position": self.position,
            "seconds": round(self.seconds, 3),
        }


class Revoking:
    """One run of the command."""

    def __init__(self, store: SourceStore, wanted: SourceWanted, reason: str | None, *, quiet: bool) -> None:
        self._store = store
        self._wanted = wanted
        self._reason = reason
        self._quiet = quiet
        self._began = time.monotonic()
        self.found = Sourced()
        self.outcome = Revoked(wanted.source_id, store.projection)

    def await_log(self, data: Path | None) -> None:
        """Until the projection has what the log has now, or nobody can say, or it takes too long."""
        if (ends := _log_ends(data)) is None:
            return
        until = time.monotonic() + LOG_WAIT_S
        while (unseen := _lacking(ends, self._store.reached())) and time.monotonic() < until:
            time.sleep(LOOK_S)
        self.outcome.unseen = unseen

    def count(self) -> Sourced:
        """All versions of the source, leaf after leaf; and what of it is parked."""
        leaves = self._store.leaves()
        with _progress("looking for versions", len(leaves), quiet=self._quiet) as progress:
            for done, partition in enumerate(leaves, start=1):
                self.found = self.found.plus(self._store.count(self._wanted, partition))
                progress(done)
        parked, self.outcome.is_parked_cut = self._store.parked()
        self.outcome.parked = [
            (f"{one.partition}:{one.offset}", str(_fact_id_of(one.event.identity)))
            for one in parked
            if _is_of(one.event.identity, one.event.payload, one.event.source_hash, self._wanted)
        ]
        self.outcome.versions, self.outcome.facts = self.found.versions, self.found.facts
        self.outcome.held, self.outcome.already = self.found.facts_held, self.found.revoked
        return self.found

    def send(self, client: Client) -> None:
        """Every revocation, tried before it is sent: none may be of another fact than the version's."""
        began = time.monotonic()
        with _progress("revoking", self.found.versions, quiet=self._quiet) as progress:
            for partition in self._store.leaves():
                for page in self._store.versions(self._wanted, partition):
                    for start in range(0, len(page), BATCH):
                        self._send(client, page[start : start + BATCH])
                        progress(self.outcome.revoked + self.outcome.rejected)
        self.outcome.position = client.position
        self.outcome.seconds = time.monotonic() - began

    def _send(self, client: Client, batch: Sequence[SourcedVersion]) -> None:
        from chronofact.client import Rejection

        commands = [self._command(one) for one in batch]
        tried = client.send(commands, dry_run=True).results
        right = []
        for one, command, result in zip(batch, commands, tried, strict=True):
            if isinstance(result, Rejection):
                self.outcome.rejected_by[result.code] += 1
            elif result.fact_id != one.fact_id:
                told = (
                    f"the writer takes {one.scope_kind}:{one.scope_key} for another scope: its scope kinds have changed"
                )
                raise Failure(told, remedy="nothing more was sent; give it the kinds of scope that it had")
            else:
                right.append(command)
        if right and not self.outcome.is_dry_run:
            refused = [one for one in client.send(right).results if isinstance(one, Rejection)]
            self.outcome.rejected_by.update(one.code for one in refused)
            self.outcome.revoked += len(right) - len(refused)
        elif right:
            self.outcome.revoked += len(right)

    def _command(self, one: SourcedVersion) -> dict[str, Any]:
        command = {
            "type": "revoke",
            "subject": str(one.subject_id),
            "scope": f"{one.scope_kind}:{one.scope_key}",
            "key": one.fact_key,
            "version_id": str(one.version_id),
        }
        return command if self._reason is None else {**command, "reason": self._reason}

    def await_applied(self) -> None:
        """Until the projection has passed what was sent, as long as it goes on."""
        if self.outcome.position is None:
            self.outcome.is_applied = True
            return
        wanted = Position.parse(self.outcome.position)
        until, least = time.monotonic() + APPLY_WAIT_S, None
        while lacking := _lacking(wanted, self._store.reached()):
            if least is None or lacking < least:
                until, least = time.monotonic() + APPLY_WAIT_S, lacking
            if time.monotonic() > until:
                break
            time.sleep(LOOK_S)
        self.outcome.is_applied = not lacking


def _lacking(wanted: Position, reached: Position | None) -> int:
    """Events between; all of them where the projection is of another topic."""
    at = reached.next_offsets if reached is not None and reached.topic_id == wanted.topic_id else {}
    return sum(max(0, end - at.get(partition, 0)) for partition, end in wanted.next_offsets.items())


def _log_ends(data: Path | None) -> Position | None:
    from chronofact.cli.options import facts_topic
    from chronofact.kafka.admin import Admin
    from chronofact.runtime.failures import Transient, Unfit

    settings = read_settings()
    try:
        state = Admin(kafka_address(data), options=settings.kafka_options).state(facts_topic(data))
    except (Transient, Unfit):
        return None
    return Position(state.topic_id, state.high_watermarks)


def _fact_id_of(identity: bytes) -> UUID:
    from chronofact.domain.identity import fact_id_of_canonical

    return UUID(bytes=fact_id_of_canonical(identity))


def _is_of(identity: bytes, payload: bytes, source_hash: bytes | None, wanted: SourceWanted) -> bool:
    """Whether a message asserts something by the source."""
    import orjson

    try:
        said, (tenant_id, subject_id, *_) = orjson.loads(payload), orjson.loads(identity)
    except (TypeError, ValueError):
        return False
    return (
        isinstance(said, dict)
        and said.get("source_id") == wanted.source_id
        and tenant_id == str(wanted.tenant_id)
        and (wanted.subject_id is None or subject_id == str(wanted.subject_id))
        and wanted.source_hash in {None, source_hash}
    )


@contextmanager
def _progress(told: str, total: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _done: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task(told, total=total)
        yield lambda done: bars.update(task, completed=done)
