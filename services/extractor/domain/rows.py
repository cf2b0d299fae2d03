"""The model's answer to entities and relations. Never raises: what cannot be read is left out, its neighbours stay."""

import re

from contracts.values import ExtractedEntity, ExtractedRelation
from services.extractor.domain.names import clean_name, clean_text
from services.extractor.domain.prompt import DELIMITER

_THINKING = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_COMPLETE = re.compile(r"<\|complete\|>", re.IGNORECASE)
_GLUED = re.compile(re.escape(DELIMITER) + r"(entity|relation|relationship)" + re.escape(DELIMITER), re.IGNORECASE)
_BAD_TYPE = re.compile(r"['()<>|/\\]")
_MISSPELT = re.compile(
    "|".join((
        r"<\|\|#\|\|>",              # each pipe twice
        r"<\|#\|?\|?#?\|>\|?",       # as it should be; <|##|>, <|#||#|>; a pipe behind it
        r"<\|\\#\|>",               # escaped
        r"<.\|#\|>|<\|#\|.>",       # a stray character outside of a pipe
        r"<[^\s<>|]?#\|>|<\|#[^\s<>|]?>|<#>",  # a pipe is missing or is another character
        r"<\|\|#>",                 # both pipes on one side
        r"<\|#\|\|?(?!>)|<\|#:",    # the end is missing
        r"(?<=\S)<\|{1,2}>(?=\S)",  # the hash is missing
        r"(?<=\S)<\|\|(?=[^\s#>|])",  # only the beginning is there
        r"\|\|#\|\||\|#\|>",       # the beginning is missing
    ))
)  # fmt: skip
"""A delimiter, or what models write instead of it. Of two that begin at one place the first counts."""


def parse(answer: str) -> tuple[tuple[ExtractedEntity, ...], tuple[ExtractedRelation, ...]]:
    """The entities and relations of an answer in the row format, in its order, each name and pair once."""
    entities: dict[str, ExtractedEntity] = {}
    relations: dict[tuple[str, str], ExtractedRelation] = {}
    text = _COMPLETE.sub("\n", _THINKING.sub("", answer))
    for line in text.splitlines():
        for row in _unglued(_MISSPELT.sub(DELIMITER, line)):
            fields = [field.strip() for field in row.split(DELIMITER)]
            kind = fields[0].lower()
            if len(fields) == 4 and "entity" in kind:
                _add_entity(entities, fields)
            elif len(fields) == 5 and ("relation" in kind or "entity" in kind):
                _add_relation(relations, fields)
    return tuple(entities.values()), tuple(relations.values())


def _unglued(line: str) -> list[str]:
    """The rows of a line on which several stand."""
    rows: list[str] = []
    start = 0
    for found in _GLUED.finditer(line):
        rows.append(line[start : found.start()])
        start = found.start() + len(DELIMITER)
    rows.append(line[start:])
    return rows


def _add_entity(entities: dict[str, ExtractedEntity], fields: list[str]) -> None:
    name, kind, description = clean_name(fields[1]), _type(fields[2]), clean_text(fields[3])
    if name and kind and description and name not in entities:
        entities[name] = ExtractedEntity(name=name, type=kind, description=description)


def _add_relation(relations: dict[tuple[str, str], ExtractedRelation], fields: list[str]) -> None:
    source, target, description = clean_name(fields[1]), clean_name(fields[2]), clean_text(fields[4])
    if source and target and source != target and description and (source, target) not in relations:
        words = clean_text(fields[3]).replace("，", ",").split(",")
        relations[source, target] = ExtractedRelation(
            source=source,
            target=target,
            keywords=tuple(dict.fromkeys(word.strip() for word in words if word.strip())),
            description=description,
        )


def _type(field: str) -> str:
    """A type in lower case without blanks, the first of a list; empty for what is no type."""
    kind = field.split(",")[0].replace("，", ",")
    if _BAD_TYPE.search(kind):
        return ""
    kind = "".join(clean_text(kind).split()).lower()
    return "" if kind in {"__proto__", "constructor", "prototype"} else kind[:64]
