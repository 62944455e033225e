"""``chronofact topics``: creates and checks them; moves one to more partitions; refills one from what a projection keeps."""

from __future__ import annotations

import typer

from chronofact.cli import moving, refill, services
from chronofact.cli.options import DataFolder

PANEL = "Services"
HELP = "Create the Kafka topics that are missing and check all of them; or copy, seal or refill the facts topic."


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    group = typer.Typer(help=HELP, invoke_without_command=True)
    group.callback()(_topics)
    for command in (moving.copy, moving.seal, moving.reopen):
        group.command(command.__name__, epilog=moving.EPILOG)(command)
    group.command("refill", epilog=refill.EPILOG)(refill.refill)
    app.add_typer(group, name="topics", rich_help_panel=PANEL)


def _topics(context: typer.Context, data: DataFolder = None) -> None:
    """Create the Kafka topics that are missing and check all of them; or copy, seal or refill the facts topic."""
    if context.invoked_subcommand is None:
        services.topics(data)
    elif data is not None:
        raise typer.BadParameter(f"say it behind {context.invoked_subcommand}", param_hint="--data")
