"""docs/reference, made from the code: run as a module it writes the pages, the tests only compare."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import typer
from typer.main import get_command

from chronofact.cli.__main__ import app
from chronofact.contracts.error_codes import CODES, remedy_of, status_of
from chronofact.runtime.config import Settings
from chronofact.runtime.metrics import METRICS
from tests.architecture import reference_commands
from tests.architecture.reference_calls import described
from tests.architecture.tree import ROOT

FOLDER = ROOT / "docs" / "reference"
MADE = "<!-- Made from the code by `make docs`; a test holds both together. -->"
BESIDE_SETTINGS = {
    "CHRONOFACT_CONFIG": "A TOML file with any of these settings, in lower case and without the prefix.",
    "CHRONOFACT_CACHE": "Folder of Kafka's jars, for stacks started on this machine.",
}


def table(heads: tuple[str, ...], lines: Iterable[tuple[str, ...]]) -> list[str]:
    def line(cells: tuple[str, ...]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    return [line(heads), f"|{'|'.join(' --- ' for _ in heads)}|", *map(line, lines)]


def page(title: str, intro: str, *blocks: list[str]) -> str:
    return "\n".join([f"# {title}", "", MADE, "", intro, *("\n" + "\n".join(block) for block in blocks)]) + "\n"


def settings_page() -> str:
    lines = []
    for name, field in Settings.model_fields.items():
        plain = field.get_default(call_default_factory=True)
        default = plain.get_secret_value() if hasattr(plain, "get_secret_value") else plain
        spelled = "" if default in (None, {}) else f"`{default}`"
        lines.append((f"`CHRONOFACT_{name.upper()}`", spelled, field.description or ""))
    lines += [(f"`{name}`", "", what) for name, what in BESIDE_SETTINGS.items()]
    intro = (
        "Every service and command reads these from the environment, or from the file that `CHRONOFACT_CONFIG` names; the\n"
        "environment wins. They are read once, when a process starts, and checked against one another. What is spelt almost as\n"
        "a setting is refused; any other variable `CHRONOFACT_*` that is none is told with the nearest one, by services in their\n"
        "log (`setting_unknown`) and by commands on stderr: an orchestrator may set some of its own."
    )
    return page("Settings", intro, table(("setting", "default", "meaning"), lines))


def errors_page() -> str:
    groups: dict[int, list[tuple[str, ...]]] = {}
    for code, meaning in CODES.items():
        groups.setdefault(status_of(code), []).append((f"`{code}`", meaning, remedy_of(code) or ""))
    blocks = [[f"## {status}", "", *_codes_table(groups[status])] for status in sorted(groups)]
    intro = (
        "The closed list. A rejected command carries its code in `results` or, sent alone, in the body of a 422; the status\n"
        "below is that of a request refused as a whole. Messages never repeat a value. A 429 or 503 may be sent again. An instant\n"
        "or a scope is checked alike wherever it stands, so a bad one in a query is 422, too, where other parameters are 400.\n"
        "What helps is said by `/readyz`, the logs and `chronofact doctor` as well."
    )
    return page("Error codes", intro, *blocks)


def _codes_table(lines: list[tuple[str, ...]]) -> list[str]:
    """With what helps, where something other than another request does."""
    if any(remedy for *_, remedy in lines):
        return table(("code", "meaning", "what helps"), lines)
    return table(("code", "meaning"), [line[:-1] for line in lines])


def metrics_page() -> str:
    lines = [
        (f"`{one.name}`", one.kind, ", ".join(one.services), ", ".join(f"`{name}`" for name in one.labels), one.reason)
        for one in METRICS
    ]
    intro = (
        "Every metric there is, at `/metrics` of the service. Labels never hold a subject, key or value, and a tenant only as `tenant`.\n"
        "A metric with labels shows a line once the first of these labels was counted: absent means zero."
    )
    return page("Metrics", intro, table(("metric", "kind", "service", "labels", "why it exists"), lines))


def command_line_page() -> str:
    group: Any = get_command(app)
    context = typer.Context(group, info_name="chronofact")
    blocks = [*_blocks_of(group, context)]
    intro = (
        "Exit codes: 0 done, 1 failed or a check found divergences, 2 usage, 3 a service it needs can't be reached.\n"
        "Commands that talk to a running stack take its addresses from `--data DIR`, or from the settings."
    )
    return page("Command line", intro, *blocks)


def _blocks_of(group: Any, context: Any, path: str = "chronofact") -> Iterator[list[str]]:
    """Every command, those of groups under their group's name."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if hasattr(command, "commands"):
            if command.invoke_without_command:
                yield _command_block(command, path)
            yield from _blocks_of(command, context, f"{path} {name}")
        else:
            yield _command_block(command, path)


def _command_block(command: Any, path: str) -> list[str]:
    usage = " ".join(_metavar(one) for one in command.params if one.param_type_name == "argument")
    lines = [_parameter(one) for one in command.params if one.name != "help"]
    told = inspect.cleandoc(command.help or "")
    head = [f"## {path} {command.name} {usage}".rstrip(), "", told]
    return [*head, "", *table(("option", "default", "meaning"), lines)] if lines else head


def _parameter(one: Any) -> tuple[str, str, str]:
    if one.param_type_name == "argument":
        return f"`{_metavar(one)}`", "", one.help or ""
    names = ", ".join(f"`{name}`" for name in (*one.opts, *one.secondary_opts))
    shown = "" if one.is_flag or one.default in (None, False, ()) else f"`{one.default}`"
    beside = f" Or `{one.envvar}`." if one.envvar else ""
    return names, shown, f"{one.help or ''}{beside}"


def _metavar(one: Any) -> str:
    name: str = one.metavar or one.name.upper()
    return name if one.required else f"[{name}]"


def calls_page() -> str:
    blocks = [[f"## {name}", "", *table(("call", "takes", "for"), lines)] for name, lines in described()]
    intro = (
        "`?` marks what may be left out. Bodies, answers and limits in full are at `/docs` and `/openapi.json` of each service;\n"
        "`/livez`, `/readyz` and `/metrics` answer everywhere, and need no credential."
    )
    return page("HTTP calls", intro, *blocks)


def commands_page() -> str:
    heads = ("field", "type", "limits", "default", "meaning")
    blocks = []
    for name, promise, fields in reference_commands.described():
        line = ["```json", reference_commands.example(name), "```", ""] if name in reference_commands.EXAMPLES else []
        title = f"## {name}" if line else f"## The field {name}"
        blocks.append([title, "", promise, "", *line, *table(heads, fields)])
    intro = (
        "What `POST /v1/events` on the writer takes: one of these as `application/json`, an array of up to 10,000, or a command a line\n"
        "as `application/x-ndjson`; `chronofact import` takes the lines as a file. A field that is not listed is refused. `subject`, `key` and `scope`\n"
        "name the fact; version and event ids are those of the results (`chronofact why` shows them).\n"
        "\n"
        "`accepted` says that the log has it, and never whether it is new: what was said before is accepted again as the same event, with the same ids,\n"
        "and changes nothing, so a batch, an import or a file of memories can be sent again whole.\n"
        "\n"
        "Each result of an assertion has the `version_id`. What names a version or an event that is not known (`activate`, `supersede`, `end`, `revoke`,\n"
        "`resolve_conflict`, `declare_relation`, `check_relations`) is accepted and waits: the writer keeps no state, and order does not matter\n"
        "([semantics](../semantics.md), 3). It applies when the rest arrives; an id that was misspelled waits for ever, and changes nothing. Whether one waits is told by\n"
        '`chronofact why` ("names a version that nobody has asserted"), by `ignored` of `GET /v1/explain` (`version_unknown`), and by `GET /v1/facts/{fact_id}/events`.'
    )
    return page("Commands", intro, *blocks)


PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands_page,
    "settings.md": settings_page,
    "errors.md": errors_page,
    "metrics.md": metrics_page,
    "command-line.md": command_line_page,
    "http.md": calls_page,
}


def written_settings(text: str) -> set[str]:
    """Settings that a page or source names."""
    return set(re.findall(r"CHRONOFACT_[A-Z][A-Z_]*[A-Z]", text))


if __name__ == "__main__":
    for name, make in PAGES.items():
        (FOLDER / name).write_text(make(), encoding="utf-8")
