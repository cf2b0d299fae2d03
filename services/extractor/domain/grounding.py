"""Marks the rows whose names occur in the passage, regardless of spelling variants such as case."""

import unicodedata
from dataclasses import replace
from typing import TypeVar

from contracts.names import fold
from contracts.values import ExtractedEntity, ExtractedRelation
from services.extractor.domain.extraction import Extraction

_Row = TypeVar("_Row", ExtractedEntity, ExtractedRelation)


def mark_grounded(extraction: Extraction, passage: str) -> Extraction:
    """Return the extraction; `is_grounded` is False in rows of which a name does not occur in the
    passage.
    """
    text = fold(passage)
    names = {entity.name for entity in extraction.entities}
    names |= {
        name for relation in extraction.relations for name in (relation.source, relation.target)
    }
    absent = {name for name in names if not contains_name(fold(name), text)}
    return replace(
        extraction,
        entities=tuple(_marked(e, e.name not in absent) for e in extraction.entities),
        relations=tuple(
            _marked(r, absent.isdisjoint((r.source, r.target))) for r in extraction.relations
        ),
    )


def _marked(row: _Row, is_grounded: bool) -> _Row:
    return row if row.grounded == is_grounded else row.model_copy(update={"grounded": is_grounded})


def contains_name(name: str, text: str) -> bool:
    """Return whether a folded name occurs in a folded text, at the start of a word if its script
    has blanks.
    """
    place = text.find(name)
    while place >= 0:
        if place == 0 or not (_joins(text[place - 1]) and _joins(name[0])):
            return True
        place = text.find(name, place + 1)
    return False


def _joins(character: str) -> bool:
    """Return whether this is a letter or digit of a script that separates words by blanks."""
    return character.isalnum() and unicodedata.category(character) != "Lo"
