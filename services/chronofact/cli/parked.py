"""``chronofact parked list | show | release | drop``: messages that could not be applied, and what becomes of them."""

from __future__ import annotations

import getpass
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from chronofact.cli.options import (
    DataFolder,
    Json,
    Target,
    Tenant,
    Token,
    Writer,
    database,
    failures_told,
    outside_told,
)
from chronofact.cli.outcome import ExitCode, Failure

if TYPE_CHECKING:
    from chronofact.postgres.parking_store import Asked, Parked, ParkingStore, Progress, Which

PANEL: Final = "Operations"
LOOK_S: Final = 0.1
LIST: Final = "chronofact parked list shows what is parked"
_PLACE: Final = re.compile(r"(\d{1,5}):(\d{1,19})", re.ASCII)
_PARTITION_MAX: Final = 2**15 - 1
_OFFSET_MAX: Final = 2**63 - 1

Projection = Annotated[
    str | None, typer.Option("--projection", metavar="NAME", help="Which projection; default the configured one.")
]
Place = Annotated[str, typer.Argument(metavar="WHERE", help="The message by PARTITION:OFFSET, like 3:1207.")]
Wait = Annotated[float, typer.Option("--wait", metavar="SECONDS", min=0, help="How long to wait for the projector.")]

HELP: Final = """Messages that could not be applied: see them, try them again, or give them up.

A message that can't be decoded or applied is parked with its bytes. Its fact is held: later messages of that fact wait behind it, in order, and its answers say stale. All other facts go on.

'list' shows what is parked, 'show' one message with what helps. 'release' has a fact's messages applied once the projector can (after an upgrade, say). 'drop' gives one message up for good, in every projection and every rebuild.
"""


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    group = typer.Typer(help=HELP, no_args_is_help=True)
    for name, command in (("list", listed), ("show", show), ("release", release), ("drop", drop)):
        group.command(name)(command)
    app.add_typer(group, name="parked", rich_help_panel=PANEL)


def listed(
    fact: Annotated[str | None, typer.Option("--fact", metavar="ID", help="Only messages of this fact.")] = None,
    partition: Annotated[
        int | None, typer.Option("--partition", min=0, max=_PARTITION_MAX, help="Only this one.")
    ] = None,
    code: Annotated[str | None, typer.Option("--code", help="Only messages parked under this code.")] = None,
    held: Annotated[bool, typer.Option("--held", help="Also those that only wait behind another.")] = False,
    dropped: Annotated[bool, typer.Option("--dropped", help="What was given up instead, last first.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="How many at most.")] = 100,
    projection: Projection = None,
    data: DataFolder = None,
    *,
    json: Json = False,
) -> None:
    """What is parked, oldest first: of a held fact its first message, with how many wait behind it."""
    from chronofact.cli.parked_told import dropped_json, dropped_table, parked_json, parked_table
    from chronofact.postgres.parking_store import Which

    with _store(data, projection) as store:
        messages, facts = store.counts()
        if dropped:
            gone = store.dropped(partition=partition, messages_max=limit)
            body = {"dropped": [*map(dropped_json, gone)], "parked": messages, "facts": facts}
            _tell(body, lambda: dropped_table(gone) if gone else "nothing was dropped", json=json)
            return
        which = Which(_fact_id(fact), partition, code=code)
        found = store.parked(which, with_held=held, messages_max=limit)
    body = {"messages": [*map(parked_json, found)], "parked": messages, "facts": facts}
    _tell(body, lambda: parked_table(found) if found else "nothing is parked", json=json)
    if found and not json:
        more = f"; {found[0].found - len(found)} more, --limit shows them" if found[0].found > len(found) else ""
        print(f"{messages} messages are parked, {facts} facts held{more}")
        print("chronofact parked show WHERE tells more, release WHERE tries again, drop WHERE --reason WHY gives up")


def show(
    where: Place,
    raw: Annotated[Path | None, typer.Option("--raw", metavar="FILE", help="Also write the bytes into a file.")] = None,
    projection: Projection = None,
    data: DataFolder = None,
    *,
    json: Json = False,
) -> None:
    """One parked message: why it is, what it says, what waits behind it, and what helps."""
    from chronofact.cli.parked_told import content_of, message_table, parked_json, remedy

    partition, offset = _place(where)
    with _store(data, projection) as store:
        one = _found(store, partition, offset)
        message = store.message(partition, offset)
    if raw is not None:
        _write(raw, message)
    content = content_of(message)
    body = {**parked_json(one), **content, "message": message.hex(), "remedy": remedy(one.code)}
    _tell(body, lambda: message_table(one, content), json=json)


def release(
    what: Annotated[
        str | None, typer.Argument(metavar="WHAT", help="PARTITION:OFFSET of a message, or the id of a fact.")
    ] = None,
    code: Annotated[
        str | None, typer.Option("--code", help="Every fact with a message parked under this code.")
    ] = None,
    wait: Wait = 30,
    projection: Projection = None,
    data: DataFolder = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Everything that is parked.")] = False,
    json: Json = False,
) -> None:
    """Have parked messages tried again, with all of their fact, in order; waits and says what became of them.

    What can be applied counts as if it had never been parked. What still can't stays, with all that waits behind it,
    and the command ends with 1. Release after the cause is gone: usually once a version runs that can apply it.
    """
    if (what is None) == (code is None and not everything):
        raise Failure(
            "say what to release: WHERE or a fact's id, --code CODE, or --all", code=ExitCode.USAGE, remedy=LIST
        )
    with _store(data, projection) as store:
        which = _which(what, code)
        if what is not None and which.offset is not None:
            which = _of_fact(_found(store, which.partition or 0, which.offset))
        asked = store.ask(which)
        if not asked.places and what is not None:
            raise Failure(f"nothing is parked of {what}", remedy=LIST)
        done = _await(lambda: _settled(store, asked), wait, "what was asked stays, and is done once it runs")
        left = _left(store, asked)
    first = left[0] if left else None
    _tell(
        {
            "asked": len(asked.places),
            "released": done.released,
            "left": done.parked,
            "code": first and first.code,
            "reason": first and first.reason,
        },
        lambda: _released(len(asked.places), done, first),
        json=json,
    )
    if done.parked:
        raise typer.Exit(ExitCode.FAILED)


def drop(
    where: Place,
    reason: Annotated[str, typer.Option("--reason", help="Why it is given up; part of the log for ever.")],
    by: Annotated[str | None, typer.Option("--by", help="Who gives it up; default the login name.")] = None,
    wait: Wait = 30,
    projection: Projection = None,
    data: DataFolder = None,
    writer: Writer = None,
    tenant: Tenant = None,
    token: Token = None,
    *,
    json: Json = False,
) -> None:
    """Give up one parked message for good; what waits behind it is applied, in order. Waits, and says so.

    The drop is an event in the log: every projection and every rebuild skips the message too. It can't be taken back.
    What the message said can be said again through the writer.
    """
    from chronofact.contracts.position import Position

    partition, offset = _place(where)
    with _store(data, projection) as store:
        one = _found(store, partition, offset, advice="only what is parked can be dropped")
        before = _of_its_fact(store, one)
        target = Target(data=data, writer=writer, tenant=tenant, token=token)
        told = _sent(target, one, reason, by or _login())
        at = Position.parse(told["position"]).next_offsets[partition] - 1
        _await(lambda: _is_dropped(store, one, at), wait, "the drop is in the log, and is done once it runs")
        left = _of_its_fact(store, one)
    released = max(0, before - 1 - left)
    body = {"dropped": True, "event_id": told["event_id"], "released": released, "left": left}
    follow = f"; of what waited behind it {released} were applied, {left} are still parked" if before > 1 else ""
    _tell(body, lambda: f"dropped {partition}:{offset}{follow}", json=json)


def _sent(target: Target, one: Parked, reason: str, by: str) -> dict[str, Any]:
    from chronofact.client.operations import drop as sending
    from chronofact.client.shells import WRITER

    address = target.addresses()[0] or WRITER
    with failures_told(), target.client() as client:
        return client.carry_out(
            sending(
                address,
                topic_id=str(one.topic_id),
                partition=one.partition,
                offset=one.kafka_offset,
                key=one.message_key or b"",
                reason=reason,
                dropped_by=by,
                patience_s=3.0,
            )
        )


def _is_dropped(store: ParkingStore, one: Parked, drop_offset: int) -> bool | None:
    if store.dropped(partition=one.partition, offset=one.kafka_offset):
        return True
    if (refused := store.at(one.partition, drop_offset)) is not None:
        remedy = f"nothing is lost; chronofact parked drop {one.partition}:{drop_offset} --reason … tidies up"
        raise Failure(f"the drop does not count: {refused.reason} ({refused.code})", remedy=remedy)
    return None


def _settled(store: ParkingStore, asked: Asked) -> Progress | None:
    progress = store.progress(asked)
    return None if progress.asked else progress


def _left(store: ParkingStore, asked: Asked) -> list[Parked]:
    """Of what was asked, what is still parked, but for what waits behind another."""
    from chronofact.postgres.parking_store import Which

    places = set(asked.places)
    return [one for one in store.parked(Which(), messages_max=2**31 - 1) if (one.partition, one.kafka_offset) in places]


def _await(look: Callable[[], Any], wait_s: float, otherwise: str) -> Any:
    """What a look finds in time."""
    deadline = time.monotonic() + wait_s
    while (found := look()) is None:
        if time.monotonic() >= deadline:
            raise Failure(
                f"the projector did nothing within {wait_s:g} s; {otherwise}",
                code=ExitCode.UNREACHABLE,
                remedy="does the projector run? chronofact doctor looks",
            )
        time.sleep(LOOK_S)
    return found


def _released(asked: int, done: Progress, first: Parked | None) -> str:
    from chronofact.cli.parked_told import place, remedy

    if not asked:
        return "nothing is parked"
    told = f"released {done.released} of {asked} messages"
    if first is None:
        return told
    return f"{told}; {done.parked} stay parked, the first, {place(first)}, for {first.code}: {first.reason}\n{remedy(first.code)}"


@contextmanager
def _store(data: Path | None, projection: str | None) -> Iterator[ParkingStore]:
    from chronofact.postgres.parking_store import ParkingStore

    conninfo, configured = database(data)
    with outside_told(), ParkingStore(conninfo, projection or configured) as store:
        yield store


def _found(store: ParkingStore, partition: int, offset: int, *, advice: str = "") -> Parked:
    one = store.at(partition, offset)
    if one is None:
        dropped = store.dropped(partition=partition, offset=offset)
        why = f"it was dropped by {dropped[0].dropped_by}: {dropped[0].reason}" if dropped else advice or LIST
        raise Failure(f"{partition}:{offset} is not parked; {why}", remedy=LIST)
    return one


def _of_its_fact(store: ParkingStore, one: Parked) -> int:
    """How many messages of its fact are parked, itself included."""
    if one.fact_id is None:
        return int(store.at(one.partition, one.kafka_offset) is not None)
    found = store.parked(_of_fact(one), messages_max=1)
    return found[0].behind + 1 if found else 0


def _of_fact(one: Parked) -> Which:
    from chronofact.postgres.parking_store import Which

    if one.fact_id is None:
        return Which(partition=one.partition, offset=one.kafka_offset)
    return Which(fact_id=one.fact_id)


def _which(what: str | None, code: str | None) -> Which:
    from chronofact.postgres.parking_store import Which

    if what is None:
        return Which(code=code)
    if _PLACE.fullmatch(what):
        partition, offset = _place(what)
        return Which(partition=partition, offset=offset)
    return Which(fact_id=_fact_id(what), code=code)


def _place(text: str) -> tuple[int, int]:
    named = _PLACE.fullmatch(text)
    if named is None or int(named[1]) > _PARTITION_MAX or int(named[2]) > _OFFSET_MAX:
        raise Failure(f"{text!a} is not PARTITION:OFFSET, like 3:1207", code=ExitCode.USAGE, remedy=LIST)
    return int(named[1]), int(named[2])


def _fact_id(text: str | None) -> Any:
    from uuid import UUID

    try:
        return None if text is None else UUID(text)
    except ValueError:
        told = f"{text!a} is neither PARTITION:OFFSET nor a fact's id"
        raise Failure(told, code=ExitCode.USAGE, remedy=LIST) from None


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "operator"


def _write(file: Path, message: bytes) -> None:
    try:
        file.write_bytes(message)
    except OSError as error:
        raise Failure(f"{file} can't be written: {error.strerror}") from None


def _tell(body: Any, render: Callable[[], Any], *, json: bool) -> None:
    if json:
        import orjson

        print(orjson.dumps(body).decode())
        return
    from rich.console import Console

    Console().print(render(), markup=False, highlight=False)
