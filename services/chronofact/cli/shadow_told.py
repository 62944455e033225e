"""A comparison for a person to read: counts by class, then tenants, then samples with both answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from chronofact.cli.counted import counted
from chronofact.cli.render import spelled, unbroken
from chronofact.cli.shown import shown

TENANTS_SHOWN: Final = 10
VALUE_CHARS_MAX: Final = 60
_MEANT: Final = {
    "correcting": "the independent check agrees with the new side",
    "discovered_conflict": "a value then, a conflict now, and the check agrees",
    "scope_change": "the value is at another scope now, and the check agrees",
    "unknown": "nobody can explain it",
}


def print_report(body: Mapping[str, Any]) -> None:
    """Two projections beside one another."""
    console, body = Console(), shown(dict(body))
    state = f"open until {body['until']}" if body["state"] == "open" else f"over since {body['ended_at']}"
    if body["failure"]:
        state = f"ended early: {body['failure']}"
    console.print(f"{body['projection']} against {body['against']}: {state}", highlight=False)
    if body["last_compared_at"] is None:
        console.print("not compared yet: does the reconciler run? --now compares once", highlight=False)
        return
    console.print(
        f"last compared {body['last_compared_at']}: {counted(body['facts'], 'fact')}, {body['facts_in_flight']:,} in flight,"
        f" {body['facts_differing']:,} not alike",
        highlight=False,
    )
    if body["facts_beyond"]:
        told = counted(body["facts_beyond"], "fact that differs is", "facts that differ are")
        console.print(f"{told} not judged yet, or beyond what is kept, and counted as unknown", highlight=False)
    _classes(console, body["classes"], ("differences", "facts", "settled"))
    _tenants(console, body, lambda one: one["differences"])
    _samples(console, body["samples"], body["against"], body["projection"])


def print_baseline(body: Mapping[str, Any]) -> None:
    """The user's table beside a projection."""
    console, body = Console(), shown(dict(body))
    console.print(
        f"{counted(body['lines'], 'line')} against {body['projection']} at {body['valid_at']}: {body['equal']:,} equal,"
        f" {body['differences']:,} not; {body['only_baseline']:,} answered by the baseline alone,"
        f" {body['only_projection']:,} by {body['projection']} alone",
        highlight=False,
    )
    if body["columns_ignored"]:
        console.print(f"columns that were not looked at: {', '.join(body['columns_ignored'])}", highlight=False)
    if body["tenants_not_in_baseline"]:
        told = counted(body["tenants_not_in_baseline"], "tenant")
        console.print(f"{told} of {body['projection']} that the baseline does not name: not compared", highlight=False)
    if body["bad"]:
        console.print(f"{counted(body['bad'], 'bad line')}, not compared:", highlight=False)
        for one in body["bad_lines"][:20]:
            console.print(f"  line {one['line']}: {one['field']}: {one['message']} ({one['code']})", highlight=False)
        if body["bad"] > len(body["bad_lines"][:20]):
            console.print(f"  and {counted(body['bad'] - len(body['bad_lines'][:20]), 'more')}", highlight=False)
    _classes(console, body["classes"], ("facts",))
    _tenants(console, body, lambda one: one["facts"])
    _samples(console, body["samples"], "baseline", body["projection"])


def _classes(console: Console, classes: Mapping[str, Any], columns: Iterable[str]) -> None:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("class")
    for name in columns:
        table.add_column(name, justify="right")
    table.add_column("meaning", overflow="fold")
    for name, found in classes.items():
        reasons = "; ".join(f"{reason} {count:,}" for reason, count in sorted(found.get("reasons", {}).items()))
        cells = [f"{found[column]:,}" for column in columns]
        style = "red" if name == "unknown" and found[next(iter(columns))] else ""
        table.add_row(Text(name, style=style), *cells, Text(reasons or _MEANT[name]))
    console.print(table)


def _tenants(console: Console, body: Mapping[str, Any], count: Any) -> None:
    if len(body["tenants"]) < 2:
        return
    for one in body["tenants"][:TENANTS_SHOWN]:
        said = ", ".join(f"{name} {count(found):,}" for name, found in one["classes"].items() if count(found))
        console.print(unbroken(f"tenant {one['tenant']}: {said}"))
    left = len(body["tenants"]) - TENANTS_SHOWN + body["tenants_left_out"]
    if left > 0:
        console.print(f"and {counted(left, 'more tenant')}; --json lists them, --tenant tells one", highlight=False)


def _samples(console: Console, samples: Iterable[Mapping[str, Any]], old: str, new: str) -> None:
    for one in samples:
        fact = one["fact"]
        console.print(unbroken(f"{one['class']}: {fact['key']} of {fact['subject']} in {fact['scope']}", style="bold"))
        console.print(unbroken(f"  fact {fact['fact_id']} of tenant {fact['tenant']}"))
        console.print(unbroken(f"  {_during(one)}: {one['reason']}"))
        console.print(unbroken(f"  {old}: {_answer(one['old'])}"))
        console.print(unbroken(f"  {new}: {_answer(one['new'])}"))


def _during(one: Mapping[str, Any]) -> str:
    if one["valid_during"] is None:
        return "same answers at all times, not the same behind them"
    start, stop = one["valid_during"]
    more = f", {one['stretches']} stretches" if one.get("stretches", 1) > 1 else ""
    if start is None and stop is None:
        return f"always{more}"
    return f"from {start or '…'} to {stop or '…'}{more}"


def _answer(said: Mapping[str, Any]) -> str:
    match said.get("kind"):
        case "value":
            return f"value {_cut(said['value'])}" + (f", line {said['line']}" if "line" in said else "")
        case "unknown":
            return f"unknown, {said['reason']}"
        case "not_there":
            return "nothing"
        case "conflict" | "values":
            values = ", ".join(_cut(one["value"]) for one in said["versions"])
            return f"{said['kind']} of {said['count']}: {values}"
        case _:
            return _cut(dict(said))


def _cut(value: Any) -> str:
    text = spelled(value)
    return text if len(text) <= VALUE_CHARS_MAX else f"{text[: VALUE_CHARS_MAX - 1]}…"
