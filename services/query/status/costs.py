"""What an event says was paid to a model: an entry of the ledger."""

from contracts.events import (
    DescriptionSummarized,
    EntitiesExtracted,
    Event,
    QuestionCost,
    QuestionsCharged,
    VectorsIndexed,
)
from runtime.bus.port import Delivery
from runtime.costs.port import QUESTION_STAGE, CostEntry


def cost_entries_of(delivery: Delivery[Event]) -> list[CostEntry]:
    """Return the entries of an event, always in the same order: several only of what questions
    cost.
    """
    event = delivery.event
    if isinstance(event, QuestionsCharged):
        return [_question_entry(delivery, cost) for cost in event.costs]
    entry = cost_entry(delivery)
    return [entry] if entry else []


def _question_entry(delivery: Delivery[Event], cost: QuestionCost) -> CostEntry:
    return CostEntry(
        day=delivery.happened_at.date().isoformat(),
        document="",
        stage=f"{QUESTION_STAGE}{cost.step}",
        model=cost.model,
        sequence=delivery.sequence,
        milliseconds=cost.duration_ms,
        **cost.usage.model_dump(),
    )


def cost_entry(delivery: Delivery[Event]) -> CostEntry | None:
    """Return the entry of an event; None where no tokens are named, as by the models of this
    machine.
    """
    event = delivery.event
    if not isinstance(event, EntitiesExtracted | DescriptionSummarized | VectorsIndexed):
        return None
    usage = event.usage
    if not (usage.prompt or usage.completion):
        return None
    is_extraction = isinstance(event, EntitiesExtracted)
    is_saved = is_extraction and event.cached
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
        milliseconds=event.duration_ms if is_extraction and not is_saved else 0,
        saved=is_saved,
    )


_STAGES = {
    "EntitiesExtracted": "extractor",
    "DescriptionSummarized": "merger",
    "VectorsIndexed": "indexer",
}


def _document(event: EntitiesExtracted | DescriptionSummarized | VectorsIndexed) -> str:
    if isinstance(event, DescriptionSummarized) or event.document is None:
        return ""
    return event.document.id
