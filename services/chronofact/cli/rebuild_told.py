"""Rebuilds in words and as live progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import orjson

from chronofact.cli.counted import counted

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Show = Callable[[Mapping[str, Any]], None]

LINE_EVERY_S: Final = 10.0
JSON_EVERY_S: Final = 1.0
OVER: Final = frozenset({"ready", "failed", "cancelled"})
LOADING: Final = frozenset({"planning", "building", "indexing"})
PHASES: Final = {
    "plan_s": "plan", "load_s": "load", "index_s": "index", "catch_up_s": "catch up", "verify_s": "verify",
}  # fmt: skip
WORDS: Final = {
    "planning": "looks at the log",
    "building": "loads",
    "indexing": "builds indexes",
    "catching_up": "catches up with the log",
    "verifying": "is verified",
    "ready": "is ready",
    "failed": "has failed",
    "cancelled": "is cancelled",
}


def summary(found: Mapping[str, Any]) -> dict[str, Any]:
    """The last line of ``--json``: what was made, and how long each phase took."""
    return {
        "projection": found["projection"],
        "events": found["events"],
        "seconds": found["seconds"],
        "phases": found["phases"],
        "rebuild": found["id"],
        "state": found["state"],
        "rule": found["rule"],
        "messages": found["messages"],
        "facts": found["facts"],
        "parked": found["parked"],
        "compared_with": found["compared_with"],
        "failure": found["failure"],
    }


def step(found: Mapping[str, Any]) -> dict[str, Any]:
    """A line of ``--json`` while it goes."""
    names = ("projection", "state", "waiting", "messages_total", "messages_read", "messages", "events", "facts")
    return {
        "rebuild": found["id"],
        "still_since": found.get("still_since"),
        **{name: found[name] for name in (*names, "parked", "seconds", "phases")},
    }


def told(found: Mapping[str, Any]) -> list[str]:
    """A rebuild in some lines."""
    state = str(found["state"])
    lines = [f"rebuild {found['id']} of {found['projection']} by rule {found['rule']} {WORDS[state]}"]
    if found["waiting"]:
        lines.append(f"waiting: {found['waiting']}")
    if found["messages_total"]:
        lines.append(
            f"{found['messages_read']:,} of {counted(found['messages_total'], 'message')} read, {found['messages']:,} folded:"
            f" {counted(found['events'], 'event')} on {counted(found['facts'], 'fact')}"
        )
    if found["parked"]:
        lines.append(
            f"{counted(found['parked'], 'message')} parked; chronofact parked list --projection {found['projection']}"
        )
    if found["phases"]:
        lines.append(phases_told(found))
    if state == "ready":
        is_beside = found["compared_with"] not in {None, "none"}
        lines.append(f"verified against {found['compared_with']}" if is_beside else "verified by the independent check")
    return [*lines, *_end(found)]


def phases_told(found: Mapping[str, Any]) -> str:
    """What each phase took, and its share."""
    phases = {PHASES.get(name, name): float(seconds) for name, seconds in found["phases"].items()}
    whole = sum(phases.values()) or 1.0
    order = [name for name in PHASES.values() if name in phases]
    shown = ", ".join(f"{name} {phases[name]:.1f} s ({phases[name] / whole:.0%})" for name in order)
    load_s = phases.get("load", 0.0)
    rate = f"; {found['events'] / load_s:,.0f} events/s in the load" if load_s and found["events"] else ""
    return f"{shown}{rate}"


def next_steps(found: Mapping[str, Any]) -> list[str]:
    """What to do with one that is ready."""
    name = found["projection"]
    shadow = f"with another rule that is an open window: chronofact shadow report --projection {name}"
    return [f"chronofact switch --all --to {name} has all read {name}, or names what speaks against it; {shadow}"]


def _end(found: Mapping[str, Any]) -> list[str]:
    if found["state"] == "ready":
        return next_steps(found)
    failure = found["failure"]
    if failure is None:
        return []
    return [f"{failure['message']} ({failure['code']})", *([failure["remedy"]] if failure["remedy"] else [])]


def rows(found: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """The list's cells."""
    return [
        (
            str(one["id"]),
            one["projection"],
            str(one["rule"]),
            one["state"],
            f"{one['events']:,}",
            f"{one['seconds']:.0f} s",
            f"{one['started_at'][:10]} {one['started_at'][11:19]}Z",
            (one["failure"] or {}).get("code") or "",
        )
        for one in found
    ]


@contextmanager
def progress(*, json: bool) -> Iterator[Show]:
    """Bars on the terminal while the block runs: the whole with events, rate and time left, and each partition's.

    Where there is no terminal, lines of a log instead; with ``json`` lines of JSON, on stdout.
    """
    if json:
        yield JsonLines(lambda line: print(line, flush=True)).show
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(lambda line: print(line, file=sys.stderr, flush=True)).show
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.fields[told]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        yield _Bars(bars).show


class Lines:
    """A line whenever the state or what it waits for changes, and now and then while it loads."""

    def __init__(self, write: Callable[[str], None], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._monotonic = monotonic
        self._said: tuple[str, bool] | None = None
        self._said_at = 0.0

    def show(self, found: Mapping[str, Any]) -> None:
        """Whatever is known now."""
        now = self._monotonic()
        says = found["state"], found["waiting"] is None
        if says == self._said and (now - self._said_at < LINE_EVERY_S or found["state"] in OVER):
            return
        self._said, self._said_at = says, now
        done, total = found["messages_read"] + found["messages"], 2 * found["messages_total"]
        share = f", {done / total:.0%} of {counted(found['messages_total'], 'message')}" if total else ""
        loading = f"{share}, {counted(found['events'], 'event')}" if found["state"] in LOADING else ""
        waiting = f"; waiting: {found['waiting']}" if found["waiting"] else ""
        self._write(f"rebuild {found['id']} {WORDS[found['state']]}{loading}{waiting}")


class JsonLines:
    """A line of JSON for each change of the state or what it waits for, and one a second while anything else changes.

    None once it is over: the result is the last line.
    """

    def __init__(self, write: Callable[[str], None], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._monotonic = monotonic
        self._said: dict[str, Any] = {}
        self._said_at = 0.0

    def show(self, found: Mapping[str, Any]) -> None:
        """Whatever is known now."""
        now, line = self._monotonic(), step(found)
        is_news = any(line[name] != self._said.get(name) for name in ("state", "waiting"))
        if line == self._said or line["state"] in OVER or not (is_news or now - self._said_at >= JSON_EVERY_S):
            return
        self._said, self._said_at = line, now
        self._write(orjson.dumps(line).decode())


class _Bars:
    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._whole = bars.add_task("planning", total=None, told="")
        self._parts: dict[int, TaskID] = {}

    def show(self, found: Mapping[str, Any]) -> None:
        """Whatever is known now."""
        total = 2 * found["messages_total"]
        done = found["messages_read"] + found["messages"]
        is_loading = found["state"] in LOADING
        speed = self._bars.tasks[0].speed or 0.0
        said = found["waiting"] or f"{found['events']:,} events, {speed / 2:,.0f} messages/s"
        self._bars.update(
            self._whole,
            description=WORDS[found["state"]],
            total=total if total and is_loading else None,
            completed=min(done, total) if is_loading else 0,
            told=str(said),
        )
        for part in found["parts"]:
            self._show_part(part, is_visible=is_loading and part["target"] > 0)

    def _show_part(self, part: Mapping[str, Any], *, is_visible: bool) -> None:
        number, total = part["partition"], max(2 * part["target"], 1)
        if number not in self._parts:
            self._parts[number] = self._bars.add_task("", total=total, told="", visible=is_visible)
        done = total if part["state"] in {"loaded", "indexed"} else part["messages_read"] + part["messages"]
        self._bars.update(
            self._parts[number],
            description=f"  partition {number} {part['state']}",
            completed=min(done, total),
            told=f"{part['events']:,} events",
            visible=is_visible,
        )
