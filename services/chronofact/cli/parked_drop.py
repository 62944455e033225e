"""``chronofact parked drop``: one message, or all that are parked for one reason, given up for good."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chronofact.cli.counted import counted
from chronofact.cli.options import DataFolder, Json, Target, Tenant, Token, Writer, failures_told
from chronofact.cli.outcome import ExitCode, Failure
from chronofact.cli.parked_asking import (
    LIST,
    OfFact,
    OfPartition,
    Projection,
    Wait,
    await_found,
    code_of,
    fact_id_of,
    found_at,
    nothing_told,
    of_its_fact,
    opened,
    partition_of,
    place_of,
    tell,
)

if TYPE_CHECKING:
    from chronofact.client import Client
    from chronofact.postgres.parking_store import Parked, ParkingStore, Which

MESSAGES_MAX: Final = 2**31 - 1
HELD: Final = "held"


@dataclass(frozen=True, slots=True)
class _Said:
    reason: str
    by: str
    event_ids: list[str] = field(default_factory=list)


def drop(
    reason: Annotated[str, typer.Option("--reason", help="Why it is given up; part of the log for ever.")],
    where: Annotated[
        str | None, typer.Argument(metavar="WHERE", help="The message by PARTITION:OFFSET, like 3:1207.")
    ] = None,
    by: Annotated[str | None, typer.Option("--by", help="Who gives it up; default the login name.")] = None,
    code: Annotated[str | None, typer.Option("--code", help="Every message parked under this code.")] = None,
    fact: OfFact = None,
    partition: OfPartition = None,
    wait: Wait = 30,
    projection: Projection = None,
    data: DataFolder = None,
    writer: Writer = None,
    tenant: Tenant = None,
    token: Token = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Everything that is parked for its own sake.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask before --all.")] = False,
    json: Json = False,
) -> None:
    """Give up parked messages for good; what waits behind them is applied, in order. Waits, and says so.

    WHERE names one; --code, --fact and --partition, together or alone, name many, and --all everything. What only waits behind another message is never given up by those.

    A drop is an event in the log, one a message: every projection and every rebuild skips the message too. It can't be taken back. What the message said can be said again through the writer.
    """
    names_many = everything or any(one is not None for one in (code, fact, partition))
    if (where is None) != names_many:
        told = "say what to drop: WHERE, or --code CODE, --fact ID, --partition NUMBER, or --all"
        raise Failure(told, code=ExitCode.USAGE, remedy=LIST)
    target, said = Target(data=data, writer=writer, tenant=tenant, token=token), _Said(reason, by or _login())
    if where is not None:
        place = place_of(where)
        with opened(data, projection) as store:
            one = found_at(store, *place, advice="only what is parked can be dropped")
            _drop_one(store, one, target, said, wait_s=wait, json=json)
        return
    from chronofact.postgres.parking_store import Which

    which = Which(fact_id_of(fact), partition_of(partition, data), code=code_of(code))
    with opened(data, projection) as store:
        _drop_many(store, which, target, said, wait_s=wait, is_asked=everything and not yes, json=json)


def _drop_one(store: ParkingStore, one: Parked, target: Target, said: _Said, *, wait_s: float, json: bool) -> None:
    before = of_its_fact(store, one)
    with failures_told(), target.client() as client:
        at = _sent(client, _writer(target), one, said)
    await_found(lambda: _is_dropped(store, one, at), wait_s, "the drop is in the log, and is done once it runs")
    left = of_its_fact(store, one)
    released = max(0, before - 1 - left)
    body = {"dropped": True, "event_id": said.event_ids[0], "released": released, "left": left}
    are = "is" if left == 1 else "are"
    was = "was" if released == 1 else "were"
    follow = f"; of what waited behind it {released} {was} applied, {left} {are} still parked" if before > 1 else ""
    tell(body, lambda: f"dropped {one.partition}:{one.kafka_offset}{follow}", json=json)


def _drop_many(
    store: ParkingStore, which: Which, target: Target, said: _Said, *, wait_s: float, is_asked: bool, json: bool
) -> None:
    """Those that are parked now, and of what waits behind them what turns out to be parked under the same code."""
    parked_before, _ = store.counts()
    candidates = _places(store.parked(_without_code(which), with_held=True, messages_max=MESSAGES_MAX))
    wanted = _wanted(store, which, candidates)
    if not wanted:
        tell({"dropped": 0, "released": 0, "left": parked_before}, lambda: nothing_told(which), json=json)
        return
    if is_asked:
        _confirm(len(wanted), json=json)
    dropped: set[tuple[int, int]] = set()
    with failures_told(), target.client() as client, _progress(quiet=json) as progress:
        while wanted := [one for one in wanted if (one.partition, one.kafka_offset) not in dropped]:
            drops = {}
            for one in wanted:
                drops[one.partition, one.kafka_offset] = one, _sent(client, _writer(target), one, said)
                progress(len(dropped) + len(drops))
            _await_all(store, drops, wait_s)
            dropped |= drops.keys()
            wanted = _wanted(store, which, candidates)
    left, _ = store.counts()
    released = max(0, parked_before - len(dropped) - left)
    body = {"dropped": len(dropped), "released": released, "left": left}
    are = "is" if left == 1 else "are"
    told = f"dropped {counted(len(dropped), 'message')}; {released} that waited behind them applied, {left} {are} still parked"
    tell(body, lambda: told, json=json)


def _wanted(store: ParkingStore, which: Which, candidates: set[tuple[int, int]]) -> list[Parked]:
    """Of the candidates, what is parked for its own sake now, by place."""
    found = store.parked(which, with_held=True, messages_max=MESSAGES_MAX)
    own = [one for one in found if one.code != HELD and (one.partition, one.kafka_offset) in candidates]
    return sorted(own, key=lambda one: (one.partition, one.kafka_offset))


def _await_all(store: ParkingStore, drops: dict[tuple[int, int], tuple[Parked, int]], wait_s: float) -> None:
    """One wait for all; it goes on as long as the projector does."""
    waiting = dict(drops)

    def look() -> bool | None:
        for place, (one, at) in list(waiting.items()):
            if not _is_dropped(store, one, at):
                return None
            del waiting[place]
        return True

    while waiting:
        before = len(waiting)
        try:
            await_found(look, wait_s, "the drops are in the log, and are done once it runs")
        except Failure as failure:
            if failure.code is not ExitCode.UNREACHABLE or len(waiting) == before:
                raise


def _places(found: Iterable[Parked]) -> set[tuple[int, int]]:
    return {(one.partition, one.kafka_offset) for one in found}


def _without_code(which: Which) -> Which:
    from dataclasses import replace

    return replace(which, code=None)


def _confirm(messages: int, *, json: bool) -> None:
    if json or not sys.stdin.isatty():
        raise Failure("--all gives up everything that is parked: say --yes, too", code=ExitCode.USAGE, remedy=LIST)
    typer.confirm(f"give up {counted(messages, 'message')} for good?", abort=True, err=True)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[int], None]]:
    """How many drops were sent, on a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    is_shown = console.is_terminal and not quiet

    def tell_progress(sent: int) -> None:
        if is_shown:
            console.print(f"{counted(sent, 'drop')} sent", end="\r", highlight=False)

    yield tell_progress
    if is_shown:
        console.print()


def _writer(target: Target) -> str:
    from chronofact.client.shells import WRITER

    return target.addresses()[0] or WRITER


def _sent(client: Client, address: str, one: Parked, said: _Said) -> int:
    """The offset of the drop."""
    from chronofact.client.operations import drop as sending
    from chronofact.contracts.position import Position

    told = client.carry_out(
        sending(
            address,
            topic_id=str(one.topic_id),
            partition=one.partition,
            offset=one.kafka_offset,
            key=one.message_key or b"",
            reason=said.reason,
            dropped_by=said.by,
            patience_s=3.0,
        )
    )
    said.event_ids.append(told["event_id"])
    return Position.parse(told["position"]).next_offsets[one.partition] - 1


def _is_dropped(store: ParkingStore, one: Parked, drop_offset: int) -> bool | None:
    if store.dropped(partition=one.partition, offset=one.kafka_offset):
        return True
    if (refused := store.at(one.partition, drop_offset)) is not None:
        remedy = f"nothing is lost; chronofact parked drop {one.partition}:{drop_offset} --reason … tidies up"
        raise Failure(f"the drop does not count: {refused.reason} ({refused.code})", remedy=remedy)
    return None


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "operator"
