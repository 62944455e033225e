"""``chronofact changes``: answers as they change, one after the other, until interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from chronofact.cli.options import DataFolder, Json, Reader, Target, Tenant, Token, failures_told

if TYPE_CHECKING:
    from rich.text import Text

    from chronofact.client import Change, ChangedAnswer, Client

PANEL = "Facts"
RESTART_S = 60.0


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("changes", rich_help_panel=PANEL)(changes)


def changes(
    subject: Annotated[str | None, typer.Option("--subject", help="Only of this subject.")] = None,
    scope: Annotated[str | None, typer.Option("--scope", metavar="KIND:KEY", help="Only in this scope.")] = None,
    key: Annotated[str | None, typer.Option("--key", help="Only of this fact key.")] = None,
    prefix: Annotated[str | None, typer.Option("--prefix", help="Only keys that start so.")] = None,
    after: Annotated[
        str | None, typer.Option("--after", help="The id of the last change that was had, or a position; default now.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Stop after so many.")] = None,
    data: DataFolder = None,
    reader: Reader = None,
    tenant: Tenant = None,
    token: Token = None,
    *,
    json: Json = False,
) -> None:
    """Answers that change, as they change, until interrupted; each with the id to go on from."""
    target = Target(data=data, reader=reader, tenant=tenant, token=token)
    with failures_told(), _lasting_client(target) as client:
        following = client.changes(subject=subject, scope=scope, key=key, prefix=prefix, after=after)
        try:
            for number, change in enumerate(following, start=1):
                _show(change, json=json)
                if number == limit:
                    return
        except KeyboardInterrupt:
            return


def _lasting_client(target: Target) -> Client:
    """One that outlasts a restart of the reader, if that answers now."""
    from chronofact.client import Client

    with target.client() as hasty:
        hasty.get("/livez")
    writer, reader = target.addresses()
    return Client(writer=writer, reader=reader, tenant=target.tenant, token=target.token, patience_s=RESTART_S)


def _show(change: Change, *, json: bool) -> None:
    if json:
        import orjson

        print(orjson.dumps({"id": change.id, **change.body}).decode(), flush=True)
        return
    from rich.console import Console

    from chronofact.cli.render import when

    console = Console()
    fact = change.fact
    console.print(f"{when(change.recorded_at)}  {fact.key} of {fact.subject} in {fact.scope}", highlight=False)
    for stretch in change.changed:
        console.print(_line(stretch))


def _line(stretch: ChangedAnswer) -> Text:
    from rich.text import Text

    from chronofact.cli.render import REASONS, STYLES, span, spelled

    match stretch.kind:
        case "value":
            said = spelled(stretch.value)
        case "unknown":
            said = f"unknown: {REASONS.get(stretch.reason or '', stretch.reason)}"
        case "unlisted":
            said = "too much to be told here; chronofact resolve tells it"
        case kind:
            listed = sorted({spelled(one.value) for one in stretch.versions})
            more = f" and {stretch.count - len(stretch.versions)} more" if stretch.count else ""
            said = f"in conflict: {' or '.join(listed)}?{more}" if kind == "conflict" else ", ".join(listed) + more
    line = Text("  ")
    line.append(said, style=STYLES.get(stretch.kind, "dim"))
    return line.append(f"  {span(stretch.valid_during)}")
