"""What a verification found, for a person to read: by fact, table by table, the lines that only one side has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby, islice, zip_longest
from typing import TYPE_CHECKING, Final

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from chronofact.cli.render import unbroken

if TYPE_CHECKING:
    from chronofact.contracts.verification import Difference

LINES_MAX: Final = 3
"""Lines of one table and fact that a terminal shows of each side."""


def differences_told(differences: Sequence[Difference], sides: tuple[str, str], *, facts_max: int) -> RenderableType:
    """Those of one fact below a line that names it."""

    def parts() -> Iterator[RenderableType]:
        for head, found in islice(groupby(differences, key=_heading), facts_max):
            yield unbroken(head, style="bold")
            yield _table(list(found), sides)

    return Group(*parts())


def _heading(one: Difference) -> str:
    fact = one.fact
    if fact is not None:
        subject = fact.subject_label or str(fact.subject_id)
        scope = f"{fact.scope_kind}:{fact.scope_key}"
        return f"fact {fact.fact_id}: {fact.fact_key} of {subject} in {scope} (tenant {fact.tenant_id})"
    return "of no one fact" if one.fact_id is None else f"fact {one.fact_id}"


def _table(differences: Sequence[Difference], sides: tuple[str, str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for name in ("table", f"only in {sides[0]}", f"only in {sides[1]}"):
        table.add_column(name, overflow="fold")
    for one in differences:
        shown = (one.left_said[:LINES_MAX], one.right_said[:LINES_MAX])
        pairs = list(zip_longest(*(map(json.loads, side) for side in shown)))
        for place, (left, right) in enumerate(pairs):
            cells = (one.aspect if place == 0 else "", *_apart(left, right))
            table.add_row(*map(Text, cells))
        if not pairs:
            table.add_row(one.aspect, Text("the same lines to read, other bytes"), "")
        more = (one.left_lines - len(shown[0]), one.right_lines - len(shown[1]))
        if any(more):
            table.add_row("", *(Text(f"and {count:,} more lines" if count else "") for count in more))
    return table


def _apart(left: dict[str, object] | None, right: dict[str, object] | None) -> tuple[str, str]:
    """What two lines say that the other does not, below what they agree on first; a line alone says all."""
    if left is None or right is None:
        return "missing" if left is None else _said(left), "missing" if right is None else _said(right)
    keys = [key for number, key in enumerate(left) if number < 2 or left[key] != right.get(key)]
    return _said({key: left[key] for key in keys}), _said({key: right.get(key) for key in keys})


def _said(line: dict[str, object]) -> str:
    return ", ".join(f"{key} {json.dumps(said) if isinstance(said, list) else said}" for key, said in line.items())
