"""Everything about memories is rebuilt from the log alone: no model can be imported, and Python reaches no network."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from chronofact.domain.events import Cardinality, Decider, RelationDeclared, RelationsChecked, Verdict
from chronofact.kafka.admin import create_topics
from tests.contract.verifying import verified
from tests.integration.comparing import assert_alike, told
from tests.integration.deriving import derived, frame, pointing
from tests.integration.projecting import ProjectorProcess, append, await_offsets
from tests.integration.saying import Fact, Said

MODELS = ("spacy", "thinc", "onnxruntime", "tokenizers", "numpy", "openai", "faust", "chronofact.text")
SITE = f"""
import os, pathlib, socket, sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if any(name == one or name.startswith(one + ".") for one in {MODELS!r}):
            raise ImportError(f"no model here: {{name}}")

def refuse(*_args, **_named):
    raise OSError("no network here")

sys.meta_path.insert(0, Nothing())
socket.socket.connect = socket.socket.connect_ex = socket.create_connection = socket.getaddrinfo = refuse
pathlib.Path(os.environ["BLOCKED_IN"], str(os.getpid())).touch()
"""
REBUILD = """
import importlib, socket, sys
for name in {models!r}:
    try:
        importlib.import_module(name)
    except ImportError:
        continue
    sys.exit(f"{{name}} can be imported")
try:
    socket.create_connection(("127.0.0.1", 9))
except OSError as error:
    assert "no network here" in str(error)
from tests.integration.rebuilding import rebuilt, settings_for
print(rebuilt(settings_for({kafka!r}, {topic!r}, {database!r})).events)
"""
FACT = Fact("ann", "memory/preference")
TEXTS = ("prefers Python", "is switching to Go", "likes Go", "prefers tea", "hates tea", "said nothing")


def story() -> Iterator[Said]:
    """Memories of each relation, checked; one is of an unknown start, and one has no frames."""
    said = [
        FACT.asserts(
            text,
            None if number == 4 else f"2026-0{number + 1}-01T00:00:00Z",
            source=f"turn {number}",
            cardinality=Cardinality.MANY,
            valid_from_known=number != 4,
            derived=derived(
                [f"slot|user|{number % 2}"], pointing(tea=number / 8, go=0.5), frames=[frame("likes", text)]
            )
            if number < 5
            else derived(),
        )
        for number, text in enumerate(TEXTS)
    ]
    yield from said
    ids = [one.version_id or b"" for one in said]
    pairs = (
        (1, 0, Verdict.SUPERSEDES),
        (2, 1, Verdict.NEAR_DUPLICATE),
        (4, 3, Verdict.CONTRADICTS),
        (5, 0, Verdict.UNRELATED),
    )
    for one, other, verdict in pairs:
        left, right = sorted((ids[one], ids[other]))
        newer = ids[one] if verdict is Verdict.SUPERSEDES else None
        is_rule = verdict is Verdict.SUPERSEDES
        by = Decider.RULE if is_rule else Decider.MODEL
        yield FACT.says(
            RelationDeclared(left, right, verdict, newer, 5, by, "as it reads", not is_rule, None if is_rule else "m")
        )
        yield FACT.says(RelationsChecked(ids[one], 1, 1, 0, "as it reads", llm_call_made=not is_rule))
    yield FACT.says(RelationsChecked(ids[3], 2, 1, 1, "model_away"))


@pytest.fixture
def live(kafka: str, topic_name: str, database: str) -> str:
    """The projector's projection of that log."""
    create_topics(kafka, topic_name)
    messages = list(story())
    append(kafka, topic_name, messages)
    with ProjectorProcess(kafka, topic_name, database):
        await_offsets(database, len(messages))
    return database


def test_no_model_and_no_network_is_needed(kafka: str, topic_name: str, live: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SITE, encoding="utf-8")
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    root = Path(__file__).parents[2]
    path = os.pathsep.join(filter(None, (str(tmp_path), str(root), os.environ.get("PYTHONPATH"))))
    line = REBUILD.format(models=MODELS, kafka=kafka, topic=topic_name, database=live)
    run = subprocess.run(
        [sys.executable, "-c", line],
        env={**os.environ, "PYTHONPATH": path, "BLOCKED_IN": str(blocked)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) == len(list(story()))
    assert len(list(blocked.iterdir())) > 1, "its workers, too"
    first, second = told(live, "p1"), told(live, "p2")
    assert [len(first[name]) for name in ("memory", "checked", "relation", "conflict")] == [6, 5, 4, 1]
    assert_alike(first, second)
    assert verified(live)[0].identical
    labels = (
        "select id, lifecycle, superseded_by_id, merged_into_id, supersedes_id from {}.labelled_version order by id"
    )
    pairs = (
        "select left_version_id, relation, reason, llm_call_made, model from {}.memory_relationship order by event_id"
    )
    with psycopg.connect(live) as connection:
        for query in (labels, pairs):
            mine, theirs = (connection.execute(query.format(one).encode()).fetchall() for one in ("p1", "p2"))
            assert mine == theirs
        states = connection.execute("select lifecycle, count(*) from p2.labelled_version group by 1").fetchall()
    assert dict(states) == {"ACTIVE": 5, "SUPERSEDED": 1}
