"""`chronofact up | down`: Kafka, Postgres and all services on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PANEL = "Stack"
DEFAULT_DATA = Path(".chronofact")

Data = Annotated[Path, typer.Option("--data", metavar="DIR", help="Folder of the stack: its data, logs and addresses.")]
AsJson = Annotated[bool, typer.Option("--json", help="Say it in one line of JSON.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command("up", rich_help_panel=PANEL)(up)
    app.command("down", rich_help_panel=PANEL)(down)


def up(
    data: Data = DEFAULT_DATA,
    port_base: Annotated[
        int | None,
        typer.Option(min=1_024, max=65_000, help="First of the ports to take, one after the other; else free ones."),
    ] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Leave it running in the background.")] = False,
    as_json: AsJson = False,
) -> None:
    """Start Kafka, Postgres and all services; they stop with this command (Ctrl-C), their data stay.

    CHRONOFACT_KAFKA and CHRONOFACT_POSTGRES, when set, are used instead of starting one.
    """
    from chronofact.cli import running

    start = running.detach if detach else running.hold
    start(data, port_base, as_json=as_json)


def down(data: Data = DEFAULT_DATA, as_json: AsJson = False) -> None:
    """Stop the stack of a folder and wait until all of it has left; its data stay."""
    from chronofact.cli import running

    running.stop(data, as_json=as_json)
