"""Classes of English words that the rules speak of; short on purpose: the rules carry, the lists only help."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

# what a matrix verb does to the clause under it
STARTING: Final = frozenset({"start", "begin", "resume", "take"})
STOPPING: Final = frozenset({"stop", "quit", "cease", "finish", "discontinue"})
PLANNING: Final = frozenset({"plan", "want", "intend", "hope", "aim", "wish", "decide", "prepare", "expect", "dream", "go",
                             "need", "agree", "promise", "save", "train", "schedule", "try", "book", "look", "like"})  # fmt: skip
WONDERING: Final = frozenset({"consider", "think", "wonder", "ask", "contemplate", "debate", "explore", "evaluate", "discuss",
                              "imagine", "suggest", "recommend", "doubt", "suspect", "believe", "guess", "feel", "say", "tell",
                              "mention", "claim", "report", "hear", "know", "seem", "pretend", "fear", "offer"})  # fmt: skip
FACTIVE: Final = frozenset({"come", "grow", "continue", "keep", "manage", "happen", "remain", "get", "use", "tend"})
HYPOTHETICAL: Final = frozenset({"would", "might", "could", "may", "should", "'d"})
PLANNED: Final = frozenset({"will", "shall", "'ll", "wo"})

# time
CUES: Final = frozenset(
    {"now", "nowadays", "current", "currently", "instead", "recently", "finally", "anymore", "presently", "again"}
)
ADDITIVE: Final = frozenset({"also", "too", "another", "additional", "additionally", "besides", "second", "both", "sometimes",
                             "occasionally", "plus"})  # fmt: skip
ONE_OFF: Final = frozenset(
    {"once", "today", "tonight", "temporarily", "briefly", "just", "tomorrow", "almost", "nearly"}
)
ONE_OFF_PHRASES: Final = ("for now", "for this", "this week", "this time", "this month", "this task", "this sprint", "on vacation",
                          "for a week", "for a month", "for a while", "on holiday", "this weekend", "as well", "on trial",
                          "for a few", "next week", "next month", "next year")  # fmt: skip
HISTORY: Final = ("as a child", "as a kid", "as a teenager", "in college", "in high school", "in school", "after college", "after school",
                  "after high school", "originally", "back in", "back then", "back when", "growing up", "when he was", "when she was",
                  "when i was", "in childhood", "in the past", "at first", "at one point")  # fmt: skip
CONDITIONS: Final = frozenset({"if", "unless", "whether", "maybe", "perhaps", "possibly", "probably", "supposedly", "allegedly", "reportedly",
                               "apparently", "presumably", "purportedly", "seemingly", "ostensibly", "hopefully"})  # fmt: skip
PLAIN_CALLS: Final = frozenset(
    {
        "yes",
        "yeah",
        "yep",
        "yup",
        "no",
        "nope",
        "well",
        "hi",
        "hello",
        "hey",
        "ok",
        "okay",
        "please",
        "thanks",
        "so",
        "btw",
        "fyi",
    }
)
"""Interjections that leave meant what is said; after any other it may be meant otherwise."""
APPROXIMATE: Final = frozenset({"about", "around", "approximately", "approx", "roughly", "circa", "~", "some"})
AT_LEAST: Final = ("over", "more than", "at least", "above")
AFTER_NUMBER: Final = {"at least": "at least", "or more": "at least", "at most": "at most", "or less": "at most", "or fewer": "at most", "or so": "about"}  # fmt: skip
AT_MOST: Final = ("under", "less than", "at most", "up to", "below", "fewer than")

# changes
SWITCHING: Final = frozenset({"switch", "migrate", "change", "convert", "upgrade", "downgrade", "transition", "move", "go", "port",
                              "shift", "swap", "jump", "transfer", "rename", "reassign", "rewrite", "turn"})  # fmt: skip
REPLACING: Final = frozenset({"replace", "swap", "trade", "exchange", "ditch", "drop", "abandon", "give up", "substitute",
                              "trade in", "leave", "sell"})  # fmt: skip
RAISING: Final = frozenset({"raise", "rise", "increase", "grow", "go", "drop", "fall", "decrease", "shrink", "lower", "reduce", "cut",
                            "climb", "jump", "scale", "expand", "extend", "be", "change", "set", "bump", "reach", "update", "adjust",
                            "double", "turn", "come", "get", "bring", "up"})  # fmt: skip
MOVING_TIME: Final = frozenset({"move", "reschedule", "push", "postpone", "delay", "extend", "shift", "change", "bring", "set",
                                "defer", "advance", "slip", "rebook", "bump"})  # fmt: skip
RELOCATING: Final = frozenset({"move", "relocate", "settle", "emigrate", "immigrate"})
RESIDING: Final = frozenset({"live", "reside", "dwell", "base", "stay"})

# endings, by what they can end (fitting.py)
ENDING: Final = {
    "leave": ("work", "member"), "quit": ("work", "activity", "member", "use"), "resign": ("work", "member"),
    "retire": ("work",), "fire": ("work",), "lay": ("work",), "dismiss": ("work",),
    "graduate": ("member",),
    "sell": ("possession",), "lose": ("possession",), "donate": ("possession",), "return": ("possession",),
    "trade": ("possession", "use"), "trade in": ("possession",), "give away": ("possession",), "throw out": ("possession",),
    "throw away": ("possession",), "break": ("possession",), "scrap": ("possession", "project", "use"),
    "rehome": ("possession",), "get rid": ("possession", "use"),
    "finish": ("project",), "complete": ("project",), "submit": ("project",), "publish": ("project",), "ship": ("project",),
    "launch": ("project",), "abandon": ("project", "plan", "use"), "shelve": ("project",), "defend": ("project",),
    "stop": ("activity",), "cancel": ("plan",), "postpone": ("plan",), "drop": ("project", "plan", "use"),
    "ditch": ("use", "plan"), "give up": ("any",), "call off": ("plan",), "scratch": ("plan",), "unsubscribe": ("plan",),
    "delete": ("use",), "uninstall": ("use",), "close": ("business",), "shut down": ("business", "project"), "step down": ("work",), "fold": ("business",),
    "drop out": ("member",), "pay off": ("debt",), "repay": ("debt",),
}  # fmt: skip
"""Verb (with its particle) to the families that it ends."""
DYING: Final = frozenset({"die", "heal", "pass away", "recover"})
GENERIC: Final = frozenset({"trip", "plan", "idea", "subscription", "membership", "job", "position", "role",
                            "account", "diet", "visit", "vacation", "gig"})  # fmt: skip
"""Heads of phrases that name nothing by themselves: "the barista job", "the Japan trip"."""

# slots
USING: Final = frozenset({"use", "rely", "code", "program", "develop", "run", "track", "keep", "deploy", "pay", "write", "edit",
                          "host", "build", "target", "depend", "manage", "store"})  # fmt: skip
LIKING: Final = frozenset({"like", "love", "enjoy", "adore", "appreciate"})
HATING: Final = frozenset({"hate", "dislike", "detest", "loathe", "despise"})
HAVING: Final = frozenset({"have", "own", "possess"})
GETTING: Final = frozenset({"get", "buy", "adopt", "purchase", "acquire"})
OWNING: Final = frozenset({"own", "lead", "manage", "maintain", "head", "chair", "coordinate"})
MAKING: Final = frozenset(
    {"build", "write", "develop", "design", "make", "create", "draft", "work", "compose", "prepare"}
)
CONSUMING: Final = frozenset({"read", "watch"})
STATUS: Final = frozenset({
    "accepted", "active", "inactive", "archived", "approved", "blocked", "unblocked", "broken", "cancelled", "canceled", "closed", "complete",
    "completed", "delayed", "deployed", "disabled", "done", "enabled", "finished", "fixed", "live", "merged", "offline", "online",
    "open", "overdue", "paused", "pending", "postponed", "public", "published", "private", "ready", "rejected", "released", "repaired",
    "resolved", "resumed", "running", "shipped", "started", "stuck", "stopped", "suspended", "unavailable", "available",
    "opened", "premiered", "arrived", "paid", "unpaid", "working", "removed", "planned", "lifted", "revoked", "repealed", "expired", "ended", "contained", "denied", "declined", "granted", "submitted", "escalated", "stalled", "installed", "delivered", "certified", "scrapped", "shelved", "withdrawn",
    "decommissioned", "unreleased", "unpublished", "unfinished", "incomplete", "launched", "scheduled", "ongoing", "operational", "down", "deprecated", "reopened", "abandoned", "unresolved", "failing", "passing", "concluded", "underway", "terminated", "signed", "won", "settled",
})  # fmt: skip
STATUS_PHRASES: Final = frozenset({"in progress", "on hold", "on track", "back on track", "in review", "in production", "under review",
                                   "in beta", "in development", "under development", "under construction", "in planning", "in testing", "at risk", "on schedule"})  # fmt: skip
HALFWAY: Final = frozenset(
    {
        "half",
        "halfway",
        "partly",
        "partially",
        "nearly",
        "almost",
        "mostly",
        "provisionally",
        "tentatively",
        "conditionally",
        "internally",
    }
)
"""So said, a thing is not altogether in a state."""
RELATIONS: Final = frozenset({"single", "married", "divorced", "engaged", "separated", "widowed"})
DIETS: Final = frozenset({"vegan", "vegetarian", "pescatarian", "omnivore", "carnivore", "flexitarian", "pescetarian"})
PETS: Final = frozenset({"dog", "cat", "kitten", "puppy", "hamster", "parrot", "rabbit", "fish", "goldfish", "turtle", "bird", "horse",
                         "lizard", "snake", "ferret", "parakeet", "gecko", "iguana", "pony", "bunny", "gerbil", "mouse", "rat", "canary", "tortoise", "hedgehog",
                         "guinea", "chicken", "goat", "pig", "kitty", "pup", "budgie", "beagle", "poodle", "labrador", "retriever"})  # fmt: skip
KIN: Final = frozenset({"sister", "brother", "son", "daughter", "child", "kid", "friend", "cousin", "uncle", "aunt", "nephew", "niece",
                        "grandson", "granddaughter", "sibling", "twin"})  # fmt: skip
ONE_OF_MANY: Final = frozenset({"friend", "cousin", "coworker", "colleague", "classmate", "neighbor", "neighbour", "acquaintance", "buddy",
                                "teammate", "customer", "uncle", "aunt", "nephew", "niece"})  # fmt: skip
"""Whom one has several of: without a name or more words, each text may speak of another."""
PERSONS: Final = KIN | {"mother", "father", "mom", "dad", "parent", "wife", "husband", "partner", "girlfriend", "boyfriend", "roommate",
                        "flatmate", "coworker", "colleague", "boss", "manager", "neighbor", "neighbour", "spouse", "fiance",
                        "fiancee", "grandmother", "grandfather", "godmother", "godfather", "stepmother", "stepfather", "grandma", "grandpa", "grandparent", "team", "family", "baby",
                        "mentor", "landlord", "doctor", "teacher", "client", "people", "person", "man", "woman", "boy", "girl",
                        "company", "ex"}  # fmt: skip
FAMILY: Final = PERSONS - {
    "manager",
    "doctor",
    "teacher",
    "boss",
    "mentor",
    "landlord",
    "client",
    "partner",
    "neighbor",
    "neighbour",
}
SOCIETIES: Final = frozenset({"toastmasters", "rotary", "lions", "mensa", "scouts", "weight watchers", "army", "navy", "marines", "peace corps",
                              "costco", "planet fitness", "discord", "reddit", "facebook", "twitter", "instagram", "tinder", "linkedin"})  # fmt: skip
"""What one joins without being paid."""
GROUPS: Final = frozenset(
    {"club", "team", "committee", "board", "band", "group", "league", "list", "class", "course", "choir", "squad"}
)
"""One may be in several."""
SIDE_ROLES: Final = frozenset({"student", "musician", "artist", "writer", "author", "singer", "dancer", "actor", "volunteer", "photographer",
                               "blogger", "athlete", "veteran", "poet", "painter", "guitarist", "drummer", "pianist", "player", "creator",
                               "activist", "entrepreneur", "investor", "collector", "streamer", "swimmer", "cyclist", "climber", "hiker",
                               "gardener", "model", "dj", "comedian", "resident", "president", "leader", "tutor", "violinist", "cellist", "bassist", "vocalist", "organist", "flutist",
                               "novelist", "cartoonist", "magician", "farmer", "landlord", "mother", "father", "reservist",
                               "mentor", "advisor", "adviser", "contributor", "moderator", "organizer", "organiser", "speaker", "coach", "trustee", "member"})  # fmt: skip
"""Roles that one may have beside one's work."""
PARTNERS: Final = frozenset({"girlfriend", "boyfriend", "partner", "fiance", "fiancee", "wife", "husband", "spouse"})
IMMUTABLE: Final = frozenset({"birthplace", "birthday", "anniversary", "birth", "blood type", "blood group", "native", "mother", "eye", "hometown", "ethnicity", "zodiac",
                              "maiden", "heritage", "origin", "first", "height"})  # fmt: skip


def never_changes(noun: str) -> bool:
    """Whether a noun names what stays as it is: a birthday, a blood type."""
    words = noun.split()
    return any(word in IMMUTABLE for word in words) or any(f"{one} {two}" in IMMUTABLE for one, two in pairwise(words))


ROLE_ENDINGS: Final = (
    "er",
    "tress",
    "or",
    "ist",
    "ian",
    "ant",
    "ent",
    "man",
    "woman",
    "yst",
    "eer",
    "ive",
    "ect",
    "mic",
)
ROLES: Final = frozenset({"nurse", "chef", "pilot", "barista", "coach", "clerk", "vet", "cook", "guide", "judge", "nanny", "attorney",
                          "paralegal", "secretary", "intern", "ceo", "cto", "cfo", "mechanic", "head", "lead", "vp", "principal", "maid",
                          "monk", "priest", "scientist", "dj", "cashier", "author", "freelance", "temp"})  # fmt: skip
NO_ROLES: Final = frozenset(
    {
        "member",
        "father",
        "mother",
        "brother",
        "sister",
        "daughter",
        "teenager",
        "widower",
        "newcomer",
        "foreigner",
        "pensioner",
        "commuter",
        "renter",
        "riser",
        "sleeper",
        "caregiver",
        "learner",
        "loner",
        "donor",
        "minor",
        "fan",
        "parent",
        "owner",
        "beginner",
        "vegetarian",
        "pescatarian",
        "flexitarian",
        "lover",
        "player",
        "runner",
        "smoker",
        "reader",
        "believer",
        "supporter",
        "person",
        "human",
        "adolescent",
        "expert",
        "user",
        "woman",
        "man",
        "morning",
        "eater",
        "drinker",
        "listener",
        "citizen",
        "immigrant",
        "resident",
        "gamer",
        "partner",
        "boyfriend",
        "survivor",
        "christian",
        "libertarian",
        "introvert",
        "junior",
        "senior",
    }
)
NO_ROLE_ENDINGS: Final = ("owner", "lover", "holder", "parent", "father", "mother", "sister", "brother", "goer", "maker", "sitter", "newcomer")  # fmt: skip
UNITS: Final = frozenset({"kg", "km", "mile", "minute", "hour", "dollar", "euro", "pound", "lb", "lbs", "cm", "m", "mg", "g", "year",
                          "day", "week", "month", "gb", "mb", "tb", "percent", "%", "$", "€", "£", "usd", "eur", "word", "inch", "foot",
                          "ounce", "liter", "litre", "calorie", "ml", "mph", "second", "meter", "metre", "point", "k", "ms", "s", "sec", "min", "bpm", "psi", "watt", "degree", "kb", "gbp", "cent", "rep", "step"})  # fmt: skip
NUMBERS: Final = {w: str(i) for i, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve thirteen "
                  "fourteen fifteen sixteen seventeen eighteen nineteen twenty".split())}  # fmt: skip
ORDINALS: Final = frozenset("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split())
WEEKDAYS: Final = frozenset({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"})
MONTHS: Final = frozenset({"january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
                           "november", "december"})  # fmt: skip
HOMES: Final = frozenset(
    "apartment flat house home studio condo bungalow cottage dorm dormitory villa loft room van boat houseboat caravan mansion townhouse "
    "duplex penthouse cabin farmhouse farm hostel hotel trailer tent hut palace castle basement maisonette building tower".split()
)
PASSING: Final = frozenset(
    "breakfast lunch dinner break walk trip meeting errand holiday vacation hour day night morning afternoon evening week weekend month".split()
)
"""What one leaves for and comes back from."""
