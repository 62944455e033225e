"""Configuration, read once into frozen values from ``CHRONOFACT_*`` and the TOML file that CHRONOFACT_CONFIG names."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

_USAGE: Final = 2
_CONNINFO: Final = re.compile(r"\s*(postgres(ql)?://([^\s%]|%[0-9A-Fa-f]{2})*|(\w+\s*=.*)?)\s*", re.ASCII | re.DOTALL)
"""A URL whose escapes are some, or words with values; the rest libpq finds."""
_URL: Final = r"^(?:|https?://(?:[^\s/@]*@)?(?:\[[0-9A-Fa-f:.]+\]|[^\s/:\[\]@]+)(?::[0-9]{1,5})?(?:/\S*)?)$"
_NAME_TOLD: Final = "1 to 100 of a-z, A-Z, 0-9, '.', '_' and '-'"
_WRITTEN: Final = {
    "adjudicator_name": _NAME_TOLD,
    "projector_name": _NAME_TOLD,
    "adjudicator_writer": "like http://127.0.0.1:8080",
    "model_url": "like http://127.0.0.1:11434/v1",
    "projection": "p and a number, like p1",
    "feeds": "projections by comma, like p1,p2",
    "check_daily_at": "a time of the day in UTC, like 03:30",
}
"""Settings that have a pattern, in words."""
_ALMOST: Final = 0.85
FURTHER: Final = (
    *("config", "cache", "tenant", "token"),
    *("soak_s", "soak_seeds", "soak_first_seed", "soak_postgres_seeds"),
)
"""Variables that are read elsewhere than in Settings."""

Port = Annotated[int, Field(ge=0, le=65_535)]
Seconds = Annotated[float, Field(gt=0, le=3_600)]
Count = Annotated[int, Field(gt=0)]


class Settings(BaseSettings):
    """Every option of every service; the environment wins over the file, and an option that no one knows is refused."""

    model_config = SettingsConfigDict(
        env_prefix="CHRONOFACT_", frozen=True, extra="forbid", validate_default=True, hide_input_in_errors=True
    )

    kafka: str = Field("127.0.0.1:9092", min_length=1, description="Kafka's bootstrap addresses, host:port, by comma.")
    kafka_options: dict[str, str] = Field(
        default_factory=dict,
        repr=False,
        description="Further librdkafka options (security, SASL); JSON in the environment.",
    )
    postgres: SecretStr = Field(
        SecretStr("postgresql://127.0.0.1:5432/chronofact"), description="Postgres, as URL or conninfo."
    )
    data: Path | None = Field(None, description="Folder of an embedded stack.")

    writer_host: str = Field("127.0.0.1", description="Where the writer listens.")
    writer_port: Port = Field(8080, description="Where the writer listens; 0 for a free one.")
    reader_host: str = Field("127.0.0.1", description="Where the reader listens.")
    reader_port: Port = Field(8081, description="Where the reader listens; 0 for a free one.")
    projector_host: str = Field("127.0.0.1", description="Where the projector tells health and metrics.")
    projector_port: Port = Field(8083, description="Where the projector tells health and metrics; 0 for a free one.")

    reconciler_host: str = Field("127.0.0.1", description="Where the reconciler listens.")
    reconciler_port: Port = Field(8082, description="Where the reconciler listens; 0 for a free one.")

    adjudicator_host: str = Field(
        "127.0.0.1", description="Where the adjudicator tells health, metrics and what waits."
    )
    adjudicator_port: Port = Field(8084, description="Likewise its port; 0 for a free one.")
    adjudicator_name: str = Field(
        "adjudicator-1",
        pattern=r"^[A-Za-z0-9._-]{1,100}$",
        description="Static member name in the consumer group: one that starts again takes its partitions back at once.",
    )
    adjudicator_token: SecretStr | None = Field(
        None,
        description="Token that it says verdicts by: roles `write` and `service`. None where CHRONOFACT_AUTH is off.",
    )
    adjudicator_writer: str = Field(
        "",
        pattern=_URL,
        description="URL of the writer that it says verdicts to; empty for CHRONOFACT_WRITER_HOST and CHRONOFACT_WRITER_PORT.",
    )
    adjudicator_at_once: Count = Field(32, le=256, description="Memories that it looks at at once.")
    sweep_s: Seconds = Field(
        30, description="How often it looks for memories that nobody has looked at, and how old those are at least."
    )
    pending_retry_s: Seconds = Field(60, description="How often it asks again about pairs that wait for a model.")
    pending_review_s: Count = Field(
        7 * 86_400, le=366 * 86_400, description="How long pairs wait for a model before they are left to a person."
    )

    model_url: str = Field(
        "",
        pattern=_URL,
        description="OpenAI-compatible address of the model that decides pairs which the rule can't, `/v1` included; empty for none: then they wait.",
    )
    model_name: str = Field("", max_length=200, description="What that model is called there.")
    model_key_file: Path | None = Field(None, description="File with the key that the address asks for.")
    model_timeout_s: Seconds = Field(30, le=300, description="How long one call may take.")
    model_temperature: Annotated[float, Field(ge=-1, le=2)] = Field(
        0, description="Sent with each call; -1 sends none, for models that take none."
    )
    model_concurrency: Count = Field(4, le=64, description="Calls at once.")
    model_attempts_max: Count = Field(3, le=10, description="Calls about one memory before its pairs wait.")
    model_pairs_max: Count = Field(
        16, le=100, description="Pairs of a memory that are asked about, and wait, at a time; nearer ones first."
    )
    model_calls_per_day: Annotated[int, Field(ge=0)] = Field(
        2_000, description="Calls a UTC day, of all adjudicators together; beyond it pairs wait."
    )
    model_tokens_per_day: Annotated[int, Field(ge=0)] = Field(
        2_000_000, description="Tokens likewise, read and written."
    )
    model_price_read: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        0, description="Price of a million tokens that the model reads, for the metric of cost."
    )
    model_price_written: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        0, description="Price of a million tokens that it writes."
    )
    model_answers_days: Count = Field(365, le=3_650, description="How long its answers are kept as they came.")

    auth: Literal["off", "tokens"] = Field(
        "tokens", description="`off` is accepted only when every listener is on loopback."
    )
    tokens_file: Path | None = Field(None, description="TOML or JSON file of static tokens, by SHA-256.")

    facts_topic: str = Field(
        "memory.facts.v1", min_length=1, max_length=249, description="The topic that is the truth."
    )
    facts_partitions: Annotated[int, Field(ge=1, le=1_000)] | None = Field(
        None,
        description="Partitions of that topic, by which facts are told apart; by default as `schemas/topics.yaml` says, 12. A topic of another count is refused: to have more, move to a new topic (docs/operations/more-partitions.md).",
    )
    texts: Literal["auto", "on", "off"] = Field(
        "auto",
        description="Whether the writer takes text memories: `auto` loads the models when the first one comes, `on` before it serves, `off` refuses memories and stays small. Where the text extra is not installed, memories are refused by name; `on` does not start. A reader with `off` loads no model, and searches memories by words alone.",
    )
    texts_topic: str = Field(
        "memory.texts.v1", min_length=1, max_length=249, description="The topic that tells of new text memories."
    )
    fact_keys_file: Path | None = Field(None, description="Declarations of fact keys, asked before the shipped ones.")
    scope_kinds_file: Path | None = Field(None, description="Further kinds of scope.")

    projection: str = Field(
        "p1",
        pattern=r"^p[1-9][0-9]{0,5}$",
        description="The projection that `migrate` makes. Which one a tenant's reads go to, and so is checked, is its route's to say, `p1` at first; commands that take `--projection` mean this one where it is set.",
    )
    projector_name: str = Field(
        "projector-1", pattern=r"^[A-Za-z0-9._-]{1,100}$", description="Static member name in the consumer group."
    )
    feeds: str = Field(
        "",
        pattern=r"^(?:|p[1-9][0-9]{0,5}(?:,p[1-9][0-9]{0,5})*)$",
        description="The projections that a projector feeds, by comma; empty for all that are to be fed.",
    )
    batch_events_max: Count = Field(
        2_000, le=50_000, description="Events that the projector applies in one transaction."
    )
    batch_wait_ms: Count = Field(100, le=10_000, description="How long the projector waits for a batch to fill.")
    parked_share_max: Annotated[float, Field(gt=0, le=1)] = Field(
        0.01, description="Share of a partition's last 10,000 messages that may be parked before the projector stops."
    )
    parked_row_max: Count = Field(50, description="Messages parked in a row before the projector stops.")

    check_daily_at: str = Field(
        "03:30",
        pattern=r"^(?:|(?:[01][0-9]|2[0-3]):[0-5][0-9])$",
        description="When the daily check begins, in UTC; empty for none.",
    )
    check_workers: Count = Field(2, le=16, description="Connections that a check works over.")

    shadow_sweep_s: Seconds = Field(
        60, description="How often two projections are compared while a shadow window is open."
    )
    shadow_window_s: Count = Field(
        7 * 86_400, le=366 * 86_400, description="How long a new rule runs in shadow, if nobody says otherwise."
    )

    rebuild_workers: Count = Field(2, le=64, description="Processes that a rebuild works with, if it is not told.")
    rebuild_folder: Path | None = Field(
        None,
        description="Where a rebuild spills partitions that are too large for memory; the system's temporary folder.",
    )
    rebuild_still_s: Seconds = Field(
        30.0,
        ge=5,
        le=3_600,
        description="A reconciler or a worker of a rebuild that gives no sign of life for so long is ended.",
    )
    rebuild_bucket_bytes: Count = Field(
        16 * 2**20, description="Messages that a worker of a rebuild folds in one transaction, in bytes."
    )
    rebuild_memory_bytes: Count = Field(
        128 * 2**20,
        description="Messages of one partition that a worker of a rebuild holds in memory before it spills.",
    )

    switch_lag_events_max: Annotated[int, Field(ge=0)] = Field(
        1_000, description="Events that a projection may lack which tenants are switched or rolled back to."
    )
    rollback_window_s: Count = Field(
        7 * 86_400, description="How long after its last route left a projection is kept fed, to be rolled back to."
    )

    tail_scan_messages_max: Count = Field(
        50_000,
        description="Unread messages of the log that one read with `after` looks at before it says stale instead.",
    )
    tail_stored_events_max: Count = Field(
        20_000, description="Stored events of the named facts that one read folds again below the unread ones."
    )
    tail_bytes_max: Count = Field(
        32 * 2**20, description="Bytes of the unread events, and of the stored ones, that one read folds."
    )
    tail_reads_max: Count = Field(4, le=8, description="Reads that fold the unread tail at once.")
    tail_queue_ms: Count = Field(500, le=30_000, description="How long a read waits for its turn to fold.")
    tail_timeout_ms: Count = Field(1_000, le=30_000, description="How long Kafka may take to send the unread tail.")

    commands_max: Count = Field(10_000, le=10_000, description="Commands in one request.")
    body_bytes_max: Count = Field(16 * 2**20, le=16 * 2**20, description="Bytes of one request's body.")
    bodies_bytes_max: Count = Field(24 * 2**20, description="Bytes of all bodies that the writer holds at once.")
    body_timeout_s: Seconds = Field(30, description="How long the writer waits for the whole of a body.")
    queue_messages_max: Count = Field(50_000, description="Messages in the producer's queue before requests get 429.")
    queue_bytes_max: Count = Field(64 * 2**20, description="Bytes in the producer's queue before requests get 429.")
    linger_ms: Annotated[int, Field(ge=0, le=1_000)] = Field(5, description="How long the producer gathers a batch.")
    delivery_timeout_s: Seconds = Field(10, description="How long an acknowledgement of Kafka is waited for.")
    topic_check_s: Seconds = Field(10, description="How often the topic's settings are looked at again.")
    drain_timeout_s: Seconds = Field(18, le=20, description="How long a service finishes what it took after SIGTERM.")

    listeners_max: Count = Field(
        100, le=10_000, description="Listeners of `GET /v1/changes` at one reader before others get 429."
    )

    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level that is logged.")

    @field_validator("postgres")
    @classmethod
    def _is_conninfo(cls, given: SecretStr) -> SecretStr:
        if not _CONNINFO.fullmatch(given.get_secret_value()):
            raise ValueError(
                "say it like postgresql://USER:PASSWORD@HOST:5432/NAME, with %25 for % and %40 for @ in a password, "
                "or like host=HOST dbname=NAME"
            )
        return given

    @model_validator(mode="after")
    def _limits_agree(self) -> Self:
        if self.bodies_bytes_max < self.body_bytes_max:
            raise ValueError("bodies_bytes_max must hold at least one body of body_bytes_max")
        if self.queue_messages_max < self.commands_max:
            raise ValueError("queue_messages_max must hold at least one request of commands_max")
        if self.queue_bytes_max < 2 * self.body_bytes_max:
            raise ValueError(
                "queue_bytes_max must hold at least twice body_bytes_max, since events are larger than commands"
            )
        if self.delivery_timeout_s >= self.drain_timeout_s:
            raise ValueError("delivery_timeout_s must be below drain_timeout_s, else a drain cuts off answers")
        return self

    @model_validator(mode="after")
    def _credentials_are_safe(self) -> Self:
        if self.auth == "tokens":
            return self
        open_hosts = [
            host
            for host in (
                self.writer_host,
                self.reader_host,
                self.projector_host,
                self.reconciler_host,
                self.adjudicator_host,
            )
            if not is_loopback(host)
        ]
        if open_hosts:
            raise ValueError(
                "CHRONOFACT_AUTH=off is accepted only when every listener is on loopback; use tokens and CHRONOFACT_TOKENS_FILE"
            )
        return self

    @model_validator(mode="after")
    def _model_is_named(self) -> Self:
        if self.model_url and not self.model_name:
            raise ValueError("CHRONOFACT_MODEL_NAME must say what the model at CHRONOFACT_MODEL_URL is called")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is said outright, then the environment, then the file.

        Raises:
            FileNotFoundError: CHRONOFACT_CONFIG names no file.
            ValueError: a variable is spelt almost as a setting is.
        """
        _check_spelling(os.environ, settings_cls)
        path = os.environ.get("CHRONOFACT_CONFIG")
        if path is None:
            return init_settings, env_settings
        if not Path(path).is_file():
            raise FileNotFoundError(f"CHRONOFACT_CONFIG names {path}, which is no file")
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, Path(path))


def _check_spelling(names: Iterable[str], settings: type[BaseSettings]) -> None:
    """Variables that are far from every setting pass: an orchestrator may add some of its own."""
    known = [*settings.model_fields, *FURTHER]
    for name in sorted(names):
        word = name.removeprefix("CHRONOFACT_").lower()
        if name.startswith("CHRONOFACT_") and word not in known:
            for meant in get_close_matches(word, known, n=1, cutoff=_ALMOST):
                raise ValueError(f"{name} is no setting; CHRONOFACT_{meant.upper()} is")


def settings_or_exit() -> Settings:
    """The settings of this process; what is wrong with them ends it with code 2, on stderr and without their values."""
    try:
        return Settings()
    except ValidationError as error:
        for told in faults_told(error):
            sys.stderr.write(f"chronofact: {told}\n")
    except (OSError, ValueError) as error:
        sys.stderr.write(f"chronofact: {error}\n")
    sys.exit(_USAGE)


def faults_told(error: ValidationError) -> list[str]:
    """What is wrong with settings, each after its variable's name, without its value."""
    found = error.errors(include_url=False, include_input=False)
    told = [_told(one) for one in found]
    names = ["".join(f"CHRONOFACT_{part}: ".upper() for part in one["loc"][:1]) for one in found]
    return [name + what for name, what in zip(names, told, strict=True)]


def _told(one: ErrorDetails) -> str:
    if one["type"] == "string_pattern_mismatch":
        return f"it should be {_WRITTEN[str(one['loc'][0])]}"
    return one["msg"].removeprefix("Value error, ").replace("Input should be", "it should be")


@contextmanager
def start_or_exit(settings: Settings) -> Iterator[None]:
    """What is wrong with the files that the settings name ends the process with code 2, on stderr."""
    try:
        yield
    except (OSError, ValueError) as error:
        sys.stderr.write(f"chronofact: {file_told(error, settings)}\n")
        sys.exit(_USAGE)


def file_told(error: OSError | ValueError, settings: Settings) -> str:
    """What is wrong with a file, after the setting that names it."""
    told = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
    for name in ("tokens_file", "fact_keys_file", "scope_kinds_file", "model_key_file"):
        path: Path | None = getattr(settings, name)
        if path is not None and str(path) in told:
            return f"CHRONOFACT_{name.upper()}: {told}"
    return told


def is_loopback(host: str) -> bool:
    """Whether a listener on this host is reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
