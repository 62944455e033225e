"""What looks like another value, or another thing, by its form alone: topics, restrictions, shortened words, vague numbers."""

from __future__ import annotations

import pytest

from chronofact.text.pairs import Outcome, judge
from chronofact.text.reasons import Reason
from tests.labelled_pairs import extractor, memory

pytestmark = pytest.mark.unit

MARCH, JUNE = "2026-03-10T00:00:00Z", "2026-06-10T00:00:00Z"


@pytest.mark.parametrize(
    ("march", "june", "reason"),
    [
        ("auth: retry limit is 3", "billing: retry limit is 5", None),
        ("checkout-v2: status is in review", "search-v3: status is merged", None),
        ("[auth] The retry limit is 3", "[billing] The retry limit is 5", None),
        ("staging - the log limit is 3", "production - the log limit is 5", None),
        ("The retry limit is 3", "billing: the retry limit is 5", None),
        ("Alice: I live in Rome.", "Bob: I moved to Oslo.", Reason.SCOPE_DIFFERS),
        ("My favorite color is blue.", "My favorite color to wear is black.", Reason.SCOPE_DIFFERS),
        ("The server runs Ubuntu.", "The server used for backups runs Debian.", Reason.SCOPE_DIFFERS),
        ("The service has 3 replicas.", "The service can have 5 replicas.", Reason.SCOPE_DIFFERS),
        ("My friend has two dogs.", "My friend now has three dogs.", Reason.PRONOUN),
        ("The launch is on May 3.", "Supposedly the launch is on May 10.", Reason.NOT_ASSERTED),
        ("I hate Mondays.", "Oh sure, I totally love Mondays now.", Reason.NOT_ASSERTED),
        ("The database of the shop is Postgres", "The database of the shop is PostgreSQL", Reason.CONTAINED_VALUE),
        ("The project's Python version is 3.12", "The project's Python version is 3.12.4", Reason.CONTAINED_VALUE),
        ("User's title is VP of Sales.", "User's title is Vice President of Sales.", Reason.CONTAINED_VALUE),
        ("The company has about 50 employees.", "The company has 52 employees.", Reason.CONTAINED_VALUE),
        ("The course has over 300 students.", "The course has 340 students.", Reason.CONTAINED_VALUE),
        ("The service has 3 replicas.", "The service has 5 replicas at most.", Reason.CONTAINED_VALUE),
        ("Practice is at 5 pm.", "Practice is at 17:00.", Reason.SAME_VALUE),
        ("Practice is at 5:30.", "Practice is at 5:30 pm.", Reason.SAME_VALUE),
        ("User's time zone is CET.", "User's time zone is UTC+1.", Reason.TYPE_DIFFERS),
        ("The office is in London.", "The office is in Shoreditch.", Reason.NO_CHANGE_CUE),
        ("I work in finance.", "I work in New York now.", Reason.TYPE_DIFFERS),
        ("User's favorite color is blue.", "User's favorite colors are blue and red.", Reason.SAME_VALUE),
        ("The app uses React.", "The app now uses Django.", None),
        ("My favorite singer is Adele.", "My favorite singer for running is Dua Lipa.", Reason.SCOPE_DIFFERS),
        ("One of my sisters lives in Rome.", "One of my sisters moved to Oslo.", Reason.PRONOUN),
        ("User's favorite languages are Go and Rust.", "User's favorite language is Zig now.", Reason.MANY_VALUED),
        ("The orchestrator is k8s", "The orchestrator is Kubernetes", Reason.CONTAINED_VALUE),
        ("The car is a Mazda.", "The car is a Honda.", None),
        ("The code reviewer for search is Lena", "The code reviewer for billing is Hugo", None),
    ],
)
def test_another_form_is_no_other_value(march: str, june: str, reason: Reason | None) -> None:
    judgement = judge(memory(b"june", june, JUNE), memory(b"march", march, MARCH), 0.7)
    assert judgement.outcome is not Outcome.DECIDED
    if reason is not None:
        assert (judgement.outcome, judgement.reason) == (Outcome.MODEL, reason)


@pytest.mark.parametrize(
    ("march", "june"),
    [
        ("auth: retry limit is 3", "auth: retry limit is 5"),
        ("Team lead: Oksana", "Team lead: Rajiv"),
        ("headcount: 112", "headcount: 97"),
        ("Anouk is an economist at the OECD.", "Anouk is an economist at the World Bank now."),
        ("Carlos is a cook at Bistro Nine.", "Carlos is a chef at Bistro Nine now."),
        ("Works as a lab technician.", "Now works as a lab manager."),
        ("Zainab's laptop is a 2017 MacBook Air.", "Zainab replaced her old laptop with a Framework 13."),
        ("The studio edits video in Premiere.", "The studio edits video in DaVinci Resolve instead of Premiere."),
        ("The wedding is planned for June.", "The wedding has been put off until September."),
        ("The support desk sits in Manila.", "The support desk has been moved to Cebu."),
        ("Leif's favourite distribution is Arch.", "Leif's favourite distribution is now openSUSE."),
        ("Ludovic has an elderly parrot called Coco.", "Ludovic's parrot Coco died."),
        ("Call me Katherine.", "Please call me Kit from now on."),
        ("The audit trail goes to Splunk.", "The audit trail goes to Loki now."),
        ("Password manager = LastPass", "Password manager = Bitwarden"),
        ("Dosage of metformin: 500 mg", "Dosage of metformin: 850 mg"),
        ("Favourite author: Le Guin", "Preferred author: Calvino"),
        ("billing: owner is Tom", "billing: owner is Ada"),
        ("I live in Tampere.", "I've just moved to Cardiff."),
        ("The office is in Rome.", "The office is in Milan from now on."),
        ("User goes bouldering two times a week.", "User goes bouldering four times a week."),
        ("The worker runs on Node 18.", "The worker was bumped to Node 22."),
        ("User takes sugar in tea.", "User has given up sugar in tea."),
        ("User has a dentist appointment on Tuesday.", "User's dentist appointment was moved to Thursday."),
        ("User is currently staying in Rome.", "User is staying in Oslo now."),
        ("[auth] The retry limit is 3", "[auth] The retry limit is 5"),
        ("The retry limit is 3", "Update: the retry limit is 5"),
        ("The company has about 50 employees.", "The company has about 80 employees."),
        ("The rent is $900.", "The rent went up to $950."),
        ("The latest release of the kit is 2.4.1", "The latest release of the kit is 2.5.0"),
        ("The queue backend is RabbitMQ", "The queue backend is Kafka"),
        ("The code reviewer for auth-gateway is Lena", "The code reviewer for auth-gateway is Hugo"),
        ("Practice is at 5 pm.", "Practice is at 6 pm."),
        ("Practice is at 9:30 am.", "Practice is at 9:30 pm."),
        ("User can't swim.", "User can swim now."),
        ("User eats dairy.", "User can no longer eat dairy."),
        ("Well, I live in Rome.", "Yes, I moved to Oslo."),
        ("Jon works as a banker.", "Jon lost his job as a banker."),
        ("i love horror movies", "i no longer like horror movies"),
        ("I use sublime text", "I switched from sublime text to vs code"),
        ("I use emacs", "I switched from emacs to zed"),
        ("Nate drives a Honda Civic.", "Nate sold his Honda Civic."),
        ("Calvin drinks coffee every morning.", "Calvin stopped drinking coffee."),
        ("The inventory service runs on MySQL.", "The inventory service now runs on PostgreSQL."),
    ],
)
def test_a_change_is_found_in_these_forms_too(march: str, june: str) -> None:
    judgement = judge(memory(b"june", june, JUNE), memory(b"march", march, MARCH), 0.1)
    assert (judgement.outcome, judgement.newer) == (Outcome.DECIDED, b"june")


def test_a_topic_is_part_of_what_a_frame_is_about() -> None:
    (frame,) = extractor().frames("checkout-v2: status is in review")
    assert (frame.entity, frame.slot, frame.value) == ("checkout-v2:status", "status", "in review")
    assert [one.scope for one in extractor().frames("Work: I use Vim")] == ["work:"]
    assert extractor().frames("Note: I use Vim") == extractor().frames("I use Vim")


@pytest.mark.parametrize("text", ["I moved to Boston: the rent is lower.", "Ana loves tea: she has it daily."])
def test_a_clause_before_a_colon_is_no_topic(text: str) -> None:
    entities = {one.entity for one in extractor().frames(text)}
    assert entities & {"user", "ana"}
    assert not [one for one in entities if one.startswith(("i moved", "ana loves"))]
