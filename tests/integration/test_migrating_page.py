"""docs/migrating.md, step by step as it is written, over a table like the one it begins with."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Final

import psycopg

from chronofact.kafka.admin import create_topics
from tests.integration.pages import blocks, environ
from tests.integration.projecting import WAIT_S, ProjectorProcess, await_offsets
from tests.integration.writing import WriterProcess

LINES: Final[list[tuple[str, str, str, str, Any]]] = [
    ("acme", "ana@acme.test", "Acme/Web", "Package_Manager", "pnpm"),
    ("acme", "ana@acme.test", "Acme/Web", "tab_width", 4),
    ("acme", "ana@acme.test", "acme/api/", "style", {"quotes": "double", "caf\u00e9": [True, None]}),
    ("acme", "bob@acme.test", "acme/web", "package_manager", "npm"),
    ("globex", "hank", "globex/x", "package_manager", "yarn"),
]


def run(block: str, database: str, writer: WriterProcess, folder: Path) -> subprocess.CompletedProcess[str]:
    where = environ(postgres=database, writer_port=writer.logged[0]["port"])
    return subprocess.run(
        ["sh", "-c", block], env=where, cwd=folder, capture_output=True, text=True, check=False, timeout=WAIT_S
    )


def test_a_table_moves_here_as_the_page_says(kafka: str, topic_name: str, database: str, tmp_path: Path) -> None:
    create_topics(kafka, topic_name)
    (make, export), (load, compare) = (blocks("migrating.md", one) for one in ("sql", "sh"))
    with psycopg.connect(database) as connection:
        connection.execute(make)
        connection.cursor().executemany(
            "insert into user_memory values (%s, %s, %s, %s, %s::jsonb, '2026-03-01T12:00:00.123456Z')",
            [(*one[:4], json.dumps(one[4])) for one in LINES],
        )
        exported = connection.execute(export).fetchall()
    (tmp_path / "acme.ndjson").write_text("".join(f"{json.dumps(line)}\n" for (line,) in exported))
    with WriterProcess(kafka, topic_name) as writer, ProjectorProcess(kafka, topic_name, database):
        writer.await_ready()
        before = run(compare, database, writer, tmp_path)
        assert (before.returncode, before.stdout.count("never_recorded 4")) == (1, 1), before
        imported = run(load, database, writer, tmp_path)
        assert imported.returncode == 0, imported
        await_offsets(database, len(exported))
        alike = run(compare, database, writer, tmp_path)
        assert (alike.returncode, alike.stdout.split("\n")[0][:8]) == (0, "4 lines "), alike
        assert "4 equal, 0 not" in alike.stdout
        # the table alone is written to: a write is missing here, and told as such
        with psycopg.connect(database) as connection:
            connection.execute("update user_memory set value = '\"bun\"' where user_email like 'bob%'")
        missing = run(compare, database, writer, tmp_path)
        assert "value_never_recorded 1" in missing.stdout, missing
        assert "package_manager of bob@acme.test in repo:acme/web" in missing.stdout
        with psycopg.connect(database) as connection:
            connection.execute(
                "insert into user_memory values ('acme', 'bob@acme.test', 'ACME/web', 'package_manager', '1')"
            )
        double = run(compare, database, writer, tmp_path)
        assert double.returncode == 1
        assert "names the same fact as line" in double.stdout
