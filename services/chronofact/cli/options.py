"""Options that several commands share, and the client they ask for."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from chronofact.cli.outcome import ExitCode, Failure

if TYPE_CHECKING:
    from chronofact.client import Client
    from chronofact.contracts.topics import Topic
    from chronofact.runtime.config import Settings

DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        help="Data folder of a running stack; its addresses lie in it. Default: the settings, else ./.chronofact.",
    ),
]
Writer = Annotated[str | None, typer.Option("--writer", metavar="URL", help="Address of the writer.")]
Reader = Annotated[str | None, typer.Option("--reader", metavar="URL", help="Address of the reader.")]
Tenant = Annotated[
    str | None, typer.Option("--tenant", envvar="CHRONOFACT_TENANT", help="Tenant, where the credential names none.")
]
Token = Annotated[
    str | None, typer.Option("--token", envvar="CHRONOFACT_TOKEN", help="Bearer token; better in the environment.")
]
Json = Annotated[bool, typer.Option("--json", help="One line of JSON instead of tables.")]
Scope = Annotated[
    list[str] | None, typer.Option("--scope", metavar="KIND:KEY", help="Scope; repeat it, nearest first.")
]
ValidAt = Annotated[
    str | None, typer.Option("--valid-at", metavar="INSTANT", help="When it held; default now. RFC 3339, or a UTC day.")
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of", metavar="INSTANT", help="As known then; default everything applied. RFC 3339, or a UTC day."
    ),
]

PATIENCE_S = 3.0
HERE = Path(".chronofact")
"""Where ``chronofact up`` keeps a stack unless told otherwise."""
NAMED = "is it up, and do CHRONOFACT_KAFKA and CHRONOFACT_POSTGRES name it? chronofact doctor looks"
NOTHING_NAMED = (
    f"no stack runs in {HERE}; start one: chronofact up --detach; --data names the folder of another one, "
    "CHRONOFACT_KAFKA and CHRONOFACT_POSTGRES name servers of your own"
)
_LISTENERS = tuple(f"CHRONOFACT_{name}_{part}" for name in ("WRITER", "READER") for part in ("HOST", "PORT"))
_ELSEWHERE = ("CHRONOFACT_CONFIG", "CHRONOFACT_DATA", *_LISTENERS)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TOPIC = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}", re.ASCII)


def topic_name(value: str | None) -> str | None:
    """The name of a topic as it was given, or a refusal of what Kafka takes for none."""
    if value is not None and not _TOPIC.fullmatch(value):
        raise typer.BadParameter(f"{value!a} is no topic's name: 1 to 249 of a-z, A-Z, 0-9, '.', '_' and '-'")
    return value


@dataclass(frozen=True, slots=True)
class Target:
    """Where the services of a command are, and who asks."""

    data: Path | None = None
    writer: str | None = None
    reader: str | None = None
    tenant: str | None = None
    token: str | None = None

    def client(self) -> Client:
        """A client that waits no longer than somebody at a terminal would."""
        from chronofact.client import Client

        writer, reader = self.addresses()
        return Client(writer=writer, reader=reader, tenant=self.tenant, token=self.token, patience_s=PATIENCE_S)

    def patient_client(self) -> Client:
        """A client that outlasts a restart of what is there now.

        Raises:
            Failure: nothing answers at the writer's address.
        """
        from chronofact.client import Client, Unreachable
        from chronofact.client.shells import WRITER

        writer, reader = self.addresses()
        writer = writer or WRITER
        with failures_told():
            try:
                _knock(writer)
            except (OSError, ValueError) as error:
                raise Unreachable(writer, str(error)) from None
        return Client(writer=writer, reader=reader, tenant=self.tenant, token=self.token)

    def addresses(self) -> tuple[str | None, str | None]:
        """Writer and reader: what is said outright, the data folder, ``CHRONOFACT_*``, the stack here."""
        found: Mapping[str, str | None]
        if self.writer is None and self.reader is None:
            found = _found_or_configured() if self.data is None else of_stack(self.data)
        else:
            found = {"writer": self.writer, "reader": self.reader}  # a command needs the one that it lets you name
        return url(found.get("writer")), url(found.get("reader"))


def _knock(address: str) -> None:
    """A connection to an address of this machine; others may lie behind a proxy."""
    from chronofact.runtime.config import is_loopback

    found = urlsplit(address)
    default = 443 if found.scheme == "https" else 80
    if found.hostname and is_loopback(found.hostname):
        socket.create_connection((found.hostname, found.port or default), PATIENCE_S).close()


def of_stack(data: Path) -> dict[str, str]:
    """The addresses of the stack that runs in a data folder."""
    try:
        found: dict[str, str] = json.loads((data / "stack.json").read_text())
    except (FileNotFoundError, NotADirectoryError):
        told, remedy = under_way(data) or (f"no stack runs in {data}", f"start one: chronofact up --data {data}")
        raise Failure(told, code=ExitCode.UNREACHABLE, remedy=remedy) from None
    except (OSError, ValueError) as error:
        raise Failure(f"the addresses of the stack in {data} can't be read: {error}") from None
    return found


def under_way(data: Path) -> tuple[str, str] | None:
    """Where a folder has an owner and no addresses yet, or none any more: that, and what helps."""
    from chronofact.embedded.folder import DataFolder

    owner = DataFolder(data).owner()
    if owner is None:
        return None
    return f"the stack in {data} is starting or stopping (process {owner})", "say it again in some seconds"


def _is_nothing_here(address: str) -> bool:
    """Whether an address was tried only because nothing names another and no stack runs here."""
    from chronofact.client.shells import READER, WRITER

    is_default = any(address.startswith(one) for one in (READER, WRITER))
    return is_default and not (HERE / "stack.json").exists() and not any(name in os.environ for name in _ELSEWHERE)


def _found_or_configured() -> dict[str, str]:
    """The stack of ./.chronofact answers when one runs there and nothing says otherwise."""
    if (HERE / "stack.json").exists() and not any(name in os.environ for name in _ELSEWHERE):
        return of_stack(HERE)
    return configured()


def names_no_server() -> bool:
    """Whether no setting says where Kafka and Postgres are, and no stack runs here."""
    named = ("CHRONOFACT_CONFIG", "CHRONOFACT_DATA", "CHRONOFACT_KAFKA", "CHRONOFACT_POSTGRES")
    return not (HERE / "stack.json").exists() and not any(name in os.environ for name in named)


def configured() -> dict[str, str]:
    """The addresses of ``CHRONOFACT_*``, or of the stack whose folder CHRONOFACT_DATA names."""
    settings = read_settings()
    if settings.data is not None and (settings.data / "stack.json").exists() and not _names_listeners():
        return of_stack(settings.data)
    return {
        "writer": f"{dialled(settings.writer_host)}:{settings.writer_port}",
        "reader": f"{dialled(settings.reader_host)}:{settings.reader_port}",
    }


def database(data: Path | None) -> tuple[str, str]:
    """Where Postgres is, and which projection is configured: of the folder's stack, of ``CHRONOFACT_*``, of the stack here."""
    settings = read_settings()
    folder = _folder(data, settings, "postgres")
    if folder is not None:
        return of_stack(folder)["postgres"], settings.projection
    return settings.postgres.get_secret_value(), settings.projection


def served(data: Path | None) -> tuple[str, str]:
    """Where Postgres is, and which projection is meant where none is named: the configured one, else what tenants read."""
    from chronofact.postgres.standing import Standing

    conninfo, configured = database(data)
    if "projection" in read_settings().model_fields_set:
        return conninfo, configured
    return conninfo, next(iter(Standing(conninfo).routed()), configured)


def kafka_address(data: Path | None) -> str:
    """Where Kafka is: of the folder's stack, of ``CHRONOFACT_*``, of the stack here."""
    settings = read_settings()
    folder = _folder(data, settings, "kafka")
    return settings.kafka if folder is None else of_stack(folder)["kafka"]


def facts_topic(data: Path | None) -> Topic:
    """The topic that is the truth: as ``CHRONOFACT_*`` name it, else that of the stack whose Kafka is asked."""
    from chronofact.contracts import topics

    settings = read_settings()
    configured = topics.facts_topic(settings.facts_topic, settings.facts_partitions)
    folder = None if "facts_topic" in settings.model_fields_set else _folder(data, settings, "kafka")
    if folder is None:
        return configured
    found = of_stack(folder)
    name, partitions = found.get("facts_topic", configured.name), found.get("facts_partitions", configured.partitions)
    return topics.facts_topic(name, int(partitions))


def _folder(data: Path | None, settings: Settings, name: str) -> Path | None:
    """Of the stack that is meant, where no setting of this name says otherwise."""
    if data is not None or name in settings.model_fields_set:
        return data
    here = HERE if not any(one in os.environ for one in _ELSEWHERE) else None
    return next((one for one in (settings.data, here) if one and (one / "stack.json").exists()), None)


def read_settings() -> Settings:
    """The configuration, or how it is wrong."""
    from pydantic import ValidationError

    from chronofact.runtime.config import Settings, faults_told

    try:
        return Settings()
    except ValidationError as error:
        wrong = "\n".join(f"  {one}" for one in faults_told(error))
        raise Failure(f"the configuration is wrong:\n{wrong}", code=ExitCode.USAGE) from None
    except (FileNotFoundError, ValueError) as error:
        raise Failure(f"the configuration is wrong: {error}", code=ExitCode.USAGE) from None


def url(address: str | None) -> str | None:
    """An address with its scheme, or a refusal of what nothing could be asked at."""
    if address is None:
        return None
    spelled = address if "://" in address else f"http://{address}"
    try:
        found = urlsplit(spelled)
        is_one = found.scheme in {"http", "https"} and bool(found.hostname) and found.port != 0
    except ValueError:
        is_one = False
    if not is_one:
        raise Failure(
            f"{address!a} is no address of a service; write it like http://127.0.0.1:8080", code=ExitCode.USAGE
        )
    return spelled


def instant(text: str | None, option: str) -> str | None:
    """An instant option as RFC 3339; a day is its first instant in UTC."""
    if text is None:
        return None
    from chronofact.domain.errors import Rejected
    from chronofact.domain.interval import parse_instant

    spelled = f"{text}T00:00:00Z" if _DAY.fullmatch(text) else text
    try:
        parse_instant(spelled)
    except Rejected as refusal:
        or_day = "" if _DAY.fullmatch(text) else "; a UTC day like 2026-07-01 does, too"
        raise typer.BadParameter(f"{text!r}: {refusal.message}{or_day}", param_hint=option) from None
    return spelled


@contextmanager
def failures_told() -> Iterator[None]:
    """Turns what the client raises into what the command says, with its exit code."""
    from chronofact.client import Busy, Refused, Rejected, Unreachable
    from chronofact.contracts.error_codes import remedy_of

    try:
        yield
    except Unreachable as error:
        remedy = "is the stack up? chronofact doctor looks; --data names the folder of another one"
        told = str(error)
        if _is_nothing_here(error.address):
            nothing = (
                f"no stack runs in {HERE}, and {told}",
                "start one: chronofact up --detach; --data names the folder of another one",
            )
            told, remedy = under_way(HERE) or nothing
        raise Failure(told, code=ExitCode.UNREACHABLE, remedy=remedy) from None
    except Busy as error:
        remedy = "is the stack up? chronofact doctor looks; --data names the folder of another one"
        raise Failure(str(error), code=ExitCode.UNREACHABLE, remedy=remedy) from None
    except Refused as error:
        token = "give a token by --token or CHRONOFACT_TOKEN" if error.code.startswith("token_") else None
        raise Failure(f"refused: {error}", remedy=token or remedy_of(error.code)) from None
    except Rejected as error:
        raise Failure(f"{error.field or 'argument'}: {error.message} ({error.code})", code=ExitCode.USAGE) from None


@contextmanager
def outside_told() -> Iterator[None]:
    """The same for what Kafka and Postgres say."""
    from chronofact.runtime.failures import Transient, Unfit

    try:
        yield
    except Transient as error:
        remedy = NOTHING_NAMED if names_no_server() else NAMED
        raise Failure(f"{error} ({error.code})", code=ExitCode.UNREACHABLE, remedy=remedy) from None
    except Unfit as error:
        raise Failure(f"{error} ({error.code})") from None


def _names_listeners() -> bool:
    return any(f"CHRONOFACT_{name}_PORT" in os.environ for name in ("WRITER", "READER"))


def dialled(host: str) -> str:
    """A listener on every interface is reached on loopback; IPv6 goes in brackets."""
    if host in {"0.0.0.0", "::", ""}:  # noqa: S104 - it is dialled, not bound
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
