"""``chronofact resolve | facts | history | timeline``: what the reader answers, as tables or JSON."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from chronofact.cli.options import (
    AsOf,
    DataFolder,
    Json,
    Reader,
    Scope,
    Target,
    Tenant,
    Token,
    ValidAt,
    failures_told,
    instant,
)
from chronofact.cli.outcome import Failure

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from chronofact.client import Client

PANEL = "Facts"
Params: TypeAlias = list[tuple[str, str]]

Subject = Annotated[str, typer.Argument(help="Whom or what it is about.")]
Key = Annotated[str, typer.Argument(help="Fact key, like package_manager.")]
KNOWN = "chronofact facts SUBJECT lists what is known; --scope names another scope"
OneScope = Annotated[str | None, typer.Option("--scope", metavar="KIND:KEY", help="Scope; default user:self.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=1_000, help="How many at most.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    for name, command in (
        ("resolve", resolve),
        ("facts", facts),
        ("history", history),
        ("timeline", timeline),
    ):
        app.command(name, rich_help_panel=PANEL)(command)


def resolve(
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
    """What held then, as known then: one fact's answer at two instants."""
    from chronofact.cli.render import answer_table
    from chronofact.client.answers import answer_of

    params = [("subject", subject), ("key", key), *(("scope", one) for one in scope or ())]
    with asking(data, reader, tenant, token) as client:
        body = client.get("/v1/resolve", [*params, *instants(valid_at, as_of)])
    show(body, lambda: answer_table(answer_of(body)), json=json)
    if not json and body["kind"] == "unknown" and body["reason"] == "never_recorded":
        print(KNOWN, file=sys.stderr)


def facts(
    subject: Subject,
    scope: Annotated[str | None, typer.Option("--scope", metavar="KIND:KEY", help="Only in this scope.")] = None,
    prefix: Annotated[str | None, typer.Option("--prefix", help="Only keys that start so.")] = None,
    valid_at: ValidAt = None,
    as_of: AsOf = None,
    limit: Limit = 100,
    data: DataFolder = None,
    reader: Reader = None,
    tenant: Tenant = None,
    token: Token = None,
    *,
    json: Json = False,
) -> None:
    """Every fact of a subject, with its answer at two instants."""
    from chronofact.cli.render import facts_told
    from chronofact.client.answers import page_of

    params = [("subject", subject), *given(scope=scope, prefix=prefix, limit=limit)]
    with asking(data, reader, tenant, token) as client:
        body = client.get("/v1/facts", [*params, *instants(valid_at, as_of)])
    of = f"{subject} in {scope}; without --scope every scope is looked at" if scope else subject
    show(body, lambda: facts_told(page_of(body).answers) if body["facts"] else f"no facts of {of}", json=json)


def history(
    subject: Subject,
    key: Key,
    scope: OneScope = None,
    data: DataFolder = None,
    reader: Reader = None,
    tenant: Tenant = None,
    token: Token = None,
    *,
    json: Json = False,
) -> None:
    """Every event of a fact, in the order in which it was learned."""
    from chronofact.cli.render import events_told

    with asking(data, reader, tenant, token) as client:
        body = client.get(f"/v1/facts/{fact_id_of(client, subject, key, scope)}/events")
    show(body, lambda: events_told(body["events"]), json=json)


def timeline(
    subject: Subject,
    key: Key,
    scope: OneScope = None,
    data: DataFolder = None,
    reader: Reader = None,
    tenant: Tenant = None,
    token: Token = None,
    columns: Annotated[
        int | None,
        typer.Option("--columns", min=1, max=40, help="How many system times, the last ones; default what fits."),
    ] = None,
    *,
    json: Json = False,
) -> None:
    """A fact's answers over both axes: what held when, as known when."""
    from chronofact.cli.render import Rectangle, picture

    with asking(data, reader, tenant, token) as client:
        body = client.get(f"/v1/facts/{fact_id_of(client, subject, key, scope)}/timeline")
    show(body, lambda: picture([*map(Rectangle, body["timeline"])], columns_max=columns, width=_width()), json=json)


@contextmanager
def asking(
    data: Any, reader: str | None, tenant: str | None, token: str | None, *, writer: str | None = None
) -> Iterator[Client]:
    """A client whose failures are told as the command's."""
    with (
        failures_told(),
        Target(data=data, writer=writer, reader=reader, tenant=tenant, token=token).client() as client,
    ):
        yield client


def fact_id_of(client: Client, subject: str, key: str, scope: str | None) -> str:
    """As the reader derives it, who knows the credential's tenant."""
    body = client.get("/v1/resolve", [("subject", subject), ("key", key), *given(scope=scope)])
    fact = body["fact"]
    if body["kind"] == "unknown" and body["reason"] == "never_recorded":
        said = f"nothing was ever said about {fact['key']} of {fact['subject']} in {fact['scope']}"
        raise Failure(said, remedy=KNOWN)
    fact_id: str = fact["fact_id"]
    return fact_id


def show(body: Any, render: Callable[[], RenderableType], *, json: bool) -> None:
    """An answer as one line of JSON, or rendered, with what others said in it escaped in place."""
    if json:
        import orjson

        print(orjson.dumps(body).decode())
        return
    from rich.console import Console

    from chronofact.cli.shown import made_inert

    made_inert(body)
    Console().print(render(), crop=False)
    if isinstance(body, dict) and body.get("cursor"):
        print("there is more; --limit shows more of it")


def send_on(commands: Iterable[dict[str, Any]], field: str, *, data: Path | None, tenant: str | None) -> None:
    """Has the commands that an answer names, to be copied, go to the same stack and tenant as the one that asked."""
    words = [word for name, one in given(data=data, tenant=tenant) for word in (f"--{name}", one)]
    for command in commands:
        if words and command.get(field):
            command[field] += f" {shlex.join(words)}"


def _width() -> int:
    from rich.console import Console

    return Console().width


def instants(valid_at: str | None, as_of: str | None) -> Params:
    """The two instants as parameters, where they are given."""
    return given(valid_at=instant(valid_at, "--valid-at"), as_of=instant(as_of, "--as-of"))


def given(**options: object) -> Params:
    """Those options that were given, as parameters."""
    return [(name, str(option)) for name, option in options.items() if option is not None]
