"""``chronofact topics copy``, ``seal`` and ``reopen``: the facts topic moved to one of more partitions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final
from uuid import UUID

import orjson
import typer

from chronofact.cli.counted import counted
from chronofact.cli.options import DataFolder, Json, kafka_address, outside_told, read_settings, topic_name
from chronofact.cli.outcome import ExitCode, Failure

if TYPE_CHECKING:
    from chronofact.contracts.topics import Topic
    from chronofact.kafka.topic_copy import Progress, Tally

EPILOG: Final = "The whole way, step by step: docs/operations/more-partitions.md"
To = Annotated[
    str, typer.Option("--to", metavar="TOPIC", callback=topic_name, help="The new topic, like memory.facts.v2.")
]


def copy(
    to: To,
    partitions: Annotated[
        int | None,
        typer.Option("--partitions", min=1, max=1_000, help="Its partitions; needed where it is to be made."),
    ] = None,
    data: DataFolder = None,
    *,
    json: Json = False,
) -> None:
    """Copy the configured facts topic into a new one of more partitions, while writers go on.

    Every message keeps its key, its bytes and its append time, and every fact its order, so that a projection of the new topic says the same to the microsecond. Drops name the new places of what they give up.

    Ends when it has caught up. Say it again at any time: it goes on where it ended, also after a crash, and copies nothing twice. The new topic takes no writer until `chronofact topics seal`; projectors and rebuilds may read it before.
    """
    from chronofact.kafka.topic_copy import TopicCopy

    settings = read_settings()
    source, target = _topics(data, to, partitions)
    with (
        outside_told(),
        _progress(quiet=json) as progress,
        TopicCopy(kafka_address(data), source, target, options=settings.kafka_options, progress=progress) as copying,
    ):
        topic_id, tally = copying.topic_id, copying.catch_up()
    if json:
        print(orjson.dumps(_body(source, target, topic_id, tally)).decode())
        return
    _tell(source, target, topic_id, tally)
    print(
        "it is not sealed, and no writer writes to it; say this again to bring it near, `chronofact topics seal` at last"
    )
    print(
        f"next: chronofact rebuild start, by services with CHRONOFACT_FACTS_TOPIC={target.name}"
        f" CHRONOFACT_FACTS_PARTITIONS={target.partitions}"
    )


def seal(to: To, data: DataFolder = None, *, json: Json = False) -> None:
    """Close the configured facts topic for good, copy what is left of it, and open the new one to writers.

    From then on the old topic takes no message, from whomever; a writer that still has it says `topic_closed` and acknowledges nothing. Takes some two seconds; start the writers on the new topic then. Killed on the way, say it again.
    """
    from chronofact.kafka.topic_copy import TopicCopy

    settings = read_settings()
    source, target = _topics(data, to, None)
    with (
        outside_told(),
        _progress(quiet=json) as progress,
        TopicCopy(kafka_address(data), source, target, options=settings.kafka_options, progress=progress) as copying,
    ):
        pause_s = copying.seal()
        topic_id, tally = copying.topic_id, copying.tally
    if json:
        print(orjson.dumps(_body(source, target, topic_id, tally, pause_s=round(pause_s, 3))).decode())
        return
    _tell(source, target, topic_id, tally)
    print(f"{source.name} is closed, {target.name} is sealed; neither was written to for {pause_s:.1f} s")
    print(
        f"next: start the writers with CHRONOFACT_FACTS_TOPIC={target.name}"
        f" CHRONOFACT_FACTS_PARTITIONS={target.partitions}"
    )


def reopen(to: To, data: DataFolder = None, *, json: Json = False) -> None:
    """Take a seal back: the configured facts topic takes messages again, and the new one is an unsealed copy once more.

    Refuses once anything was written to the new topic: the old one lacks it. Stop the writers of the new topic first.
    """
    from chronofact.kafka.topic_copy import reopen as take_back

    settings = read_settings()
    source, target = _topics(data, to, None)
    with outside_told():
        take_back(kafka_address(data), source, target, options=settings.kafka_options)
    if json:
        print(orjson.dumps({"from": source.name, "to": target.name, "sealed": False}).decode())
    else:
        print(f"{source.name} takes messages again, {target.name} none: it is a copy that is not sealed")


def _topics(data: Any, to: str, partitions: int | None) -> tuple[Topic, Topic]:
    """The old one as configured, the new one as it is, or is to be."""
    from chronofact.cli.options import facts_topic as configured_topic
    from chronofact.contracts.topics import facts_topic
    from chronofact.kafka.admin import Admin
    from chronofact.runtime.failures import Unfit

    settings = read_settings()
    source = configured_topic(data)
    if to == source.name:
        told = f"{to} is the configured topic itself: CHRONOFACT_FACTS_TOPIC names the old one, --to the new one"
        raise Failure(told, code=ExitCode.USAGE)
    if partitions is None:
        with outside_told():
            try:
                admin = Admin(kafka_address(data), options=settings.kafka_options)
                partitions = admin.state(facts_topic(to)).partitions
            except Unfit as unfit:
                if unfit.code != "topic_missing":
                    raise
                remedy = f"make it: chronofact topics copy --to {to} --partitions NUMBER"
                raise Failure(f"there is no topic {to} yet", code=ExitCode.USAGE, remedy=remedy) from None
    if partitions <= source.partitions:
        told = f"{source.name} has {source.partitions} partitions; a topic that it is copied to has more, and not {partitions}"
        raise Failure(told, code=ExitCode.USAGE)
    return source, facts_topic(to, partitions)


def _body(source: Topic, target: Topic, topic_id: bytes, tally: Tally, **further: object) -> dict[str, Any]:
    return {
        "from": source.name,
        "to": target.name,
        "topic_id": str(UUID(bytes=topic_id)),
        "partitions": target.partitions,
        "messages": tally.messages,
        "copied": tally.copied,
        "found": tally.found,
        "drops": tally.drops,
        "seconds": round(tally.seconds, 3),
        **further,
    }


def _tell(source: Topic, target: Topic, topic_id: bytes, tally: Tally) -> None:
    rate = f", {tally.copied / tally.seconds:,.0f} a second" if tally.copied and tally.seconds else ""
    found = f"; {counted(tally.found, 'message')} of a run that was cut off were there" if tally.found else ""
    drops = f"; {counted(tally.drops, 'drop')} said anew for the new places" if tally.drops else ""
    print(f"{counted(tally.copied, 'message')} copied in {tally.seconds:.1f} s{rate}{found}{drops}")
    print(
        f"{target.name} ({UUID(bytes=topic_id)}, {target.partitions} partitions) holds all"
        f" {counted(tally.messages, 'message')} of {source.name}, read back and compared"
    )


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Progress]:
    if quiet:
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("copying", total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)
