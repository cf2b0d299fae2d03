"""What stays the same during one walk."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.query.partitions import Partitions
from services.query.question import Question
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.linking import Link, NameIndex
from services.query.retrieval.multihop.query_terms import QueryTerms
from services.query.retrieval.scoping import DocumentIds

MAX_RELATIONS = 40
"""Relations read per entity, the heaviest first: it bounds the cost of a hub."""


@dataclass(frozen=True)
class WalkState:
    """What stays the same during one walk: the question, its links and terms, and where it may be answered from."""

    question: Question
    partitions: Partitions
    deps: RetrievalDependencies
    index: NameIndex
    links: Sequence[Link]
    terms: QueryTerms
    document_ids: DocumentIds = None
