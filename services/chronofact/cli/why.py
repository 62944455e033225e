"""``chronofact why``: what decided an answer, in sentences."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import typer

from chronofact.cli.options import AsOf, DataFolder, Json, Reader, Scope, Tenant, Token, ValidAt
from chronofact.cli.reads import KNOWN, PANEL, Key, Subject, asking, instants, show

if TYPE_CHECKING:
    from rich.console import RenderableType

VERSIONS_SHOWN_MAX: Final = 20


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("why", rich_help_panel=PANEL)(why)


def why(
    subject: Subject,
    key: Key,
    scope: Scope = None,
    valid_at: ValidAt = None,
    as_of: AsOf = None,
    data: DataFolder = None,
    reader: Reader = None,
    tenant: Tenant = None,
    token: Token = None,
    *,
    json: Json = False,
) -> None:
    """What decided an answer: what holds and why, what does not, what was learned too late."""
    params = [("subject", subject), ("key", key), *(("scope", one) for one in scope or ())]
    with asking(data, reader, tenant, token) as client:
        body = client.get("/v1/explain", [*params, *instants(valid_at, as_of)])
    show(body, lambda: _rendered(body), json=json)
    if not json and body["answer"].get("reason") == "never_recorded":
        print(KNOWN, file=sys.stderr)


def _rendered(body: Any) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    from chronofact.cli.render import freshness
    from chronofact.client.answers import freshness_of

    fact = body["fact"]
    head = Text(f"{fact['key']} of {fact['subject']} in {fact['scope']}", style="dim")
    sentences = [Text(one, style="bold" if number == 0 else "") for number, one in enumerate(body["sentences"])]
    fresh = freshness(freshness_of(body["freshness"]))
    return Group(head, *sentences, fresh, *([Text(), *_versions(body)] if body["versions"] else []))


def _versions(body: Any) -> Iterator[RenderableType]:
    """A line a version, then their whole ids."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from chronofact.cli.render import SHORT, span, spelled, version_lines
    from chronofact.client.answers import moment

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for name in ("version", "value", "claims to hold", "source", "standing"):
        table.add_column(name, overflow="fold")
    shown = body["versions"][:VERSIONS_SHOWN_MAX]
    for one in shown:
        claimed = span((moment(one["valid_during"][0]), moment(one["valid_to"])))
        cells = (one["version_id"][:SHORT], spelled(one["value"]), claimed, one["source_id"], _standing(one))
        table.add_row(*(Text(cell) for cell in cells))
    if body["versions_count"] > VERSIONS_SHOWN_MAX:
        table.caption = f"{body['versions_count'] - VERSIONS_SHOWN_MAX:,} more; --json lists up to 1,000"
    yield table
    yield from version_lines((one["version_id"], spelled(one["value"])) for one in shown)


def _standing(version: Any) -> str:
    """How it stands, and where an event ended it before its claim does."""
    from chronofact.cli.render import when
    from chronofact.client.answers import moment

    standing = str(version["standing"]).replace("_", " ")
    _, end = version["valid_during"]
    return standing if end == version["valid_to"] else f"{standing}\nended at {when(moment(end))}"
