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


def told(said: list[dict[str, Any]]) -> Told:
    return told_of_json(said, frames_of_json(said))


@pytest.mark.parametrize("frames", [(ACME, OSLO), (ACME,), ()])
@pytest.mark.parametrize("given", [(), GIVEN[:1], GIVEN])
def test_what_was_told_is_read_back_and_the_frames_are_as_they_were(
    frames: tuple[Frame, ...], given: tuple[Given, ...]
) -> None:
    kept = orjson.loads(orjson.dumps(with_told(SAID, Told(frames, given))))
    assert told(kept) == Told(frames, given)
    assert frames_of_json(kept) == (ACME, OSLO)


def test_where_nothing_else_was_told_nothing_is_added() -> None:
    assert with_told(SAID, Told((ACME, OSLO))) == SAID
    assert told(SAID) == Told((ACME, OSLO))
    assert with_told([], Told((ACME,), GIVEN)) == []
    assert told([]) == Told()


@pytest.mark.parametrize(
    "spelled",
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
def test_what_nobody_of_ours_wrote_tells_of_no_fact(spelled: Any) -> None:
    kept = with_told(SAID, Told((ACME, OSLO), GIVEN))
    facts = spelled.get("facts") if isinstance(spelled, dict) else None
    if isinstance(facts, list) and isinstance(facts[0], dict) and facts[0]:
        # all else is as it ought to be
        spelled = {"facts": [kept[0]["told"]["facts"][0] | facts[0]]}
    kept[0]["told"] = spelled
    assert told(kept).given == ()


def test_a_memory_names_the_versions_that_its_sentence_gave_and_those_alone() -> None:
    text = "I work at Acme and live in Oslo."
    given = told(heard(text).frames).given
    assert {one.version_id: (one.key, one.frame.value) for one in given} == facts_of(text)
    assert [one.is_automatic for one in given] == [False, False]
    assert told(heard("I no longer work at Acme.").frames).given == ()
    dated = "I have worked at Acme since 2020."
    (one,) = told(heard(dated).frames).given
    assert (one.version_id, one.valid_from) == (next(iter(facts_of(dated))), 1_577_836_800_000_000)


def test_two_values_of_one_key_are_no_fact_and_none_is_named() -> None:
    assert told(heard("I use Python and Go.", MARCH).frames).given == ()
