"""A plan that is called off or made otherwise ends; what else happens around it does not end it."""

from __future__ import annotations

import pytest

from tests.labelled_pairs import is_superseded

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Kim is planning a camping trip with her brother.", "Kim had to call off the camping trip because of the storm."),
        ("Ana is looking forward to the concert in Madrid.", "The Madrid concert got cancelled."),
        ("User is going to attend PyCon in May.", "User can't make it to PyCon anymore."),
        ("Leo plans to run the Chicago marathon.", "Leo dropped out of the Chicago marathon with a knee injury."),
        ("Evan is planning a ski trip to Banff.", "The Banff trip fell through."),
        ("Marta has a job interview at Spotify on Monday.", "Marta's interview at Spotify was cancelled."),
        ("User is planning to adopt a dog.", "User decided against adopting a dog."),
        ("User is planning to move to Austin.", "User decided not to move to Austin."),
        ("User has tickets for the Hamilton matinee.", "The Hamilton matinee was cancelled."),
        ("User's wedding is planned for October.", "User and the fiancé called off the wedding."),
        ("The company plans to launch the app in Brazil.", "The Brazil launch was shelved."),
    ],
)  # fmt: skip
def test_a_plan_that_comes_to_nothing_ends(earlier: str, later: str) -> None:
    assert is_superseded(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("User plans to stay at a hostel in Lisbon.", "User booked a hotel in Lisbon instead."),
        ("User plans to submit the paper to ICML.", "User decided to submit the paper to NeurIPS instead."),
        ("User is planning to buy a Tesla.", "User bought a Hyundai instead."),
        ("User plans to host Thanksgiving dinner at home.", "User is hosting Thanksgiving dinner at a restaurant instead."),
        ("User plans to stay on Maui for the birthday trip.", "Booked a place on Oahu for the birthday trip."),
    ],
)  # fmt: skip
def test_a_plan_that_is_made_otherwise_ends(earlier: str, later: str) -> None:
    assert is_superseded(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("User is planning a trip to Portugal in May.", "User cancelled the trip to Spain."),
        ("Ana is looking forward to the concert in Madrid.", "Ana's flight to Madrid was cancelled."),
        ("User is planning a party for Mia.", "User might cancel the party for Mia."),
        ("User plans to attend PyCon.", "User's talk at PyCon was cancelled."),
        ("Leo plans to run the Chicago marathon.", "Leo's brother dropped out of the Chicago marathon."),
        ("User is planning a trip to Japan and Korea.", "User cancelled the Korea part of the trip."),
        ("User plans to visit Oslo in June.", "Tom cancelled his trip to Oslo."),
        ("User has a meeting with Ann on Tuesday.", "The meeting was cancelled."),
        ("User has a review with Ann on Monday.", "The review with Ann on Friday was cancelled."),
        ("The wedding is planned for June.", "User is no longer going to the wedding."),
        ("Evan and his girlfriend are saving for a big wedding in Canada.", "User called off the Canada wedding."),
        ("User plans to run a marathon in spring.", "User no longer enjoys running outdoors."),
        ("User plans to cook pasta for dinner with Mia.", "User cooked breakfast instead."),
        ("User plans to rent a cabin for the reunion.", "Booked a photographer for the reunion."),
        ("User is planning a birthday trip to Maui.", "Booked a car on Maui for the birthday trip."),
        ("User booked a hotel in Kyoto.", "User booked a tour in Kyoto instead."),
    ],
)  # fmt: skip
def test_what_happens_beside_a_plan_does_not_end_it(earlier: str, later: str) -> None:
    assert not is_superseded(earlier, later)
