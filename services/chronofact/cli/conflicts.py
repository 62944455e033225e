"""``chronofact conflicts list | settle``: what contradicts each other, for a person to decide."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from chronofact.cli.options import DataFolder, Json, Reader, Tenant, Token, Writer
from chronofact.cli.outcome import ExitCode, Failure
from chronofact.cli.reads import PANEL, Limit, OneScope, asking, fact_id_of, given, send_on, show

if TYPE_CHECKING:
    from chronofact.client import Client, Settlement

SIDES: Final = ("left", "right")
NEITHER: Final = "neither"


class Relation(StrEnum):
    """Which conflict edges."""

    OPEN = "open"
    RESOLVED = "resolved"
    ALL = "all"


class _ListByDefault(TyperGroup):
    """``conflicts SUBJECT`` lists: what names no command is an argument of ``list``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["list", *args]
        return super().parse_args(ctx, args)


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    group = typer.Typer(cls=_ListByDefault, help="Values that contradict each other: list them, settle them.")
    group.command("list")(listed)
    group.command("settle")(settle)
    app.add_typer(group, name="conflicts", rich_help_panel=PANEL)


def listed(
    subject: Annotated[str | None, typer.Argument(help="Whom or what they are about.")] = None,
    key: Annotated[str | None, typer.Argument(help="Fact key.")] = None,
    relation: Annotated[
        Relation, typer.Option("--relation", case_sensitive=False, help="Open ones, or also those that are settled.")
    ] = Relation.OPEN,
    limit: Limit = 100,
    data: DataFolder = None,
    reader: Reader = None,
    tenant: Tenant = None,
    token: Token = None,
    *,
    json: Json = False,
) -> None:
    """Values that contradict each other, the oldest first, each with the command that settles it."""
    from chronofact.cli.render import conflicts_told

    named = None if relation is Relation.ALL else relation.upper()
    with asking(data, reader, tenant, token) as client:
        body = client.get("/v1/conflicts", given(subject=subject, key=key, relation=named, limit=limit))
    found = body["conflicts"]
    if not json:
        send_on(found, "settle_command", data=data, tenant=tenant)
    show(body, lambda: conflicts_told(found, commands=True) if found else "no conflicts", json=json)
    if found and not json:
        print("settle asks which to keep; or say --keep left, right or neither, with --reason and --by")


def settle(
    subject: Annotated[str | None, typer.Argument(help="Whom or what it is about.")] = None,
    key: Annotated[str | None, typer.Argument(help="Fact key.")] = None,
    scope: OneScope = None,
    fact: Annotated[str | None, typer.Option("--fact", metavar="ID", help="The fact by its id instead.")] = None,
    left: Annotated[str | None, typer.Option("--left", metavar="ID", help="One version of the pair.")] = None,
    right: Annotated[str | None, typer.Option("--right", metavar="ID", help="The other one.")] = None,
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="WHICH", help="left, right, neither, or a version id, kept against all others."),
    ] = None,
    reason: Annotated[str | None, typer.Option("--reason", help="Why; part of the event.")] = None,
    by: Annotated[str | None, typer.Option("--by", help="Who decides; default the login name.")] = None,
    data: DataFolder = None,
    writer: Writer = None,
    reader: Reader = None,
    tenant: Tenant = None,
    token: Token = None,
    *,
    again: Annotated[bool, typer.Option("--again", help="Decide anew what is settled already.")] = False,
    json: Json = False,
) -> None:
    """Keeps one of two versions, or neither; asks which, unless told. Waits until it shows, and says what holds now."""
    if keep is None and (json or not sys.stdin.isatty()):
        raise Failure("say which to keep: --keep left, right, neither or a version id", code=ExitCode.USAGE)
    with asking(data, reader, tenant, token, writer=writer) as client:
        fact_id = fact or _named(client, subject, key, scope)
        edges = _edges(client, fact_id, (left, right), again=again)
        wanted = [*_decided(edges, keep)] if keep else [*_asked(edges)]
        done = [
            (edge, kept, _sent(client, edge, kept, reason=reason, by=by or getpass.getuser())) for edge, kept in wanted
        ]
        if done:
            _tell(client, done, json=json)


def _named(client: Client, subject: str | None, key: str | None, scope: str | None) -> str:
    if subject is None or key is None:
        raise Failure("name the fact: SUBJECT KEY, or --fact ID", code=ExitCode.USAGE)
    return fact_id_of(client, subject, key, scope)


def _edges(client: Client, fact_id: str, pair: Sequence[str | None], *, again: bool) -> list[Any]:
    """The edges that are meant."""
    relation = None if again else "OPEN"
    named = [one.lower() for one in pair if one is not None]
    found: list[Any] = []
    cursor = None
    while True:
        params = given(fact_id=fact_id, relation=relation, version_id=named[0] if named else None, cursor=cursor)
        body = client.get("/v1/conflicts", [*params, ("limit", "1000")])
        found += [one for one in body["conflicts"] if set(named) <= {one[side]["version_id"] for side in SIDES}]
        cursor = body["cursor"]
        if cursor is None:
            break
    if not found:
        what = "no conflict" if again else "no open conflict"
        raise Failure(
            f"this fact has {what} of these versions" if named else f"this fact has {what}",
            remedy=None
            if again
            else "chronofact conflicts list --relation all shows settled ones; --again decides anew",
        )
    return found


def _decided(edges: Sequence[Any], keep: str) -> Iterator[tuple[Any, str | None]]:
    """Each edge that the decision is about, with the version to keep."""
    keep = keep.lower()
    if keep in (*SIDES, NEITHER):
        if len(edges) > 1:
            raise Failure(
                f"this fact has {len(edges)} conflicts: name one by --left and --right, or keep a version by its id",
                code=ExitCode.USAGE,
                remedy="chronofact conflicts list shows them",
            )
        yield edges[0], None if keep == NEITHER else edges[0][keep]["version_id"]
        return
    mine = [edge for edge in edges if keep in {edge[side]["version_id"] for side in SIDES}]
    if not mine:
        raise Failure("--keep is left, right, neither, or the id of a version in conflict", code=ExitCode.USAGE)
    yield from ((edge, keep) for edge in mine)


def _asked(edges: Sequence[Any]) -> Iterator[tuple[Any, str | None]]:
    """Shows both sides of each and asks; what is skipped stays as it is."""
    from rich.console import Console

    from chronofact.cli.render import conflicts_told
    from chronofact.cli.shown import shown

    for number, edge in enumerate(edges, start=1):
        if len(edges) > 1:
            print(f"{number} of {len(edges)}")
        Console().print(conflicts_told([shown(edge)]))
        answer = _choice()
        if answer != "s":
            yield edge, {"l": edge["left"]["version_id"], "r": edge["right"]["version_id"], "n": None}[answer]


def _choice() -> str:
    """The first letter of one of the four, asked for until it is."""
    while True:
        typed = typer.prompt("keep (l)eft, (r)ight, (n)either, or (s)kip").strip().lower()
        if typed and any(word.startswith(typed) for word in (*SIDES, NEITHER, "skip")):
            return str(typed[0])
        print(f"{typed!r} is none of them: type l for the first, r for the second, n or s")


def _sent(client: Client, edge: Mapping[str, Any], kept: str | None, *, reason: str | None, by: str) -> Settlement:
    settle = edge["settle"]
    return client.settle(
        settle["subject"],
        settle["key"],
        settle["left_version_id"],
        settle["right_version_id"],
        keep=kept,
        scope=settle["scope"],
        by=by,
        reason=reason,
    )


def _tell(client: Client, done: Sequence[tuple[Any, str | None, Settlement]], *, json: bool) -> None:
    """What became of each decision, and what holds now."""
    settle, last = done[-1][0]["settle"], done[-1][2]
    params = [(name, settle[name]) for name in ("subject", "key", "scope")]
    answer = client.get("/v1/resolve", params, after=last.accepted.position)
    settled = [
        {
            "left": edge["left"]["version_id"],
            "right": edge["right"]["version_id"],
            "keep": kept,
            "event_id": str(result.accepted.event_id),
            "counts": result.counts,
        }
        for edge, kept, result in done
    ]
    show({"settled": settled, "answer": answer}, lambda: _now(answer), json=json)
    if any(result.counts is False for _, _, result in done):
        raise Failure(
            "a decision of a later instant counts, not this one", remedy="chronofact conflicts list --relation all"
        )
    if any(result.counts is None for _, _, result in done):
        raise Failure("it was accepted, but does not show yet: the projection is behind")


def _now(answer: Any) -> Any:
    from chronofact.cli.render import answer_table
    from chronofact.client.answers import answer_of

    return answer_table(answer_of(answer))
