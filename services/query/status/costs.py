"""What an event says was paid to a model: an entry of the ledger."""

from contracts.events import (
    DescriptionSummarized,
    EntitiesExtracted,
    Event,
    FigureDescribed,
    QuestionCost,
    QuestionsCharged,
    VectorsIndexed,
)
from contracts.values import TokenUsage
from runtime.bus.port import Delivery
from runtime.costs.port import QUESTION_STAGE, CostEntry

PaidEvent = EntitiesExtracted | DescriptionSummarized | VectorsIndexed | FigureDescribed
"""Events that say what a model was paid for a document or a summary."""


def cost_entries_of(delivery: Delivery[Event]) -> list[CostEntry]:
    """Return the entries of an event, always in the same order: several only of what questions
    cost, and of what was paid in batches for a part.
    """
    event = delivery.event
    if isinstance(event, QuestionsCharged):
        return [_question_entry(delivery, cost) for cost in event.costs]
    if not isinstance(event, PaidEvent):
        return []
    single_usage, batch_usage = event.usage.by_price()
    entries = (
        _cost_entry(delivery, event, single_usage, in_batch=False),
        _cost_entry(delivery, event, batch_usage, in_batch=True),
    )
    return [entry for entry in entries if entry.prompt or entry.completion]


def _question_entry(delivery: Delivery[Event], cost: QuestionCost) -> CostEntry:
    return CostEntry(
        day=delivery.happened_at.date().isoformat(),
        document="",
        stage=f"{QUESTION_STAGE}{cost.step}",
        model=cost.model,
        sequence=delivery.sequence,
        milliseconds=cost.duration_ms,
        prompt=cost.usage.prompt,
        cached=cost.usage.cached,
        completion=cost.usage.completion,
        calls=cost.usage.calls,
    )


def _cost_entry(
    delivery: Delivery[Event], event: PaidEvent, usage: TokenUsage, *, in_batch: bool
) -> CostEntry:
    """Return the entry of what an event paid at one of both prices; without tokens where it paid
    none, as by the models of this machine.
    """
    is_timed = isinstance(event, EntitiesExtracted | FigureDescribed)
    is_saved = is_timed and event.cached
    return CostEntry(
        day=delivery.happened_at.date().isoformat(),
        document=_document(event),
        stage=_STAGES[event.type_name()],
        model=event.model,
        sequence=delivery.sequence,
        prompt=usage.prompt,
        cached=usage.cached,
        completion=usage.completion,
        # Language models of older releases did not count their calls; at least one was made.
        calls=usage.calls if isinstance(event, VectorsIndexed) else usage.calls or 1,
        milliseconds=event.duration_ms if is_timed and not (is_saved or in_batch) else 0,
        saved=is_saved,
        in_batch=in_batch,
    )


_STAGES = {
    "FigureDescribed": "chunker",
    "EntitiesExtracted": "extractor",
    "DescriptionSummarized": "merger",
    "VectorsIndexed": "indexer",
}


def _document(event: PaidEvent) -> str:
    if isinstance(event, DescriptionSummarized) or event.document is None:
        return ""
    return event.document.id
