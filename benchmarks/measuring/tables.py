"""Tables in Markdown."""

from collections.abc import Sequence

NONE = "–"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with a head."""
    first, *others = ["| " + " | ".join(row) + " |" for row in [head, *rows]]
    return "\n".join([first, "|---" * len(head) + "|", *others])


def number(value: float | None, digits: int = 1) -> str:
    """A number with so many digits behind the point; a dash for none."""
    return NONE if value is None else f"{value:z,.{digits}f}"
