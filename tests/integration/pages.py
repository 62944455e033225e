"""The commands of a page under docs, executed one after the other as they are written."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from unittest.mock import patch

import pytest

from chronofact.cli.__main__ import main
from chronofact.embedded.postgres import installation
from tests.architecture.tree import ROOT

DOCS: Final = ROOT / "docs"
COMMAND_S: Final = 60
_OF_SHELL: Final = re.compile(r"[$|&;<>`*?~#]")


def blocks(page: str, tongue: str) -> list[str]:
    """What stands in the fences of one tongue, such as ``sql``; the page is named from docs on."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{tongue}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def commands(page: str, *tongues: str) -> list[str]:
    """Each command of its ``sh`` and ``console`` fences, or of these; a line that ends in a backslash goes on."""
    found = "".join(blocks(page, f"(?:{'|'.join(tongues or ('sh', 'console'))})"))
    lines = found.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def environ(**settings: object) -> dict[str, str]:
    """Ours without any setting, with these instead, and ``chronofact`` to be found."""
    ours = {name: said for name, said in os.environ.items() if not name.startswith("CHRONOFACT_")}
    return ours | {
        "CHRONOFACT_AUTH": "off",
        "COLUMNS": "200",
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"], str(installation() / "bin"))),
        **{f"CHRONOFACT_{name.upper()}": str(said) for name, said in settings.items()},
    }


class Walk:
    """A page's commands in their order; at the end of the block each must have been executed.

    ``with Walk("operations/rebuild.md", kafka=…, postgres=…) as walk: told = walk.step("chronofact rebuild start")``
    """

    def __init__(self, page: str, *, folder: Path | None = None, **settings: object) -> None:
        self._page, self._folder, self._settings = page, folder, settings
        self._left = commands(page)
        assert self._left, page

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            assert self._left == [], f"{self._page} has commands that were not executed"

    def settle(self, **settings: object) -> None:
        """Settings that later commands see, such as the port of a service that was started meanwhile."""
        self._settings |= settings

    def step(self, begins: str, *, code: int = 0, but: Callable[[str], str] = str) -> str:
        """Executes the next command, which must begin so and end with this code; what it told, complaints last.

        ``but`` puts in what a page can't know (an id that the step before has told, say).
        """
        line = self._next(begins)
        ran = self.execute(but(line))
        assert ran.returncode == code, (line, ran.returncode, ran.stdout, ran.stderr)
        return ran.stdout + ran.stderr

    @contextmanager
    def begun(self, begins: str) -> Iterator[subprocess.Popen[str]]:
        """The next command while it runs on; it is ended with the block. What it tells comes by its stderr."""
        line = self._next(begins)
        where = environ(**self._settings)
        process = subprocess.Popen(
            ["sh", "-c", line], env=where, cwd=self._folder, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def steps(self) -> list[str]:
        """All that are left; each must end with 0."""
        return [self.step("") for _ in range(len(self._left))]

    def _next(self, begins: str) -> str:
        assert self._left, f"{self._page} has no command {begins!r} more"
        line = self._left.pop(0)
        assert line.startswith(begins), f"{self._page}: {line!r} comes before {begins!r}"
        return line

    def execute(self, line: str) -> subprocess.CompletedProcess[str]:
        """A command of no page, where those of the page run: ours within this process, where no shell is needed."""
        where = environ(**self._settings)
        if line.startswith("chronofact ") and not _OF_SHELL.search(line):
            return _ours(line, where, self._folder)
        return subprocess.run(
            ["sh", "-c", line], env=where, cwd=self._folder, capture_output=True, text=True, check=False,
            timeout=COMMAND_S, stdin=subprocess.DEVNULL,
        )  # fmt: skip


def _ours(line: str, where: dict[str, str], folder: Path | None) -> subprocess.CompletedProcess[str]:
    out, complaint = StringIO(), StringIO()
    with (
        patch.object(sys, "argv", shlex.split(line)),
        patch.dict(os.environ, where, clear=True),
        chdir(folder or Path.cwd()),
        redirect_stdout(out),
        redirect_stderr(complaint),
        pytest.raises(SystemExit) as left,
    ):
        main()
    code = left.value.code
    assert isinstance(code, int), code
    return subprocess.CompletedProcess(line, code, out.getvalue(), complaint.getvalue())
