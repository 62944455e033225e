"""Two sentences of one amount or time, said in other words: the later holds; another thing's amount stands beside it."""

from __future__ import annotations

import pytest

from chronofact.text.measures import said_of
from chronofact.text.pairs import Outcome, judge
from tests.labelled_pairs import CANDIDATE, NEW, is_superseded, memory

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The newsletter has 450 subscribers.", "The newsletter just hit 1,200 subscribers."),
        (
            "The p95 latency of the search API is 800 ms.",
            "Search API p95 latency dropped to 250 ms after adding a cache.",
        ),
        ("Omar's marathon personal best is 3:42:10.", "Omar ran a new marathon personal best of 3:35:20."),
        ("The free plan allows 3 projects.", "The free plan now includes 5 projects."),
        ("User's startup has 40 paying customers.", "The startup is up to 65 paying customers."),
        ("User drinks three cups of coffee a day.", "User is down to one cup of coffee a day."),
        ("User goes to the gym twice a week.", "User goes to the gym four times a week."),
        ("User earns $85,000 a year.", "User's salary was bumped to $97,000 a year."),
        ("Tara's follower count is 5,000 on TikTok.", "Tara has 12,000 TikTok followers now."),
        ("User weighs 190 pounds.", "User is down to 175 pounds."),
        ("My best 10K time is 52 minutes.", "I set a new 10K best of 49 minutes."),
        ("Data retention is 30 days.", "We extended data retention to 90 days."),
        ("Jen has run two marathons.", "Jen finished her third marathon."),
        ("Leo has completed four chapters of his thesis.", "Leo just finished the sixth chapter of his thesis."),
        ("User's metformin dose is one pill a day.", "User's doctor changed the metformin dose to two pills a day."),
        ("Tomas has read nine books this year.", "Tomas has finished thirteen books so far this year."),
        ("User rents a locker for $20 a month.", "User rents a locker for $30 a month now."),
        ("User pays $45 a month for the pool.", "User's pool membership went up to $52 a month."),
        ("Mia charges $60 an hour for lessons in French.", "Mia raised the rate for French lessons to $75 an hour."),
        ("Beth has been to nine state parks.", "Beth visited a tenth state park."),
        ("User deadlifts 200 pounds.", "User deadlifts 240 pounds now."),
        ("User has 15 vacation days left.", "User has 9 vacation days left."),
        ("Cold start time on the mobile app is 4 seconds.", "The mobile app's cold start is under 2 seconds now."),
        ("Ivy walks her dog once a day.", "Ivy walks her dog three times a day now."),
        ("Alex's bakery employs seven people.", "Alex's bakery now has a staff of twelve."),
    ],
)
def test_another_amount_of_the_same_supersedes(earlier: str, later: str) -> None:
    assert is_superseded(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Priya's newsletter has 450 subscribers.", "The newsletter just hit 1,200 subscribers."),
        ("Priya drinks three cups of coffee a day.", "User is down to one cup of coffee a day."),
        ("Priya's data retention is 30 days.", "We extended data retention to 90 days."),
        ("Priya goes to the gym twice a week.", "User goes to the gym four times a week."),
        ("Priya earns $85,000 a year.", "User's salary was bumped to $97,000 a year."),
        ("The auth service has a limit of 100 requests per minute.", "The billing service has a limit of 500 requests per minute now."),
        ("The API allows 100 requests per minute.", "The API allows 5,000 requests per day now."),
        ("The app has 300 paying users.", "The app now has 4,000 users."),
        ("The plugin has 15,000 installs.", "The plugin got 300 installs last week."),
        ("The channel has 200 subscribers.", "The goal is to reach 1,000 subscribers on the channel."),
        ("The database is 200 GB.", "The database backup is 80 GB now."),
        ("The Berlin office has 30 employees.", "The company has grown to 450 employees."),
        ("User's daily calorie goal is 2,000.", "The daily step goal was raised to 10,000."),
        ("User works out four days a week.", "User works from home three days a week now."),
        ("The trip costs $1,200 per person.", "The trip budget is $5,000 now."),
        ("The support team has four members.", "User's team grew to eleven people."),
        ("Jolene weighs 68 kg.", "Jolene lifts 80 kg."),
        ("Phase one has 40 participants.", "Phase two has 200 participants now."),
        ("User has 3 meetings on Tuesday.", "User has 5 meetings on Wednesday."),
        ("The store has over 50 customers.", "The store now has 70 customers."),
        ("The firm has about 50 employees.", "The firm now has 52 employees."),
        ("The gym's monthly fee is $35.", "The pool raised the guest fee to $45."),
        ("Zoe's GPA is 3.6.", "Zoe's major GPA is 3.8 now."),
        ("User teaches four classes a week.", "User takes two classes a week now."),
        ("The feature has a 20% rollout.", "The feature has a 3% error rate now."),
        ("User pays $45 a month for the pool.", "User's gym membership went up to $52 a month."),
        ("Tomas has read nine books this year.", "Tomas has bought thirteen books this year."),
        ("User speaks three languages.", "User is learning a fourth language."),
    ],
)  # fmt: skip
def test_what_may_stand_beside_an_amount_does_not(earlier: str, later: str) -> None:
    assert not is_superseded(earlier, later)
    was, now = memory(CANDIDATE, earlier, "2026-03-01T00:00:00+00:00"), memory(NEW, later, "2026-06-01T00:00:00+00:00")
    assert judge(now, was, 0.9).outcome is not Outcome.DECIDED  # however alike they are


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Nina sees her trainer on Tuesdays.", "Sessions with Nina's trainer are on Fridays now."),
        ("The team standup is at 9:30.", "Standup is at 10 from now on."),
        ("User's flight leaves at 7:40.", "The flight has been delayed to 9:15."),
        ("User's book club meets on the first Friday.", "The book club now meets on Sundays."),
        ("Sprint planning is every other Monday.", "Sprint planning happens on Tuesdays now."),
        ("User meets the tutor weekly.", "User sees the tutor every other week now."),
        ("User plans to visit Peru in May.", "User's Peru trip has been pushed to September."),
        ("User's rent is due on the 1st.", "Rent is due on the 5th now."),
        ("The board review is on March 12.", "The board review got bumped to March 20."),
        ("Theo has soccer practice on Wednesdays.", "Theo's soccer practice takes place on Saturdays from now on."),
    ],
)
def test_another_time_of_the_same_supersedes(earlier: str, later: str) -> None:
    assert is_superseded(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The team standup is at 9:30.", "The design review is at 11 from now on."),
        ("The gym opens at 6.", "The gym closes at 10 now."),
        ("Class starts at 6 pm.", "Class ends at 8 pm now."),
        ("Theo has soccer practice on Wednesdays.", "Lily's soccer practice is on Saturdays now."),
        ("The paper deadline is October 1st.", "The abstract deadline is September 20th."),
        ("User works from home on Fridays.", "User works late on Thursdays now."),
        ("The gym opens at 8 on weekdays.", "The gym opens at 10 on weekends now."),
        ("User plans to visit Peru in May.", "User's Chile trip has been pushed to September."),
        ("User meets the tutor weekly.", "User sees the dentist every other week now."),
        ("User goes to church weekly.", "User goes to the market every day now."),
        ("User wakes up at 6.", "User goes to bed at 10 now."),
        ("The airline's flight to Oslo leaves at 6:40.", "The airline pushed the Rome flight back to 9:15."),
        ("The book club meets on Fridays.", "The book club might move to Sundays."),
    ],
)
def test_what_may_stand_beside_a_time_does_not(earlier: str, later: str) -> None:
    assert not is_superseded(earlier, later)


def test_a_version_and_a_year_of_a_name_are_no_amounts() -> None:
    assert said_of("n:cluster V:run P:on N:kubernetes #:1.24") is None


def test_a_number_beyond_a_bound_is_another() -> None:
    assert is_superseded("The build takes over 20 minutes.", "The build takes 8 minutes now.")
    assert not is_superseded("The build takes over 20 minutes.", "The build takes 25 minutes now.")
    assert not is_superseded("The build takes under 20 minutes.", "The build takes 12 minutes now.")


def test_a_reason_and_a_purpose_say_nothing_of_the_amount() -> None:
    said = said_of("n:latency V:drop P:to #:250 n:ms P:after v:add n:cache")
    assert said is not None
    assert [one.word for one in said.words] == ["latency", "drop", "ms"]
