"""The results of search and retrieval."""

from collections.abc import Iterable, Mapping, Sequence
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
    def secondary_ids(self) -> frozenset[str]:
        """Return the ids of the passages to which others are preferred: those of documents that are
        not in force, and those that say what a weightier document contradicts.
        """
        outweighed_ids = {precedence.lighter.passage_id for precedence in self.precedences}
        return frozenset(
            passage.id
            for _, passage in self.passages
            if passage.document_id in self.standings or passage.id in outweighed_ids
        )

    def __bool__(self) -> bool:
        return bool(self.passages or self.entities or self.relations)
