"""``chronofact topics``: creates and checks them; ``refill``: one anew from what a projection keeps."""

from __future__ import annotations

import typer

from chronofact.cli import refill, services

PANEL = "Services"
HELP = "Create the Kafka topics that are missing and check all of them; or bring one to its messages."


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    group = typer.Typer(help=HELP, invoke_without_command=True)
    group.callback()(_topics)
    group.command("refill", epilog=refill.EPILOG)(refill.refill)
    app.add_typer(group, name="topics", rich_help_panel=PANEL)


def _topics(context: typer.Context) -> None:
    """Create the Kafka topics that are missing and check all of them; or bring one to its messages."""
    if context.invoked_subcommand is None:
        services.topics()
