"""What a check found, for a person to read: by fact, with whole ids, and both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from chronofact.cli.render import unbroken

if TYPE_CHECKING:
    from chronofact.contracts.checking import Divergence
    from chronofact.postgres.fact_names import FactName


def divergences_told(divergences: Sequence[Divergence], names: Sequence[FactName]) -> RenderableType:
    """Those of one fact below a line that names it."""
    by_id = {one.fact_id: one for one in names}
    by_number = {one.fact_no: one for one in names}

    def heading(one: Divergence) -> str:
        name = by_id.get(one.fact_id) if one.fact_id is not None else by_number.get(one.fact_no or 0)
        if name is not None:
            return f"fact {name.fact_id}: {name.key} of {name.subject} in {name.scope} (tenant {name.tenant_id})"
        if one.fact_id is not None:
            return f"fact {one.fact_id}, which the projection does not know"
        return "of no one fact" if one.fact_no is None else f"fact number {one.fact_no}"

    def parts() -> Iterator[RenderableType]:
        for head, found in groupby(divergences, key=heading):
            yield unbroken(head, style="bold")
            yield _table(found)

    return Group(*parts())


def _table(divergences: Iterator[Divergence]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for name in ("table", "what", "where", "by the events", "in the projection"):
        table.add_column(name, overflow="fold")
    for one in divergences:
        cells = (one.relation, one.aspect, one.place, one.expected or "", one.found or "")
        table.add_row(*map(Text, cells))
    return table
