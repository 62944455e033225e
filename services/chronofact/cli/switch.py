"""``chronofact switch | rollback | routes``: which projection the reads of tenants go to, and back."""

from __future__ import annotations

import getpass
import socket
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import orjson
import typer

from chronofact.cli.counted import counted
from chronofact.cli.options import DataFolder, Json, database, outside_told, read_settings
from chronofact.cli.outcome import ExitCode, Failure

if TYPE_CHECKING:
    from pathlib import Path
    from uuid import UUID

    from chronofact.contracts.routing import Line, Routed, RouteWanted

PANEL: Final = "Operations"
LISTED_MAX: Final = 1_000
SHOWN_MAX: Final = 20
TENANT_CHARS_MAX: Final = 256
NOT_FOLDED: Final = 1_000
"""Characters of a line where no terminal is: whoever reads it wants a line a change."""
_EPILOG: Final = (
    "Ends with 0 when done, 1 when it was refused and nothing was changed, 2 for usage, 3 when Postgres can't be reached. "
    "Step by step: docs/operations/switch.md."
)

Tenants = Annotated[
    list[str] | None, typer.Argument(metavar="TENANT…", help="Tenants, each a UUID or any other string.")
]
By = Annotated[str | None, typer.Option("--by", help="Who does it; default the login name. It is kept.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    for name, command in (("switch", switch), ("rollback", rollback), ("routes", routes)):
        app.command(name, rich_help_panel=PANEL, epilog=_EPILOG)(command)


def switch(
    to: Annotated[str, typer.Option("--to", metavar="PROJECTION", help="Where their reads go from now on, like p2.")],
    tenants: Tenants = None,
    reason: Annotated[str | None, typer.Option("--reason", help="Why; it is kept. --force needs it.")] = None,
    by: By = None,
    data: DataFolder = None,
    *,
    everyone: Annotated[
        bool, typer.Option("--all", help="All tenants without a line of their own, and all whose line names the same.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Whatever speaks against it, but what can't be read.")] = False,
    json: Json = False,
) -> None:
    """Have the reads of tenants go to another projection, from their next statement on.

    Refuses, by name, while the new one is not ready, not fed, lags, is not verified, or its shadow window is open or has unexplained differences. --force with --reason overrides that.

    'chronofact rollback' takes it back. Writes do not care: all projections are fed.
    """
    _change(data, tenants, everyone, _said(to, reason, by, is_forced=force), json=json)


def rollback(
    tenants: Tenants = None,
    reason: Annotated[str | None, typer.Option("--reason", help="Why; it is kept.")] = None,
    by: By = None,
    data: DataFolder = None,
    *,
    everyone: Annotated[
        bool, typer.Option("--all", help="All tenants without a line of their own, and all whose line names the same.")
    ] = False,
    json: Json = False,
) -> None:
    """Take the last switch of tenants back: their reads go where they went before.

    Nothing else changes: what was written since stays, in every projection. Another rollback takes the switch before that back; once none is left it says so, and never goes forward again.

    It needs Postgres alone, and neither the reconciler nor Kafka.
    """
    _change(data, tenants, everyone, _said(None, reason, by, is_forced=False), json=json)


def routes(
    tenants: Tenants = None,
    data: DataFolder = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="How many at most.")] = 100,
    *,
    changes: Annotated[bool, typer.Option("--changes", help="What was changed instead, last first.")] = False,
    json: Json = False,
) -> None:
    """Where the reads of tenants go, or what was changed of that; of tenants that are named, with their ids."""
    from chronofact.postgres.route_store import RouteStore
    from chronofact.reconciler.routes_told import change_body, route_body

    if tenants:
        if changes:
            raise Failure("--changes goes without tenants", code=ExitCode.USAGE)
        _tell_where(data, tenants, json=json)
        return

    with outside_told():
        store = RouteStore(database(data)[0])
        if changes:
            found = [change_body(one) for one in store.changes(before=None, limit=limit)]
        else:
            found = [route_body(one) for one in store.routes(after=None, limit=limit)]
    if json:
        print(orjson.dumps({"changes" if changes else "routes": found}).decode())
        return
    _show_table(found, _CHANGE if changes else _ROUTE)


def _tell_where(data: Path | None, tenants: Sequence[str], *, json: bool) -> None:
    from chronofact.domain.identity import tenant_id_of
    from chronofact.postgres.route_store import RouteStore

    with outside_told():
        store = RouteStore(database(data)[0])
        found = [
            {"name": one, "tenant": str(tenant_id_of(one)), "projection": store.goes_to(tenant_id_of(one))}
            for one in tenants
        ]
    if json:
        print(orjson.dumps({"routes": found}).decode())
    else:
        _show_table(found, ("name", "tenant", "projection"))


_CHANGE: Final = ("number", "tenant", "kind", "undoes", "from", "to", "forced", "overridden", "reason", "by", "at")
_ROUTE: Final = ("tenant", "projection", "rule", "state", "changed_at", "by", "reason")


def _said(to: str | None, reason: str | None, by: str | None, *, is_forced: bool) -> RouteWanted:
    from chronofact.contracts.routing import RouteWanted

    return RouteWanted(
        (), everyone=False, changed_by=by or _login(), to_projection=to, is_forced=is_forced, reason=reason
    )


def _change(data: Path | None, tenants: Sequence[str] | None, everyone: bool, said: RouteWanted, *, json: bool) -> None:
    from dataclasses import replace

    from chronofact.contracts.routing import RouteRefused
    from chronofact.domain.errors import Rejected
    from chronofact.domain.identity import tenant_id_of
    from chronofact.postgres.route_store import RouteStore
    from chronofact.reconciler.routing import Router

    if bool(tenants) == everyone:
        raise Failure("say which: TENANT…, or --all", code=ExitCode.USAGE, remedy="chronofact routes shows the lines")
    if not all(0 < len(one) <= TENANT_CHARS_MAX for one in tenants or ()):
        raise Failure(f"a tenant has 1 to {TENANT_CHARS_MAX} characters", code=ExitCode.USAGE)
    tenant_ids = list(dict.fromkeys(map(tenant_id_of, tenants or ())))
    wanted = replace(said, tenant_ids=tenant_ids, everyone=everyone)
    with outside_told():
        router = Router(RouteStore(database(data)[0]), lag_events_max=read_settings().switch_lag_events_max)
        try:
            routed = router.route(wanted)
        except RouteRefused as refused:
            raise _refused(wanted, refused) from None
        except Rejected as rejected:
            raise Failure(f"{rejected.message} ({rejected.code})", code=ExitCode.USAGE) from None
    named = {tenant_id_of(one): one for one in tenants or () if one != str(tenant_id_of(one))}
    _tell(routed, named, json=json)


def _refused(wanted: RouteWanted, refused: Any) -> Failure:
    told = "\n".join(f"  {one.code}: {one.message}" for one in refused.refusals)
    can_be_forced = all(one.can_be_forced for one in refused.refusals)
    remedy = None
    if can_be_forced and wanted.to_projection is not None:
        remedy = "nothing was changed; --force --reason WHY overrides all of these, and keeps why"
    elif can_be_forced:
        remedy = "nothing was changed; chronofact switch … --to PROJECTION --force --reason WHY goes there all the same"
    return Failure(f"refused:\n{told}", remedy=remedy)


def _tell(routed: Routed, named: Mapping[UUID, str], *, json: bool) -> None:
    from chronofact.reconciler.routes_told import routed_body

    if json:
        print(orjson.dumps(routed_body(routed)).decode())
        return
    for one in routed.overridden:
        print(f"overridden: {one.message} ({one.code})")
    for move in routed.moves[:SHOWN_MAX]:
        print(f"{_who(move.tenant_id, named)}: {move.from_projection} → {move.to_projection}")
    if len(routed.moves) > SHOWN_MAX:
        print(f"and {counted(len(routed.moves) - SHOWN_MAX, 'more')}")
    for projection, tenants in routed.elsewhere.items():
        if tenants == 1:
            print(f"1 tenant has a line of its own to {projection} and stays there; name it to move it")
        else:
            print(f"{tenants:,} tenants have lines of their own to {projection} and stay there; name them to move them")
    _tell_lines(routed.unchanged, "there already", named)
    _tell_lines(routed.stay, "nothing to take back, stays", named)
    if routed.moves:
        print(f"{counted(len(routed.moves), 'route')} changed in {routed.seconds * 1_000:.0f} ms")


def _tell_lines(lines: Sequence[Line], told: str, named: Mapping[UUID, str]) -> None:
    for line in lines[:SHOWN_MAX]:
        print(f"{_who(line.tenant_id, named)}: {line.projection}, {told}")
    if len(lines) > SHOWN_MAX:
        print(f"and {len(lines) - SHOWN_MAX:,} more: {told}")


def _who(tenant_id: UUID | None, named: Mapping[UUID, str]) -> str:
    """A tenant by its id, and the name that it was given by here: no other is kept."""
    if tenant_id is None:
        return "all without a line of their own"
    return f"tenant {named[tenant_id]} ({tenant_id})" if tenant_id in named else f"tenant {tenant_id}"


def _show_table(found: Sequence[dict[str, Any]], names: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    from chronofact.cli.shown import shown

    table = Table(box=None, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name in {"projection", "rule", "state", "kind", "forced"})
    for one in found:
        table.add_row(*(shown(_cell(name, one[name])) for name in names))
    Console(width=None if Console().is_terminal else NOT_FOLDED).print(table, crop=False)


def _cell(name: str, value: Any) -> str:
    if name in {"at", "changed_at"} and value is not None:
        return f"{value[:10]} {value[11:19]}Z"
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, list):
        return ", ".join(value)
    if value is None:
        return "all others" if name == "tenant" else ""
    return str(value)


def _login() -> str:
    try:
        return f"{getpass.getuser()}@{socket.gethostname()}"
    except (OSError, KeyError):
        return "operator"
