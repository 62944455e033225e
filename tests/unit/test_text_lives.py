"""What befalls people, told in other words than what held before, and what only sounds so."""

from __future__ import annotations

import pytest

from chronofact.text.alike import alike
from chronofact.text.compare import DECIDES
from chronofact.text.lives import life_keys, lives
from chronofact.text.pairs import supersession
from tests.labelled_pairs import extractor

pytestmark = pytest.mark.unit

_CHANGES = [
    ("Priya is a product manager.", "Priya was made head of product last week."),
    ("User works at a print shop.", "User got laid off when the print shop closed."),
    ("Tomas works at a design agency.", "Tomas was let go in the last round of cuts."),
    ("I'm between jobs right now.", "I started as a receptionist at a dental clinic."),
    ("Nadia is between jobs at the moment.", "Nadia got hired as a line cook."),
    ("User is looking for work.", "User got a job in publishing."),
    ("i work at walmart.", "i quit walmart and started at a bakery."),
    ("User works at Costco.", "User quit Costco and started at a law office."),
    ("Leo, an old friend of User, works at Siemens.", "Leo works at Bosch now."),
    ("Leo, an old friend of User, works at Siemens.", "Leo is at Bosch these days."),
    ("Hana is an intern at the lab.", "The lab took Hana on full time."),
    ("I'm a bus driver in Leeds.", "I retired in May and look after the grandkids."),
    ("Mira teaches chemistry at a high school.", "Mira gave up teaching and runs a bakery."),
    ("Professor Lin teaches three courses this term.", "Professor Lin is on sabbatical."),
    ("User works as a barista.", "User quit the barista job."),
    ("I am single.", "I got engaged to my college roommate."),
    ("Ben is single.", "Ben is dating a nurse."),
    ("User is single.", "User's girlfriend moved in last month."),
    ("User is happily single.", "User got married in June."),
    ("Carla is planning a divorce.", "Carla's divorce was finalized in March."),
    ("Dana is going through a divorce.", "Dana's divorce was finalized last week."),
    ("Omar and his fiancee are saving for a big wedding.", "Omar eloped last weekend."),
    ("Lea and her husband are expecting their first child.", "Lea gave birth to a boy."),
    ("Lea is pregnant.", "Lea gave birth to twins."),
    ("Eva is married.", "Eva got divorced in the spring."),
    ("Audrey lives in a small apartment.", "Audrey bought a house with a garden."),
    ("Piet lives in a studio with his cat.", "Piet bought a house near the lake."),
    ("I live on my uncle's farm.", "I rent a flat in town these days."),
    ("Rosa lives in a dorm.", "Rosa rents an apartment off campus now."),
    ("Gina moved to Denver.", "Gina moved back to her hometown."),
    ("User is based in Chicago.", "User relocated to Austin for a new job."),
    ("User's friend Gina lives in an apartment in Boston.", "Gina moved back to Vermont."),
    ("I have a cat named Miso.", "Miso passed away last night."),
    ("User has a dog called Biscuit.", "Biscuit died in March."),
    ("I have two dogs and a cat.", "Our cat passed away, so it's only the dogs now."),
    ("I've never had a pet.", "I adopted a kitten and named her Pixie."),
    ("User has no pets.", "User adopted a greyhound."),
    ("User has no children.", "User had a baby girl in May."),
    ("Tess has no kids.", "Tess gave birth to a son."),
    ("Ivo can't run because of a knee injury.", "Ivo has recovered from the knee injury and is back in training."),
    ("User has had a headache for three days.", "User's headache is gone."),
    ("User has a sprained wrist.", "User's wrist has fully healed."),
    ("I have the flu.", "I got over the flu."),
    ("User is recovering from surgery.", "User has fully recovered from the surgery."),
    ("User is vegetarian.", "User's favorite dinner these days is a rare steak."),
    ("I am vegan.", "Most evenings I cook chicken for dinner."),
    ("Jo eats meat.", "Jo has embraced veganism."),
    ("Jo eats meat and fish.", "Jo turned vegetarian."),
    ("Bram drinks cola every day.", "Bram gave up cola in favor of sparkling water."),
    ("I drink coffee every morning.", "I gave up coffee in favor of green tea because of my stomach."),
    ("Ava dislikes olives.", "Ava no longer dislikes olives after a trip to Greece."),
    ("Max hates sushi on weekdays.", "Max no longer hates sushi on weekdays after trying it with friends."),
    ("I only drink water.", "I have a cola with every meal."),
    ("User wears a Casio.", "User wears an Apple Watch instead of the Casio."),
    ("User counts calories with MyFitnessPal.", "User logs meals in Cronometer instead of MyFitnessPal."),
    ("User drives a Prius.", "User traded the Prius in for a Subaru."),
    ("User keeps the spare keys in a drawer.", "User keeps the spare keys on a hook by the door."),
]

_NONE = [
    ("User has two cats and a parrot.", "User's parrot died."),
    ("Priya is a product manager.", "Priya was made aware of the delay."),
    ("User works at a print shop.", "User's brother got laid off."),
    ("Tomas works at a design agency.", "Tomas let go of the rope."),
    ("User works at Costco.", "User started at the gym."),
    ("User works at Costco.", "User started at a new school in the evenings."),
    ("User works at Costco.", "User quit smoking and started running."),
    ("User works at Costco.", "User quit the choir and started at a chess club."),
    ("Leo works at Siemens.", "Leo is at the beach these days."),
    ("Leo works at Siemens.", "Leo is at his parents' house this week."),
    ("Leo works at Siemens.", "Leo's wife works at Bosch now."),
    ("I am a paramedic.", "My dad retired last fall."),
    ("I am a paramedic.", "I retired early to bed."),
    ("Mira teaches chemistry at a high school.", "Mira gave up coffee."),
    ("Mira is an engineer.", "Mira is on vacation."),
    ("Hana is an intern at the lab.", "The lab took Hana on a tour."),
    ("I am single.", "My sister got engaged to a pilot."),
    ("I am single.", "I am an only child."),
    ("I am single.", "My ex-boyfriend moved to Berlin."),
    ("User is single.", "User's friend's boyfriend moved in."),
    ("User is married.", "User got engaged in a long argument."),
    ("User is married.", "User's sister got divorced."),
    ("Carla is planning a divorce.", "Carla is planning a trip."),
    ("Omar and his fiancee are saving for a big wedding.", "Omar went to a wedding."),
    ("Lea is pregnant.", "Lea's sister gave birth to twins."),
    ("Audrey lives in a small apartment.", "Audrey bought a dollhouse."),
    ("Audrey lives in a small apartment.", "Audrey's parents bought a house."),
    ("Audrey lives in a small apartment.", "Audrey rents a car these days."),
    ("Audrey lives in a house.", "Audrey bought a house for her mother."),
    ("I live on my uncle's farm.", "I rent a storage unit in town these days."),
    ("User lives in Chicago.", "User relocated the server to Austin."),
    ("User lives in Chicago.", "User moved to the front row."),
    ("Gina moved to Denver.", "Gina moved back to the first chapter."),
    ("I have a cat named Miso.", "My grandmother passed away last night."),
    ("I have two dogs and a cat.", "Our neighbor's cat passed away."),
    ("I have two dogs and a cat.", "Our hamster passed away."),
    ("Karl has two cats.", "Karl adopted another routine."),
    ("User has no pets.", "User's sister adopted a greyhound."),
    ("User has no pets.", "User adopted a new routine."),
    ("User has a dog.", "User adopted a greyhound."),
    ("User has no children.", "User's cousin had a baby girl in May."),
    ("Ivo has a knee injury.", "Ivo recovered from the flu."),
    ("User has a headache.", "User's cough is gone."),
    ("User has the flu.", "User's brother got over the flu."),
    ("User is vegetarian.", "User's husband eats steak."),
    ("User is vegetarian.", "User cooks chicken for the kids."),
    ("User is vegetarian.", "User's favorite dinner is lentil curry."),
    ("User is vegetarian.", "User's dog eats chicken."),
    ("Jo eats meat.", "Jo read a book on veganism."),
    ("Bram drinks cola every day.", "Nils drinks water in the evening."),
    ("Nils drinks tea every day.", "Nils gave up cola in favor of water."),
    ("Ava dislikes olives.", "Ava no longer dislikes capers."),
    ("I only drink water.", "My husband has a cola with every meal."),
    ("I only drink water at night.", "I have a coffee with breakfast."),
    ("User wears a Casio.", "User wears glasses instead of contacts."),
    ("User drives a Prius.", "User's son traded the Honda in for a Subaru."),
    ("User keeps the spare keys in a drawer.", "User keeps the passports on a shelf."),
    ("User keeps books in the bedroom.", "User keeps books on a shelf."),
    ("User is a teacher.", "User got hired as a weekend lifeguard."),
    ("User is recovering from surgery.", "User's dog has recovered from the surgery."),
    ("User lives in a small town.", "User dreams of moving to the country."),
    ("Aisha lives in fear.", "Aisha moved to Nairobi."),
    ("User has a dog.", "User's dog loves going to the park."),
    ("User is vegan.", "User no longer eats meat."),
    ("User is not married.", "User is divorced."),
    ("User works at Nokia.", "User quit his job at Target."),
    ("User works at Nokia.", "User retired from coaching."),
    ("User is between jobs.", "User worked at Xerox in the nineties."),
    ("User lives in Madrid.", "User rents a flat downtown these days."),
    ("User moved to Oslo.", "User moved to a big city."),
    ("User moved from Deloitte to KPMG.", "User relocated to Portland."),
    ("User is single.", "User was married before."),
    ("User is single.", "User's girlfriend moved out."),
    ("User lives in Ohio.", "User moved to Cleveland."),
    ("User might have the flu.", "User got over the flu."),
    ("User is single.", "Maybe User's girlfriend moved in."),
]


def _is_left(earlier: str, later: str) -> bool:
    was, now = extractor().frames(earlier), extractor().frames(later)
    return lives(was, now, alike(was, now, supersession(was, now))) in DECIDES


@pytest.mark.parametrize(("earlier", "later"), _CHANGES)
def test_what_befalls_somebody_leaves_what_held(earlier: str, later: str) -> None:
    assert _is_left(earlier, later)


@pytest.mark.parametrize(("earlier", "later"), _NONE)
def test_what_only_sounds_so_leaves_nothing(earlier: str, later: str) -> None:
    assert not _is_left(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I am a vegan.", "Most nights I grill chicken for dinner."),
        ("I'm a bus driver in Leeds.", "I retired in May and look after the grandkids."),
        ("User has a dog called Biscuit.", "Biscuit died in March."),
        ("I live on my uncle's farm.", "I rent a flat in town these days."),
        ("I am single.", "My boyfriend moved in with me."),
    ],
)
def test_they_are_found_though_their_words_are_not_alike(earlier: str, later: str) -> None:
    keys = [set(life_keys(extractor().frames(text))) for text in (earlier, later)]
    assert keys[0] & keys[1]
