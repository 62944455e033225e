"""``chronofact import``: NDJSON of commands through the writer's own validation; safe to repeat."""

from __future__ import annotations

import gzip
import sys
import time
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Final

import orjson
import typer

from chronofact.cli.options import DataFolder, Json, Target, Tenant, Token, Writer, failures_told
from chronofact.cli.outcome import ExitCode, Failure

if TYPE_CHECKING:
    from chronofact.client import Rejection, Sent

BATCH_LINES_MAX: Final = 1_000
BATCH_BYTES_MAX: Final = 4 * 2**20
BATCH_TEXTS_MAX: Final = 200
"""Of text memories, each of which the writer reads by a model: a request stays a matter of seconds."""
_OF_MEMORY: Final = b'"memory/'
NO_COMMAND: Final = frozenset({"json_malformed", "command_not_object", "encoding_not_utf8"})
REFUSED_FOR_A_LINE: Final = frozenset({400, 413, 422})

Files = Annotated[list[Path], typer.Argument(metavar="FILE…", help="NDJSON of commands; .gz too; - is standard input.")]
Told = Callable[[int, int], None]
"""Told bytes read and lines done of the file."""
Send = Callable[[list[bytes]], "Sent"]
NUMBERS_SHOWN: Final = 10


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command("import", rich_help_panel="Facts")(import_files)


def import_files(
    files: Files,
    writer: Writer = None,
    tenant: Tenant = None,
    token: Token = None,
    data: DataFolder = None,
    *,
    json: Json = False,
) -> None:
    """Import commands from files. Repeating an import, whole or cut off, changes nothing: what is accepted again is the same event.

    Rejected lines go to FILE.rejected.ndjson, each with why; those of - to stdin.rejected.ndjson here. The exit code is then 1.
    """
    for path in files:
        if str(path) != "-" and not path.is_file():
            raise typer.BadParameter(f"{path} is no file", param_hint="FILE")
    with Target(data=data, writer=writer, tenant=tenant, token=token).patient_client() as client:
        tally = Tally()
        for path in files:
            send_file(path, tally, lambda lines: client.send_lines(b"\n".join(lines)), quiet=json)
        tell(tally, client.position, json=json)
    if tally.rejected:
        raise typer.Exit(ExitCode.FAILED)


@dataclass(slots=True)
class Tally:
    """What became of the lines so far."""

    accepted: int = 0
    rejected: int = 0
    began: float = field(default_factory=time.monotonic)
    rejects: list[Rejects] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Since the import began."""
        return time.monotonic() - self.began


@dataclass(slots=True)
class Batch:
    """Lines to be sent together, with their numbers in the file."""

    numbers: list[int] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    size: int = 0
    texts: int = 0

    def add(self, number: int, line: bytes) -> None:
        """Takes one more line."""
        self.numbers.append(number)
        self.lines.append(line)
        self.size += len(line) + 1
        self.texts += _OF_MEMORY in line

    def has_room_for(self, line: bytes, lines_max: int = BATCH_LINES_MAX) -> bool:
        """Whether the line still fits; an empty batch takes any."""
        is_full = self.texts >= BATCH_TEXTS_MAX
        return not self.lines or (
            not is_full and len(self.lines) < lines_max and self.size + len(line) < BATCH_BYTES_MAX
        )

    def halves(self) -> tuple[Batch, Batch]:
        """The same lines in two batches."""
        middle = len(self.lines) // 2
        return Batch(self.numbers[:middle], self.lines[:middle]), Batch(self.numbers[middle:], self.lines[middle:])


def batches(lines: Iterator[bytes], lines_max: int = BATCH_LINES_MAX) -> Iterator[Batch]:
    """The file's lines, without empty ones, by batch."""
    batch = Batch()
    for number, raw in enumerate(lines, start=1):
        line = (raw.removeprefix(BOM_UTF8) if number == 1 else raw).strip(b" \t\r\n")
        if not line:
            continue
        if not batch.has_room_for(line, lines_max):
            yield batch
            batch = Batch()
        batch.add(number, line)
    if batch.lines:
        yield batch


class Rejects:
    """The file of rejected lines; it exists only when there are some."""

    def __init__(self, source: Path) -> None:
        self.path = Path("stdin.rejected.ndjson" if str(source) == "-" else f"{source}.rejected.ndjson")
        self.path.unlink(missing_ok=True)
        self.numbers: list[int] = []
        self.first = ""

    def add(self, number: int, line: bytes, rejection: Rejection) -> None:
        """Writes one line with why it was refused."""
        error = {"code": rejection.code, "message": rejection.message, "field": rejection.field}
        with self.path.open("ab") as file:
            file.write(orjson.dumps({"line": number, "error": error, "command": _as_sent(line)}) + b"\n")
        self.numbers.append(number)
        if not self.first:
            where = f" at {rejection.field}" if rejection.field else ""
            a_line = "; a line is one command as JSON" if rejection.code in NO_COMMAND else ""
            self.first = f"line {number}: {rejection.code}{where}: {rejection.message}{a_line}"

    def __str__(self) -> str:
        """The file, and which lines."""
        shown = ", ".join(map(str, self.numbers[:NUMBERS_SHOWN]))
        more = len(self.numbers) - NUMBERS_SHOWN
        which = "line" if len(self.numbers) == 1 else "lines"
        return f"{self.path} ({which} {shown}{f' and {more:,} more' if more > 0 else ''})"


def _as_sent(line: bytes) -> Any:
    """The command as JSON where it is some, else its text."""
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return line.decode(errors="replace")
    return orjson.Fragment(line)


def send_file(path: Path, tally: Tally, send: Send, *, quiet: bool, lines_max: int = BATCH_LINES_MAX) -> None:
    """Sends a file's lines by batch, - being standard input; those that are refused go to a file beside it."""
    rejects = Rejects(path)
    try:
        with failures_told(), _progress(path, quiet=quiet) as told, _opened(path) as (raw, stream):
            for batch in batches(iter(stream), lines_max):
                _send(send, batch, rejects, tally)
                told(raw.tell() if raw.seekable() else 0, tally.accepted)
    except (EOFError, gzip.BadGzipFile, OSError) as error:
        raise Failure(f"{path} can't be read to its end: {error}", remedy=_so_far(tally)) from None
    except Failure as failure:
        failure.remedy = f"{failure.remedy or ''}\n{_so_far(tally)}".strip()
        raise
    finally:
        if rejects.numbers:
            tally.rejects.append(rejects)


def _send(send: Send, batch: Batch, rejects: Rejects, tally: Tally) -> None:
    """A body that is refused as a whole is halved until the line is alone for whose sake it was."""
    from chronofact.client import Refused, Rejection

    try:
        results = send(batch.lines).results
    except Refused as refusal:
        if refusal.status not in REFUSED_FOR_A_LINE:
            raise
        if len(batch.lines) > 1:
            for half in batch.halves():
                _send(send, half, rejects, tally)
            return
        results = (Rejection(0, refusal.code, refusal.message, refusal.field),)
    for number, line, result in zip(batch.numbers, batch.lines, results, strict=True):
        if isinstance(result, Rejection):
            rejects.add(number, line, result)
            tally.rejected += 1
        else:
            tally.accepted += 1


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The file as it lies, whose position tells progress, and its lines unpacked."""
    if str(path) == "-":
        yield sys.stdin.buffer, sys.stdin.buffer
        return
    with path.open("rb") as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile(fileobj=raw) as stream:
                yield raw, stream  # type: ignore[misc]
        else:
            yield raw, raw


@contextmanager
def _progress(path: Path, *, quiet: bool) -> Iterator[Told]:
    if quiet or not sys.stderr.isatty():
        yield lambda _position, _accepted: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    lines = TextColumn("{task.fields[accepted]:,} accepted")
    with Progress(TextColumn("{task.description}"), BarColumn(), lines, TimeRemainingColumn(), console=console) as bar:
        total = None if str(path) == "-" else path.stat().st_size
        task = bar.add_task(path.name, total=total, accepted=0)
        yield lambda position, accepted: bar.update(task, completed=position, accepted=accepted)


def tell(tally: Tally, position: str | None, *, json: bool) -> None:
    """How many were taken, how fast, and which were not."""
    seconds = round(tally.seconds, 3)
    if json:
        line = {"accepted": tally.accepted, "rejected": tally.rejected, "seconds": seconds, "position": position}
        print(orjson.dumps(line).decode())
        return
    rate = (tally.accepted + tally.rejected) / max(tally.seconds, 0.001)
    print(f"{tally.accepted:,} accepted, {tally.rejected:,} rejected in {seconds:.1f} s ({rate:,.0f} a second)")
    for rejects in tally.rejects:
        print(f"rejected lines, each with why: {rejects}\n  {rejects.first}")


def _so_far(tally: Tally) -> str:
    return f"{tally.accepted:,} lines were accepted before; run the same import again, repeating is safe"
