"""Words that the commands' lines are made of."""


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: ``1 fact``, ``2 facts``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
