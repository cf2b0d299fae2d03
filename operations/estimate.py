"""What adding documents may cost, before anything is published: their chunks are cut and counted as
in the services.
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple, Protocol

from contracts.chunking import Chunking
from contracts.events import BranchSettings
from contracts.values import Chunk, Figure
from operations.documents import DocumentSource, RefusedDocument, read_document
from operations.figure_estimate import DescriptionUsage, EstimatedFigure, FigureEstimate
from runtime.errors import InvalidInput, Poison
from runtime.models.open import DEFAULT_EMBEDDING_MODEL, open_tokenizer
from runtime.models.roles import language_model
from runtime.parsing.names import printable_name
from services.chunker.settings import ChunkerSettings, ChunkingDefaults
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


class CostCounts(Protocol):
    """What calls of a stage took together."""

    @property
    def calls(self) -> int:
        """How many."""
        ...

    @property
    def prompt(self) -> int:
        """Tokens that were read."""
        ...

    @property
    def completion(self) -> int:
        """Tokens that were written."""
        ...


class EstimatedText(NamedTuple):
    """A text to estimate, with its figures; `chunking`: how it is cut where that is its own."""

    name: str
    text: str
    chunking: Chunking | None = None
    figures: Sequence[EstimatedFigure] = ()


class PastCalls(NamedTuple):
    """Tokens that a call has taken on average in a workspace so far, where there was any:
    `answer`, what one of extraction wrote, and what describing a figure took.
    """

    answer: float | None = None
    description: DescriptionUsage | None = None

    @classmethod
    def of(cls, groups: Mapping[str, CostCounts]) -> "PastCalls":
        """Return them from the sums of the stages."""
        extraction = groups.get("extractor")
        figures = groups.get("chunker")
        answer = (
            extraction.completion / extraction.calls if extraction and extraction.calls else None
        )
        if not figures or not figures.calls:
            return cls(answer)
        usage = DescriptionUsage(figures.prompt / figures.calls, figures.completion / figures.calls)
        return cls(answer, usage)


NO_CALLS = PastCalls()


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
    figures: int = 0
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


class EstimateSettings(NamedTuple):
    """How documents are cut, described and extracted; `branch`: what a branch has other than its
    origin; `past`: what calls of the `workspace` took so far.
    """

    chunker: ChunkerSettings
    extractor: ExtractorSettings
    branch: BranchSettings = NO_BRANCH
    past: PastCalls = NO_CALLS
    workspace: str = ""


async def estimate_cost(
    sources: Sequence[DocumentSource],
    settings: EstimateSettings,
    *,
    encoding: str = "",
    chunking: Chunking | None = None,
) -> CostEstimate:
    """Read, cut and count the documents, by `chunking` where it is given."""
    refused: list[RefusedDocument] = []

    async def texts() -> AsyncGenerator[EstimatedText]:
        for source in sources:
            try:
                parsed_file = await read_document(source, encoding)
                document_chunking = chunking or parsed_file.chunking
                figures = [EstimatedFigure.of_file(figure) for figure in parsed_file.figures]
                yield EstimatedText(source.name, parsed_file.text, document_chunking, figures)
            except (InvalidInput, Poison) as error:
                refused.append(RefusedDocument(printable_name(source.name), str(error)))

    estimate = await estimate_texts(texts(), settings.chunker.chunking_defaults, settings)
    estimate.refused += refused
    return estimate


async def estimate_texts(
    texts: AsyncGenerator[EstimatedText], chunking: ChunkingDefaults, settings: EstimateSettings
) -> CostEstimate:
    """Cut and count the texts as `estimate_cost` does, by `chunking` where they have none of their
    own.
    """
    tokenizer = open_tokenizer()
    counting = _Counting(settings, tokenizer.count)
    async for text in texts:
        try:
            text_chunking = chunking.of(settings.workspace, text.chunking)
            chunks = await cut(text.text, tokenizer, text_chunking)
        except (Poison, ValueError) as error:
            refused_document = RefusedDocument(printable_name(text.name), str(error))
            counting.estimate.refused.append(refused_document)
            continue
        counting.estimate.documents += 1
        counting.add(chunks, text.figures)
    return counting.result()


def estimate_figures(
    documents: Iterable[Sequence[Figure]],
    settings: EstimateSettings,
    chunks: Iterable[Chunk] = (),
) -> CostEstimate:
    """Return what describing these figures of each document may cost, extracting what is said of
    them, and extracting these chunks of the documents' texts.
    """
    counting = _Counting(settings, open_tokenizer().count)
    for figures in documents:
        counting.estimate.documents += 1
        counting.add((), [EstimatedFigure.of(figure) for figure in figures])
    counting.add(chunks, ())
    return counting.result()


class _Counting:
    """Adds up what documents may cost."""

    def __init__(self, settings: EstimateSettings, count_tokens: Callable[[str], int]) -> None:
        self.estimate = CostEstimate(currency=settings.extractor.prices.currency)
        self._count_tokens = count_tokens
        self._answer = settings.past.answer
        self._config = branch_config(settings.extractor, settings.branch)
        self._extractor = with_branch_model(settings.extractor, settings.branch)
        self._figures = FigureEstimate(settings.chunker, count_tokens, settings.past.description)
        self._tokens = _Tokens()

    def add(self, chunks: Iterable[Chunk], figures: Sequence[EstimatedFigure]) -> None:
        """Add the chunks of a document and its figures."""
        for chunk in chunks:
            self._add_passage(chunk, chunk.tokens)
        for tokens in self._figures.add(figures):
            self.estimate.figures += 1
            self._add_passage(Chunk(id="", order=0, tokens=0, content=""), tokens)

    def _add_passage(self, chunk: Chunk, passage_tokens: int) -> None:
        """Add a passage of so many tokens; those that its content lacks are read in each call."""
        answer = round(passage_tokens * ANSWER_SHARE if self._answer is None else self._answer)
        usage = expected_tokens(self._config, chunk, self._count_tokens, answer)
        tokens = self._tokens
        self.estimate.chunks += 1
        tokens.passages += passage_tokens
        tokens.calls += usage.calls
        tokens.prompt += usage.prompt + usage.calls * (passage_tokens - chunk.tokens)
        tokens.completion += usage.completion
        tokens.answers += answer

    def result(self) -> CostEstimate:
        """Return the estimate of all that was added."""
        estimate = self.estimate
        if model := self._figures.model:
            counts = (self._figures.calls, self._figures.prompt, self._figures.completion)
            money = self._extractor.prices.money(model.model, counts[1], 0, counts[2])
            if self._figures.calls:
                estimate.models.append(ModelEstimate(model.model, *counts, _number(money)))
        estimate.models += _models(estimate.chunks, self._tokens, self._extractor)
        answer_source = (
            f"{ANSWER_SHARE:.0%} of the passages"
            if self._answer is None
            else "the workspace's own so far"
        )
        estimate.basis = BASIS.format(answers=answer_source)
        if estimate.figures:
            estimate.basis += self._figures.basis
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
