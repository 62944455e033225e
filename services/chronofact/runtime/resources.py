"""Finds the files under `schemas/`, in the wheel or in the repository."""

from __future__ import annotations

from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


@cache
def schemas_folder() -> Path:
    """The folder of schemas that belongs to this code."""
    installed = PACKAGE / "schemas"
    return installed if installed.is_dir() else PACKAGE.parents[1] / "schemas"


def schema_path(*parts: str) -> Path:
    """Path of a file or folder under `schemas/`; raises FileNotFoundError when it isn't there."""
    path = schemas_folder().joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(path)
    return path
