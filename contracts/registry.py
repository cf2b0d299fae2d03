"""Who publishes an event, and who consumes it: producers are declared here, consumers follow from
the durables.
"""

from collections.abc import Mapping
from typing import Literal, get_args

from contracts import subjects
from contracts.events import Stage
from contracts.graph import Projection
from contracts.topology import CONSUMERS, Consumer

Service = Stage
SERVICES: tuple[Service, ...] = get_args(Stage)

Producer = Service | Literal["publisher", "lightstream"]
"""A service, any other system with a CloudEvents library, or our own command line."""

PRODUCERS: Mapping[str, tuple[Producer, ...]] = {
    "DocumentAdded": ("publisher", "query", "lightstream"),
    "DocumentDeleted": ("publisher", "query", "lightstream"),
    "DocumentCancelled": ("query",),
    "AccessChanged": ("publisher", "query", "lightstream"),
    "ChunksCreated": ("chunker",),
    "FiguresListed": ("chunker", "lightstream"),
    "FigureDescribed": ("chunker",),
    "EntitiesExtracted": ("extractor",),
    "GraphMerged": ("merger",),
    "DescriptionSummarized": ("merger",),
    "VectorsIndexed": ("indexer",),
    "StageFailed": SERVICES,
    "GraphEdited": ("publisher", "query", "lightstream"),
    "DocumentErased": ("lightstream",),
    "ErasureRequested": ("query", "lightstream"),
    "SupersessionStated": ("publisher", "query", "lightstream"),
    "TagsChanged": ("query", "lightstream"),
    "RetryRequested": ("publisher", "query", "lightstream"),
    "BudgetSet": ("query", "lightstream"),
    "QuestionsCharged": ("query",),
    "GoldenQuestionSet": ("query",),
    "GoldenQuestionRemoved": ("query",),
    "GoldenRunEnded": ("query", "lightstream"),
    "FeedbackGiven": ("query",),
    "AnswerGiven": ("query", "lightstream"),
    "SourceSynced": ("lightstream",),
    "SourceSet": ("query", "lightstream"),
    "BranchCreated": ("lightstream",),
    "BranchDropped": ("lightstream",),
    "BranchPromoted": ("query", "lightstream"),
    "EmbeddingModelChosen": ("lightstream",),
}
"""Event type → who may publish it."""

CONSUMERS_OF: Mapping[Projection, tuple[str, ...]] = {
    "status": ("query-status",),
    "graph": ("merger", "merger-extents", "merger-summarized", "merger-edits"),
    "vectors": ("indexer-chunks", "indexer-graph"),
}
"""The consumers that fill each projection."""


def consumers_of(event_type: str) -> tuple[Consumer, ...]:
    """Return the durables that deliver this event."""
    sample = subjects.subject("workspace", "document", event_type).split(".")
    return tuple(
        durable
        for durable in CONSUMERS
        if any(
            len(filter_tokens) == len(sample)
            and all(w in ("*", s) for w, s in zip(filter_tokens, sample, strict=True))
            for filter_tokens in (subject_filter.split(".") for subject_filter in durable.filters)
        )
    )


def service_of(durable: Consumer) -> str:
    """Return the service that reads a durable: its name up to the first hyphen."""
    return durable.name.partition("-")[0]


def consuming_services(event_type: str) -> tuple[str, ...]:
    """Return the services that consume this event, each once."""
    return tuple(dict.fromkeys(service_of(durable) for durable in consumers_of(event_type)))
