"""Help of commands without the type of what takes no value."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


class Plain:
    """Mixed into a command or a group: flags are told by their names alone."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Options and arguments."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for one in parameters:
            if getattr(one, "is_bool_flag", False) and one.metavar is None:
                one.metavar = ""
        return parameters


def plainly(app: typer.Typer) -> None:
    """Has all commands of an application tell their help so."""
    app.info.cls = _plain(app.info.cls, TyperGroup)
    for command in app.registered_commands:
        command.cls = _plain(command.cls, TyperCommand)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            plainly(group.typer_instance)


def _plain(given: Any, usual: type[Any]) -> type[Any]:
    own = given if isinstance(given, type) else usual
    return own if issubclass(own, Plain) else type(f"Plain{own.__name__}", (Plain, own), {})
