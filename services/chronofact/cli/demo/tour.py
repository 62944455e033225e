"""A real history through the whole path: thousands of corrections in, every question answered at two instants."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from rich import box
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from chronofact.cli.demo.history import Labelled, Question, Trace, lines_of, wrong
from chronofact.cli.demo.stage import Set
from chronofact.cli.render import Rectangle, conflicts_told, picture
from chronofact.client import Answer, Conflict
from chronofact.client.commands import Command

T = TypeVar("T")

SLICE: Final = 1_000
SHOWN_WRONG: Final = 5
WAIT_MS: Final = 30_000

BEGICH: Final = ("B001265", "office.seat")
VAN_DREW: Final = ("V000133", "office.party")
NORCROSS: Final = ("N000188", "contact.address")


@dataclass(frozen=True, slots=True)
class Score:
    """How one history went."""

    name: str
    commands: int
    import_s: float
    questions: int
    right: int
    asking_s: float


def plain(scene: Set) -> Score:
    """What each revision of the files said, or no longer said."""
    trace = Trace(lines_of("trace"), scene.client.ids)
    questions = [trace.question(line) for line in lines_of("questions")]
    return _run(scene, "as the files said it", trace.commands, questions)


def labelled(scene: Set) -> Score:
    """The same, with corrections said in five ways."""
    history = Labelled(lines_of("commands"), scene.client.ids)
    questions = [history.question(line) for line in lines_of("mixed_questions")]
    return _run(scene, "corrected in five ways", history.commands, questions)


def _run(scene: Set, name: str, commands: Sequence[Command], questions: Sequence[Question]) -> Score:
    client = scene.client
    began = time.monotonic()
    _each_slice(scene, f"importing, {name}", commands, lambda part: _send(scene, part))
    import_s = time.monotonic() - began
    # the first read waits until the projection has passed what was written
    client.resolve_many([questions[0].query], wait_ms=WAIT_MS)
    began = time.monotonic()
    answers: list[Answer] = []
    ask = [question.query for question in questions]
    _each_slice(scene, "asking", ask, lambda part: answers.extend(client.resolve_many(part, wait_ms=WAIT_MS)))
    asking_s = time.monotonic() - began
    failed = list(wrong(questions, answers))
    for question, answer in failed[:SHOWN_WRONG]:
        scene.stage.fail(f"{dict(question.query)}: expected {question.kind}, got {answer}")
    if failed:
        scene.stage.wrong.append(f"{name}: {len(failed)} wrong answers")
    return Score(name, len(commands), import_s, len(questions), len(questions) - len(failed), asking_s)


def _send(scene: Set, commands: Iterable[Command]) -> None:
    for rejection in scene.client.send(commands).rejections[:SHOWN_WRONG]:
        scene.stage.fail(f"rejected: {rejection.code}: {rejection.message}")


def _each_slice(scene: Set, task: str, items: Sequence[T], work: Callable[[list[T]], None]) -> None:
    console = scene.stage.console
    columns = TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(task, total=len(items))
        for start in range(0, len(items), SLICE):
            work(list(items[start : start + SLICE]))
            progress.advance(bar, min(SLICE, len(items) - start))


def score_table(scores: Iterable[Score]) -> Table:
    """How many questions were answered right, and how fast everything went."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("history")
    for name in ("commands", "a second", "questions", "right", "a second"):
        table.add_column(name, justify="right")
    for one in scores:
        style = "bold green" if one.right == one.questions else "bold red"
        table.add_row(
            one.name,
            f"{one.commands:,}",
            f"{one.commands / one.import_s:,.0f}",
            f"{one.questions:,}",
            f"[{style}]{one.right:,}[/{style}]",
            f"{one.questions / one.asking_s:,.0f}",
        )
    return table


def both_axes(scene: Set) -> None:
    """One office-holder's timeline."""
    stage, client = scene.stage, scene.client
    subject, key = BEGICH
    stage.chapter("One fact on both axes")
    stage.tell(
        "Mark Begich's seat in the Senate. Each column is what the files said from then on: first without a class, then "
        "of class 2, then with another end of the term; at last nothing, when he had left office."
    )
    body = client.timeline(client.ids.fact_id(subject, key))
    stage.show(picture([*map(Rectangle, body["timeline"])], columns_max=8))


def late_correction(scene: Set) -> None:
    """The same instant asked about before and after a correction was known."""
    stage, client = scene.stage, scene.client
    subject, key = VAN_DREW
    stage.chapter("A late correction")
    stage.tell(
        "Jeff Van Drew changed his party in December 2019; on the 31st the files were rewritten as if from the start of "
        "his term. Which party was his in mid-2019?"
    )
    for as_of, expected in (("2019-07-01T00:00:00Z", "Democrat"), ("2020-01-01T00:00:00Z", "Republican")):
        answer = client.resolve(subject, key, valid_at="2019-07-01T00:00:00Z", as_of=as_of)
        stage.answer(f"as known on {as_of[:10]}?", answer, expected=expected)


def conflict(scene: Set) -> None:
    """Two addresses, said for the same time, that nobody has settled."""
    stage, client = scene.stage, scene.client
    subject, key = NORCROSS
    stage.chapter("A conflict")
    stage.tell(
        "Told without saying which replaces which, two office addresses of Donald Norcross hold at once in 2016."
    )
    answer = client.resolve(subject, key, valid_at="2016-07-30T00:00:00Z", as_of="2017-01-13T20:15:56Z")
    stage.answer(
        "his office?",
        answer,
        expected="1531 Longworth HOB; Washington DC 20515-3001 / 2265 Rayburn HOB; Washington DC 20515-3001",
    )
    if isinstance(answer, Conflict):
        behind = {str(one.version_id) for one in answer.versions}
        edges = client.conflicts(subject=subject, key=key, relation="OPEN")["conflicts"]
        stage.show(conflicts_told(edge for edge in edges if edge["left"]["version_id"] in behind))
    stage.tell("Neither would go into a prompt; resolve_conflict settles it.")
