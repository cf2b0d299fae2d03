"""What the extractor asks of a model by its settings, and how many tokens that takes."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from contracts.names import clean_text
from contracts.values import Chunk
from services.extractor.domain.extraction import Extraction
from services.extractor.domain.gleaning import merge_rounds
from services.extractor.domain.guidance import ExtractionConfig, Guidance
from services.extractor.domain.parsing import parse_answer
from services.extractor.domain.prompt import continue_prompt, system_prompt, user_prompt
from services.extractor.domain.row_collector import MAX_DESCRIPTION
from services.extractor.settings import ExtractorSettings

UNLIMITED = ExtractionConfig(max_records=10_000, max_entities=10_000)
"""Of answers that were asked for elsewhere every row counts."""


class ExpectedTokens(NamedTuple):
    """Calls of one chunk, and the tokens they read and write."""

    calls: int
    prompt: int
    completion: int


def expected_tokens(
    config: ExtractionConfig, chunk: Chunk, count: Callable[[str], int], answer: int
) -> ExpectedTokens:
    """Return what extracting a chunk takes, if each answer has so many tokens."""
    first = count(system_prompt(config)) + count(user_prompt(config, chunk.content, chunk.headings))
    second = first + answer + count(continue_prompt(config))
    if not config.gleaning or second > config.max_input_tokens:
        return ExpectedTokens(1, first, answer)
    return ExpectedTokens(2, first + second, 2 * answer)


def read_answers(answers: Sequence[str]) -> Extraction:
    """Return what a model answered elsewhere about one chunk, in its rounds, whatever form it was
    asked for.
    """
    extraction = Extraction((), ())
    for answer in answers:
        extraction = merge_rounds(extraction, Extraction(*parse_answer(answer, UNLIMITED)))
    return extraction


def answered_description(text: str) -> str:
    """Return a description as the rows of an answer have it."""
    return clean_text(text)[:MAX_DESCRIPTION].strip()


def extraction_config(settings: ExtractorSettings) -> ExtractionConfig:
    """Return what is asked of a model. Raises `ConfigurationError` for a guidance file that cannot
    be used.
    """
    return ExtractionConfig(
        language=settings.summary_language,
        json=settings.entity_extraction_use_json,
        gleaning=settings.max_gleaning,
        max_input_tokens=settings.max_extract_input_tokens,
        max_records=settings.max_extraction_records,
        max_entities=settings.max_extraction_entities,
        guidance=_guidance(settings.entity_type_prompt_file),
    )


def _guidance(path: str) -> Guidance:
    if not path:
        return Guidance()
    # YAML is imported only if a file is named.
    from services.extractor.adapters.guidance_file import read_guidance  # noqa: PLC0415

    return read_guidance(path)
