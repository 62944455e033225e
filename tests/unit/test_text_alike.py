"""Two sentences that differ in one phrase: what the later one says holds now, or stands beside the first."""

from __future__ import annotations

import pytest

from tests.labelled_pairs import extractor, is_superseded

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The API gateway runs on Nginx.", "The API gateway now runs on Envoy."),
        ("User works part time.", "User now works full time."),
        ("User sleeps badly.", "User sleeps well these days."),
        ("User lives on the third floor.", "User lives on the fifth floor now."),
        ("Jolene does yoga on Tuesdays.", "Jolene does yoga on Saturdays now."),
        ("User works as a bartender in Austin.", "User now works as a bartender in Denver."),
    ],
)
def test_one_other_phrase_and_a_word_of_change_supersede(earlier: str, later: str) -> None:
    assert is_superseded(earlier, later)
    assert not is_superseded(earlier, "Somebody else" + later[later.index(" ") :])


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("User is a teacher.", "User is now a grandfather."),
        ("User's sister is a lawyer.", "User's sister is now a mother."),
        ("User goes to the gym.", "User goes to the pool now."),
        ("User volunteers at a shelter.", "User volunteers at a library now."),
        ("User takes the bus.", "User now takes a nap every day."),
        ("The app runs on Redis.", "The app now runs on Postgres."),
        ("User works in Oslo.", "User works in marketing now."),
        ("User works at a bakery.", "User now works at night."),
        ("User is on the phone.", "User is on the day shift now."),
        ("User is in a book club.", "User is in the Eastern time zone now."),
        ("User prefers dark roast.", "User now prefers dark mode."),
        ("User takes 10 mg of lisinopril.", "User now takes 10 mg of prednisone."),
        ("User became famous.", "User became vegetarian."),
        ("User works at Acme.", "User works from home now."),
        ("mobile-app: current sprint is 14", "web-app: current sprint is 15"),
        ("User sleeps badly.", "User does not sleep well these days."),
    ],
)
def test_what_may_stand_beside_the_first_supersedes_nothing(earlier: str, later: str) -> None:
    assert not is_superseded(earlier, later)


def test_a_line_is_of_one_sentence() -> None:
    first, *_ = extractor().frames("User works at Acme now.")
    assert first.line == "n:user V:work P:at N:acme"
    assert [one.line for one in extractor().frames("User works at Acme. Dana works at Initech.")] == ["", ""]
