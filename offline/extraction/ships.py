"""Whether a name is that of a ship, by what stands before it: in a plain text the italics are lost
that tell a reader.
"""

import re
from collections.abc import Sequence

from offline.language.names import Name

_PREFIX = re.compile(
    r"\b(?:H\.?M\.?S|H\.?M\.?A\.?S|H\.?M\.?C\.?S|U\.?S\.?S|R\.?M\.?S|R\.?R\.?S)\.? $"
)
"""What navies and registers put before the name of a ship, and nobody else before a name."""

_AMBIGUOUS_PREFIX = re.compile(r"\b[Tt]he (?:S\.?S|M\.?V|R\.?V)\.? $")
"""The same behind an article; without one, as in `MV Agusta`, it is something else."""

_PREFIXES = (_PREFIX, _AMBIGUOUS_PREFIX)

_NOUN = re.compile(
    r"\b(?:[Tt]he|[Aa]n?) (?:[a-z-]+ ){0,2}"
    r"(?:steamer|steamship|paddle steamer|schooner|brig|brigantine|barque|bark|clipper|frigate|"
    r"corvette|sloop|cutter|lugger|ketch|yawl|yacht|galleon|ferry|ferryboat|"
    r"liner|tanker|freighter|trawler|whaler|tug|tugboat|dredger|lightship|lifeboat|icebreaker|"
    r"destroyer|cruiser|battleship|submarine|warship|gunboat|ship|vessel)(?: called| named)? $"
)
_ARTICLE = re.compile(r"\b[Tt]he $")
_LONGEST_CUE = 60
"""Characters before a name that are looked at."""


def has_prefix(text: str, places: Sequence[Name]) -> bool:
    """Return whether `HMS` or its like stands before a name with these places in the text, or at
    its beginning.
    """
    cues = _cues(text, places)
    prefix_word, _, ship_name = places[0].text.partition(" ")
    cues += [f"{cue}{prefix_word} " for cue in cues] if ship_name else []
    return any(prefix.search(cue) for prefix in _PREFIXES for cue in cues)


def has_noun(text: str, places: Sequence[Name]) -> bool:
    """Return whether `the steamer` or its like stands before a name with these places in the text,
    and nowhere the name without an article, as in `the ship Darwin sailed on. Darwin …`.
    """
    cues = _cues(text, places)
    return any(_NOUN.search(cue) for cue in cues) and all(
        _NOUN.search(cue) or _ARTICLE.search(cue) for cue in cues
    )


def _cues(text: str, places: Sequence[Name]) -> list[str]:
    return [text[max(0, place.start - _LONGEST_CUE) : place.start] for place in places]
