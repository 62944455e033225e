"""Kafka's jars: each pinned by hash, fetched once by jgo, then used without a network."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from chronofact.embedded.errors import EmbeddedError

KAFKA_VERSION = "4.1.2"
LOCK_LIST = Path(__file__).with_name("kafka_jars.txt")
FETCH_TRIES_MAX = 4
FETCHES_AT_ONCE_MAX = 4

Progress = Callable[[int, int], None]
"""Called with bytes done and bytes in all."""


@dataclass(frozen=True, slots=True)
class Jar:
    """One pinned artifact."""

    group: str
    artifact: str
    version: str
    size_bytes: int
    sha256: str

    @property
    def name(self) -> str:
        """File name in the cache."""
        return f"{self.artifact}-{self.version}.jar"

    def is_intact(self, path: Path) -> bool:
        """Whether the file is the pinned one, by its hash."""
        if not path.is_file() or path.stat().st_size != self.size_bytes:
            return False
        return hashlib.sha256(path.read_bytes()).hexdigest() == self.sha256


@cache
def pinned_jars() -> tuple[Jar, ...]:
    """What Kafka needs, as listed in `kafka_jars.txt`."""
    lines = LOCK_LIST.read_text().splitlines()
    return tuple(_parse(line) for line in lines if line and not line.startswith("#"))


def _parse(line: str) -> Jar:
    coordinate, size, sha256 = line.split()
    group, artifact, version = coordinate.split(":")
    return Jar(group, artifact, version, int(size), sha256)


def jars_folder(cache_folder: Path) -> Path:
    """Where the jars of this very list lie, or will."""
    return cache_folder / f"kafka-{KAFKA_VERSION}-{list_fingerprint()}"


def list_fingerprint() -> str:
    """Changes with any pinned jar."""
    return hashlib.sha256(LOCK_LIST.read_bytes()).hexdigest()[:12]


def ensure_jars(cache_folder: Path, progress: Progress | None = None) -> Path:
    """Folder with all jars; fetches them when it isn't there yet.

    It appears in one rename, so that a folder that exists is complete.
    """
    folder = jars_folder(cache_folder)
    if folder.is_dir():
        return folder
    with _one_at_a_time(cache_folder):
        if not folder.is_dir():
            _fetch_all(folder, progress or (lambda _done, _total: None))
    return folder


@contextmanager
def _one_at_a_time(cache_folder: Path) -> Iterator[None]:
    with (cache_folder / "fetch.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch_all(folder: Path, progress: Progress) -> None:
    staging = Path(tempfile.mkdtemp(prefix="fetch-", dir=folder.parent))
    jars = pinned_jars()
    total_bytes, done_bytes = sum(jar.size_bytes for jar in jars), 0
    pool = ThreadPoolExecutor(FETCHES_AT_ONCE_MAX)
    try:
        (staging / "jars").mkdir()
        fetches = {pool.submit(_fetch, jar, staging): jar for jar in jars}
        for fetch in as_completed(fetches):
            fetch.result()
            done_bytes += fetches[fetch].size_bytes
            progress(done_bytes, total_bytes)
        (staging / "jars").rename(folder)
    finally:
        pool.shutdown(cancel_futures=True)
        shutil.rmtree(staging, ignore_errors=True)


def _fetch(jar: Jar, staging: Path) -> None:
    """Download into a Maven repository of its own, check the hash, move to the jars."""
    from jgo.maven import MavenContext  # noqa: PLC0415  (slow to import, seldom needed)
    from requests import RequestException  # noqa: PLC0415

    context = MavenContext(repo_cache=staging / "maven", timeout=30)
    artifact = context.project(jar.group, jar.artifact).at_version(jar.version).artifact()
    cause: Exception | None = None
    for _ in range(FETCH_TRIES_MAX):
        try:
            path = artifact.resolve()
        except (RequestException, RuntimeError, OSError) as error:
            cause = error
        else:
            if jar.is_intact(path):
                path.rename(staging / "jars" / jar.name)
                return
        if artifact.cached_path is not None:
            artifact.cached_path.unlink(missing_ok=True)
    raise EmbeddedError(
        f"can't fetch {jar.name}: {cause or 'its content is not the pinned one'}",
        remedy="check the network and repeat `python -m chronofact.embedded.prefetch`",
    )


def damaged_jars(folder: Path) -> list[str]:
    """Names of jars that are missing or not the pinned ones."""
    return [jar.name for jar in pinned_jars() if not jar.is_intact(folder / jar.name)]
