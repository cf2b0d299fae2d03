"""What adding documents may cost, before anything is published: their chunks are cut and counted as
in the services.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from contracts.chunking import Chunking
from contracts.events import BranchSettings
from operations.documents import DocumentSource, RefusedDocument, read_document
from runtime.errors import InvalidInput, Poison
from runtime.models.open import DEFAULT_EMBEDDING_MODEL, open_tokenizer
from runtime.models.roles import language_model
from runtime.parsing.names import printable_name
from services.chunker.settings import ChunkerSettings
from services.chunker.wiring import cut
from services.extractor.settings import ExtractorSettings
from services.extractor.wiring import branch_config, expected_tokens, with_branch_model

ANSWER_SHARE = 0.7
"""Tokens that a model writes about a passage, as a share of the passage's, where nothing was
extracted yet.
"""

EMBEDDED_SHARE = 0.5
"""Share of what a model writes that is embedded, as names and descriptions: the rest are repeats
and marks.
"""

NO_BRANCH = BranchSettings()

BASIS = (
    "chunks are cut and prompts counted as in the services; answers are guessed from {answers}; "
    "what is there already or cached costs less, and long descriptions that are summarised cost "
    "more"
)


class EstimatedText(NamedTuple):
    """A text to estimate; `chunking`: how it is cut where that is its own."""

    name: str
    text: str
    chunking: Chunking | None = None


@dataclass(frozen=True)
class ModelEstimate:
    """What one model would read and write; `money` is None for a model without a price."""

    model: str
    calls: int
    prompt: int
    completion: int
    money: float | None


@dataclass
class CostEstimate:
    """An estimate, and in a sentence how it was made. Where no model is paid `models` is empty."""

    documents: int = 0
    chunks: int = 0
    models: list[ModelEstimate] = field(default_factory=list[ModelEstimate])
    currency: str = ""
    basis: str = ""
    refused: list[RefusedDocument] = field(default_factory=list[RefusedDocument])

    @property
    def money(self) -> float | None:
        """Return the money for models with a price; None when none has one."""
        known_sums = [model.money for model in self.models if model.money is not None]
        return sum(known_sums) if known_sums else None


@dataclass
class _Tokens:
    passages: int = 0
    calls: int = 0
    prompt: int = 0
    completion: int = 0
    answers: int = 0


async def estimate_cost(
    sources: Sequence[DocumentSource],
    chunker: ChunkerSettings,
    extractor: ExtractorSettings,
    *,
    encoding: str = "",
    chunking: Chunking | None = None,
    answer_tokens: float | None = None,
) -> CostEstimate:
    """Read, cut and count the documents, by `chunking` where it is given. `answer_tokens`: what a
    call wrote on average so far, if known.
    """
    refused: list[RefusedDocument] = []

    async def texts() -> AsyncGenerator[EstimatedText]:
        for source in sources:
            try:
                parsed_file = await read_document(source, encoding)
                document_chunking = chunking or parsed_file.chunking
                yield EstimatedText(source.name, parsed_file.text, document_chunking)
            except (InvalidInput, Poison) as error:
                refused.append(RefusedDocument(printable_name(source.name), str(error)))

    estimate = await estimate_texts(
        texts(), chunker.chunking, extractor, answer_tokens=answer_tokens
    )
    estimate.refused += refused
    return estimate


async def estimate_texts(
    texts: AsyncGenerator[EstimatedText],
    chunking: Chunking,
    extractor: ExtractorSettings,
    *,
    branch: BranchSettings = NO_BRANCH,
    answer_tokens: float | None = None,
) -> CostEstimate:
    """Cut and count the texts as `estimate_cost` does, by `chunking` where they have none of their
    own; for a branch with its model, prompt and types of entities.
    """
    tokenizer = open_tokenizer()
    config = branch_config(extractor, branch)
    extractor = with_branch_model(extractor, branch)
    estimate = CostEstimate(currency=extractor.prices.currency)
    tokens = _Tokens()
    async for name, text, own_chunking in texts:
        try:
            text_chunking = own_chunking.over(chunking) if own_chunking else chunking
            chunks = await cut(text, tokenizer, text_chunking)
        except (Poison, ValueError) as error:
            estimate.refused.append(RefusedDocument(printable_name(name), str(error)))
            continue
        estimate.documents += 1
        estimate.chunks += len(chunks)
        for chunk in chunks:
            answer = round(chunk.tokens * ANSWER_SHARE if answer_tokens is None else answer_tokens)
            expected_usage = expected_tokens(config, chunk, tokenizer.count, answer)
            tokens.passages += chunk.tokens
            tokens.calls += expected_usage.calls
            tokens.prompt += expected_usage.prompt
            tokens.completion += expected_usage.completion
            tokens.answers += answer
    estimate.models = _models(estimate.chunks, tokens, extractor)
    answer_source = (
        "the workspace's own so far"
        if answer_tokens is not None
        else f"{ANSWER_SHARE:.0%} of the passages"
    )
    estimate.basis = BASIS.format(answers=answer_source)
    return estimate


def _models(chunks: int, tokens: _Tokens, settings: ExtractorSettings) -> list[ModelEstimate]:
    models: list[ModelEstimate] = []
    if model := language_model(settings, "extract"):
        money = settings.prices.money(
            model.model, tokens.prompt, 0, tokens.completion, in_batch=settings.extract_llm_batch
        )
        counts = (tokens.calls, tokens.prompt, tokens.completion)
        models.append(ModelEstimate(model.model, *counts, _number(money)))
    if settings.has_embedding_endpoint:
        embedded_tokens = tokens.passages + round(tokens.answers * EMBEDDED_SHARE)
        calls = -(-chunks // settings.embedding_batch_num)
        name = settings.embedding_model or DEFAULT_EMBEDDING_MODEL
        money = settings.prices.money(name, embedded_tokens, 0, 0)
        models.append(ModelEstimate(name, calls, embedded_tokens, 0, _number(money)))
    return models


def _number(money: Decimal | None) -> float | None:
    return None if money is None else float(money)
