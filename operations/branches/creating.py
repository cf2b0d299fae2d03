"""Makes branches: what one may cost, its beginning, and the first copy of its documents."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from contracts import subjects
from contracts.chunking import Chunking
from contracts.events import (
    BranchCreated,
    BranchSettings,
    BudgetSet,
    DocumentAdded,
)
from contracts.ids import branch_workspace, sha256
from contracts.moments import microseconds
from operations.command_bus import SOURCE
from operations.estimate import (
    CostEstimate,
    EstimatedText,
    EstimateSettings,
    estimate_texts,
)
from operations.figure_estimate import EstimatedFigure
from operations.past_calls import past_calls
from operations.target import Target
from publishing.branch_copies import BranchCopier
from publishing.branches import publish_branch_event, refuse_name
from runtime.branch_options import NOTHING_OTHER, BranchOptions
from runtime.branches import Branch, read_branch
from runtime.bus.codec import decode
from runtime.bus.port import Blobs, LiveGenerations, Log
from runtime.costs.budget import set_budget
from runtime.errors import InvalidInput, NewerVersion, Poison
from runtime.models.roles import language_model
from runtime.plugins.chunking import check_chunker
from services.chunker.settings import ChunkerSettings, ChunkingDefaults
from services.extractor.settings import ExtractorSettings
from services.extractor.wiring import branch_config


@dataclass(frozen=True)
class _Documents:
    """The documents of a branch at its beginning: sequences of their newest versions."""

    sequences: frozenset[int]
    sampled_up_to: str


async def check(log: Log, target: Target, origin: str, options: BranchOptions) -> None:
    """Raise InvalidInput or ConfigurationError for a branch that cannot be made."""
    if not options.has_difference:
        raise InvalidInput(NOTHING_OTHER)
    await refuse_name(log, origin, options.name)
    settings = options.settings
    extractor = target.settings_of(ExtractorSettings)
    if language_model(extractor, "extract") is None and (
        settings.extract_model or settings.prompt or settings.entity_types
    ):
        raise InvalidInput(
            "no language model extracts here, so a branch cannot have another model, prompt or "
            "types of entities: name one by LLM_BASE_URL or LLM_API_KEY, or change the chunking"
        )
    branch_config(extractor, settings)
    _chunking(target, origin, settings)


def _chunking(target: Target, origin: str, settings: BranchSettings) -> Chunking:
    defaults = target.settings_of(ChunkerSettings).chunking_defaults
    try:
        check_chunker(settings.chunking or Chunking())
        return defaults.of(origin, settings.chunking)
    except ValueError as error:
        raise InvalidInput(f"the chunking cannot be used: {error}") from None


async def estimate(
    log: Log,
    blobs: Blobs,
    pointers: LiveGenerations,
    target: Target,
    origin: str,
    options: BranchOptions,
) -> CostEstimate:
    """Return what the branch may cost at most; nothing is changed. Raises what `check` raises."""
    await check(log, target, origin, options)
    documents = await _documents(log, origin, options.sample)
    async with aclosing(_texts(log, blobs, origin, documents)) as texts:
        settings = EstimateSettings(
            target.settings_of(ChunkerSettings),
            target.settings_of(ExtractorSettings),
            options.settings,
            await past_calls(pointers, target, origin),
            origin,
        )
        chunking = ChunkingDefaults(_chunking(target, origin, options.settings))
        return await estimate_texts(texts, chunking, settings)


async def create(
    log: Log, target: Target, origin: str, options: BranchOptions, reason: str = ""
) -> Branch:
    """Begin the branch, with its budget: the gateway copies the documents of its origin into it.
    Raises what `check` raises.
    """
    await check(log, target, origin, options)
    documents = await _documents(log, origin, options.sample)
    workspace = branch_workspace(origin, options.name)
    budget = BudgetSet(money=options.budget, tokens=options.budget_tokens, reason=reason)
    if budget.is_limit:
        await set_budget(log, workspace=workspace, budget=budget, source=SOURCE)
    event = BranchCreated(
        name=options.name,
        origin=origin,
        settings=options.settings,
        sample=options.sample,
        sampled_up_to=documents.sampled_up_to,
        reason=reason,
    )
    await publish_branch_event(log, workspace, event, SOURCE)
    return await read_branch(log, origin, options.name)


@dataclass(frozen=True)
class CopiedDocuments:
    """The documents that a branch has: when each one's text was added, in microseconds since 1970,
    by id; and the highest sequence among their copies.
    """

    added_at: Mapping[str, int]
    last_sequence: int


async def copy_documents(log: Log, blobs: Blobs, branch: Branch) -> CopiedDocuments:
    """Copy what the branch lacks of its origin, as the gateway does by itself, and return what the
    branch has then. Raises `Unavailable`.
    """
    await BranchCopier(log, blobs, branch).copy_new()
    added_at: dict[str, int] = {}
    last_sequence = 0
    async for page in log.read(0, [subjects.of_type_in(branch.workspace, "DocumentAdded")]):
        for message in page:
            envelope = decode(message.data, message.subject, message.headers)
            at = envelope.time or message.published_at
            added_at[envelope.data.aggregate_id] = microseconds(at)
            last_sequence = message.sequence
    return CopiedDocuments(added_at, last_sequence)


async def _documents(log: Log, origin: str, sample: int | None) -> _Documents:
    """Return the documents that the origin has now, or a sample of them: those whose ids have the
    least hashes.
    """
    newest_sequences: dict[str, int] = {}
    names = ("DocumentAdded", "DocumentDeleted")
    filters = [subjects.of_type_in(origin, name) for name in names]
    async for page in log.read(0, filters):
        for message in page:
            try:
                event = decode(message.data, message.subject, message.headers).data
            except (Poison, NewerVersion):
                continue
            if isinstance(event, DocumentAdded):
                newest_sequences[event.document_id] = message.sequence
            else:
                newest_sequences.pop(event.aggregate_id, None)
    if not newest_sequences:
        raise InvalidInput(f"workspace {origin} has no documents to make a branch of")
    if sample is None or sample >= len(newest_sequences):
        return _Documents(frozenset(newest_sequences.values()), "")
    by_hash = sorted((sha256(id), sequence) for id, sequence in newest_sequences.items())[:sample]
    return _Documents(frozenset(sequence for _, sequence in by_hash), by_hash[-1][0])


async def _texts(
    log: Log, blobs: Blobs, origin: str, documents: _Documents
) -> AsyncGenerator[EstimatedText]:
    """Yield name and text of each document; custom knowledge, which no model reads, has none."""
    async for page in log.read(0, [subjects.of_type_in(origin, DocumentAdded.type_name())]):
        for message in page:
            if message.sequence not in documents.sequences:
                continue
            event = decode(message.data, message.subject, message.headers).data
            assert isinstance(event, DocumentAdded)
            # What its origin has described already costs nothing, and is counted all the same.
            figures = [EstimatedFigure.of(figure) for figure in event.figures]
            if event.text is not None:
                yield EstimatedText(event.file_path, event.text, None, figures)
            elif event.blob and event.blob_kind == "text":
                text = await blobs.get(event.blob)
                yield EstimatedText(event.file_path, text, None, figures)
