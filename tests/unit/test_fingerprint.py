"""The fold's fingerprint: stable where the content is, changed by every source that decides it."""

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chronofact.domain.errors import Rejected
from chronofact.embedded.compiled import with_build
from chronofact.runtime import fingerprint
from chronofact.runtime.fingerprint import fold_fingerprint, source_paths
from chronofact.runtime.resources import PACKAGE, schemas_folder

BESIDE = {"runtime/failures.py", "runtime/resources.py", "postgres/errors.py"}
"""Imported, but nothing of a projection's content depends on them."""


def imported(path: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("chronofact."):
            found = PACKAGE.parent.joinpath(*(node.module or "").split(".")).with_suffix(".py")
            if found.exists():
                yield found


def test_every_source_that_the_fold_reaches_counts() -> None:
    reached: set[Path] = set()
    waiting = [*PACKAGE.glob("projecting/*.py"), PACKAGE / "postgres/copy.py"]
    while waiting:
        at = waiting.pop()
        if at not in reached:
            reached.add(at)
            waiting += imported(at)
    missing = {path.relative_to(PACKAGE).as_posix() for path in reached - set(source_paths())}
    assert missing <= BESIDE


@pytest.mark.parametrize("is_compiled", [False, True])
def test_another_process_finds_the_same(*, is_compiled: bool) -> None:
    environ = with_build({}) if is_compiled else {}
    asked = "from chronofact.runtime.fingerprint import fold_fingerprint as f; print(f(1), f(2))"
    run = subprocess.run([sys.executable, "-c", asked], env=environ, capture_output=True, text=True, check=True)
    assert run.stdout.split() == [fold_fingerprint(1), fold_fingerprint(2)]
    assert fold_fingerprint(1) != fold_fingerprint(2)


@pytest.mark.parametrize("name", ["domain/spans.py", "projecting/lines.py", "contracts/payload.py", "postgres/copy.py"])
def test_a_changed_source_changes_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "chronofact"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(fingerprint, "PACKAGE", package)
    unchanged = fold_fingerprint.__wrapped__(1)
    assert unchanged == fold_fingerprint(1)
    (package / "domain" / "sentences.py").write_text("", encoding="utf-8")
    assert fold_fingerprint.__wrapped__(1) == unchanged
    with (package / name).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert fold_fingerprint.__wrapped__(1) != unchanged


def test_changed_tables_change_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schemas = tmp_path / "schemas"
    shutil.copytree(schemas_folder(), schemas)
    monkeypatch.setattr(fingerprint, "schemas_folder", lambda: schemas)
    unchanged = fold_fingerprint.__wrapped__(1)
    assert unchanged == fold_fingerprint(1)
    with (schemas / "postgres" / "projection" / "010_tables.sql").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert fold_fingerprint.__wrapped__(1) != unchanged


def test_an_unknown_rule_is_refused_by_name() -> None:
    with pytest.raises(Rejected) as refused:
        fold_fingerprint(3)
    assert refused.value.code == "rule_unknown"
