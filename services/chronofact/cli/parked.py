"""``chronofact parked list | show | release | drop``: messages that could not be applied, and what becomes of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chronofact.cli.counted import counted
from chronofact.cli.options import DataFolder, Json
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
    is_place,
    nothing_told,
    of_fact,
    opened,
    partition_of,
    place_of,
    tell,
)
from chronofact.cli.parked_drop import drop

if TYPE_CHECKING:
    from chronofact.postgres.parking_store import Asked, Parked, ParkingStore, Progress, Which

PANEL: Final = "Operations"

Place = Annotated[str, typer.Argument(metavar="WHERE", help="The message by PARTITION:OFFSET, like 3:1207.")]

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
    fact: OfFact = None,
    partition: OfPartition = None,
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

    which = Which(fact_id_of(fact), partition_of(partition, data), code=code_of(code))
    with opened(data, projection) as store:
        messages, facts = store.counts()
        if dropped:
            gone = store.dropped(partition=partition, messages_max=limit)
            body = {"dropped": [*map(dropped_json, gone)], "parked": messages, "facts": facts}
            tell(body, lambda: dropped_table(gone) if gone else "nothing was dropped", json=json)
            return
        found = store.parked(which, with_held=held, messages_max=limit)
    body = {"messages": [*map(parked_json, found)], "parked": messages, "facts": facts}
    tell(body, lambda: parked_table(found) if found else nothing_told(which), json=json)
    if found and not json:
        more = f"; {found[0].found - len(found)} more, --limit shows them" if found[0].found > len(found) else ""
        print(
            f"{counted(messages, 'message')} {'is' if messages == 1 else 'are'} parked, {counted(facts, 'fact')} held{more}"
        )
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

    partition, offset = place_of(where)
    with opened(data, projection) as store:
        one = found_at(store, partition, offset)
        message = store.message(partition, offset)
    if raw is not None:
        _write(raw, message)
    content = content_of(message)
    body = {**parked_json(one), **content, "message": message.hex(), "remedy": remedy(one.code)}
    tell(body, lambda: message_table(one, content), json=json)


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

    What can be applied counts as if it had never been parked.

    What still can't stays, with all that waits behind it, and the command ends with 1.

    Release after the cause is gone: usually once a version runs that can apply it.
    """
    if (what is None) == (code is None and not everything):
        raise Failure(
            "say what to release: WHERE or a fact's id, --code CODE, or --all", code=ExitCode.USAGE, remedy=LIST
        )
    which = _which(what, code_of(code))
    with opened(data, projection) as store:
        if what is not None and which.offset is not None:
            which = of_fact(found_at(store, which.partition or 0, which.offset))
        asked = store.ask(which)
        if not asked.places and what is not None:
            raise Failure(f"nothing is parked of {what}", remedy=LIST)
        done = await_found(lambda: _settled(store, asked), wait, "what was asked stays, and is done once it runs")
        left = _left(store, asked)
    first = left[0] if left else None
    tell(
        {
            "asked": len(asked.places),
            "released": done.released,
            "left": done.parked,
            "code": first and first.code,
            "reason": first and first.reason,
        },
        lambda: _released(len(asked.places), done, first) if asked.places else nothing_told(which),
        json=json,
    )
    if done.parked:
        raise typer.Exit(ExitCode.FAILED)


def _settled(store: ParkingStore, asked: Asked) -> Progress | None:
    progress = store.progress(asked)
    return None if progress.asked else progress


def _left(store: ParkingStore, asked: Asked) -> list[Parked]:
    """Of what was asked, what is still parked, but for what waits behind another."""
    from chronofact.postgres.parking_store import Which

    places = set(asked.places)
    return [one for one in store.parked(Which(), messages_max=2**31 - 1) if (one.partition, one.kafka_offset) in places]


def _released(asked: int, done: Progress, first: Parked | None) -> str:
    from chronofact.cli.parked_told import place, remedy

    told = f"released {done.released} of {counted(asked, 'message')}"
    if first is None:
        return told
    return f"{told}; {done.parked} {'stays' if done.parked == 1 else 'stay'} parked, the first, {place(first)}, for {first.code}: {first.reason}\n{remedy(first.code)}"


def _which(what: str | None, code: str | None) -> Which:
    from chronofact.postgres.parking_store import Which

    if what is None:
        return Which(code=code)
    if is_place(what):
        partition, offset = place_of(what)
        return Which(partition=partition, offset=offset)
    return Which(fact_id=fact_id_of(what), code=code)


def _write(file: Path, message: bytes) -> None:
    try:
        file.write_bytes(message)
    except OSError as error:
        raise Failure(f"{file} can't be written: {error.strerror}") from None
