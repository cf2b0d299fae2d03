"""The results of search and retrieval."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from contracts.graph import Entity, Relation
from contracts.ids import UNKNOWN_SOURCE
from services.query.passage import Passage
from services.query.question import NO_KEYWORDS, Keywords
from services.query.standing import Precedence, Standing


@dataclass(frozen=True)
class SearchResult:
    """The result of a mode's own stages, before passages are read, reranked and cut to the
    budget.
    """

    entities: Sequence[Entity] = ()
    relations: Sequence[Relation] = ()
    chunk_ids: Sequence[str] = ()
    """Ids of chunks, the best first."""
    tokens: int = 0
    """Tokens of the lines of the entities and relations in the prompt."""
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Counts for `processing_info`."""


@dataclass(frozen=True)
class RetrievalResult:
    """The entities, relations and passages that the answer is based on."""

    entities: Sequence[Entity] = ()
    relations: Sequence[Relation] = ()
    passages: Sequence[tuple[str, Passage]] = ()
    """Reference id ("" without a file) and passage, the best first."""
    references: Mapping[str, str] = field(default_factory=dict[str, str])
    """File path to reference id."""
    doubles: Mapping[str, Sequence[Passage]] = field(default_factory=dict[str, Sequence[Passage]])
    """By the id of a passage: those of other places that say the same and are not among the
    passages.
    """
    standings: Mapping[str, Standing] = field(default_factory=dict[str, Standing])
    """By id, the documents of the passages that are not in force."""
    precedences: Sequence[Precedence] = ()
    """Statements of the passages that contradict each other, of documents of unequal authority."""
    keywords: Keywords = NO_KEYWORDS
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Counts of the results of each stage, under LightRAG's names in `processing_info`."""

    def files_of_doubles(self, reference: str, file_path: str) -> list[str]:
        """Return the other files, without repeats, with passages that say the same as those of this
        reference.
        """
        passages = [passage for id, passage in self.passages if id == reference]
        files = dict.fromkeys(
            double.file_path for passage in passages for double in self.doubles.get(passage.id, ())
        )
        return [file for file in files if file not in (file_path, UNKNOWN_SOURCE)]

    def with_precedences(self, precedences: Iterable[Precedence]) -> Self:
        """Return the result with those of the precedences of which it has both passages, each
        once.
        """
        ids = {passage.id for _, passage in self.passages}
        among_passages = {item: None for item in precedences if item.passages <= ids}
        return replace(self, precedences=tuple(among_passages))

    @property
    def levels(self) -> Mapping[str, int]:
        """Return by id the passages to which others are preferred, with their level: 1 behind those
        to which none is, 2 behind others of level 1. Preferred are those of documents that
        supersede theirs, and what a document of greater authority says otherwise. What is not in
        force for another reason has the last level.
        """
        of_document: dict[str, list[str]] = {}
        for _, passage in self.passages:
            of_document.setdefault(passage.document_id, []).append(passage.id)
        ids_ahead: dict[str, set[str]] = {passage.id: set() for _, passage in self.passages}
        for precedence in self.precedences:
            ids_ahead[precedence.lighter.passage_id].add(precedence.weightier.passage_id)
        for document_id, standing in self.standings.items():
            for successor in standing.successors:
                for id in of_document.get(document_id, ()):
                    ids_ahead[id].update(of_document.get(successor.document_id, ()))
        levels = {id: level for id, level in _levels(ids_ahead).items() if level}
        last_level = 1 + max(levels.values(), default=0)
        untimely_ids = (id for id, standing in self.standings.items() if not standing.successors)
        return levels | {
            id: last_level for document in untimely_ids for id in of_document.get(document, ())
        }

    def __bool__(self) -> bool:
        return bool(self.passages or self.entities or self.relations)


def _levels(ids_ahead: Mapping[str, Collection[str]]) -> dict[str, int]:
    """Return of each passage how long the longest chain is of those that are preferred to it."""
    levels: dict[str, int] = {}

    def level(id: str, path: Collection[str] = ()) -> int:
        if id not in levels:
            levels_ahead = [
                level(id_ahead, (*path, id)) for id_ahead in ids_ahead[id] if id_ahead not in path
            ]
            levels[id] = 1 + max(levels_ahead, default=-1)
        return levels[id]

    for id in ids_ahead:
        level(id)
    return levels
