"""Answers for a person to read: sentences, tables, and a fact's picture over both axes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, assert_never

import orjson
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from chronofact.cli.counted import counted
from chronofact.client import Answer, Conflict, Freshness, Unknown, Value, Values
from chronofact.client.answers import During

REASONS: Final = {
    "never_recorded": "nothing was ever said about it",
    "not_yet_known": "it was not known yet",
    "not_yet_valid": "it starts later",
    "ended": "it has ended",
    "revoked": "what was said was withdrawn",
    "superseded": "what was said was superseded",
    "excluded": "a decision excluded what was said",
    "proposed_only": "it was proposed, never admitted",
}
STYLES: Final = {"value": "bold green", "values": "bold green", "conflict": "bold red", "unknown": "dim"}
SHORT: Final = 8
VALUE_CHARS_MAX: Final = 60
_FIRST_COLUMN_CHARS: Final = 17
_PALETTE: Final = ("green", "cyan", "magenta", "yellow", "blue", "bright_green", "bright_cyan", "bright_magenta")


def spelled(value: Any) -> str:
    """A value in a line: text as it is, all else as JSON."""
    return value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def when(moment: datetime | None, *, open_as: str = "…") -> str:
    """An instant in UTC, no longer than it has to be."""
    if moment is None:
        return open_as
    utc = moment.astimezone(UTC)
    if (utc.hour, utc.minute, utc.second, utc.microsecond) == (0, 0, 0, 0):
        return utc.strftime("%Y-%m-%d")
    return utc.strftime("%Y-%m-%d %H:%M:%S") + (f".{utc.microsecond:06d}".rstrip("0") if utc.microsecond else "")


def stacked_when(moment: datetime | None, *, open_as: str = "…") -> str:
    """An instant for a narrow column: the day over the time."""
    return when(moment, open_as=open_as).replace(" ", "\n") if moment is not None else open_as


def unbroken(line: str, *, style: str = "") -> Text:
    """A line to be copied: it goes on beyond the edge instead of being folded or cut."""
    return Text(line, style=style, no_wrap=True, overflow="ignore")


def unknown_span(during: During | None) -> str:
    """For how long nothing is known; an unknown is nothing that holds."""
    return "for all valid time" if during == (None, None) else span(during)


def span(during: During | None) -> str:
    """A half-open interval."""
    if during is None:
        return ""
    start, end = during
    if start is None and end is None:
        return "always"
    if start is None:
        return f"until {when(end)}"
    return f"since {when(start)}" if end is None else f"{when(start)} to {when(end)}"


def sentence(answer: Answer) -> Text:
    """What an answer says, in a line."""
    match answer:
        case Value():
            return Text(spelled(answer.value), style=STYLES["value"])
        case Values():
            listed = ", ".join(spelled(one.value) for one in answer.values)
            return Text(listed, style=STYLES["values"])
        case Conflict():
            sides = " or ".join(sorted({spelled(one.value) for one in answer.versions}))
            return Text(f"in conflict: {sides}?", style=STYLES["conflict"])
        case Unknown():
            return Text(f"unknown: {REASONS.get(answer.reason, answer.reason)}", style=STYLES["unknown"])
        case _:
            assert_never(answer)


def answer_table(answer: Answer) -> Table:
    """One answer with all that it says."""
    reading = answer.reading
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    table.add_row("answer", sentence(answer))
    table.add_row("fact", Text(f"{reading.fact.key} of {reading.fact.subject} in {reading.fact.scope}"))
    table.add_row("asked for", when(reading.valid_at))
    table.add_row("as known", when(reading.as_of, open_as="by now"))
    if reading.valid_during is not None:
        table.add_row("so" if isinstance(answer, Unknown) else "holds", _held(answer))
    match answer:
        case Value():
            table.add_row("learned", when(answer.recorded_at, open_as=""))
            table.add_row("version", str(answer.version_id))
            agreeing = [str(one) for one in answer.agreeing if one != answer.version_id]
            if agreeing:
                table.add_row("agreeing", "\n".join(agreeing))
        case Values(versions) | Conflict(versions, _):
            for one in versions:
                table.add_row("version", _claim_line(one.version_id, one.value, one.valid_during, one.source_id))
        case Unknown():
            pass
        case _:
            assert_never(answer)
    if reading.freshness is not None:
        table.add_row("freshness", freshness(reading.freshness))
    return table


def freshness(fresh: Freshness) -> Text:
    """How far behind the log an answer was, and what is held."""
    behind = "an unknown number of events" if fresh.lag_events is None else counted(fresh.lag_events, "event")
    text = f"projection {fresh.projection}, {behind} behind"
    if fresh.tail_events:
        text += f", {fresh.tail_events:,} read from the log itself"
    if fresh.held:
        text += f", {counted(fresh.held, 'message')} parked"
    if fresh.stale:
        return Text(f"{text}, STALE ({fresh.because or 'behind'})", style="bold red")
    return Text(text)


def _held(answer: Answer) -> str:
    during = answer.reading.valid_during
    return unknown_span(during) if isinstance(answer, Unknown) else span(during)


def _claim_line(version_id: Any, value: Any, during: During | None, source_id: str | None) -> Text:
    parts = [spelled(value), span(during), f"by {source_id}" if source_id else "", f"({version_id})"]
    return Text("  ".join(part for part in parts if part))


def facts_told(answers: Sequence[Answer]) -> RenderableType:
    """Many facts' answers, and whether they are stale."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("key", "scope", "answer", "holds"):
        table.add_column(name, overflow="fold")
    for answer in answers:
        reading = answer.reading
        table.add_row(reading.fact.key, Text(reading.fact.scope), sentence(answer), _held(answer))
    stale = next(
        (one.reading.freshness for one in answers if one.reading.freshness and one.reading.freshness.stale), None
    )
    return table if stale is None else Group(table, freshness(stale))


def events_told(events: Sequence[Mapping[str, Any]]) -> RenderableType:
    """A fact's events in the order in which they were learned, then its versions with their whole ids."""
    values = {
        event["payload"]["version_id"]: spelled(event["payload"]["value"])
        for event in events
        if event["event_type"] == "FactAsserted"
    }
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("seq", justify="right", no_wrap=True)
    table.add_column("learned", no_wrap=True)
    table.add_column("event", no_wrap=True)
    table.add_column("says", overflow="fold")
    table.add_column("version", style="dim", no_wrap=True)
    for event in events:
        says = Text(_said(event["payload"], values))
        versions = "\n".join(one[:SHORT] for one in event["version_ids"])
        learned = stacked_when(_bound(event["recorded_at"]))
        table.add_row(str(event["event_seq"]), learned, event["event_type"], says, versions)
    named = dict.fromkeys(one for event in events for one in event["version_ids"])
    return Group(table, *version_lines((one, values.get(one)) for one in named))


def version_lines(versions: Iterable[tuple[str, str | None]]) -> Iterator[Text]:
    """Whole ids to be copied, each with its version's value where that is known."""
    for version_id, value in versions:
        said = "" if value is None else f"  {value[:VALUE_CHARS_MAX]}{'…' if len(value) > VALUE_CHARS_MAX else ''}"
        yield unbroken(f"{version_id}{said}".replace("\n", " "), style="dim")


def _said(payload: Mapping[str, Any], values: Mapping[str, str]) -> str:
    """What an assertion claims; of all else the fields that say something, versions by their values."""
    if "value" in payload:
        bounds = _bound(payload["valid_from"]), _bound(payload["valid_to"])
        return f"{spelled(payload['value'])}, {span(bounds)}, by {payload['source_id']}"
    shown = []
    for name, field in payload.items():
        if name == "keep" and field is None:
            shown.append("keep neither")
        elif field not in (None, [], ""):
            told = values.get(field, field[:SHORT]) if _names_version(name) else spelled(field)
            shown.append(f"{name.removesuffix('_version_id').removesuffix('_id')}: {told}")
    return "\n".join(shown)


def _names_version(field: str) -> bool:
    return field in {"keep", "version_id"} or field.endswith("_version_id")


def conflicts_told(conflicts: Iterable[Mapping[str, Any]], *, commands: bool = False) -> RenderableType:
    """Conflict edges, each with both sides, who has settled it, and the command that would, on a line to be copied."""
    told: list[RenderableType] = []
    for one in conflicts:
        told.append(_conflict_table(one))
        if commands and "settle_command" in one:
            told.append(unbroken(one["settle_command"]))
        told.append(Text())
    return Group(*told)


def _conflict_table(one: Mapping[str, Any]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True, style="dim")
    fact = one["fact"]
    about = f"{one['relation']}  {fact['key']} of {fact['subject']} in {fact['scope']}"
    style = "bold red" if one["relation"] == "OPEN" else "bold"
    table.add_row(Text(about, style=style), f"since {_moment(one['recorded_at'])}")
    for version in (one["left"], one["right"]):
        during = span((_bound(version["valid_during"][0]), _bound(version["valid_during"][1])))
        claim = Text(f"  {spelled(version['value'])}, {during}, by {version['source_id']}")
        table.add_row(claim, version["version_id"])
    if (decision := one.get("decision")) is not None:
        table.add_row(Text(f"  {_decided(decision)}"), decision["keep"] or "")
    return table


def _decided(decision: Mapping[str, Any]) -> str:
    """Who kept which, when and why."""
    kept = "keeps one" if decision["keep"] else "keeps neither"
    who = decision["decided_by"] or "somebody"
    why = f": {decision['reason']}" if decision["reason"] else ""
    return f"{who} {kept} since {_moment(decision['decided_at'])}{why}"


class Rectangle:
    """One stretch of valid time by one of system time, with what was the answer there."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.valid = _bound(body["valid_during"][0]), _bound(body["valid_during"][1])
        self.known = _bound(body["known_during"][0]), _bound(body["known_during"][1])
        self.kind: str = body["kind"]
        self.text = _rectangle_text(body)

    def covers(self, valid_at: datetime | None, as_of: datetime | None) -> bool:
        """Whether the instants lie inside; None stands for before everything."""
        return _lies_in(valid_at, self.valid) and _lies_in(as_of, self.known)


def picture(rectangles: Sequence[Rectangle], *, columns_max: int | None = None, width: int = 80) -> Table:
    """Valid time downwards, system time to the right: each column is what was known from then on.

    Without ``columns_max`` the last ones are shown, as many as fit.
    """
    valid = _starts(one.valid[0] for one in rectangles)
    every = _starts(one.known[0] for one in rectangles)
    heads = [stacked_when(as_of, open_as="start") for as_of in every]
    shown = min(len(every), columns_max or _fitting(heads, width))
    known, heads = every[-shown:], heads[-shown:]
    colours = {text: _PALETTE[at % len(_PALETTE)] for at, text in enumerate(_values_in_order(rectangles))}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_lines=False, padding=(0, 1, 0, 0))
    table.add_column("known from →\nheld from ↓", style="dim", no_wrap=True)
    for head in heads:
        table.add_column(head, overflow="fold", min_width=_width_of(head))
    for valid_at in valid:
        cells = [_cell(rectangles, valid_at, as_of, colours) for as_of in known]
        table.add_row(stacked_when(valid_at, open_as="always"), *cells)
    if len(every) > shown:
        table.caption = f"{counted(len(every) - shown, 'earlier column')} left out; --columns {len(every)} shows all"
    return table


def _fitting(heads: Sequence[str], width: int) -> int:
    """How many of the last columns fit, one at least."""
    left, count = width - _FIRST_COLUMN_CHARS, 0
    for head in reversed(heads):
        left -= _width_of(head) + 2
        if left < 0:
            break
        count += 1
    return max(1, count)


def _width_of(lines: str) -> int:
    return max(map(len, lines.split("\n")))


def _cell(
    rectangles: Sequence[Rectangle], valid_at: datetime | None, as_of: datetime | None, colours: Mapping[str, str]
) -> Text:
    for one in rectangles:
        if one.covers(valid_at, as_of):
            style = colours.get(one.text, STYLES[one.kind]) if one.kind == "value" else STYLES[one.kind]
            return Text(one.text, style=style)
    return Text("")


def _values_in_order(rectangles: Sequence[Rectangle]) -> list[str]:
    return list(dict.fromkeys(one.text for one in rectangles if one.kind == "value"))


def _rectangle_text(body: Mapping[str, Any]) -> str:
    match body["kind"]:
        case "value":
            return _stacked(body["value"])
        case "values":
            return "\n".join(_stacked(one["value"]) for one in body["values"])
        case "conflict":
            return "\nor\n".join(sorted({_stacked(one["value"]) for one in body["versions"]}))
        case _:
            return f"({body['reason'].replace('_', ' ')})"


def _stacked(value: Any) -> str:
    """A value for a narrow cell: an object by lines."""
    if isinstance(value, dict):
        return "\n".join(f"{name} {spelled(part)}" for name, part in sorted(value.items()))
    return spelled(value)


def _starts(bounds: Iterable[datetime | None]) -> list[datetime | None]:
    """Distinct bounds, the open one first."""
    distinct = set(bounds)
    return [*([None] if None in distinct else []), *sorted(bound for bound in distinct if bound is not None)]


def _lies_in(moment: datetime | None, during: During) -> bool:
    start, end = during
    if moment is None:
        return start is None
    return (start is None or start <= moment) and (end is None or moment < end)


def _bound(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _moment(text: str) -> str:
    return when(datetime.fromisoformat(text))
