"""The demo from start to end; exit code 1 when any answer was not as it must be."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from chronofact.cli.demo import story, tour
from chronofact.cli.demo.stage import Set, Stage
from chronofact.cli.options import Target, failures_told
from chronofact.cli.outcome import ExitCode
from chronofact.client import Client
from chronofact.embedded.folder import DataFolder
from chronofact.runtime.lifecycle import interrupt_on_signals

PLAIN_TENANT = None
LABELLED_TENANT = "legislators-corrected"


def run(data: Path) -> None:
    """Runs every chapter."""
    began = time.monotonic()
    stage = Stage(Console(highlight=False))
    with interrupt_on_signals(), failures_told(), ExitStack() as closing:
        is_ours = closing.enter_context(_stack(stage, data))
        _chapters(stage, data, closing)
    _go_on(stage, data, time.monotonic() - began, is_stopped=is_ours)
    if stage.wrong:
        raise typer.Exit(ExitCode.FAILED)


def _chapters(stage: Stage, data: Path, closing: ExitStack) -> None:
    def client_of(tenant: str | None) -> Client:
        return closing.enter_context(Target(data=data, tenant=tenant).client())

    # told anew each time, so each telling has a tenant of its own
    story.tell(Set(stage, client_of(f"story-{datetime.now(UTC):%Y%m%dT%H%M%S}")))
    stage.chapter("A real history")
    stage.tell(
        "Who held which office in the United States, from when to when, and since when that was said: 21,612 commands "
        "of thirteen years, and 9,200 questions, each about two instants."
    )
    plain, labelled = Set(stage, client_of(PLAIN_TENANT)), Set(stage, client_of(LABELLED_TENANT))
    scores = [tour.plain(plain), tour.labelled(labelled)]
    stage.show(tour.score_table(scores))
    tour.both_axes(plain)
    tour.late_correction(plain)
    tour.conflict(labelled)


@contextmanager
def _stack(stage: Stage, data: Path) -> Iterator[bool]:
    """The stack of the folder: the one that runs, else (True) one for the time of the demo."""
    if DataFolder(data).is_taken():
        stage.tell(f"A stack runs in {data}; the demo uses it.")
        yield False
        return
    from chronofact.cli.running import running

    stage.chapter("Real Kafka and Postgres on this machine")
    console = stage.console
    with console.status("starting") as status, ExitStack() as closing:
        closing.enter_context(running(data, report=lambda step: _report(console, status, step)))
        status.stop()
        yield True


def _report(console: Console, status: object, step: str) -> None:
    if console.is_terminal and hasattr(status, "update"):
        status.update(step)
    elif not step.startswith("fetching"):
        console.print(Text(f"  {step}", style="dim"))


def _go_on(stage: Stage, data: Path, seconds: float, *, is_stopped: bool) -> None:
    is_module = Path(sys.argv[0]).name == "__main__.py"
    program = f"{shlex.quote(sys.executable)} -m chronofact.cli" if is_module else shlex.quote(sys.argv[0])
    folder = shlex.quote(str(data))
    subject, key = tour.VAN_DREW
    stage.chapter("How to go on")
    right = "Everything was answered right" if not stage.wrong else f"{len(stage.wrong)} things went wrong"
    stage.tell(f"{right}, in {seconds:.0f} s. The data stay in {data}.")
    again = [("start the stack again", f"{program} up --data {folder} --detach")] if is_stopped else []
    for what, command in (
        *again,
        ("ask", f"{program} resolve {subject} {key} --valid-at 2019-07-01 --as-of 2019-08-01 --data {folder}"),
        ("see both axes", f"{program} timeline {subject} {key} --data {folder}"),
        ("see every event", f"{program} history {subject} {key} --data {folder}"),
        (
            "settle the conflict",
            f"{program} conflicts {' '.join(tour.NORCROSS)} --tenant {LABELLED_TENANT} --data {folder}",
        ),
        ("your own facts", f"{program} import FILE.ndjson --data {folder}"),
        ("stop it", f"{program} down --data {folder}"),
    ):
        stage.console.print(Text.assemble(f"  {what:<22}", (command, "cyan")), soft_wrap=True)
