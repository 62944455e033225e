"""One Kafka and one Postgres for the whole test run, and a fresh migrated database a test.

With CHRONOFACT_KAFKA and CHRONOFACT_POSTGRES set, those are used. Else the first worker that asks starts a stack for all
workers; it leaves once no worker is left, however they ended.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from chronofact.embedded.stack import Addresses
from chronofact.postgres.migrate import migrate
from chronofact.runtime.resources import schema_path

START_TIMEOUT_S = 120
STOP_TIMEOUT_S = 900


@pytest.fixture(scope="session")
def stack_is_durable() -> bool:
    """Whether its servers wait for the disk; what they hold is thrown away either way."""
    return False


@pytest.fixture(scope="session")
def stack_addresses(tmp_path_factory: pytest.TempPathFactory, stack_is_durable: bool) -> Iterator[Addresses]:
    """Kafka and Postgres that all tests share: make topics and databases of your own."""
    given = Addresses(os.environ.get("CHRONOFACT_KAFKA"), os.environ.get("CHRONOFACT_POSTGRES"))
    if given.kafka and given.postgres:
        yield given
        return
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    data = Path(tempfile.gettempdir()) / f"chronofact-{hashlib.sha256(bytes(root)).hexdigest()[:12]}"
    with _used(root / "stack.used"):
        owner = _started_once(root, data, is_durable=stack_is_durable)
        yield _published(data)
    if owner is not None:
        owner.wait(STOP_TIMEOUT_S)
        shutil.rmtree(data, ignore_errors=True)  # a stack that is thrown away does so itself, however we end


@contextmanager
def reachable_folder() -> Iterator[Path]:
    """A folder that Postgres's user can reach when we are root; pytest closes its own to others at each start."""
    folder = Path(tempfile.mkdtemp(prefix="chronofact-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def stack_folder() -> Iterator[Path]:
    """A fresh folder for a stack of the test's own."""
    with reachable_folder() as folder:
        yield folder


@contextmanager
def _used(file: Path) -> Iterator[None]:
    with file.open("a") as used:
        fcntl.flock(used, fcntl.LOCK_SH)
        yield


def _started_once(root: Path, data: Path, *, is_durable: bool) -> subprocess.Popen[bytes] | None:
    """The owner if this worker is the one that started it."""
    with (root / "stack.starting").open("a") as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)
        if (data / "stack.json").exists():
            return None
        line = [
            *[sys.executable, "-m", "chronofact.embedded"],
            *["--data", str(data), "--while-used", str(root / "stack.used")],
            *([] if is_durable else ["--throwaway"]),
        ]
        with (root / "stack.log").open("wb") as log:
            owner = subprocess.Popen(line, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + START_TIMEOUT_S
        while not (data / "stack.json").exists():
            if owner.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((root / "stack.log").read_text())
            time.sleep(0.05)
        return owner


def _published(data: Path) -> Addresses:
    found = json.loads((data / "stack.json").read_text())
    return Addresses(found["kafka"], found["postgres"])


@pytest.fixture(scope="session")
def kafka(stack_addresses: Addresses) -> str:
    """Kafka's bootstrap address."""
    assert stack_addresses.kafka is not None
    return stack_addresses.kafka


@pytest.fixture(scope="session")
def postgres(stack_addresses: Addresses) -> str:
    """Postgres's own database, for making others."""
    assert stack_addresses.postgres is not None
    return stack_addresses.postgres


@pytest.fixture(scope="session")
def database_template(postgres: str) -> str:
    """Name of a migrated database to copy; made anew when a file under schemas/postgres has changed."""
    files = sorted(schema_path("postgres").rglob("*.sql"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
    name = f"template_{digest}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(4711)")
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", (name,)).fetchone() is None:
            making = f"making_{uuid4().hex}"
            _execute(connection, "CREATE DATABASE {}", making)
            migrate(_in_database(postgres, making))
            _execute(connection, "ALTER DATABASE {} RENAME TO {}", making, name)
    return name


@pytest.fixture
def database(postgres: str, database_template: str) -> Iterator[str]:
    """URL of a fresh, migrated database that is dropped after the test."""
    with database_like(postgres, database_template) as url:
        yield url


@pytest.fixture
def empty_database(postgres: str) -> Iterator[str]:
    """URL of a fresh database without any table."""
    with database_like(postgres, "template0") as url:
        yield url


@contextmanager
def database_like(postgres: str, template: str) -> Iterator[str]:
    """A copy of a database while the block runs."""
    name = f"test_{uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        _execute(connection, "CREATE DATABASE {} TEMPLATE {}", name, template)
    try:
        yield _in_database(postgres, name)
    finally:
        with psycopg.connect(postgres, autocommit=True) as connection:
            _execute(connection, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture
def topic_name() -> str:
    """A name for the facts topic that no other test has; the test creates it."""
    return f"test.facts.{uuid4().hex}"


def _execute(connection: psycopg.Connection, statement: str, *names: str) -> None:
    connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def _in_database(address: str, name: str) -> str:
    """The same server, another database; as conninfo."""
    return make_conninfo(address, dbname=name)
