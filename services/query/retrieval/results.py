"""The results of search and retrieval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contracts.graph import Entity, Relation
from contracts.ids import UNKNOWN_SOURCE
from services.query.passage import Passage
from services.query.question import NO_KEYWORDS, Keywords
from services.query.standing import Standing


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

    def __bool__(self) -> bool:
        return bool(self.passages or self.entities or self.relations)
