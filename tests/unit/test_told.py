"""What a sentence told, kept with its memory's frames: spelled and read back, and nothing where it is anything else."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from chronofact.text.frames import Frame, frames_of_json
from chronofact.text.told import Given, Told, told_of_json, with_told
from tests.unit.conversing import MARCH, facts_of, heard

ACME, OSLO = Frame("user", "employer", "acme"), Frame("user", "residence", "oslo")
SAID = [ACME.to_json(), OSLO.to_json()]
GIVEN = (
    Given("employer", bytes([1]) * 16, 1_000_000, None, is_automatic=False, frame=ACME),
    Given("use/notes", bytes([2]) * 16, None, 2_000_000, is_automatic=True, frame=Frame("user", "use", "evernote")),
)


@pytest.mark.parametrize("frames", [(ACME, OSLO), (ACME,), ()])
@pytest.mark.parametrize("given", [(), GIVEN[:1], GIVEN])
def test_what_was_told_is_read_back_and_the_frames_are_as_they_were(
    frames: tuple[Frame, ...], given: tuple[Given, ...]
) -> None:
    kept = orjson.loads(orjson.dumps(with_told(SAID, Told(frames, given))))
    assert told_of_json(kept) == Told(frames, given)
    assert frames_of_json(kept) == (ACME, OSLO)


def test_where_nothing_else_was_told_nothing_is_added() -> None:
    assert with_told(SAID, Told((ACME, OSLO))) == SAID
    assert told_of_json(SAID) == Told((ACME, OSLO))
    assert with_told([], Told((ACME,), GIVEN)) == []
    assert told_of_json([]) == Told()


@pytest.mark.parametrize(
    "told",
    [
        [],
        "facts",
        {"facts": 7},
        {"facts": [7]},
        {"facts": [{}]},
        {"frames": [{"entity": 7}]},
        {"facts": [{"key": "Employer!"}]},
        {"facts": [{"version_id": "no"}]},
        {"facts": [{"version_id": 7}]},
        {"facts": [{"valid_from": "March"}]},
        {"facts": [{"frame": 2}]},
        {"facts": [{"frame": "x"}]},
    ],
)
def test_what_nobody_of_ours_wrote_tells_of_no_fact(told: Any) -> None:
    kept = with_told(SAID, Told((ACME, OSLO), GIVEN))
    if isinstance(told, dict) and isinstance(told.get("facts"), list) and told["facts"][0]:
        told = {"facts": [{**kept[0]["told"]["facts"][0], **told["facts"][0]}]} if told["facts"] != [7] else told
    kept[0]["told"] = told
    assert told_of_json(kept).given == ()


def test_a_memory_names_the_versions_that_its_sentence_gave_and_those_alone() -> None:
    text = "I work at Acme and live in Oslo."
    told = told_of_json(heard(text).frames)
    assert {one.version_id: (one.key, one.frame.value) for one in told.given} == facts_of(text)
    assert [one.is_automatic for one in told.given] == [False, False]
    assert told_of_json(heard("I no longer work at Acme.").frames).given == ()
    dated = "I have worked at Acme since 2020."
    (given,) = told_of_json(heard(dated).frames).given
    assert (given.version_id, given.valid_from) == (next(iter(facts_of(dated))), 1_577_836_800_000_000)


def test_two_values_of_one_key_are_no_fact_and_none_is_named() -> None:
    assert told_of_json(heard("I use Python and Go.", MARCH).frames).given == ()
