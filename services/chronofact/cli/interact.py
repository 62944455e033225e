"""``chronofact interact``: what the user says in a conversation becomes text memories and structured facts."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import orjson
import typer

from chronofact.cli.counted import counted
from chronofact.cli.options import DataFolder, Json, Target, Tenant, Token, Writer, failures_told
from chronofact.cli.outcome import Failure
from chronofact.cli.reads import PANEL, OneScope

if TYPE_CHECKING:
    from collections.abc import Mapping

STDIN: Final = "-"
_SHOWN: Final = 70
_IS_OF: Final = "a turn has role, text and perhaps at"


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("interact", rich_help_panel=PANEL)(interact)


def interact(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A JSON array of turns, or NDJSON of them: role, text, and at, when it was said, like 2026-06-17T10:30:00Z; - is standard input.",
        ),
    ],
    subject: Annotated[str, typer.Option("--subject", metavar="NAME", help="Whom the conversation is about.")],
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="ID", help="What the conversation is called; default the file's name."),
    ] = None,
    category: Annotated[
        str | None, typer.Option("--category", metavar="WORD", help="Of the memories; default conversation.")
    ] = None,
    scope: OneScope = None,
    data: DataFolder = None,
    writer: Writer = None,
    tenant: Tenant = None,
    token: Token = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be kept; nothing is.")] = False,
    json: Json = False,
) -> None:
    """Keep what the user says in a conversation: a memory a sentence, and facts of what is asserted.

    Turns of other roles are context and kept nowhere. All is kept, or nothing. The same conversation again, or more of it under the same source, keeps nothing twice.
    """
    turns = _turns(file)
    from chronofact.domain.errors import Rejected

    named = ("stdin" if file == STDIN else Path(file).name) if source is None else source
    with failures_told(), Target(data=data, writer=writer, tenant=tenant, token=token).client() as client:
        try:
            told = client.interact(subject, turns, source=named, scope=scope, category=category, dry_run=dry_run)
        except Rejected as error:  # of the file, not of what was typed: as the writer would refuse it
            raise Failure(f"refused: {error.code} at {error.field}: {error.message}") from None
    if json:
        print(orjson.dumps(told).decode())
        return
    for turn in told["turns"]:
        _tell(turn)
    print(_summary(told))


def _turns(file: str) -> list[dict[str, Any]]:
    try:
        raw = (sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()).removeprefix(BOM_UTF8)
    except OSError as error:
        raise typer.BadParameter(f"{file} can't be read: {error.strerror}", param_hint="FILE") from None
    try:
        found = (
            orjson.loads(raw)
            if raw.lstrip()[:1] == b"["
            else [orjson.loads(line) for line in raw.splitlines() if line.strip()]
        )
    except orjson.JSONDecodeError as error:
        raise typer.BadParameter(f"no JSON: {error}", param_hint="FILE") from None
    for number, turn in enumerate(found):
        if (why := _amiss(turn)) is not None:
            raise typer.BadParameter(f"turn {number} {why}", param_hint="FILE")
    return found


def _amiss(turn: object) -> str | None:
    """Why it is no turn."""
    if not isinstance(turn, dict):
        return f"is no object; {_IS_OF}"
    if "content" in turn:
        return "has content; what others call content is text here"
    if unknown := turn.keys() - {"role", "text", "at"}:
        return f"has {min(unknown)}; {_IS_OF}"
    missing = [name for name in ("role", "text") if name not in turn]
    return f"lacks {' and '.join(missing)}; {_IS_OF}" if missing else None


def _tell(turn: Mapping[str, Any]) -> None:
    for memory in turn["memories"]:
        print(f"{turn['index']}  memory  {_plain(memory['text'])}  {_window(memory)}")
    for fact in turn["facts"]:
        why = "" if fact["blocked_by"] is None else f"  (explicit: {fact['blocked_by']})"
        print(f"{turn['index']}  fact    {fact['key']} = {_plain(fact['value'])}  {_window(fact)}{why}")
    for left in turn["not_taken"]:
        if "slot" not in left and left["reason"] != "context":
            print(f"{turn['index']}  not     {left['reason']}")


def _window(one: Mapping[str, Any]) -> str:
    return f"[{one['valid_from'] or 'not known'}, {one['valid_to'] or 'open'})"


def _summary(told: Mapping[str, Any]) -> str:
    memories, facts = (sum(len(turn[part]) for turn in told["turns"]) for part in ("memories", "facts"))
    kept = f"{counted(memories, 'memory', 'memories')} and {counted(facts, 'fact')}"
    return f"{'would keep' if told['position'] is None else 'kept'} {kept} of {counted(len(told['turns']), 'turn')}"


def _plain(text: str) -> str:
    """A text of somebody else's on a terminal: what does not print is shown as a mark."""
    words = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in " ".join(text.split()))
    return words if len(words) <= _SHOWN else f"{words[: _SHOWN - 1]}\N{HORIZONTAL ELLIPSIS}"
