"""Checks and cleans the rows of an answer, in rows or in JSON, and limits how many are taken."""

import re

from contracts.names import clean_name, clean_text
from contracts.spelling import one_spelling
from contracts.values import ExtractedEntity, ExtractedRelation

MAX_DESCRIPTION = 4000
"""Characters of a description; a longer one is cut."""

MAX_BYTES = 80 * 1024
"""Bytes in UTF-8 of all names, keywords and descriptions of one answer: two answers fit into one
event.
"""

MAX_WEIGHT = 100.0
"""Strengths are asked for on a scale to 10; some models answer in per cent."""

_MOST_KEYWORDS = 20
_LONGEST_KEYWORD = 200
_BAD_TYPE = re.compile(r"['()<>|/\\]")
_RESERVED = {"__proto__", "constructor", "prototype"}
_PLACEHOLDER = re.compile(r"<[\w ]{1,40}>$")
_COMMA = re.compile("[,，]")
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


class RowCollector:
    """The valid rows of one answer; of several rows with the same name or pair, the first.

    At most `max_entities` entities, `max_records` rows and 80 KiB of text are taken.
    """

    def __init__(self, max_entities: int = 40, max_records: int = 100) -> None:
        self.entities: dict[str, ExtractedEntity] = {}
        self.relations: dict[tuple[str, str], ExtractedRelation] = {}
        self._max_entities = max_entities
        self._max_records = max_records
        self._bytes = 0

    def add_entity(self, name: str, kind: str, description: str) -> None:
        """Add an entity from the fields of a row, unless they are invalid or a limit is reached."""
        name = _name(name)
        kind = _type(kind)
        description = clean_text(description)[:MAX_DESCRIPTION].strip()
        if (
            not (name and kind and description)
            or name in self.entities
            or len(self.entities) >= self._max_entities
        ):
            return
        if self._has_room(name, description):
            self.entities[name] = ExtractedEntity(name=name, type=kind, description=description)

    def add_relation(
        self, source: str, target: str, keywords: str, description: str, *, strength: str = ""
    ) -> None:
        """Add a relation from the fields of a row, unless they are invalid or a limit is reached.

        `strength` becomes its weight, which is 1 where that is no number above 0.
        """
        source = _name(source)
        target = _name(target)
        description = clean_text(description)[:MAX_DESCRIPTION].strip()
        if (
            not (source and target and description)
            or source == target
            or (source, target) in self.relations
        ):
            return
        words = _keywords(keywords)
        if self._has_room(source, target, description, *words):
            self.relations[source, target] = ExtractedRelation(
                source=source,
                target=target,
                keywords=words,
                description=description,
                weight=_weight(strength),
            )

    def _has_room(self, *texts: str) -> bool:
        if len(self.entities) + len(self.relations) >= self._max_records:
            return False
        self._bytes += sum(len(text.encode()) for text in texts)
        return self._bytes <= MAX_BYTES


def _name(field: str) -> str:
    """Return the cleaned name; an empty one for a placeholder copied from the prompt."""
    return "" if _PLACEHOLDER.match(field.strip()) else clean_name(field)


def _weight(strength: str) -> float:
    """Return the number, at most `MAX_WEIGHT`; 1 without one above 0."""
    number = _NUMBER.fullmatch(strength.strip(" \"'"))
    return min(float(number[0]), MAX_WEIGHT) or 1.0 if number else 1.0


def _type(field: str) -> str:
    """Return the type in lower case without blanks, the first of a list; an empty one if it is
    invalid.
    """
    kind = _COMMA.split(field.strip())[0]
    if _BAD_TYPE.search(kind):
        return ""
    kind = "".join(clean_text(kind).split()).lower()
    return "" if kind in _RESERVED else kind[:64]


def _keywords(field: str) -> tuple[str, ...]:
    words = (
        word.strip()[:_LONGEST_KEYWORD].strip()
        for word in _COMMA.split(one_spelling(clean_text(field)))
    )
    return tuple(dict.fromkeys(word for word in words if word))[:_MOST_KEYWORDS]
