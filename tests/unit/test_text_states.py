"""How far a thing is: one state ends another, whatever the words, if it is the same thing and all of it."""

from __future__ import annotations

import pytest

from tests.labelled_pairs import is_superseded

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The checkout redesign is in early design.", "The checkout redesign has entered user testing."),
        ("Moonlit Harbor is in closed alpha.", "Moonlit Harbor went into open beta."),
        ("The payments outage is under investigation.", "The payments outage has been resolved."),
        ("Search indexing for the wiki is in progress.", "Search indexing is done."),
        ("The Jenkins migration is on schedule.", "The Jenkins migration is now running two weeks behind."),
        ("The Jenkins migration is on track.", "The Jenkins migration is behind schedule."),
        ("FitTrack is still pre-launch.", "FitTrack launched publicly in the spring."),
        ("The mobile app is still unreleased.", "The mobile app shipped to the App Store."),
        ("The vaccine study is in its recruitment phase.", "The study moved from recruitment into the dosing phase."),
        ("The billing rewrite is about 60% complete.", "User finished the billing rewrite."),
        ("The refund request is awaiting approval.", "The refund request was denied."),
        ("User's thesis is in draft.", "User submitted the thesis."),
        ("The API v2 rollout is blocked on legal.", "The API v2 rollout is complete."),
        ("The house sale is under contract.", "The house sale fell through."),
        ("The feature flag service is in staging.", "The feature flag service is live in production now."),
        ("The pilot program is running.", "The pilot program has wrapped up."),
        ("The mural is half finished.", "The mural is done."),
        ("User's journal submission is under review.", "User's journal paper got rejected this week."),
        ("User's thesis proposal is under review.", "User's thesis proposal got accepted as a pilot by the faculty."),
        ("The bridge is closed for repairs.", "The bridge reopened."),
        ("The hiring freeze is in effect.", "The hiring freeze was lifted."),
        ("The SOC 2 audit is in progress.", "We passed the SOC 2 audit."),
        ("The prototype is broken.", "User fixed the prototype."),
        ("The museum exhibit is still being set up.", "The museum exhibit opened to visitors."),
        ("The churn dashboard is a work in progress.", "The churn dashboard is finished."),
        ("The invoice is unpaid.", "The invoice was paid."),
        ("The invoice is overdue.", "The invoice was paid."),
        ("User's order is in transit.", "User's order was delivered on Tuesday."),
        ("The apartment listing is active.", "The apartment listing was taken down."),
        ("Dave's car restoration is halfway done.", "Dave finished the car restoration."),
        ("The quarterly report is overdue.", "The quarterly report was submitted."),
        ("The elevator is out of order.", "The elevator is working again."),
        ("The data migration is stuck at the validation step.", "The data migration finished overnight."),
        ("The new logo is awaiting sign-off.", "The new logo was approved by marketing."),
        ("The translation is about half done.", "The translation is complete."),
        ("Ravi's thesis is under review.", "Ravi defended his thesis."),
        ("User is working on the tax return.", "User filed the tax return."),
        ("The lawsuit is ongoing.", "The lawsuit was settled out of court."),
        ("User's Elm rewrite of the shop site is about 40% complete.", "The Elm site shipped last week."),
    ],
)
def test_a_state_ends_the_one_before(earlier: str, later: str) -> None:
    assert is_superseded(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The billing migration is in progress.", "The search migration is done."),
        ("The redesign of the site is in progress.", "The site is live."),
        ("The game is in early prototyping.", "The inventory screen of the game is finished."),
        ("The grant proposal is under review.", "The grant proposal was discussed in the staff meeting."),
        ("The mobile app is in beta.", "The mobile app crashed twice."),
        ("User's visa application is pending.", "User's sister's visa application was approved."),
        ("FitTrack is still pre-launch.", "FitTrack plans to launch in the fall."),
        ("The security audit is ongoing.", "The first part of the security audit has been completed."),
        ("The rollout is complete in Europe.", "The rollout is in progress in Asia."),
        ("The audit is finished.", "The audit has been completed."),
        ("The website is on schedule.", "The website is now in testing."),
        ("The website is in testing.", "The website is under development."),
        ("The trial is in its screening phase.", "The other trial moved into the treatment phase."),
        ("The bug is open.", "The bug in the import job was fixed."),
        ("The login bug is open.", "The bug was fixed."),
        ("The API v2 rollout is in progress.", "The API v3 rollout is done."),
        ("The mural is in progress.", "The mural is nearly finished."),
        ("The grant proposal is under review.", "The grant proposal was provisionally approved."),
        ("User's redesign of the site is about 40% complete.", "The site is live."),
        ("The deployments are pending.", "The deployments are done manually."),
        ("The mobile app is under development.", "The mobile app is out of beta."),
        ("The mobile app is out of beta.", "The mobile app launched last week."),
        ("The invoice is unpaid.", "The March invoice was paid."),
        ("User's order is in transit.", "User's earlier order was delivered on Tuesday."),
        ("The second season is in production.", "The first season premiered in Berlin."),
        ("The app is in review.", "The review of the app was published."),
        ("Maya is in recovery.", "Maya finished her thesis."),
        ("The project is on track.", "The project is in the build stage."),
        ("The house is under construction.", "The house was paid."),
        ("The audit is in progress.", "The audit was opened by the new partner."),
        ("The proposal is pending.", "The proposal was submitted on Friday."),
        ("User is working on the kitchen.", "User finished the kitchen sink."),
        ("The clinic is open.", "The clinic opened in 1998."),
        ("User is writing a song.", "User submitted a song to a contest."),
        ("The prototype is broken.", "User fixed the printer."),
        ("The SOC 2 audit is in progress.", "We passed the ISO audit."),
        ("Caroline went to a parade.", "Caroline went to a workshop."),
        ("User's startup is in stealth mode.", "User's friend's startup launched."),
        ("The reporting project is behind schedule.", "User finished the report."),
    ],
)
def test_what_tells_no_other_state_of_it_ends_none(earlier: str, later: str) -> None:
    assert not is_superseded(earlier, later)
