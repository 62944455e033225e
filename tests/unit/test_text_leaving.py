"""What a later sentence leaves behind, in whatever slot the earlier one said it."""

from __future__ import annotations

import pytest

from chronofact.text.compare import answer
from chronofact.text.reasons import Reason
from tests.labelled_pairs import extractor, is_superseded

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Anika leads the inventory project.", "Tobias took over the inventory project from Anika."),
        ("Alice owns the billing module.", "Alice handed the billing module over to Bob."),
        ("User is unemployed.", "User found a job at Lidl."),
        ("User is looking for a used car.", "User found a used car and bought it."),
        ("User has three cats.", "User is down to two cats."),
        ("User lives in an apartment.", "User moved into a house."),
        ("User's blog is hosted on Medium.", "User moved his blog from Medium to Ghost."),
        ("User's main database is MongoDB.", "User migrated the main database from MongoDB to Postgres."),
        ("User drives an old Corolla.", "User traded the Corolla for a RAV4."),
        ("The company has 40 employees.", "The company grew from 40 to 75 employees."),
        ("User's major is biology.", "User changed his major to chemistry."),
        ("User has an iPhone 12.", "User upgraded to an iPhone 15."),
        ("User works at Spotify as a data engineer.", "User got a new job at Klarna."),
        ("User is a developer.", "User is now a senior developer."),
        ("User is learning Spanish.", "User gave up Spanish for Italian."),
        ("User goes to therapy weekly.", "User stopped going to therapy."),
        ("Our logs go to Splunk.", "We ship our logs to Loki instead of Splunk."),
        ("The mobile app is under development.", "The mobile app project was cancelled."),
        ("The online store is being built.", "The online store is open."),
        ("The dashboard is built with Vue.", "The dashboard was rebuilt in Svelte."),
        ("User's cholesterol is 220.", "User's cholesterol is down to 185."),
        ("User's rent is $1,500.", "User's rent went up to $1,800."),
        ("The item is out of stock.", "The item is back in stock."),
        ("User's flight leaves at 8:40.", "User's flight was moved to 11:15."),
        ("User eats gluten.", "User stopped eating gluten."),
        ("User plays basketball on Sundays.", "User stopped playing basketball."),
        ("User plans to run the Boston Marathon.", "User cancelled plans to run the Boston Marathon."),
        ("User lives with his parents.", "User moved out of his parents' house."),
        ("User uses a standing desk.", "User got rid of the standing desk."),
        ("The office is on Main Street.", "The office moved to Park Avenue."),
        ("User is engaged to Tom.", "User called off the engagement with Tom."),
        ("User is a student at MIT.", "User graduated from MIT."),
        ("User is vegan.", "User started eating meat again."),
        ("The app is written in Objective-C.", "The app was rewritten in Swift."),
        ("The chatbot project is active.", "The chatbot project was shut down."),
        ("John is an assistant manager.", "John got promoted to manager."),
        ("The project launches in April.", "The project launches in August."),
        ("User prefers Bootstrap for styling.", "User now prefers Tailwind for styling."),
        ("i am unemployed.", "i got a job at a warehouse."),
        ("i work as a cashier at a grocery store.", "i am a dental assistant now."),
        ("The data pipeline rewrite is on hold.", "Work on the data pipeline rewrite has resumed."),
        ("User styles pages with Bootstrap.", "User has replaced Bootstrap with Tailwind for styling pages."),
        ("Preferred ORM: SQLAlchemy", "Preferred ORM: Tortoise"),
        ("Prefers seaborn for plots.", "Prefers plotly for plots these days."),
        ("The company intranet is built in Drupal.", "The company intranet got rebuilt in Webflow."),
        ("The game uses a hex grid.", "The game switched to a square grid with obstacles."),
        ("Thomas's data pipeline runs on Airflow.", "Thomas moved his data pipeline off Airflow onto Dagster."),
        ("Lena's startup runs on AWS.", "Lena's startup completed its move to GCP."),
        ("User hosts the style guide on Netlify.", "User is hosting the style guide on Fly instead of Netlify."),
        ("User stores backups on Dropbox.", "User moved the backups from Dropbox to Backblaze."),
        ("User streams on Twitch.", "User moved his streams from Twitch to YouTube."),
        ("Lena's startup runs on AWS.", "Lena's startup finished migrating to GCP."),
    ],
)
def test_what_is_left_is_superseded(earlier: str, later: str) -> None:
    assert is_superseded(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Anika leads the inventory project.", "Tobias took over the billing project from Anika."),
        ("User is unemployed.", "User's sister found a job at Lidl."),
        ("User is looking for a used car.", "User found a used book."),
        ("User's work laptop runs Ubuntu.", "User switched the home server from Ubuntu to Debian."),
        ("User's shop is hosted on Medium.", "User moved his blog from Medium to Ghost."),
        ("User's major is biology.", "User met Tom and changed his major to chemistry."),
        ("User has an iPhone 12.", "User upgraded to a Pixel 8."),
        ("User has three cats.", "User is down to two dogs."),
        ("User drinks tea on Sundays.", "User quit drinking."),
        ("User lives in a house in Tampa.", "User moved out of his parents' house."),
        ("User is on the free plan.", "User upgraded the internet plan to 500 Mbps."),
        ("The app is hosted on Heroku.", "The app was rewritten in Swift."),
        ("User prefers Bootstrap for styling.", "User now prefers Tailwind for email."),
        ("User works as a nurse at night.", "User is now a director of engineering."),
        ("Prefers seaborn for plots.", "Prefers pandas for tables these days."),
        ("User stores photos on Dropbox.", "User moved the backups from Dropbox to Backblaze."),
        ("The game uses a hex grid.", "The sequel switched to a square grid."),
        ("The team follows a sprint cycle.", "The team moved to a bigger office."),
        ("Lena's startup runs on AWS.", "Lena's startup considered a move to GCP."),
        ("User works at a hospital.", "User is a nurse now."),
        ("Alice Smith: agreed", "Alice Smith: moved"),
        ("i live in seattle", "User moved into a house."),
        ("The project is being developed.", "The project is in development."),
        ("User is engaged to Tom.", "User called off the engagement with Max."),
        ("User drinks beer.", "User no longer drinks light beer."),
        ("A friend of mine works at Google.", "A friend of mine now works at Apple."),
        ("User is a nurse at Mercy.", "User was promoted to head nurse."),
        ("The online store is being built.", "The online shop is open."),
    ],
)
def test_what_is_another_is_kept(earlier: str, later: str) -> None:
    assert not is_superseded(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later", "reason"),
    [
        ("Our monorepo is managed with Lerna.", "We replaced Lerna with Turborepo in our monorepo.", Reason.SWITCHED),
        ("Our monorepo is managed with Lerna.", "We replaced Lerna with Turborepo in the website.", None),
        ("Our monorepo is managed with Lerna.", "We replaced Gulp with Turborepo in our monorepo.", None),
    ],
)
def test_what_was_replaced_in_a_thing_is_told_of_the_thing(earlier: str, later: str, reason: Reason | None) -> None:
    (old,), (new,) = extractor().frames(earlier), extractor().frames(later)
    assert answer(old, new) is reason
