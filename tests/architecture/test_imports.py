import ast
import subprocess
import sys
from pathlib import Path

from chronofact.embedded.compiled import compiled_modules
from tests.architecture.tree import PACKAGE, ROOT, named, parsed, python_files

CLOCKS_AND_DICE = {"time", "random", "secrets", "os", "logging", "socket", "threading", "asyncio", "subprocess"}
READS_OF_THE_WORLD = {"now", "utcnow", "today", "uuid1", "uuid4", "getenv", "urandom", "monotonic", "perf_counter"}


def imported(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def test_import_contracts_hold() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_domain_is_standard_library_only() -> None:
    strangers = {
        f"{named(path)}: {name}"
        for path in python_files()
        if path.is_relative_to(PACKAGE / "domain")
        for name in imported(parsed(path))
        if not name.startswith("chronofact.domain") and name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert not strangers


def test_core_has_no_clock_no_randomness_and_no_environment() -> None:
    found = set()
    for path in python_files():
        if not (path.is_relative_to(PACKAGE / "domain") or path.is_relative_to(PACKAGE / "contracts")):
            continue
        tree = parsed(path)
        found |= {
            f"{named(path)}: import {name}" for name in imported(tree) if name.partition(".")[0] in CLOCKS_AND_DICE
        }
        found |= {
            f"{named(path)}:{node.lineno}: {node.attr}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr in READS_OF_THE_WORLD
        }
    assert not found


def test_oracle_of_the_property_tests_reads_only_the_rules() -> None:
    """The brute-force reading of semantics.md may share no code with what it judges."""
    shared = {
        f"{named(path)}: {name}"
        for path in python_files()
        if path.name == "oracle.py" and path.is_relative_to(ROOT / "tests" / "property")
        for name in imported(parsed(path))
        if name.startswith("chronofact")
    }
    assert not shared


def test_broad_except_stands_only_at_a_process_entry() -> None:
    broad = {
        f"{named(path)}:{node.lineno}"
        for path in python_files()
        if path.is_relative_to(PACKAGE) and path.name != "__main__.py"
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ExceptHandler) and is_broad(node) and not raises_on(node)
    }
    assert broad == set()


def is_broad(handler: ast.ExceptHandler) -> bool:
    kind = handler.type
    return kind is None or (isinstance(kind, ast.Name) and kind.id in {"Exception", "BaseException"})


def raises_on(handler: ast.ExceptHandler) -> bool:
    """Cleans up and hides nothing."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


PLAIN_BASES = {"NamedTuple", "Protocol", "Enum", "StrEnum", "IntEnum", "TypedDict"}
"""Classes of these stay Python's own where they are compiled."""


def test_nothing_interpreted_inherits_what_is_compiled() -> None:
    """mypyc's classes take no interpreted subclass: it fails when it is made, and only where a build is used."""
    compiled = {PACKAGE / name for name in compiled_modules()}
    native = {
        f"chronofact.{'.'.join(path.relative_to(PACKAGE).with_suffix('').parts)}.{node.name}"
        for path in compiled
        for node in parsed(path).body
        if isinstance(node, ast.ClassDef) and not PLAIN_BASES & {ast.unparse(base) for base in node.bases}
    }
    assert "chronofact.domain.errors.Rejected" in native
    heirs = set()
    for path in python_files():
        if not path.is_relative_to(PACKAGE) or path in compiled:
            continue
        brought = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(parsed(path))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        heirs |= {
            f"{named(path)}: {node.name}"
            for node in ast.walk(parsed(path))
            if isinstance(node, ast.ClassDef)
            and any(brought.get(ast.unparse(base).partition("[")[0]) in native for base in node.bases)
        }
    assert not heirs
