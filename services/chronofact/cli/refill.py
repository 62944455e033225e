"""``chronofact topics refill``: a lost topic's messages again, from what a projection keeps of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final
from uuid import UUID

import orjson
import typer

from chronofact.cli.counted import counted
from chronofact.cli.options import DataFolder, Json, database, kafka_address, outside_told, read_settings, topic_name
from chronofact.cli.outcome import ExitCode, Failure

if TYPE_CHECKING:
    from chronofact.contracts.position import Position
    from chronofact.contracts.refilling import Source
    from chronofact.reconciler.refill import Lacking, Refilled
    from chronofact.reconciler.refill_ports import Progress

EPILOG: Final = (
    "Examples: `chronofact topics refill --from p1 --dry-run` tells what there is and what is lost; "
    "`chronofact topics refill --from p1` makes the configured topic anew; `--to NAME` makes another one. Killed or cut off, say it "
    "again: it goes on from what is there. Ends with 0 when the topic is full and sealed, 1 when something speaks against it, 2 "
    "for usage, 3 when Kafka or Postgres can't be reached. Then: `chronofact rebuild start`; docs/operations/lost-broker-disk.md."
)

To = Annotated[
    str | None,
    typer.Option("--to", metavar="TOPIC", callback=topic_name, help="The topic to fill; default the configured one."),
]
Then = Annotated[
    str | None,
    typer.Option(
        "--then",
        metavar="TOPIC",
        callback=topic_name,
        help="A topic that writers began since: it is closed, its messages follow.",
    ),
]


def refill(
    projection: Annotated[
        str, typer.Option("--from", metavar="NAME", help="The projection that holds most of the lost topic, like p1.")
    ],
    to: To = None,
    after: Annotated[
        list[str] | None,
        typer.Option(
            "--after",
            metavar="POSITION",
            help="A position that a producer was given: was all before it applied? Repeat it.",
        ),
    ] = None,
    then: Then = None,
    data: DataFolder = None,
    *,
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="Go on although events are known to be lost; they are counted.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Look at everything and tell it; change nothing.")] = False,
    json: Json = False,
) -> None:
    """Fill a new, empty topic from a projection, where every copy of the old topic is lost.

    A projection keeps each applied event with its id, payload and instant, and what is parked with its bytes. From these the messages are made again, each in its order: events, versions, states and instants come out the same, to the microsecond.

    What was acknowledged but not applied yet is lost. So are traces, repeats, and what was dropped. Producers know by their positions: --after says of each whether all before it was applied.

    Where writers began a new, empty topic before they were stopped, fill another one by --to, and name that one by --then: it takes no more messages, and those that it holds follow the old ones.

    Stop the writers first. The topic is made where there is none. Until it is full it takes no writer; then it is sealed. One that holds anything else than the beginning of this very refill is refused.
    """
    from chronofact.cli.options import facts_topic
    from chronofact.kafka.filling import Begun, Filling
    from chronofact.postgres.refill_source import refill_source
    from chronofact.reconciler.refill import Refiller

    settings, topic = read_settings(), facts_topic(data)
    topic = topic if to is None else topic.named(to)
    if then is not None and then == topic.name:
        raise Failure(f"{then} can't follow itself", code=ExitCode.USAGE, remedy="name an empty topic by --to")
    positions = [_position(text) for text in after or ()]
    with outside_told(), _progress(quiet=json) as progress, refill_source(database(data)[0], projection) as source:
        lacks = _lacking(source.found, positions)
        kafka, options = kafka_address(data), settings.kafka_options
        with ExitStack() as stack:
            filling = stack.enter_context(Filling(kafka, topic, options=options))
            begun = None if then is None else stack.enter_context(Begun(kafka, topic.named(then), options=options))
            Refiller(source, filling, partitions=topic.partitions, begun=begun).check()
            _refuse_loss(lacks, is_accepted=accept_loss or dry_run)
            if begun is not None and not dry_run:
                begun.close_to_writers()
            refiller = Refiller(source, filling, progress, partitions=topic.partitions, begun=begun)
            done = None if dry_run else refiller.refill()
            follow = 0 if begun is None else sum(begun.counts.values())
    if json:
        print(orjson.dumps(_body(source.found, topic.name, lacks, done, follow)).decode())
    else:
        _tell(source.found, topic.name, lacks, done, follow)
    if dry_run and lacks.messages:
        raise typer.Exit(ExitCode.FAILED)


def _position(text: str) -> Position:
    from chronofact.contracts.position import Position
    from chronofact.domain.errors import Rejected

    try:
        return Position.parse(text)
    except Rejected as rejected:
        raise Failure(f"--after: {rejected.message} ({rejected.code})", code=ExitCode.USAGE) from None


def _lacking(source: Source, positions: Sequence[Position]) -> Lacking:
    from chronofact.domain.errors import Rejected
    from chronofact.reconciler.refill import lacking

    try:
        return lacking(source, positions)
    except Rejected as rejected:
        told = f"--after: {rejected.message} ({rejected.code}); {source.projection} is made of topic {_id(source)}"
        raise Failure(told, code=ExitCode.USAGE) from None


def _refuse_loss(lacks: Lacking, *, is_accepted: bool) -> None:
    if not lacks.messages or is_accepted:
        return
    better = next(iter(lacks.ahead), None)
    remedy = f"refill from {better}, which holds more" if better else "bring any copy of the old topic back"
    raise Failure(
        f"{counted(lacks.messages, 'message')} at least that were in the log are not applied here (refill_lacks)",
        remedy=f"{remedy}; where there is no other way, --accept-loss goes on without them",
    )


def _id(source: Source) -> UUID:
    return UUID(bytes=source.reached.topic_id)


def _body(source: Source, topic: str, lacks: Lacking, done: Refilled | None, follow: int) -> dict[str, Any]:
    from chronofact.contracts.refilling import NOT_KEPT

    return {
        "from": source.projection,
        "from_topic_id": str(_id(source)),
        "position": source.reached.encode(),
        "events": source.events,
        "parked": source.parked,
        "left_out": {"dropped": source.dropped, "repeats": source.repeats},
        "not_kept": [*NOT_KEPT],
        "lost": {"at_least": lacks.messages, "ahead": dict(lacks.ahead), "after": list(lacks.positions)},
        "topic": topic,
        "topic_id": None if done is None else str(UUID(bytes=done.topic_id)),
        "messages": source.events + source.parked + follow,
        "follow": follow,
        "found": None if done is None else done.found,
        "seconds": None if done is None else round(done.seconds, 3),
    }


def _tell(source: Source, topic: str, lacks: Lacking, done: Refilled | None, follow: int) -> None:
    from chronofact.contracts.refilling import NOT_KEPT

    print(
        f"{source.projection} keeps {counted(source.events, 'event')} and {counted(source.parked, 'parked message')}"
        f" of topic {_id(source)}; {counted(source.dropped, 'message')} given up and"
        f" {counted(source.repeats, 'repeat')} are left out"
    )
    print(f"it applied that topic up to position {source.reached.encode()}")
    print("whatever a producer was told lies behind that is lost: --after POSITION says of each")
    for number, lost in enumerate(lacks.positions, 1):
        told = f"{counted(lost, 'message')} before it are lost" if lost else "all before it was applied"
        print(f"position {number} of --after: {told}")
    for name, messages in lacks.ahead.items():
        print(f"{name} holds {counted(messages, 'message')} more of that topic")
    if lacks.messages:
        print(f"lost for certain: {counted(lacks.messages, 'message')} at least")
    print("not kept by any projection: " + "; ".join(NOT_KEPT.values()))
    if follow:
        print(f"{counted(follow, 'message')} of the topic that writers began since follow")
    if done is None:
        print(
            f"nothing was changed; without --dry-run {topic} gets {source.events + source.parked + follow:,} messages"
        )
        return
    sent = done.messages - done.found
    rate = f" ({sent / done.seconds:,.0f} a second)" if sent and done.seconds else ""
    print(
        f"{topic} ({UUID(bytes=done.topic_id)}) holds {counted(done.messages, 'message')} and is sealed;"
        f" {done.found:,} were there before, {sent:,} appended in {done.seconds:.1f} s{rate}"
    )
    print("next: chronofact rebuild start --wait")


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _tally: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("looking for gaps", total=None)
        yield lambda tally: bars.update(
            task, description=tally.doing, completed=tally.messages, total=tally.total or None
        )
