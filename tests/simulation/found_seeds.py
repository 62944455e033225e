"""Seeds that once ended wrong, and why; they run always, since a world that found one fault is good at finding its like."""

FOUND = {
    344: "a hole before a delivery that ran ahead was believed to be as wide as both, and a parked message was lost",
    345: "the same for an event",
}
