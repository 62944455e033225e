"""The commands of docs/reference/commands.md, sent to the writer as they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import orjson

from chronofact.contracts.commands import FIELDS
from tests.contract.writing import LINES, WriterInProcess

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"


def test_every_command_has_a_line_that_the_writer_accepts() -> None:
    lines = re.findall(r"```json\n(.*?)\n```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert [orjson.loads(line)["type"] for line in lines] == list(FIELDS)
    writer = WriterInProcess()
    answer = writer.post("\n".join(lines).encode(), LINES)
    assert [result["status"] for result in answer.json()["results"]] == ["accepted"] * len(lines), answer.text
    assert len(writer.events()) == len(lines)
