"""Seeds that ended wrong before the fault that they showed was mended; they run always.

What a seed does changes with the worlds' rules and with the projector's calls, so each fault has its mutant too
(`mutants.py`), and the seed is one that finds that mutant.
"""

FOUND = {
    94: "a hole in the log was believed by its start alone: what had only run ahead behind it was lost",
    25: "the same",
    344: "the same, as first found",
    345: "the same, as first found",
    46: "a claim called the log shortened, since its former owner had applied what was appended after the look",
    64: "a database that came back without its last release left a history in memory that knew more: an event was lost",
    19633: "what the consumer had run past was the last of its partition, and no later message showed it",
}
