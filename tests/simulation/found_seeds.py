"""Seeds that ended wrong before the fault that they showed was mended; they run always.

What a seed does changes with the worlds' rules and with the projector's calls, so each fault has its mutant too
(`mutants.py`), and the seed is one that finds that mutant.
"""

FOUND = {
    83: "a hole in the log was believed by its start alone: what had only run ahead behind it was lost",
    102: "the same",
    46: "a claim called the log shortened, since its former owner had applied what was appended after the look",
    152: "the same",
    344: "the hole, as first found",
    345: "the same",
}
