"""A fingerprint of the fold: of all sources that decide what a projection holds, for one rule version (ADR 28)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from chronofact.domain.rules import check_rule
from chronofact.runtime.resources import PACKAGE, schemas_folder

TELLING: Final = frozenset({"explain", "explained", "ignored", "inert", "moment", "resolve", "sentences"})
"""Modules of the domain that tell of answers and fill no projection."""
CONTRACTS: Final = (
    "codec", "counting", "derived", "fact_keys", "meant", "memory_lines", "payload", "projection", "scope_kinds",
    "verifying",
)  # fmt: skip
FURTHER: Final = (
    "kafka/partitioning.py", "postgres/copy.py", "postgres/memory_lines.py", "postgres/packed.py", "postgres/raw_values.py",
)  # fmt: skip


@cache
def fold_fingerprint(rule: int) -> str:
    """64 hex digits, equal in every process of the same sources, compiled or not; read from the files once.

    Raises:
        Rejected: ``rule_unknown``.
    """
    seen = sha256(f"rule {check_rule(rule)}, Unicode {unicodedata.unidata_version}\n".encode())
    for name, content in _sources():
        seen.update(f"{name} {len(content)}\n".encode() + content)
    return seen.hexdigest()


def source_paths() -> list[Path]:
    """The Python sources, in the order in which they count; never the machine code made of them."""
    domain = [path for path in sorted(PACKAGE.glob("domain/*.py")) if path.stem not in TELLING]
    contracts = [PACKAGE / "contracts" / f"{name}.py" for name in CONTRACTS]
    projecting = sorted(PACKAGE.glob("projecting/*.py"))
    return [*domain, *contracts, *projecting, *(PACKAGE / name for name in FURTHER)]


def _sources() -> Iterator[tuple[str, bytes]]:
    for path in source_paths():
        yield path.relative_to(PACKAGE).as_posix(), path.read_bytes()
    schemas = schemas_folder()
    for pattern in ("avro/*.avsc", "scope_kinds.yaml", "postgres/projection/*.sql"):
        for path in sorted(schemas.glob(pattern)):
            yield path.relative_to(schemas).as_posix(), path.read_bytes()
