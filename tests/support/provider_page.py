"""The tables of docs/providers.md, whose rows are the cases that `make cases` goes through."""

import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/providers.md"
_ROW = re.compile(r"^\| `([\w.+-]+)` \| (.+) \| (.+) \| ([a-z ]+) \|$", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A row: the marker word or the modes, what the provider does, who says so, and what becomes of
    it.
    """

    marker: str
    happening: str
    source: str
    outcome: str

    def __str__(self) -> str:
        return self.marker


def cases(heading: str) -> list[Case]:
    """Return the rows of the table under a heading. Raises ValueError where there is none."""
    _, _, rest = PAGE.read_text("utf-8").partition(f"\n## {heading}\n")
    section, _, _ = rest.partition("\n## ")
    rows = [Case(*row) for row in _ROW.findall(section)]
    if not rows:
        raise ValueError(f"docs/providers.md has no table under {heading!r}")
    return rows
