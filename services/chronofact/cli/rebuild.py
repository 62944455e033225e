"""``chronofact rebuild start | status | watch | verify | cancel | list``: all state made anew from the log, beside what serves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final

import orjson
import typer

from chronofact.cli.options import DataFolder, Json, Token
from chronofact.cli.outcome import ExitCode, Failure

if TYPE_CHECKING:
    from chronofact.cli.rebuild_asking import Asking

PANEL: Final = "Operations"
LISTED_MAX: Final = 1_000

HELP: Final = """Make all state anew from the log, into a projection of its own, while the present one goes on serving.

The whole way: 'chronofact rebuild start' begins, 'chronofact rebuild watch' shows how it loads the log, catches up and is verified; 'chronofact verify p1 p2' proves it once more at any time; 'chronofact switch --all --to p2' has tenants read it, 'chronofact rollback --all' takes that back; 'chronofact retire p1 --drop' lets the old one go.

The reconciler does the work, not this command: it goes on after Ctrl-C, and after any crash from where it was. 'status' and 'watch' look, 'verify' proves a failed one once more, 'cancel' removes all that it made. On a database that was lost the first rebuild becomes what serves.
"""
_EPILOG: Final = (
    "Ends with 0 when done, 1 when the rebuild failed, was cancelled or refused, 2 for usage, 3 when the reconciler can't be "
    "reached. The rebuild's states: planning, building, indexing, catching_up, verifying, ready; or failed, cancelled."
)

Reconciler = Annotated[str | None, typer.Option("--reconciler", metavar="URL", help="Address of the reconciler.")]
JsonLines = Annotated[
    bool,
    typer.Option("--json", help="Lines of JSON: one a second while it goes, and the result as the last."),
]
Number = Annotated[int | None, typer.Argument(metavar="REBUILD", min=1, help="Which one; default the last.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    group = typer.Typer(help=HELP, no_args_is_help=True)
    looking = (("status", status), ("watch", watch), ("list", listed))
    for name, command in (("start", start), *looking, ("verify", verify), ("cancel", cancel)):
        group.command(name, epilog=_EPILOG)(command)
    app.add_typer(group, name="rebuild", rich_help_panel=PANEL)


def start(
    projection: Annotated[
        str | None, typer.Option("--projection", metavar="NAME", help="Its name, like p2; default the next free one.")
    ] = None,
    rule: Annotated[
        int | None,
        typer.Option("--rule", metavar="N", help="Rule of the fold; default that of what serves (docs/rules.md)."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", help="Processes of the load; default the setting.")
    ] = None,
    compare_with: Annotated[
        str | None,
        typer.Option(
            "--compare-with",
            metavar="NAME",
            help="What it is verified against; default one that serves. 'none' where that is known to be wrong: the check decides.",
        ),
    ] = None,
    shadow_window: Annotated[
        str | None,
        typer.Option("--shadow-window", metavar="TIME", help="With another rule: like 90s, 12h or 7d; default 7d."),
    ] = None,
    data: DataFolder = None,
    reconciler: Reconciler = None,
    token: Token = None,
    *,
    wait: Annotated[bool, typer.Option("--wait", help="Show its progress, and end when it is over.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="JSON instead: what has begun; with --wait lines as of 'watch --json'.")
    ] = False,
) -> None:
    """Begin to rebuild all state from the log, into a projection that nobody reads yet.

    It loads the log up to its present end, indexes, catches up by the projectors, and is verified: against a projection of the same rule all must be identical; else an independent check of every fact must find nothing.
    """
    from chronofact.cli.rebuild_asking import asking
    from chronofact.cli.shadow import seconds_of

    if shadow_window is not None and rule is None:
        told = (
            "--shadow-window goes with --rule: by the same rule nothing is looked at in shadow, all must be identical"
        )
        raise Failure(told, code=ExitCode.USAGE)
    window_s = None if shadow_window is None else seconds_of(shadow_window, "--shadow-window")
    asked = asking(data, reconciler, token)
    wanted = {
        "projection": projection, "rule": rule, "workers": workers,
        "compare_with": compare_with, "shadow_window_s": window_s,
    }  # fmt: skip
    begun = asked.start(wanted)
    if wait:
        if not json:
            print(f"rebuild {begun['id']} of {begun['projection']} by rule {begun['rule']} has begun")
        _follow(asked, int(begun["id"]), json=json)
        return
    if json:
        _print(begun)
        return
    print(f"rebuild {begun['id']} of {begun['projection']} by rule {begun['rule']} has begun")
    print(
        f"chronofact rebuild watch {begun['id']} shows how far it is; chronofact rebuild cancel {begun['id']} ends it"
    )


def status(
    number: Number = None,
    data: DataFolder = None,
    reconciler: Reconciler = None,
    token: Token = None,
    *,
    json: Json = False,
) -> None:
    """How far a rebuild has come, and for what it waits; or why it failed, and what helps."""
    from chronofact.cli.rebuild_asking import asking
    from chronofact.cli.rebuild_told import told

    asked = asking(data, reconciler, token)
    found = asked.one(number or asked.newest())
    if json:
        _print(found)
        return
    print("\n".join(told(found)))


def watch(
    number: Number = None,
    data: DataFolder = None,
    reconciler: Reconciler = None,
    token: Token = None,
    *,
    json: JsonLines = False,
) -> None:
    """Show a rebuild's progress until it is over; Ctrl-C ends the watching alone."""
    from chronofact.cli.rebuild_asking import asking

    asked = asking(data, reconciler, token)
    _follow(asked, number or asked.newest(), json=json)


def verify(
    number: Number = None,
    compare_with: Annotated[
        str | None,
        typer.Option(
            "--compare-with",
            metavar="NAME",
            help="What it is verified against; default the same as before. 'none': the independent check decides.",
        ),
    ] = None,
    data: DataFolder = None,
    reconciler: Reconciler = None,
    token: Token = None,
    *,
    wait: Annotated[bool, typer.Option("--wait", help="Show its progress, and end when it is over.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="JSON instead: how it stands; with --wait lines as of 'watch --json'.")
    ] = False,
) -> None:
    """Verify a failed rebuild once more, after its cause was put right: it catches up, and nothing is loaded again.

    Refused where it failed before all was loaded. One that is ready is held against another by 'chronofact verify'.
    """
    from chronofact.cli.rebuild_asking import asking

    asked = asking(data, reconciler, token)
    found = asked.verify(number or asked.newest(), compare_with)
    if not json:
        print(f"rebuild {found['id']} of {found['projection']} is verified once more")
    if wait:
        _follow(asked, int(found["id"]), json=json)
    elif json:
        _print(found)


def cancel(
    number: Annotated[int, typer.Argument(metavar="REBUILD", min=1, help="Which one.")],
    data: DataFolder = None,
    reconciler: Reconciler = None,
    token: Token = None,
    *,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="End once nothing of it is left.")] = True,
    json: Json = False,
) -> None:
    """End a rebuild, or clear away a failed one: its schema, checkpoints and parked messages go, its line in the list stays."""
    from chronofact.cli.rebuild_asking import asking, followed

    asked = asking(data, reconciler, token)
    found = asked.cancel(number)
    if wait and found["state"] != "cancelled":
        with _left_running(number):
            *_, found = followed(asked, number)
    if json:
        _print(found)
    elif found["state"] == "cancelled":
        print(f"rebuild {number} is cancelled; nothing of {found['projection']} is left")
    elif not wait:
        print(f"rebuild {number} is about to be cancelled")
    if wait and found["state"] != "cancelled":
        raise Failure(f"rebuild {number} of {found['projection']} could not be cancelled: it is {found['state']}")


def listed(
    data: DataFolder = None,
    reconciler: Reconciler = None,
    token: Token = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=LISTED_MAX, help="How many at most.")] = 20,
    *,
    json: Json = False,
) -> None:
    """The rebuilds that there were, newest first."""
    from chronofact.cli.rebuild_asking import asking
    from chronofact.cli.rebuild_told import rows

    found = asking(data, reconciler, token).listed(limit)
    if json:
        print(orjson.dumps({"rebuilds": found}).decode())
        return
    if not found:
        print("nothing was ever rebuilt here")
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for name in ("rebuild", "projection", "rule", "state", "events", "took", "started", "failure"):
        table.add_column(name, no_wrap=name != "started")
    for row in rows(found):
        table.add_row(*row)
    Console().print(table, crop=False)


def _follow(asked: Asking, number: int, *, json: bool) -> None:
    from chronofact.cli.rebuild_asking import followed
    from chronofact.cli.rebuild_told import progress, summary, told

    found: dict[str, Any] = {}
    with _left_running(number), progress(json=json) as show:
        for found in followed(asked, number):
            show(found)
    if json:
        print(orjson.dumps(summary(found)).decode())
    else:
        print("\n".join(told(found)))
    if found["state"] != "ready":
        raise typer.Exit(ExitCode.FAILED)


@contextmanager
def _left_running(number: int) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        told = f"rebuild {number} goes on; this was only the watching of it"
        remedy = f"chronofact rebuild watch {number} looks again; chronofact rebuild cancel {number} ends it"
        raise Failure(told, remedy=remedy) from None


def _print(found: dict[str, Any]) -> None:
    print(orjson.dumps(found).decode())
