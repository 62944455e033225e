"""What git tracks, and how a Python file is read here."""

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "services" / "chronofact"


@cache
def tracked_files() -> tuple[Path, ...]:
    """Every file of the product: what git tracks or would track."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return tuple(path for name in names.split("\0") if name and (path := ROOT / name).is_file())


@cache
def python_files() -> tuple[Path, ...]:
    return tuple(path for path in tracked_files() if path.suffix == ".py")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def named(path: Path) -> str:
    """The path as a reader of the repository would write it."""
    return path.relative_to(ROOT).as_posix()
