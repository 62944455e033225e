"""``chronofact demo``: a stack on this machine, a story, and a real history with all its questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

DEFAULT_DATA: Final = Path(".chronofact/demo")

Data = Annotated[Path, typer.Option("--data", metavar="DIR", help="Folder of the stack; one that runs there is used.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command("demo", rich_help_panel="Stack")(demo)


def demo(data: Data = DEFAULT_DATA) -> None:
    """See it work: real Kafka, real Postgres, an agent's memory, and 21,612 corrections with 9,200 questions."""
    from chronofact.cli.demo.run import run

    run(data)
