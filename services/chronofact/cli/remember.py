"""``chronofact remember``: what somebody said becomes a text memory."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import orjson
import typer

from chronofact.cli.importer import Tally, send_file, tell
from chronofact.cli.options import DataFolder, Json, Target, Tenant, Token, Writer, failures_told, instant
from chronofact.cli.outcome import ExitCode, Failure
from chronofact.cli.reads import PANEL, OneScope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chronofact.client import Accepted

STDIN: Final = "-"
FILE_LINES_MAX: Final = 200
"""Lines in one request: each is read by a model."""


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("remember", rich_help_panel=PANEL)(remember)


def remember(
    subject: Annotated[str | None, typer.Argument(help="Whom or what it is about.")] = None,
    text: Annotated[str | None, typer.Argument(help="What was said; - reads it from stdin.")] = None,
    category: Annotated[
        str, typer.Option("--category", metavar="WORD", help="Memories of one category are compared with each other.")
    ] = "note",
    valid_from: Annotated[
        str | None,
        typer.Option(
            "--valid-from",
            metavar="INSTANT",
            help="Since when it holds; not known if not said. RFC 3339, or a UTC day.",
        ),
    ] = None,
    valid_to: Annotated[
        str | None, typer.Option("--valid-to", metavar="INSTANT", help="Until when, exclusive; open if not said.")
    ] = None,
    scope: OneScope = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="ID", help="Who or what said it; default the login name.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="NDJSON of memories (text, category, subject, source, valid_from, …) instead of TEXT; .gz too; - is stdin. What a line lacks of subject, category, scope and source is taken from the command.",
        ),
    ] = None,
    confidence: Annotated[
        float | None, typer.Option("--confidence", min=0, max=1, help="How sure the source is, 0 to 1.")
    ] = None,
    data: DataFolder = None,
    writer: Writer = None,
    tenant: Tenant = None,
    token: Token = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what is found in it; nothing is kept.")] = False,
    json: Json = False,
) -> None:
    """Keep a text as a memory, and show what was found in it; or many, from a file.

    The text is kept as it is; the frames found in it, and how near it is to others, are kept with it. The same text again from the same source, with the same times, is the same memory: accepted again, and nothing changes. Of a file, rejected lines go to FILE.rejected.ndjson, each with why, and the exit code is 1.
    """
    named = getpass.getuser() if source is None else source
    target = Target(data=data, writer=writer, tenant=tenant, token=token)
    if file is not None:
        if text is not None or dry_run or (valid_from, valid_to, confidence) != (None, None, None):
            raise Failure("--file goes without TEXT, --dry-run and what each line says for itself", code=ExitCode.USAGE)
        usual = {"subject": subject, "category": category, "scope": scope, "source": {"id": named}}
        _remember_file(target, file, {name: one for name, one in usual.items() if one is not None}, json=json)
        return
    if subject is None or text is None:
        raise Failure("name SUBJECT and TEXT, or --file", code=ExitCode.USAGE)
    said = sys.stdin.read().removesuffix("\n").removesuffix("\r") if text == STDIN else text
    with failures_told(), target.client() as client:
        accepted = client.remember(
            subject,
            category,
            said,
            source=named,
            scope=scope,
            valid_from=instant(valid_from, "--valid-from"),
            valid_to=instant(valid_to, "--valid-to"),
            confidence=confidence,
            dry_run=dry_run,
        )
    _tell(accepted, f"memory/{category}", subject, json=json)


def _remember_file(target: Target, file: Path, usual: Mapping[str, Any], *, json: bool) -> None:
    if str(file) != STDIN and not file.is_file():
        raise typer.BadParameter(f"{file} is no file", param_hint="--file")
    tally = Tally()
    with target.patient_client() as client:
        send_file(
            file,
            tally,
            lambda lines: client.send_lines(b"\n".join(_whole(one, usual) for one in lines), path="/v1/memories"),
            quiet=json,
            lines_max=FILE_LINES_MAX,
        )
        tell(tally, client.position, json=json)
    if tally.rejected:
        raise typer.Exit(ExitCode.FAILED)


def _whole(line: bytes, usual: Mapping[str, Any]) -> bytes:
    """The line with what it lacks; one that lacks nothing, or is no object, as it came."""
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return line
    if not isinstance(found, dict) or usual.keys() <= found.keys():
        return line
    return orjson.dumps({**usual, **found})


def _tell(accepted: Accepted, key: str, subject: str, *, json: bool) -> None:
    if json:
        told = {
            "version_id": str(accepted.version_id),
            "fact_id": str(accepted.fact_id),
            "event_id": str(accepted.event_id),
            "frames": accepted.frames,
            "position": accepted.position,
        }
        print(orjson.dumps(told).decode())
        return
    print(f"{'would keep' if accepted.position is None else 'kept'} in {key} of {subject}: {accepted.version_id}")
    for frame in accepted.frames:
        print(f"  {_frame(frame)}")
    if not accepted.frames:
        print("  no frames found: kept by its words and its nearness to others alone")
    if accepted.position is not None:
        print(
            f"  held against the others next; what came of it: chronofact relations --version-id {accepted.version_id}"
        )


def _frame(frame: Mapping[str, Any]) -> str:
    """Entity, slot and value, then what is not as usual."""
    usual = {"entity", "slot", "value", "value_type", "cardinality", "is_main", "line"}
    said = {name: found for name, found in frame.items() if name not in usual}
    further = "; ".join(f"{name} {_words(found)}" for name, found in sorted(said.items()))
    line = " · ".join(_words(frame[part]) for part in ("entity", "slot", "value"))
    return f"{line} ({further})" if further else line


def _words(found: Any) -> str:
    """A text of somebody else's on a terminal: what does not print is shown as a mark."""
    words = ", ".join(map(str, found)) if isinstance(found, list) else str(found)
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in words)
