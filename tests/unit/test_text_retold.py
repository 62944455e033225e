"""One topic in other words: a change that is told supersedes what was said of it; another topic, or more of it, does not."""

from __future__ import annotations

import pytest

from chronofact.text.embed import Embedder, cosine
from chronofact.text.pairs import Outcome, judge
from tests.labelled_pairs import CANDIDATE, NEW, memory

pytestmark = pytest.mark.unit
MARCH, JUNE = "2026-03-01T00:00:00Z", "2026-06-01T00:00:00Z"


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder()


def is_superseded(embedder: Embedder, earlier: str, later: str) -> bool:
    near = cosine(embedder.embed(earlier), embedder.embed(later))
    return judge(memory(NEW, later, JUNE), memory(CANDIDATE, earlier, MARCH), near).outcome is Outcome.DECIDED


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The nightly export is sent to an FTP server.", "The nightly export was moved to an S3 bucket."),
        ("We track the office plants in a spreadsheet.", "The office plants are tracked in Airtable now."),
        ("Marta stores her negatives in a shoebox.", "Marta keeps her negatives in a fireproof cabinet now."),
        ("The support rota lives on a whiteboard.", "Support rota moved from the whiteboard to PagerDuty."),
        ("PMD lints the Java modules.", "Switched the Java modules from PMD to SpotBugs."),
        ("The telemetry agent is on version 2.4.", "We bumped the telemetry agent to version 3.1."),
        ("Marta's travel budget for the year is $900.", "Marta raised her yearly travel budget to $1,400."),
        ("The Halden account has 300 seats.", "The Halden account was cut to 180 seats."),
        ("User's tent is kept in the attic.", "User keeps the tent in the car now."),
        ("The prototype uses optical sensors.", "The prototype switched to magnetic sensors after the field trial."),
    ],
)
def test_what_is_told_of_the_topic_now_holds(embedder: Embedder, earlier: str, later: str) -> None:
    assert is_superseded(embedder, earlier, later)
    assert not is_superseded(embedder, later, earlier)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Marta is single.", "Marta moved to Bergen."),
        ("The export service returns XML errors.", "The export service now returns timings."),
        ("The docs site is built with Sphinx.", "The docs site is hosted on Netlify now."),
        ("The staging export pipeline runs on Jenkins.", "The production export pipeline now runs on Buildkite."),
        ("Jonas has piano lessons on Tuesdays.", "My piano lessons have been moved to Fridays."),
        ("The board review is on Tuesday.", "The design review was moved to Thursday."),
        ("The rent of the shop is $900.", "User's monthly rent is now $1,250."),
        ("User drinks four cups of coffee a day.", "User raised the coffee limit to two cups."),
        ("The choir has 40 members.", "The choir now has 1,200 followers."),
        ("User works in a big office.", "User's office moved to Krakow."),
        ("User's sister has two horses.", "User now has three horses."),
        ("User takes notes in a paper notebook.", "User may move the notes to a tablet."),
        ("User prefers coffee.", "User ordered tea instead of coffee."),
        ("The server uses disks for backups.", "The server used a tape for backups last night."),
        ("Jonas keeps his bike in the hall.", "Jonas keeps a second bike in the shed now."),
        ("The library opens at 9.", "The library has 3 floors now."),
        ("Phase one is complete.", "Phase two is delayed."),
        ("User lives in Boston with Jonas.", "Jonas moved to Denver."),
        ("Aisha lives in Lagos.", "Aisha now lives in fear."),
        ("The data warehouse runs on Postgres.", "We moved the data warehouse team to Berlin."),
        ("The servers run on Debian.", "We moved the servers to Frankfurt."),
        ("The app has 300 paying users.", "The app now has 4,000 users."),
        ("User works at Acme.", "User left Acme for lunch."),
        ("My favorite food is sushi.", "My favorite food is no longer pizza."),
        ("The Berlin team has 12 people.", "The Lisbon team has grown to 9 people."),
    ],
)
def test_another_topic_or_more_of_it_is_left_alone(embedder: Embedder, earlier: str, later: str) -> None:
    assert not is_superseded(embedder, earlier, later)
    assert not is_superseded(embedder, later, earlier)
