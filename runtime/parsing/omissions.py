"""What a parser leaves out of a file, counted, and how that is said to whoever adds it."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple


class Omission(NamedTuple):
    """One kind of thing that is left out: the sentence for one of it, and for several with `{}` for
    their number.
    """

    singular: str
    plural: str


def left_out(singular: str, plural: str, why: str = "") -> Omission:
    """Return the kind of omission of these names, as `picture` and `pictures`."""
    reason = f": {why}" if why else ""
    return Omission(f"1 {singular} was left out{reason}", f"{{}} {plural} were left out{reason}")


PICTURE = left_out("picture", "pictures", "only text is read")
DELETION = left_out("tracked deletion", "tracked deletions", "changes are read as accepted")
HIDDEN_TEXT = Omission(
    "1 character of hidden text was left out", "{} characters of hidden text were left out"
)
EMBEDDED = left_out("embedded object", "embedded objects", "add it as a file of its own")
UNKNOWN_SYMBOL = left_out("symbol of an unknown font", "symbols of unknown fonts")
MEDIA = left_out("sound or film", "sounds or films")
MACROS = "its macros were left out: they are never run"
_FORMULAS = (
    "whose value the file does not have stand as formulas: open the file in its program and save "
    "it anew"
)
FORMULA = Omission(
    f"1 cell {_FORMULAS.replace('stand as formulas', 'stands as a formula')}",
    f"{{}} cells {_FORMULAS}",
)
HIDDEN_SHEET = Omission("1 hidden sheet was read", "{} hidden sheets were read")
HIDDEN_ROW = Omission("1 hidden row was read", "{} hidden rows were read")
HIDDEN_COLUMN = Omission("1 hidden column was read", "{} hidden columns were read")
HIDDEN_SLIDE = Omission("1 hidden slide was read", "{} hidden slides were read")

MAX_SHEETS = 256
"""Sheets of a workbook that are read."""


class Omissions:
    """Counts what a parser leaves out of one file."""

    def __init__(self) -> None:
        self._counts: Counter[Omission] = Counter()
        self._notes: dict[str, None] = {}

    def add(self, kind: Omission, count: int = 1) -> None:
        """Count things of this kind."""
        if count:
            self._counts[kind] += count

    def note(self, sentence: str) -> None:
        """Add a sentence of its own; the same twice is one."""
        self._notes[sentence] = None

    def sentences(self) -> Iterator[str]:
        """Yield the notes, and a sentence for each kind."""
        yield from self._notes
        for kind, count in self._counts.items():
            yield kind.singular if count == 1 else kind.plural.format(f"{count:,}")
