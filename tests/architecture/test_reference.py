"""What a reader of the reference finds is what the code has, all of it."""

from __future__ import annotations

import ast

import pytest

from chronofact.contracts.addresses import CALLS
from chronofact.contracts.error_codes import CODES
from tests.architecture.reference import FOLDER, PAGES, written_settings
from tests.architecture.reference_calls import described
from tests.architecture.tree import PACKAGE, named, parsed, python_files, tracked_files

CODED = {"Rejected": 0, "Transient": 0, "Unfit": 0}
"""Errors whose argument of that place is a code."""


@pytest.mark.parametrize("name", PAGES)
def test_page_is_what_the_code_says(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name](), "make docs writes it anew"


def test_every_setting_that_is_read_is_documented() -> None:
    documented = written_settings("".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")))
    used = {
        (named(path), name)
        for path in tracked_files()
        if path.is_relative_to(PACKAGE) or path.name in {"Makefile", "docker-compose.yml", "README.md"}
        for name in written_settings(path.read_text(encoding="utf-8", errors="replace"))
    }
    assert {(place, name) for place, name in used if name not in documented} == set()


def test_refusals_know_the_calls_of_all_services() -> None:
    has = {(name.lower(), call.strip("`")) for name, calls in described() for call, _takes, _what in calls}
    assert has == {(name, f"{method} {path}") for name, calls in CALLS.items() for method, path in calls}


def literal_codes() -> set[tuple[str, str]]:
    found = set()
    for path in python_files():
        if not path.is_relative_to(PACKAGE):
            continue
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CODED and node.args:
                code = node.args[CODED[node.func.id]]
                if isinstance(code, ast.Constant) and isinstance(code.value, str):
                    found.add((named(path), code.value))
    return found


def test_every_error_code_is_of_the_closed_list() -> None:
    assert {(place, code) for place, code in literal_codes() if code not in CODES} == set()
