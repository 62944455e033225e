"""What was measured, beside what it must be and what bounds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table; ``bound`` is a floor or a ceiling, by ``sense``."""

    name: str
    measured: float
    unit: str
    sense: Literal["at least", "at most", "told"]
    bound: float | None
    bounded_by: str
    beside: str = ""
    """The nearest bound measured apart (another way to do the same work, or the database alone)."""

    @property
    def holds(self) -> bool:
        """Whether the bound is kept."""
        match self.sense:
            case "at least":
                return self.bound is None or self.measured >= self.bound
            case "at most":
                return self.bound is None or self.measured <= self.bound
            case "told":
                return True


FIGURES: list[Figure] = []


def record(figure: Figure) -> None:
    """Keep it for the table."""
    FIGURES.append(figure)


def table() -> list[str]:
    """The lines of the table, widths fitted."""
    heads = ("", "figure", "measured", "must be", "what bounds it", "beside it")
    lines = [heads, *map(_cells, FIGURES)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def _cells(figure: Figure) -> tuple[str, ...]:
    must = "" if figure.bound is None else f"{figure.sense} {figure.bound:,.10g} {figure.unit}"
    mark = "ok" if figure.holds else "NO"
    measured = f"{figure.measured:,.0f}" if figure.measured >= 100 else f"{figure.measured:.3g}"
    return mark, figure.name, f"{measured} {figure.unit}", must, figure.bounded_by, figure.beside
