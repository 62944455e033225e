"""The fold as machine code: mypyc's build of ``chronofact.domain``, beside the sources and used only while it equals them.

Services that a stack starts look here first, through ``PYTHONPATH``. Without a C compiler, or after an edit of the
domain, they run the sources, with the same answers at about half the speed (ADR 16).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Final

SOURCES: Final = Path(__file__).parent.parent / "domain"
INTERPRETED: Final = frozenset(
    {"__init__.py", "resolve.py", "moment.py", "explained.py", "explain.py", "ignored.py", "sentences.py", "inert.py"}
)
"""What no hot path runs."""
TIMEOUT_S: Final = 600
_LOADER: Final = '''"""Finds the compiled domain here and everything else where it is installed."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
'''
_SETUP: Final = """
import sys
from mypyc.build import mypycify
from setuptools import setup
setup(name="chronofact-domain", ext_modules=mypycify(["--strict", *sys.argv[3:]], opt_level="3"), script_args=sys.argv[1:3])
"""


def compiled_folder() -> Path:
    """Where the build lies: in the virtual environment, so that one folder holds all that was installed."""
    return Path(sys.prefix) / "compiled"


def fingerprint() -> str:
    """Of the sources and of the Python that a build is for."""
    seen = sha256(sys.version.encode())
    for source in sorted(SOURCES.glob("*.py")):
        seen.update(source.name.encode() + source.read_bytes())
    return seen.hexdigest()


def current_build() -> Path | None:
    """The folder of the build if it is of these very sources."""
    folder = compiled_folder()
    try:
        return folder if (folder / "fingerprint").read_text(encoding="ascii") == fingerprint() else None
    except OSError:
        return None


def with_build(environ: Mapping[str, str]) -> dict[str, str]:
    """An environment whose Python processes use the build, if there is one of these sources."""
    folder = current_build()
    if folder is None:
        return dict(environ)
    path = environ.get("PYTHONPATH")
    return {**environ, "PYTHONPATH": f"{folder}{os.pathsep}{path}" if path else str(folder)}


def build() -> str | None:
    """Compile the domain and put it in place; why not, if that can't be."""
    if find_spec("mypyc") is None or find_spec("setuptools") is None:
        return "mypy and setuptools are not installed"
    target = compiled_folder()
    with tempfile.TemporaryDirectory(dir=target.parent) as made:
        folder = Path(made)
        package = folder / "chronofact"
        shutil.copytree(SOURCES, package / "domain", ignore=shutil.ignore_patterns("__pycache__"))
        (package / "__init__.py").write_text(_LOADER, encoding="utf-8")
        modules = [
            f"chronofact/domain/{one.name}" for one in sorted(SOURCES.glob("*.py")) if one.name not in INTERPRETED
        ]
        arguments = [sys.executable, "-c", _SETUP, "build_ext", "--inplace", *modules]
        environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        try:
            run = subprocess.run(
                arguments, cwd=folder, env=environ, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if run.returncode:
            return next((line for line in reversed(run.stderr.splitlines()) if line.strip()), "the compiler failed")
        (folder / "fingerprint").write_text(fingerprint(), encoding="ascii")
        shutil.rmtree(folder / "build", ignore_errors=True)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder, target)
    return None


def main() -> None:
    """Build unless there is one of these sources already; a machine that can't compile goes on without."""
    if current_build() is not None:
        return
    print("compiling the fold, once (about half a minute) …", flush=True)
    if why := build():
        print(f"not compiled: {why}. The fold runs interpreted, with the same answers at about half the speed.")


if __name__ == "__main__":
    main()
