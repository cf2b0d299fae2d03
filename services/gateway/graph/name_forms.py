"""Forms of names: plurals, abbreviations, and the types of entities whose names have none."""

import re
from typing import NamedTuple

MIN_LETTERS = 3
"""Letters and digits below which two spellings, or a surname, say too little."""

UNTOLD_TYPES = frozenset({"", "other", "unknown"})
"""Types that say nothing: such an entity may be of any other type."""
PROPER_TYPES = frozenset({"person", "location", "geo", "place", "organization", "event"})
"""Types whose names have no plural: Adam is not Adams."""

_ABBREVIATION = re.compile(r"(?=(?:.*[A-Z]){2})[A-Z][A-Z0-9&]{1,7}")


class Named(NamedTuple):
    """The name and the type of an entity."""

    name: str
    type: str


def singulars(folded_name: str) -> list[str]:
    """Return the singulars that a name may be the plural of, its last word of at least four
    letters.
    """
    if len(folded_name.rpartition(" ")[2]) < MIN_LETTERS + 2 or folded_name.endswith(
        ("ss", "us", "is")
    ):
        return []
    singulars = [folded_name[:-1]] if folded_name.endswith("s") else []
    if folded_name.endswith(("ses", "xes", "zes", "ches", "shes")):
        singulars.append(folded_name[:-2])
    if folded_name.endswith("ies"):
        singulars.append(folded_name[:-3] + "y")
    return singulars


def is_abbreviation(name: str) -> bool:
    """Return whether a name is of two to eight capitals and digits, with or without full stops."""
    return _ABBREVIATION.fullmatch(name.replace(".", "")) is not None
