"""``chronofact changes``: answers as they change, one after the other, until interrupted."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from chronofact.cli.options import DataFolder, Json, Reader, Target, Tenant, Token, failures_told

if TYPE_CHECKING:
    from rich.text import Text

    from chronofact.client import Change, ChangedAnswer, Client
    from chronofact.client.changes import Following

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
        str | None, typer.Option("--after", help="The id that was told at the end, or a position; default now.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Stop after so many.")] = None,
    data: DataFolder = None,
    reader: Reader = None,
    tenant: Tenant = None,
    token: Token = None,
    *,
    json: Json = False,
) -> None:
    """Answers that change, as they change, until interrupted; at the end comes the id to go on from."""
    from chronofact.client.changes import following
    from chronofact.client.shells import READER

    target = Target(data=data, reader=reader, tenant=tenant, token=token)
    with failures_told(), _after_told(), _lasting_client(target) as client:
        address = (target.addresses()[1] or READER).rstrip("/")
        follow = following(
            address, subject=subject, scope=scope, key=key, prefix=prefix, after=after, patience_s=RESTART_S
        )
        spoken = Spoken(follow)
        try:
            for number, change in enumerate(client.followed(follow), start=1):
                _show(change, json=json)
                spoken.shown(change)
                if number == limit:
                    return
        except KeyboardInterrupt:
            return
        finally:
            spoken.end()


class Spoken:
    """Says on standard error where the following stands: its beginning, each interruption, the id to go on from."""

    def __init__(self, follow: Following) -> None:
        self._follow = follow
        self._began = False
        self._away = False
        self._had = follow.last_id
        follow.on_opened = self._opened
        follow.on_lost = self._lost

    def shown(self, change: Change) -> None:
        """One is out."""
        self._had = change.id

    def end(self) -> None:
        """Nothing more is shown; what comes after the id told here was not."""
        if self._began and (after := self._had or self._follow.last_id) is not None:
            _say(f"to go on from here: --after {after}")

    def _opened(self) -> None:
        after = self._follow.last_id
        if self._away:
            _say("following again, from where it broke off" + (f": {after}" if after else ""))
        elif not self._began:
            _say("following from now; Ctrl-C ends" if after is None else f"following after {after}; Ctrl-C ends")
        self._began, self._away = True, False

    def _lost(self, why: str) -> None:
        if not self._away:
            _say(f"interrupted: {why}; trying again for up to {RESTART_S:g} s")
        self._away = True


@contextmanager
def _after_told() -> Iterator[None]:
    """A refusal of the header that the client sends names the option that it came from."""
    from chronofact.client import Refused

    try:
        yield
    except Refused as error:
        field = "--after" if error.field == "Last-Event-ID" else error.field
        raise Refused(error.status, error.code, error.message, field=field) from None


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


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
    from chronofact.cli.shown import shown

    console = Console()
    fact = change.fact
    head = f"{when(change.recorded_at)}  {fact.key} of {fact.subject} in {fact.scope}"
    console.print(shown(head), highlight=False, markup=False, soft_wrap=True)
    for stretch in change.changed:
        console.print(_line(stretch))


def _line(stretch: ChangedAnswer) -> Text:
    from rich.text import Text

    from chronofact.cli.render import REASONS, STYLES, span, spelled
    from chronofact.cli.shown import shown

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
    line.append(shown(said), style=STYLES.get(stretch.kind, "dim"))
    return line.append(f"  {span(stretch.valid_during)}")
