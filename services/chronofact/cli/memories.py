"""``chronofact memories | relations``: text memories that hold, what a query finds, and what was decided of pairs."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from chronofact.cli.options import AsOf, DataFolder, Json, Reader, Tenant, Token, ValidAt
from chronofact.cli.outcome import ExitCode, Failure
from chronofact.cli.reads import PANEL, Limit, Subject, asking, given, instants, send_on, show

if TYPE_CHECKING:
    from rich.console import RenderableType

CHANGED: Final = {"supersedes": "supersedes", "contradicts": "contradicts", "near_duplicate": "repeats"}
LEFT_OUT: Final = {
    "superseded": "superseded",
    "merged": "merged into another",
    "pending_review": "under review",
    "pending_pairs": "waiting for a verdict",
}
TEXT_SHOWN: Final = 100


class Include(StrEnum):
    """What is left out unless it is asked for."""

    SUPERSEDED = "superseded"
    MERGED = "merged"
    PENDING_REVIEW = "pending_review"
    PENDING_PAIRS = "pending_pairs"


class Relation(StrEnum):
    """How two memories relate."""

    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    NEAR_DUPLICATE = "near_duplicate"
    UNRELATED = "unrelated"


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command("memories", rich_help_panel=PANEL)(memories)
    app.command("relations", rich_help_panel=PANEL)(relations)


def memories(
    subject: Subject,
    query: Annotated[str | None, typer.Argument(help="What to search for; without it all are listed.")] = None,
    scope: Annotated[
        list[str] | None, typer.Option("--scope", metavar="KIND:KEY", help="Only of this scope; repeat it for more.")
    ] = None,
    category: Annotated[str | None, typer.Option("--category", metavar="WORD", help="Only of this category.")] = None,
    include: Annotated[
        list[Include] | None,
        typer.Option(
            "--include", help="Show these, too: superseded, merged, pending_review, pending_pairs; may repeat."
        ),
    ] = None,
    valid_at: ValidAt = None,
    as_of: AsOf = None,
    limit: Limit = 20,
    data: DataFolder = None,
    reader: Reader = None,
    tenant: Tenant = None,
    token: Token = None,
    *,
    json: Json = False,
) -> None:
    """Text memories that held then, as known then: all, or those that a query finds by words and by nearness."""
    params = [("subject", subject), *given(query=query, category=category, limit=limit)]
    params += [("scope", one) for one in scope or ()] + [("include", one.value) for one in include or ()]
    with asking(data, reader, tenant, token) as client:
        body = client.get("/v1/memories", [*params, *instants(valid_at, as_of)])
    show(body, lambda: _memories_told(body), json=json)


def relations(
    subject: Annotated[str | None, typer.Argument(help="Whose memories.")] = None,
    version: Annotated[
        str | None, typer.Option("--version-id", metavar="ID", help="Of one memory; waits until it was checked.")
    ] = None,
    relation: Annotated[
        Relation | None, typer.Option("--relation", help="Only supersedes, contradicts, near_duplicate or unrelated.")
    ] = None,
    wait_ms: Annotated[
        int | None, typer.Option("--wait-ms", min=0, max=30_000, help="How long to wait for that; default 1,000.")
    ] = None,
    limit: Limit = 100,
    data: DataFolder = None,
    reader: Reader = None,
    tenant: Tenant = None,
    token: Token = None,
    *,
    json: Json = False,
) -> None:
    """What was decided of pairs of text memories, by whom and why, and what still waits."""
    if subject is None and version is None:
        raise Failure("name a SUBJECT, or a memory by --version-id", code=ExitCode.USAGE)
    params = given(subject=subject, version_id=version, relation=relation and relation.value, limit=limit)
    with asking(data, reader, tenant, token) as client:
        body = client.get("/v1/relations", params, wait_ms=wait_ms)
    if not json:
        send_on(body["pending"], "decide_command", data=data, tenant=tenant)
    show(body, lambda: _relations_told(body, limit), json=json)


def _memories_told(body: Any) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    from chronofact.cli.render import freshness
    from chronofact.client.answers import freshness_of

    told = [_memory(one) for one in body["memories"]] or [Text("no memories")]
    searched = body["searched"]
    if searched is not None and not searched["nearness"]:
        told.append(Text(f"searched by words alone: {searched['because']}", style="dim"))
    if left_out := {name: count for name, count in body["left_out"].items() if count}:
        counts = ", ".join(f"{count} {LEFT_OUT[name]}" for name, count in left_out.items())
        flags = " ".join(f"--include {name}" for name in left_out)
        told.append(Text(f"left out: {counts}; {flags} shows them", style="dim"))
    if Include.PENDING_PAIRS in left_out:
        told.append(Text("chronofact relations SUBJECT tells for what they wait, and how to decide", style="dim"))
    return Group(*told, freshness(freshness_of(body["freshness"])))


def _memory(one: Any) -> RenderableType:
    """The text, and below it what is to know of it."""
    from rich.text import Text

    known = [one["category"], _since(one), f"by {one['source_id']}"]
    if one["standing"] != "eligible":
        known.append(f"{one['standing']} by {one['superseded_by'] or one['merged_into'] or 'another'}")
    known += [name.replace("_", " ") for name in ("pending_review", "pending_pairs") if one[name]]
    if not one["checked"]:
        known.append("not checked yet")
    return Text.assemble("- ", one["text"], "\n  ", ("; ".join([*known, one["version_id"]]), "dim"))


def _since(one: Any) -> str:
    start, end = one["valid_during"]
    since = "start unknown" if start is None else f"since {start}"
    return since if end is None else f"{since}, until {end}"


def _relations_told(body: Any, limit: int) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    told = [relation_told(one) for one in body["relations"]]
    told += [_pending(one) for one in body["pending"][:limit]]
    if (more := len(body["pending"]) - limit) > 0:
        told.append(Text(f"{more} more wait; --limit shows more of them, --json all of this answer", style="dim"))
    if not body["checked"]:
        told.append(Text("not all is checked yet", style="dim"))
    return Group(*(told or [Text("no relations")]))


def _pending(one: Any) -> RenderableType:
    """Both texts and since when they hold, why and how long they wait, and the command that decides."""
    from rich.console import Group
    from rich.text import Text

    from chronofact.cli.render import unbroken

    left = _side(one["left_text"] or one["left"], one["left_valid_from"])
    right = _side(one["right_text"] or one["right"], one["right_valid_from"]) if one["right"] else "others"
    waits = f"{one['reason']}; waits {_lasting(one['age_s'])}"
    told = Text.assemble(f"- {left} and {right}\n  ", (waits, "dim"))
    return Group(told, unbroken(f"  {one['decide_command']}")) if one["decide_command"] else told


def _side(text: str, valid_from: str | None) -> str:
    return f"“{_short(text)}” ({'start unknown' if valid_from is None else f'since {valid_from}'})"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TEXT_SHOWN else f"{line[: TEXT_SHOWN - 1]}…"


def _lasting(seconds: float) -> str:
    """In the largest whole unit."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def relation_told(one: Any) -> RenderableType:
    """A sentence of both texts, and below it who decided, when and why."""
    from rich.text import Text

    sides = [(one["left"], one["left_text"]), (one["right"], one["right_text"])]
    if one["newer"] == one["right"]:
        sides.reverse()
    left, right = (f"“{_short(text)}”" if text is not None else version_id for version_id, text in sides)
    verb = CHANGED.get(one["relation"], "has nothing to do with")
    known = [f"by {one['decided_by']}", one["decided_at"]]
    known += [one["reason"]] if one["reason"] else []
    known += ["a model was called"] if one["llm_call_made"] else []
    return Text.assemble(f"- {left} {verb} {right}\n  ", ("; ".join(known), "dim"))
