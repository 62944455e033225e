"""``chronofact check run | show``: a projection held against its events and the log, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import orjson
import typer

from chronofact.cli.counted import counted
from chronofact.cli.options import DataFolder, Json, database, outside_told, read_settings, served
from chronofact.cli.outcome import ExitCode, Failure

if TYPE_CHECKING:
    from chronofact.contracts.checking import Divergence, Run, Tally
    from chronofact.postgres.check_store import CheckStore
    from chronofact.postgres.fact_names import FactName
    from chronofact.reconciler.check import Outcome
    from chronofact.reconciler.ports import Log
    from chronofact.runtime.config import Settings

PANEL: Final = "Operations"
SHOWN_MAX: Final = 20

HELP: Final = """Hold a projection against its events and the log, by rules of the check's own; nothing is repaired.

'run' recomputes every fact's answers and tells what differs; it ends with 1 when something does. 'show' tells a run again.
"""

Projection = Annotated[
    str | None, typer.Option("--projection", metavar="NAME", help="Which projection; default what tenants read.")
]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    group = typer.Typer(help=HELP, no_args_is_help=True)
    group.command("run")(run)
    group.command("show")(show)
    app.add_typer(group, name="check", rich_help_panel=PANEL)


def run(
    data: DataFolder = None,
    projection: Projection = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, max=2**31 - 1, help="Of the samples; default a new one, which is told."),
    ] = None,
    past: Annotated[int, typer.Option("--past", min=0, max=1_000, help="Earlier moments of a fact to look at.")] = 8,
    log: Annotated[bool, typer.Option("--log/--no-log", help="Read the log, too.")] = True,
    adjudicated: Annotated[
        bool, typer.Option("--adjudicated/--no-adjudicated", help="Keep the answers as a table under its constraint.")
    ] = True,
    *,
    json: Json = False,
) -> None:
    """Check a projection now; ends with 1 when something differs."""
    from chronofact.contracts.checking import CheckRunning, CheckWanted
    from chronofact.postgres.check_store import CheckStore
    from chronofact.reconciler.check import Checker
    from chronofact.reconciler.service import new_seed

    settings = read_settings()
    wanted = CheckWanted(
        past_max=past,
        seed=new_seed() if seed is None else seed,
        with_log=log,
        with_adjudicated=adjudicated,
    )
    with outside_told(), _progress(quiet=json) as progress:
        conninfo, asked = served(data)
        wanted = replace(wanted, projection=projection or asked)
        store = CheckStore(conninfo)
        checker = Checker(store, _log_of(settings, data), workers=settings.check_workers, progress=progress)
        try:
            outcome = checker.check(wanted)
        except CheckRunning as busy:
            raise Failure(str(busy), remedy="chronofact check show tells how far it is") from None
    with outside_told():
        checked = wanted.projection or ""
        _tell(store, outcome, wanted.seed, lambda shown: _names(data, checked, shown), as_json=json)
    if outcome.tally.divergences:
        raise typer.Exit(ExitCode.FAILED)


def show(
    number: Annotated[int | None, typer.Argument(metavar="RUN", min=1, help="Which run; default the last.")] = None,
    data: DataFolder = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="Divergences to tell at most.")] = 100,
    *,
    json: Json = False,
) -> None:
    """What a check found, with both sides."""
    from chronofact.postgres.check_store import CheckStore

    with outside_told():
        store = CheckStore(database(data)[0])
        runs = store.runs(before=None, limit=1) if number is None else [store.run(number)]
        found = runs[0] if runs else None
        if found is None:
            raise Failure("no such check has run", remedy="chronofact check run")
        divergences = [one for _, one in store.divergences(found.run_id, after=0, limit=limit)]
        names = () if json else _names(data, found.wanted.projection or "", divergences)
    if json:
        _show_json(found, divergences)
        return
    _show_tables(found, divergences, names)


def _tell(
    store: CheckStore,
    outcome: Outcome,
    seed: int,
    names: Callable[[Sequence[Divergence]], Sequence[FactName]],
    *,
    as_json: bool,
) -> None:
    tally = outcome.tally
    if as_json:
        line = {
            "facts": tally.facts,
            "divergences": tally.divergences,
            "run": outcome.run_id,
            "events": tally.events,
            "messages": tally.messages,
            "bounded": tally.bounded,
            "seed": seed,
            "seconds": round(outcome.seconds, 3),
        }
        print(orjson.dumps(line).decode())
        return
    rate = tally.facts / outcome.seconds if outcome.seconds else 0.0
    print(
        f"run {outcome.run_id}: {counted(tally.facts, 'fact')}, {counted(tally.events, 'event')}"
        f" and {counted(tally.messages, 'message')}"
        f" in {outcome.seconds:.1f} s ({rate:,.0f} facts/s), seed {seed}"
    )
    if tally.bounded:
        print(f"of {counted(tally.bounded, 'fact')} with very many versions parts were judged by samples")
    if not tally.divergences:
        print("no divergences")
        return
    shown = [one for _, one in store.divergences(outcome.run_id, after=0, limit=SHOWN_MAX)]
    _print_found(shown, names(shown))
    print(f"{counted(tally.divergences, 'divergence')}; chronofact check show {outcome.run_id} tells them")


def _show_json(found: Run, divergences: list[Divergence]) -> None:
    from chronofact.reconciler.http import divergence, told

    print(orjson.dumps({**told(found), "found": [divergence(one) for one in divergences]}).decode())


def _show_tables(found: Run, divergences: Sequence[Divergence], names: Sequence[FactName]) -> None:
    tally = found.tally
    print(
        f"run {found.run_id} of {found.wanted.projection}: {found.state}, {tally.facts:,} of {counted(tally.facts_total, 'fact')},"
        f" {counted(tally.divergences, 'divergence')}, seed {found.wanted.seed}"
    )
    if found.failure:
        print(f"it failed: {found.failure}")
    _print_found(divergences, names)


def _print_found(divergences: Sequence[Divergence], names: Sequence[FactName]) -> None:
    from rich.console import Console

    from chronofact.cli.check_told import divergences_told

    Console().print(divergences_told(divergences, names), crop=False)


def _names(data: Path | None, projection: str, divergences: Sequence[Divergence]) -> Sequence[FactName]:
    from chronofact.postgres.fact_names import fact_names

    return fact_names(
        database(data)[0],
        projection,
        fact_ids={one.fact_id for one in divergences if one.fact_id is not None},
        fact_nos={one.fact_no for one in divergences if one.fact_no is not None},
    )


def _log_of(settings: Settings, data: Path | None) -> Callable[[], Log]:
    from chronofact.cli.options import facts_topic, kafka_address
    from chronofact.kafka.checked_log import CheckedLog

    kafka, topic = kafka_address(data), facts_topic(data)
    return lambda: CheckedLog(kafka, topic, options=settings.kafka_options)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[Tally], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _tally: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        facts, messages = bars.add_task("facts", total=None), bars.add_task("messages", total=None, visible=False)

        def show_progress(tally: Tally) -> None:
            bars.update(facts, completed=tally.facts, total=tally.facts_total or None)
            has_log = tally.messages_total > 0
            bars.update(messages, completed=tally.messages, total=tally.messages_total, visible=has_log)

        yield show_progress
