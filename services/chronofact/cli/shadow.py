"""``chronofact shadow start | stop | report``: a new projection beside the old one, or beside the table that you have today."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import orjson
import typer

from chronofact.cli.options import DataFolder, Json, database, instant, outside_told, read_settings
from chronofact.cli.outcome import ExitCode, Failure

if TYPE_CHECKING:
    from uuid import UUID

    from chronofact.contracts.baseline import BaselineReport
    from chronofact.contracts.shadow import Shadow, Sort
    from chronofact.postgres.shadow_store import ShadowStore

T = TypeVar("T")

PANEL: Final = "Operations"
CONNINFO: Final = "say where your table is like postgresql://USER:PASSWORD@HOST:5432/NAME"
SAMPLES_MAX: Final = 1_000
_WINDOW: Final = re.compile(r"([0-9]{1,9})([smhd])", re.ASCII)
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}

HELP: Final = """Hold a projection against another one, or against the table that you have today; nothing is changed.

'start' opens a window in which the reconciler compares a new projection with the old one again and again. 'report' tells what differs, by class; it ends with 1 while differences are unknown.
"""

New = Annotated[str, typer.Argument(metavar="NEW", help="The projection that is to be switched to, like p2.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    group = typer.Typer(help=HELP, no_args_is_help=True)
    for name, command in (("start", start), ("stop", stop), ("report", report)):
        group.command(name)(command)
    app.add_typer(group, name="shadow", rich_help_panel=PANEL)


def start(
    new: New,
    against: Annotated[
        str | None, typer.Option("--against", metavar="OLD", help="Default the one that most tenants' reads go to.")
    ] = None,
    window: Annotated[
        str | None, typer.Option("--window", metavar="TIME", help="Like 90s, 30m, 12h or 7d; default the setting.")
    ] = None,
    data: DataFolder = None,
    *,
    json: Json = False,
) -> None:
    """Open a window in which the reconciler compares NEW with another projection.

    A window that is open stays as it is. A switch to NEW waits for the window's end and for no difference to be unknown.
    """
    from chronofact.postgres.shadow_store import ShadowStore
    from chronofact.reconciler.shadow_told import shadow_body

    window_s = read_settings().shadow_window_s if window is None else seconds_of(window)
    with outside_told():
        store = ShadowStore(database(data)[0])
        old = against or store.routed()
        if old is None:
            raise Failure("no projection serves by default", remedy="say which: --against OLD")
        if old == new:
            message = f"{new} is the one that is served already"
            raise Failure(message, code=ExitCode.USAGE, remedy="compare it with another one: --against OLD")
        found, is_new = store.open(new, old, window_s=window_s)
    if json:
        print(orjson.dumps({**shadow_body(found), "opened": is_new}).decode())
        return
    print(f"{new} is compared with {old} until {found.until:%Y-%m-%d %H:%M:%S} UTC{'' if is_new else ', as it was'}")
    print(f"chronofact shadow report --projection {new} tells what differs")


def stop(new: New, data: DataFolder = None, *, json: Json = False) -> None:
    """End the open window of NEW before its time; it then stands for nothing, and another may be opened."""
    from chronofact.postgres.shadow_store import ShadowStore

    with outside_told():
        if not ShadowStore(database(data)[0]).close(new):
            raise Failure(f"no window of {new} is open", remedy=f"open one: chronofact shadow start {new}")
    print(
        orjson.dumps({"projection": new, "stopped": True}).decode() if json else f"the window of {new} has ended early"
    )


def report(
    projection: Annotated[
        str | None, typer.Option("--projection", metavar="NAME", help="Default the one that was compared last.")
    ] = None,
    tenant: Annotated[
        str | None, typer.Option("--tenant", help="One tenant; with --baseline, whose table it is.")
    ] = None,
    sort: Annotated[
        str | None,
        typer.Option(
            "--class", metavar="CLASS", help="Samples of correcting, discovered_conflict, scope_change or unknown."
        ),
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", min=0, max=SAMPLES_MAX, help="How many of each class, or reason, at most.")
    ] = 3,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="SELECT",
            help="Your own table, as tenant, subject, scope, key and value, held against the answers of a projection.",
        ),
    ] = None,
    baseline_url: Annotated[
        str | None, typer.Option("--baseline-url", metavar="CONNINFO", help="Where it is; default the same Postgres.")
    ] = None,
    valid_at: Annotated[
        str | None, typer.Option("--valid-at", metavar="TIME", help="With --baseline: answers then; default now.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", dir_okay=False, help="With --baseline: every difference, as NDJSON."),
    ] = None,
    data: DataFolder = None,
    *,
    now: Annotated[
        bool, typer.Option("--now", help="Compare once more first, without waiting for the reconciler.")
    ] = False,
    json: Json = False,
) -> None:
    """What differs, by class and by tenant, with both answers; ends with 1 while differences are unknown.

    With --baseline, the table that you have today is held against our answers instead. Its statement runs in a transaction that can't write.
    """
    from chronofact.domain.errors import Rejected
    from chronofact.domain.identity import tenant_id_of
    from chronofact.reconciler.shadow_http import sort_of

    try:
        wanted = (None if tenant is None else tenant_id_of(tenant), sort_of(sort), samples)
    except Rejected as refusal:
        raise Failure(f"--class: {refusal.message}", code=ExitCode.USAGE) from None
    if baseline is None:
        if baseline_url or valid_at or out:
            raise Failure("--baseline-url, --valid-at and --out go with --baseline", code=ExitCode.USAGE)
        _report(data, projection, wanted, is_now=now, json=json)
        return
    if now:
        raise Failure("--now goes with two projections; --baseline always compares now", code=ExitCode.USAGE)
    at = instant(valid_at, "--valid-at")
    _hold_against(data, projection, (baseline, baseline_url), wanted, valid_at=at, out=out, json=json)


def _report(
    data: Path | None, projection: str | None, wanted: tuple[UUID | None, Sort | None, int], *, is_now: bool, json: bool
) -> None:
    from chronofact.cli.shadow_told import print_report
    from chronofact.postgres.shadow_store import ShadowStore
    from chronofact.reconciler.shadow_told import report_body, unknown_of

    tenant_id, sort, samples = wanted
    with outside_told():
        store = ShadowStore(database(data)[0])
        listed = store.newest(projection)
        if not listed:
            what = "no projection has been" if projection is None else f"{projection} was never"
            name = projection or "NEW"
            raise Failure(f"{what} compared", remedy=f"open a window: chronofact shadow start {name}")
        if is_now:
            _compare(store, listed[0])
        found = store.report(listed[0], tenant_id=tenant_id, sort=sort, samples=samples)
    body = report_body(found)
    if json:
        print(orjson.dumps(body).decode())
    else:
        print_report(body)
    if unknown_of(found):
        raise typer.Exit(ExitCode.FAILED)


def _compare(store: ShadowStore, shadow: Shadow) -> None:
    from chronofact.contracts.shadow import SweepRunning
    from chronofact.reconciler.shadow import sweep

    try:
        sweep(store, shadow)
    except SweepRunning:
        raise Failure("somebody else compares just now", remedy="ask again in a moment") from None


def _hold_against(
    data: Path | None,
    projection: str | None,
    source: tuple[str, str | None],
    wanted: tuple[UUID | None, Sort | None, int],
    *,
    valid_at: str | None,
    out: Path | None,
    json: bool,
) -> None:
    from chronofact.cli.shadow_told import print_baseline
    from chronofact.contracts.baseline import BaselineUnreadable
    from chronofact.reconciler.baseline_told import baseline_body

    try:
        with outside_told(), _progress(quiet=json) as progress:
            found = _compared(data, projection, source, wanted, valid_at, out, progress)
    except BaselineUnreadable as unreadable:
        remedy = 'chronofact shadow report --baseline "SELECT tenant, subject, scope, key, value FROM …"'
        raise Failure(f"--baseline: {unreadable}", code=ExitCode.USAGE, remedy=remedy) from None
    body = baseline_body(found)
    if json:
        print(orjson.dumps(body).decode())
    else:
        print_baseline(body)
    if found.unknown or found.bad:
        raise typer.Exit(ExitCode.FAILED)


def _compared(
    data: Path | None,
    projection: str | None,
    source: tuple[str, str | None],
    wanted: tuple[UUID | None, Sort | None, int],
    valid_at: str | None,
    out: Path | None,
    progress: Callable[[str, int], None],
) -> BaselineReport:
    from datetime import datetime

    from chronofact.contracts.baseline import COLUMNS
    from chronofact.contracts.scope_kinds import ScopeKinds
    from chronofact.postgres.baseline_side import our_side
    from chronofact.postgres.baseline_source import reading
    from chronofact.postgres.route_store import RouteStore
    from chronofact.postgres.shadow_store import ShadowStore
    from chronofact.reconciler.baseline import Lines, empty_report, hold_against

    statement, url = source
    conninfo, configured = database(data)
    tenant_id = wanted[0]
    theirs_goes_to = None if tenant_id is None else RouteStore(conninfo).goes_to(tenant_id)
    name = projection or theirs_goes_to or ShadowStore(conninfo).routed() or configured
    needed = COLUMNS if tenant_id is None else COLUMNS[1:]
    at = None if valid_at is None else datetime.fromisoformat(valid_at)
    with _entered(reading(url or conninfo, statement, needed=needed), url) as theirs, our_side(conninfo, name) as ours:
        report = empty_report(name, ours.rule())
        report.columns_ignored = theirs.columns_ignored
        kinds = ScopeKinds.load(read_settings().scope_kinds_file)
        reader = Lines(kinds, report, is_text=theirs.is_text, tenant_id=tenant_id)
        found = hold_against(theirs.lines(), ours, report, reader=reader, valid_at=at, wanted=wanted, progress=progress)
        if out is not None:
            _write(out, ours.told(tenant_id=tenant_id, sort=wanted[1], samples=None))
    return found


@contextmanager
def _entered(source: AbstractContextManager[T], url: str | None) -> Iterator[T]:
    """What the user's own database says when it is asked first names the option that it came from."""
    from chronofact.runtime.failures import Transient, Unfit

    with ExitStack() as closing:
        try:
            found = closing.enter_context(source)
        except (Transient, Unfit) as error:
            if url is None:
                raise
            code = ExitCode.UNREACHABLE if isinstance(error, Transient) else ExitCode.FAILED
            raise Failure(f"--baseline-url: {error} ({error.code})", code=code, remedy=CONNINFO) from None
        yield found


def _write(out: Path, found: Iterator[Any]) -> None:
    from chronofact.reconciler.baseline_told import baseline_sample_body

    try:
        with out.open("wb") as file:
            file.writelines(orjson.dumps(baseline_sample_body(one), option=orjson.OPT_APPEND_NEWLINE) for one in found)
    except OSError as error:
        raise Failure(f"--out: {out}: {error.strerror}") from None


def seconds_of(window: str, option: str = "--window") -> int:
    """A length of time as people say it."""
    found = _WINDOW.fullmatch(window)
    seconds = 0 if found is None else int(found[1]) * _SECONDS[found[2]]
    if not 0 < seconds <= 366 * 86_400:
        raise Failure(f"{option} {window}: say it like 90s, 30m, 12h or 7d, a year at most", code=ExitCode.USAGE)
    return seconds


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[str, int], None]]:
    if quiet:
        yield lambda _what, _done: None
        return
    from rich.console import Console

    with Console(stderr=True).status("reading the baseline") as status:
        yield lambda what, done: status.update(f"{done:,} {'lines read' if what == 'lines' else 'differences judged'}")
