"""What the commands of ``chronofact parked`` share: how messages are named, found and waited for."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from chronofact.cli.options import outside_told, served
from chronofact.cli.outcome import ExitCode, Failure

if TYPE_CHECKING:
    from chronofact.postgres.parking_store import Parked, ParkingStore, Which

LOOK_S: Final = 0.1
LIST: Final = "chronofact parked list shows what is parked"
USUAL_CODES: Final = (
    "constraint_broken",
    "drop_misplaced",
    "drop_not_parked",
    "event_id_mismatch",
    "event_undecodable",
    "held",
    "identity_invalid",
    "identity_mismatch",
    "message_key_malformed",
    "partition_mismatch",
    "value_hash_mismatch",
    "value_missing",
    "version_id_mismatch",
)
_PLACE: Final = re.compile(r"(\d{1,5}):(\d{1,19})", re.ASCII)
_PARTITION_MAX: Final = 2**15 - 1
_OFFSET_MAX: Final = 2**63 - 1

Projection = Annotated[
    str | None, typer.Option("--projection", metavar="NAME", help="Which projection; default the configured one.")
]
Wait = Annotated[float, typer.Option("--wait", metavar="SECONDS", min=0, help="How long to wait for the projector.")]
OfFact = Annotated[str | None, typer.Option("--fact", metavar="ID", help="Only messages of this fact.")]
OfPartition = Annotated[int | None, typer.Option("--partition", metavar="NUMBER", help="Only messages of this one.")]


def partition_of(partition: int | None, data: Path | None) -> int | None:
    """A partition that the topic has.

    Raises:
        Failure: it has none of this number.
    """
    if partition is None:
        return None
    from chronofact.cli.options import facts_topic

    topic = facts_topic(data)
    if not 0 <= partition < topic.partitions:
        told = f"{topic.name} has partitions 0 to {topic.partitions - 1}, and none of number {partition}"
        raise Failure(told, code=ExitCode.USAGE)
    return partition


def code_of(code: str | None) -> str | None:
    """A code of the closed list.

    Raises:
        Failure: it is none; what was probably meant.
    """
    from chronofact.contracts.error_codes import CODES
    from chronofact.contracts.meant import meant

    if code is None or code in CODES:
        return code
    near = meant(code, USUAL_CODES) or meant(code, CODES)
    hint = f"; did you mean {near}?" if near else ""
    raise Failure(
        f"{code!a} is no code{hint}", code=ExitCode.USAGE, remedy=f"messages are parked under {', '.join(USUAL_CODES)}"
    )


def nothing_told(which: Which) -> str:
    """That no message is parked of what was named."""
    names = (("of fact ", which.fact_id), ("in partition ", which.partition), ("under ", which.code))
    said = " ".join(f"{name}{one}" for name, one in names if one is not None)
    return f"nothing is parked {said}".rstrip()


def await_found(look: Callable[[], Any], wait_s: float, otherwise: str) -> Any:
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


@contextmanager
def opened(data: Path | None, projection: str | None) -> Iterator[ParkingStore]:
    """The store of parked messages."""
    from chronofact.postgres.parking_store import ParkingStore
    from chronofact.postgres.standing import Standing

    with outside_told():
        conninfo, asked = served(data)
        if projection is not None and projection not in (names := [one[0] for one in Standing(conninfo).projections()]):
            raise Failure(f"there is no projection {projection}", remedy=f"there are {', '.join(names) or 'none'}")
        with ParkingStore(conninfo, projection or asked) as store:
            yield store


def found_at(store: ParkingStore, partition: int, offset: int, *, advice: str = "") -> Parked:
    """The parked message of a place.

    Raises:
        Failure: none is parked there.
    """
    one = store.at(partition, offset)
    if one is None:
        dropped = store.dropped(partition=partition, offset=offset)
        why = f"it was dropped by {dropped[0].dropped_by}: {dropped[0].reason}" if dropped else advice
        raise Failure(f"{partition}:{offset} is not parked{f'; {why}' if why else ''}", remedy=LIST)
    return one


def of_its_fact(store: ParkingStore, one: Parked) -> int:
    """How many messages of its fact are parked, itself included."""
    if one.fact_id is None:
        return int(store.at(one.partition, one.kafka_offset) is not None)
    found = store.parked(of_fact(one), messages_max=1)
    return found[0].behind + 1 if found else 0


def of_fact(one: Parked) -> Which:
    """All that is parked of its fact; itself where it holds none."""
    from chronofact.postgres.parking_store import Which

    if one.fact_id is None:
        return Which(partition=one.partition, offset=one.kafka_offset)
    return Which(fact_id=one.fact_id)


def is_place(text: str) -> bool:
    """Whether it looks like PARTITION:OFFSET."""
    return _PLACE.fullmatch(text) is not None


def place_of(text: str) -> tuple[int, int]:
    """Partition and offset."""
    named = _PLACE.fullmatch(text)
    if named is None or int(named[1]) > _PARTITION_MAX or int(named[2]) > _OFFSET_MAX:
        raise Failure(f"{text!a} is not PARTITION:OFFSET, like 3:1207", code=ExitCode.USAGE, remedy=LIST)
    return int(named[1]), int(named[2])


def fact_id_of(text: str | None) -> Any:
    """A fact's id."""
    from uuid import UUID

    try:
        return None if text is None else UUID(text)
    except ValueError:
        told = f"{text!a} is neither PARTITION:OFFSET nor a fact's id"
        raise Failure(told, code=ExitCode.USAGE, remedy=LIST) from None


def tell(body: Any, render: Callable[[], Any], *, json: bool) -> None:
    """One line of JSON, or what a person reads."""
    if json:
        import orjson

        print(orjson.dumps(body).decode())
        return
    from rich.console import Console

    Console().print(render(), markup=False, highlight=False)
