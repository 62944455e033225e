from __future__ import annotations

from io import StringIO
from uuid import UUID

from rich.console import Console

from chronofact.cli.check_told import divergences_told
from chronofact.contracts.checking import Divergence
from chronofact.postgres.fact_names import FactName

FACT, OTHER = UUID(int=1 << 100), UUID(int=2 << 100)


def told(*divergences: Divergence) -> list[str]:
    out = StringIO()
    console = Console(file=out, width=80)
    names = [FactName(7, FACT, "ana [of long name] " * 5, "repo:acme/web", "package_manager", OTHER)]
    console.print(divergences_told(divergences, names), crop=False)
    return out.getvalue().splitlines()


def test_each_fact_is_named_once_on_one_line_with_its_whole_id() -> None:
    lines = told(
        Divergence(7, FACT, "timeline", "value", "lane 0", "a" * 64, "b" * 64),
        Divergence(7, None, "version", "missing", "2", "there", None),
        Divergence(None, OTHER, "log", "missing", "3:1", "there", None),
    )
    heads = [line for line in lines if line.startswith("fact ")]
    assert heads == [
        f"fact {FACT}: package_manager of {'ana [of long name] ' * 5} in repo:acme/web (tenant {OTHER})",
        f"fact {OTHER}, which the projection does not know",
    ]
    assert max(len(line) for line in lines if line not in heads) <= 80


def test_what_is_of_no_fact_is_said_so() -> None:
    assert told(Divergence(None, None, "log", "missing", "0:3", "x", None))[0] == "of no one fact"
    assert told(Divergence(3, None, "log", "missing", "0:3", "x", None))[0] == "fact number 3"
