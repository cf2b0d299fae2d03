"""The events of the system, the newest version of each.

A released field is never renamed, retyped or removed: that is a new `version`, with a step in
`upcast.py` that lifts the old one. A new optional field is compatible and needs neither.
"""

from contracts.events.answers import (
    AnswerEnd,
    AnswerEvidence,
    AnswerGiven,
    AnswerRound,
    AnswerSettings,
    AskedWords,
    EvidenceEntity,
    EvidencePassage,
    EvidenceRelation,
    ReceiptForm,
    RecordedText,
)
from contracts.events.base import Event, Stage
from contracts.events.budgets import BUDGET, BudgetPeriod, BudgetSet
from contracts.events.documents import (
    AccessChanged,
    ChunksCreated,
    DocumentAdded,
    DocumentCancelled,
    DocumentDeleted,
    DocumentErased,
    EntitiesExtracted,
    ErasedEvent,
    ErasureRequested,
)
from contracts.events.failures import DOCUMENT_EVENTS, RetryRequested, StageFailed
from contracts.events.golden import (
    FEEDBACK,
    GOLDEN,
    CitedDocument,
    FeedbackGiven,
    GoldenExpectation,
    GoldenQuestionRemoved,
    GoldenQuestionSet,
    GoldenResult,
    GoldenRunEnded,
)
from contracts.events.graph import (
    GRAPH,
    SUMMARY_PREFIX,
    DescriptionSummarized,
    GraphEdited,
    GraphMerged,
    VectorsIndexed,
)
from contracts.events.questions import QUESTIONS, QuestionCost, QuestionsCharged, QuestionStep
from contracts.events.sources import (
    SOURCES,
    SourceDocument,
    SourceSet,
    SourceState,
    SourceSynced,
)

__all__ = [
    "BUDGET",
    "DOCUMENT_EVENTS",
    "EVENTS",
    "FEEDBACK",
    "GOLDEN",
    "GRAPH",
    "QUESTIONS",
    "SOURCES",
    "SUMMARY_PREFIX",
    "AccessChanged",
    "AnswerEnd",
    "AnswerEvidence",
    "AnswerGiven",
    "AnswerRound",
    "AnswerSettings",
    "AskedWords",
    "BudgetPeriod",
    "BudgetSet",
    "ChunksCreated",
    "CitedDocument",
    "DescriptionSummarized",
    "DocumentAdded",
    "DocumentCancelled",
    "DocumentDeleted",
    "DocumentErased",
    "EntitiesExtracted",
    "ErasedEvent",
    "ErasureRequested",
    "Event",
    "EvidenceEntity",
    "EvidencePassage",
    "EvidenceRelation",
    "FeedbackGiven",
    "GoldenExpectation",
    "GoldenQuestionRemoved",
    "GoldenQuestionSet",
    "GoldenResult",
    "GoldenRunEnded",
    "GraphEdited",
    "GraphMerged",
    "QuestionCost",
    "QuestionStep",
    "QuestionsCharged",
    "ReceiptForm",
    "RecordedText",
    "RetryRequested",
    "SourceDocument",
    "SourceSet",
    "SourceState",
    "SourceSynced",
    "Stage",
    "StageFailed",
    "VectorsIndexed",
]

_TYPES: tuple[type[Event], ...] = (
    DocumentAdded,
    DocumentDeleted,
    DocumentCancelled,
    AccessChanged,
    ChunksCreated,
    EntitiesExtracted,
    GraphMerged,
    DescriptionSummarized,
    VectorsIndexed,
    StageFailed,
    GraphEdited,
    RetryRequested,
    BudgetSet,
    DocumentErased,
    ErasureRequested,
    QuestionsCharged,
    GoldenQuestionSet,
    GoldenQuestionRemoved,
    GoldenRunEnded,
    FeedbackGiven,
    AnswerGiven,
    SourceSynced,
    SourceSet,
)
EVENTS = {event.type_name(): event for event in _TYPES}
"""Every event of the system by name."""
