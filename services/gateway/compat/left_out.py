"""What a message has beside text, as pictures, is left out and said: the text is answered."""

from collections import Counter
from collections.abc import Iterable

MAX_TYPES = 8


def left_out_parts(types: Iterable[str]) -> list[str]:
    """Return the warning about parts of these types, none without any."""
    counts = Counter(types).most_common(MAX_TYPES)
    if not counts:
        return []
    parts = ", ".join(f"{count} of the type {' '.join(type.split())}" for type, count in counts)
    return [f"only text is read; parts of the messages were left out: {parts}"]


def note(warnings: Iterable[str]) -> str:
    """Return the warnings as they stand below an answer."""
    return "".join(f"\n\n({warning[0].upper()}{warning[1:]}.)" for warning in warnings)
