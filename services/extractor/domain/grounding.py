"""Which rows rest on the passage: those whose names it contains, spelling made comparable first."""

import unicodedata

from contracts.names import fold
from services.extractor.domain.extraction import Extraction


def mark_grounded(extraction: Extraction, passage: str) -> Extraction:
    """The extraction with every row marked whose name, or one of whose two names, does not occur in the passage."""
    text = fold(passage)
    names = {entity.name for entity in extraction.entities}
    names |= {name for relation in extraction.relations for name in (relation.source, relation.target)}
    absent = {name for name in names if not contains_name(fold(name), text)}
    return Extraction(
        tuple(e.model_copy(update={"grounded": e.name not in absent}) for e in extraction.entities),
        tuple(r.model_copy(update={"grounded": absent.isdisjoint((r.source, r.target))}) for r in extraction.relations),
        extraction.usage,
    )


def contains_name(name: str, text: str) -> bool:
    """Whether a folded name stands in a folded text, at the beginning of a word unless its script has no blanks."""
    place = text.find(name)
    while place >= 0:
        if place == 0 or not (_joins(text[place - 1]) and _joins(name[0])):
            return True
        place = text.find(name, place + 1)
    return False


def _joins(character: str) -> bool:
    """Whether words of this character's script are set apart by blanks."""
    return character.isalnum() and unicodedata.category(character) != "Lo"
