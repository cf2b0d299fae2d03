"""Guesses the entity type of a name from its words; `other` if none of them tells."""

from offline.language.han import ending_type
from offline.language.names import Name
from offline.language.terms import is_abbreviated
from offline.language.word_lists import CONTENT, EVENT, GIVEN_NAMES, LOCATION, ORGANIZATION

_BY_WORD = (
    ("organization", ORGANIZATION),
    ("event", EVENT),
    ("location", LOCATION),
    ("content", CONTENT),
)
_PLACE_BEGINNINGS = (
    "St.",
    "Mount ",
    "Lake ",
    "Cape ",
    "Fort ",
    "Port ",
    "New ",
    "San ",
    "Santa ",
    "Los ",
    "Las ",
)


def guess(name: Name) -> str:
    """Return `person`, `organization`, `location`, `event`, `content`, `concept` (code) or
    `other`.
    """
    if name.kind == "work":
        return "content"
    if name.kind == "code":
        return "concept"
    if name.kind == "han":
        return ending_type(name.text) or "other"
    if name.title:
        return "person"
    return _by_words(name.text.replace(".", "").split()) or _by_beginning(name.text) or "other"


def _by_words(words: list[str]) -> str | None:
    """Return the type that the last telling word names; words before `of` count before those behind
    it.
    """
    lower = [word.lower() for word in words]
    head = lower[: lower.index("of")] if "of" in lower[1:] else lower
    for word in (*reversed(head), *reversed(lower)):
        for kind, cues in _BY_WORD:
            if word in cues and not (kind != "location" and len(words) == 1):
                return kind
        if word in GIVEN_NAMES and word == lower[0]:
            return "person"
    return None


def _by_beginning(name: str) -> str | None:
    if name.startswith(_PLACE_BEGINNINGS):
        return "location"
    words = name.split()
    initials = [word for word in words if is_abbreviated(word.rstrip("."))]
    letters = all(word.rstrip(".").isalpha() for word in words)
    return (
        "person"
        if initials and letters and len(words) > len(initials) and not is_abbreviated(words[-1])
        else None
    )
