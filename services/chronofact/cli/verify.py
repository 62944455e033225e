"""``chronofact verify A B``: two projections of one topic held against each other at a common cut."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import orjson
import typer

from chronofact.cli.counted import counted
from chronofact.cli.options import DataFolder, Json, database, outside_told
from chronofact.cli.outcome import ExitCode, Failure
from chronofact.contracts.verification import Aspects

if TYPE_CHECKING:
    from chronofact.postgres.verification_store import VerificationStore
    from chronofact.reconciler.verify import Verified
    from chronofact.reconciler.verify_telling import Progress

PANEL: Final = "Operations"
SHOWN: Final = 20
_EPILOG: Final = (
    "Examples: `chronofact verify p1 p2` after a rebuild; `chronofact verify p1 p2 --aspects said` where p2 "
    "is folded by another rule. Ends with 0 when all is identical, 1 when something differs or it came to nothing, 2 for usage, "
    "3 when Postgres can't be reached. The last verifications are in chronofact.verification and verification_difference."
)


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("verify", rich_help_panel=PANEL, epilog=_EPILOG)(verify)


def verify(
    left: Annotated[str, typer.Argument(metavar="A", help="A projection, like p1.")],
    right: Annotated[str, typer.Argument(metavar="B", help="The one to hold against it, like p2.")],
    aspects: Annotated[
        Aspects,
        typer.Option(
            "--aspects", help="What to compare: all; said: only what no rule decides; across: as --across-topics."
        ),
    ] = Aspects.ALL,
    hold: Annotated[
        str | None,
        typer.Option("--hold", metavar="NAME", help="Which one waits at the cut; default one that no tenant reads."),
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", min=0, max=1_000, help="Differing facts to tell with both sides.")
    ] = SHOWN,
    wait: Annotated[
        float, typer.Option("--wait", min=1, max=86_400, help="Seconds that one may take to catch up with the other.")
    ] = 600.0,
    data: DataFolder = None,
    *,
    across_topics: Annotated[
        bool,
        typer.Option("--across-topics", help="They are of different topics: compare what does not depend on offsets."),
    ] = False,
    json: Json = False,
) -> None:
    """Hold two projections of one topic against each other, fact by fact and line by line.

    Both are looked at at the same offsets of the topic, while they go on being fed: one that no tenant reads waits there for the other, for a moment. Every line of every table is hashed on both sides; a fact of which anything differs is named, with the lines that only one side has. Nothing is repaired.

    With --across-topics, for a topic that was refilled or copied: every fact by its id, its events with their instants and the state that they come to.
    """
    from chronofact.cli.verify_across import verify_across
    from chronofact.contracts.verification import VerificationRunning
    from chronofact.postgres.verification_store import VerificationStore
    from chronofact.postgres.verify_hold import Holds
    from chronofact.postgres.verify_snapshot import Snapshots
    from chronofact.reconciler.verify import Verifier

    if left == right:
        raise typer.BadParameter("a projection is the same as itself", param_hint="B")
    if hold not in {None, left, right}:
        raise typer.BadParameter(f"it is {left} or {right}", param_hint="--hold")
    if across_topics or aspects is Aspects.ACROSS:
        if hold is not None or aspects is Aspects.SAID:
            raise typer.BadParameter("it goes without --hold and --aspects", param_hint="--across-topics")
        verify_across(data, left, right, samples, json=json)
        return
    with outside_told(), _progress(quiet=json) as progress:
        conninfo, _ = database(data)
        store = VerificationStore(conninfo)
        verifier = Verifier(store, Snapshots(conninfo), Holds(conninfo), catch_up_s=wait)
        try:
            outcome = verifier.verify(left, right, aspects=aspects.value, held=hold, progress=progress)
        except VerificationRunning as busy:
            raise Failure(str(busy), remedy="wait until it is over") from None
    with outside_told():
        _tell(store, outcome, (left, right), samples, as_json=json)
    if not outcome.identical:
        raise typer.Exit(ExitCode.FAILED)


def _tell(store: VerificationStore, outcome: Verified, sides: tuple[str, str], samples: int, *, as_json: bool) -> None:
    if as_json:
        line = {
            "identical": outcome.identical,
            "facts": outcome.facts,
            "differences": outcome.differences,
            "verification": outcome.verification_id,
            "lines": outcome.lines,
            "seconds": round(outcome.seconds, 3),
            "by_table": dict(outcome.by_aspect),
        }
        print(orjson.dumps(line).decode())
        return
    rate = outcome.facts / outcome.seconds if outcome.seconds else 0.0
    offset = sum(outcome.next_offsets.values())
    print(
        f"verification {outcome.verification_id} at offset {offset:,}: {counted(outcome.facts, 'fact')}"
        f" and {counted(outcome.lines, 'line')} a side in {outcome.seconds:.1f} s ({rate:,.0f} facts/s)"
    )
    if outcome.identical:
        print("identical")
        return
    if samples:
        _show(store, outcome, sides, samples)
    told = ", ".join(f"{table} {count:,}" for table, count in outcome.by_aspect.most_common())
    print(f"{counted(outcome.differences, 'difference')}; of those looked at, by table: {told}")


def _show(store: VerificationStore, outcome: Verified, sides: tuple[str, str], samples: int) -> None:
    from rich.console import Console

    from chronofact.cli.verify_told import differences_told

    found = [one for _, one in store.differences(outcome.verification_id, after=0, limit=samples * 12)]
    Console().print(differences_told(found, sides, facts_max=samples), crop=False)


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
        facts = bars.add_task("finding a common cut", total=None)
        yield lambda tally: bars.update(
            facts, description="facts", completed=tally.facts, total=max(tally.facts_total, tally.facts) or None
        )
