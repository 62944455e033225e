"""Help and refusals of commands in words of ours: flags without a type, arguments in capitals, nothing of pydantic."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


class Plain:
    """Mixed into a command or a group: flags are told by their names alone, arguments as the reference names them."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Options and arguments."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for one in parameters:
            if getattr(one, "is_bool_flag", False) and one.metavar is None:
                one.metavar = ""
            elif one.param_type_name == "argument" and one.metavar is None:
                one.metavar = one.name.upper()
        return parameters

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What was typed.

        Raises:
            typer.BadParameter: a value is wrong.
        """
        try:
            rest: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ").replace("Input should be", "it should be")
            raise
        return rest


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
