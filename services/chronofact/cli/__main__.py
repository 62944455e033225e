"""The ``chronofact`` command; its command modules import what they need only when they run."""

import os
import sys
from typing import Annotated

import typer

from chronofact.cli import (
    changes,
    check,
    conflicts,
    context,
    decide,
    demo,
    doctor,
    importer,
    interact,
    memories,
    parked,
    reads,
    rebuild,
    remember,
    retire,
    revoke,
    services,
    shadow,
    stack,
    switch,
    topics,
    verify,
    why,
)
from chronofact.cli.outcome import ExitCode, Failure
from chronofact.cli.plain import plainly

app = typer.Typer(
    name="chronofact",
    help="Memory that knows when a fact held and when we learned it.\n\nStart with 'chronofact demo', or 'chronofact up' and then 'chronofact doctor'.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"chronofact {version('chronofact')}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand not in services.NAMES:  # those tell it in their logs
        _tell_unknown_settings()


def _tell_unknown_settings() -> None:
    if any(name.startswith("CHRONOFACT_") for name in os.environ):
        from chronofact.runtime.environment import unknown_settings

        for told in unknown_settings(os.environ):
            typer.secho(f"warning: {told}", fg="yellow", err=True)


for module in (
    demo,
    stack,
    importer,
    remember,
    interact,
    memories,
    reads,
    why,
    context,
    conflicts,
    decide,
    changes,
    revoke,
    parked,
    check,
    rebuild,
    verify,
    shadow,
    switch,
    retire,
    services,
    topics,
    doctor,
):
    module.register(app)
plainly(app)


def main() -> None:
    """Runs the command line; ends the process with one of the four exit codes."""
    try:
        app(prog_name="chronofact")
    except Failure as failure:
        typer.secho(failure.message, fg="red", err=True)
        if failure.remedy:
            typer.echo(failure.remedy, err=True)
        sys.exit(failure.code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(ExitCode.FAILED)


if __name__ == "__main__":
    main()
