"""Every log event stands in the list that says why it exists, and every one of the list is logged."""

from __future__ import annotations

import ast

from chronofact.runtime.logging import LOG_EVENTS
from tests.architecture.tree import PACKAGE, named, parsed, python_files

LEVELS = {"debug", "info", "warning", "error", "critical", "log"}


def logged() -> set[tuple[str, str]]:
    """Place and name of each event: a literal first argument of a structlog logger's call."""
    found = set()
    for path in python_files():
        if not path.is_relative_to(PACKAGE):
            continue
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LEVELS:
                found |= {(named(path), name) for argument in node.args[:2] for name in literals(argument)}
    return found


def literals(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return [*literals(node.body), *literals(node.orelse)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def test_every_log_event_is_declared() -> None:
    assert {(place, name) for place, name in logged() if name not in LOG_EVENTS} == set()


def test_every_declared_event_is_logged() -> None:
    assert LOG_EVENTS.keys() - {name for _, name in logged()} == set()
