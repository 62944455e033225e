"""The way from message to COPY bytes as machine code: mypyc's build, beside the sources and used only while it equals them.

Services that a stack starts look here first, through ``PYTHONPATH``. Without a C compiler, or after an edit of what is
compiled, they run the sources, with the same answers at about half the speed (ADR 16, ADR 32).
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

PACKAGE: Final = Path(__file__).parent.parent
INTERPRETED: Final = frozenset(
    {"__init__.py", "resolve.py", "moment.py", "explained.py", "explain.py", "ignored.py", "sentences.py", "inert.py"}
)
"""What of the domain no hot path runs."""
FURTHER: Final = (
    "contracts/codec.py",
    "contracts/counting.py",
    "contracts/memory_lines.py",
    "contracts/payload.py",
    "contracts/projection.py",
    "contracts/verifying.py",
    "kafka/partitioning.py",
    "postgres/copy.py",
    "postgres/memory_lines.py",
    "postgres/packed.py",
    "postgres/raw_values.py",
    "projecting/cache.py",
    "projecting/draft.py",
    "projecting/lines.py",
    "projecting/whole.py",
)
"""What else each event runs through."""
TIMEOUT_S: Final = 600
_LOADER: Final = '''"""Finds the compiled modules here and everything else where it is installed."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
'''
_SETUP: Final = """
import sys
from mypyc.build import mypycify
from setuptools import setup
modules = mypycify(["--strict", "--follow-imports=silent", *sys.argv[3:]], opt_level="3")
for module in modules:  # calls within one library need no way round by its table of symbols
    module.extra_compile_args += [] if sys.platform == "win32" else ["-fno-semantic-interposition", "-fno-plt"]
setup(name="chronofact-compiled", ext_modules=modules, script_args=sys.argv[1:3])
"""


def compiled_folder() -> Path:
    """Where the build lies: in the virtual environment, so that one folder holds all that was installed."""
    return Path(sys.prefix) / "compiled"


def compiled_modules(package: Path = PACKAGE) -> list[str]:
    """The sources that are compiled, from the package's folder on."""
    domain = sorted(path.name for path in package.glob("domain/*.py") if path.name not in INTERPRETED)
    return [*(f"domain/{name}" for name in domain), *FURTHER]


def fingerprint(package: Path = PACKAGE) -> str:
    """Of the sources and of the Python that a build is for."""
    seen = sha256(sys.version.encode())
    for name in ("embedded/compiled.py", *compiled_modules(package)):
        content = (package / name).read_bytes()
        seen.update(f"{name} {len(content)}\n".encode() + content)
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
    """Compile and put it in place; why not, if that can't be."""
    if find_spec("mypyc") is None or find_spec("setuptools") is None:
        return "mypy and setuptools are not installed"
    target = compiled_folder()
    with tempfile.TemporaryDirectory(dir=target.parent) as made:
        if why := _compile(Path(made)):
            return why
        finished = Path(made) / "finished"
        _gather(Path(made), finished)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(finished, target)
    return None


def _compile(folder: Path) -> str | None:
    """Compile a copy of all sources, since what is compiled is checked against what it imports."""
    shutil.copytree(PACKAGE, folder / "chronofact", ignore=shutil.ignore_patterns("__pycache__"))
    modules = [f"chronofact/{name}" for name in compiled_modules(folder / "chronofact")]
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
    return None


def _gather(made: Path, finished: Path) -> None:
    """The machine code alone, in packages that go on where the sources are."""
    for found in (*made.glob("*.so"), *(made / "chronofact").rglob("*.so")):
        place = finished / found.relative_to(made)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(found, place)
    for package in (path for path in (finished / "chronofact", *(finished / "chronofact").iterdir()) if path.is_dir()):
        (package / "__init__.py").write_text(_LOADER, encoding="utf-8")
    (finished / "fingerprint").write_text(fingerprint(made / "chronofact"), encoding="ascii")


def main() -> None:
    """Build unless there is one of these sources already; a machine that can't compile goes on without."""
    if current_build() is not None:
        return
    print("compiling the fold and the way to it, once (about three quarters of a minute) …", flush=True)
    if why := build():
        print(f"not compiled: {why}. The fold runs interpreted, with the same answers at about half the speed.")


if __name__ == "__main__":
    main()
