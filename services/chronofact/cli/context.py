"""``chronofact context``: what may go into a prompt, and what to ask first."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chronofact.cli.options import AsOf, DataFolder, Json, Reader, Scope, Tenant, Token, ValidAt
from chronofact.cli.reads import KNOWN, PANEL, Subject, asking, given, instants, send_on, show

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("context", rich_help_panel=PANEL)(context)


def context(
    subject: Subject,
    scope: Scope = None,
    budget: Annotated[
        int | None, typer.Option("--budget", min=1, max=200_000, help="Characters of the text; default 8,000.")
    ] = None,
    prefix: Annotated[str | None, typer.Option("--prefix", help="Only keys that start so.")] = None,
    valid_at: ValidAt = None,
    as_of: AsOf = None,
    data: DataFolder = None,
    reader: Reader = None,
    tenant: Tenant = None,
    token: Token = None,
    *,
    text: Annotated[bool, typer.Option("--text", help="The lines for the prompt and nothing else.")] = False,
    json: Json = False,
) -> None:
    """What may go into a prompt: settled values only; conflicts, reviews and proposals come apart, as questions."""
    params = [("subject", subject), *(("scope", one) for one in scope or ()), *given(budget=budget, prefix=prefix)]
    with asking(data, reader, tenant, token) as client:
        body = client.get("/v1/context", [*params, *instants(valid_at, as_of)])
    if text and not json:
        if body["text"]:
            print(body["text"])
        if body["freshness"]["stale"]:
            print(_fresh(body), file=sys.stderr)
        return
    if not json:
        send_on(body["questions"], "settle_command", data=data, tenant=tenant)
    show({**body, "cursor": None} if not json else body, lambda: _rendered(body), json=json)
    if not json and not (body["text"] or body["questions"] or body["left_out"] or body["too_long_count"]):
        print(KNOWN, file=sys.stderr)


def _rendered(body: Any) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    from chronofact.cli.counted import counted

    left_out = body["left_out"] + body["too_long_count"]
    settled = Text(body["text"] or ("nothing has room" if left_out else "nothing is settled"))
    told = [settled, Text(f"{left_out} left out: --budget makes room", style="dim")] if left_out else [settled]
    told += _unchecked(body["unchecked_count"])
    questions = [_question(one) for one in body["questions"]]
    unlisted = sum(body["questions_count"].values()) - len(questions)
    more = [Text(f"and {counted(unlisted, 'more question')}")] if unlisted > 0 else []
    return Group(
        *told, _fresh(body), *([Text(), Text("to ask:", style="bold")] if questions else []), *questions, *more
    )


def _unchecked(count: int) -> list[Text]:
    from rich.text import Text

    from chronofact.cli.counted import counted

    if not count:
        return []
    return [
        Text(
            f"{counted(count, 'line')} not compared with other memories yet: the adjudicator has not come to them",
            style="yellow",
        )
    ]


def _fresh(body: Any) -> Text:
    from chronofact.cli.render import freshness
    from chronofact.client.answers import freshness_of

    return freshness(freshness_of(body["freshness"]))


def _question(body: Any) -> RenderableType:
    """What to ask, and the command on a line to be copied."""
    from rich.console import Group
    from rich.text import Text

    from chronofact.cli.render import unbroken

    ask, command = Text(f"- {body['ask']}"), body["settle_command"]
    return Group(ask, unbroken(command)) if command else ask
