"""How the demo speaks: chapters, the calls it makes, what came back, and whether that was right."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from chronofact.cli.render import sentence, span, spelled
from chronofact.client import Answer, Conflict, Unknown, Value

if TYPE_CHECKING:
    from chronofact.client import Client


@dataclass(slots=True)
class Stage:
    """The terminal, and what went wrong so far."""

    console: Console
    wrong: list[str] = field(default_factory=list)

    def chapter(self, title: str) -> None:
        """A new part begins."""
        self.console.print()
        self.console.print(Rule(Text(title, style="bold"), align="left", style="blue"))

    def tell(self, text: str) -> None:
        """A sentence of the story."""
        self.console.print()
        self.console.print(text, markup=False, highlight=False)

    def show(self, what: RenderableType) -> None:
        """A table or a picture."""
        self.console.print(Padding(what, (0, 0, 0, 2)))

    def call(self, code: str) -> None:
        """A call as one would write it; it has really been made."""
        self.console.print(
            Padding(Syntax(code, "python", theme="ansi_dark", background_color="default", word_wrap=True), (0, 0, 0, 2))
        )

    def answer(self, asked: str, answer: Answer, *, expected: str) -> None:
        """What came back, held to what it must be: a value's text, ``a / b`` for a conflict, ``unknown: reason``."""
        said = _in_short(answer)
        is_right = said == expected
        mark = Text("  ✔ ", style="green") if is_right else Text("  ✘ ", style="bold red")
        during = span(answer.reading.valid_during)
        held = Text(f"   {during}", style="dim") if during and not isinstance(answer, Unknown) else Text("")
        self.console.print(mark + Text(f"{asked}  ", style="dim") + sentence(answer) + held, highlight=False)
        if not is_right:
            self.fail(f"{asked}: expected {expected}, got {said}")

    def fail(self, what: str) -> None:
        """Notes what is not as it must be; the demo then ends with exit code 1."""
        self.wrong.append(what)
        self.console.print(Text(f"    {what}", style="bold red"))


@dataclass(frozen=True, slots=True)
class Set:
    """What every scene needs."""

    stage: Stage
    client: Client


def _in_short(answer: Answer) -> str:
    match answer:
        case Value():
            return spelled(answer.value)
        case Conflict():
            return " / ".join(sorted({spelled(one.value) for one in answer.versions}))
        case Unknown():
            return f"unknown: {answer.reason}"
        case _:
            return ", ".join(sorted(spelled(one.value) for one in answer.values))
