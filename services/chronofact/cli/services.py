"""``chronofact writer | projector | reader | reconciler | adjudicator``: one service, and ``topics`` and ``migrate``: what they stand on."""

import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from chronofact.cli.options import DataFolder
from chronofact.cli.outcome import Failure

PANEL = "Services"
NAMES = ("writer", "projector", "reader", "reconciler", "adjudicator")
NEEDS = {"adjudicator": ("faust", "cramjam", "openai")}
"""Packages beyond those that every installation has, by service."""
CONFIGURED = "Configured by CHRONOFACT_* or the TOML file that CHRONOFACT_CONFIG names; SIGTERM ends it cleanly."


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    for name, promise in (
        ("writer", "Takes facts over HTTP and appends them to the log."),
        ("projector", "Consumes the log, exactly once in effect, into Postgres."),
        ("reader", "Answers what held when, as known when, over HTTP."),
        ("reconciler", "Compares projections with the log, daily and when asked."),
        ("adjudicator", "Decides how text memories relate, by rule, else by a model."),
    ):
        app.command(name, help=f"{promise} {CONFIGURED}", rich_help_panel=PANEL)(_service(name))
    app.command("migrate", rich_help_panel=PANEL)(migrate)


def _service(name: str) -> Callable[[], None]:
    def run() -> None:
        from chronofact.embedded.compiled import with_build

        _check_installed(name)
        environ = with_build(os.environ)
        if environ.get("PYTHONPATH") == os.environ.get("PYTHONPATH") or _is_compiled():
            import_module(f"chronofact.{name}.__main__").main()
        else:
            os.execve(sys.executable, [sys.executable, "-m", f"chronofact.{name}"], environ)  # noqa: S606 - ourselves, with the compiled fold

    return run


def _check_installed(name: str) -> None:
    lacking = [one for one in NEEDS.get(name, ()) if find_spec(one) is None]
    if lacking:
        raise Failure(
            f"the {name} needs packages that are not installed: {', '.join(lacking)}",
            remedy="install what deploy/lock/requirements-text.txt names: docs/memories.md",
        )


def _is_compiled() -> bool:
    found = find_spec("chronofact.domain.history")
    return found is not None and not (found.origin or "").endswith(".py")


def topics(data: Path | None) -> None:
    """Create the Kafka topics that are missing and check all of them."""
    from chronofact.cli.options import facts_topic, kafka_address, outside_told, read_settings
    from chronofact.kafka.admin import create_topics

    facts, settings = facts_topic(data), read_settings()
    with outside_told():
        created = create_topics(
            kafka_address(data),
            facts.name,
            partitions=facts.partitions,
            texts_topic=settings.texts_topic,
            options=settings.kafka_options,
        )
    for name in created:
        print(f"created {name}")
    print("all topics are as they must be")


def migrate(
    projection: Annotated[
        bool,
        typer.Option(
            "--projection/--no-projection",
            help="In a database without any, make the configured projection, empty; else the first rebuild makes one.",
        ),
    ] = True,
    data: DataFolder = None,
) -> None:
    """Bring the database's schema up to date; safe to repeat.

    For a database that is new or lost while the log is not: 'chronofact migrate --no-projection', then 'chronofact rebuild start'.
    """
    from chronofact.cli.options import database, facts_topic, outside_told
    from chronofact.postgres.migrate import migrate as apply_missing
    from chronofact.postgres.migrate import status

    conninfo, configured = database(data)
    with outside_told():
        missing = status(conninfo).missing
        partitions = facts_topic(data).partitions
        apply_missing(conninfo, projection=configured if projection else None, partitions=partitions)
    for name in missing:
        print(f"applied {name}")
    print("the database is up to date")
