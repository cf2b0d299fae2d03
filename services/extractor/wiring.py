"""What the extractor asks of a model by its settings, and how many tokens that takes."""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from contracts.events import BranchSettings
from contracts.names import clean_text
from contracts.values import Chunk
from runtime.branch_options import check_instructions
from runtime.errors import ConfigurationError
from runtime.models.batches.rules import BatchRules
from runtime.models.roles import language_model
from services.extractor.domain.extraction import Extraction
from services.extractor.domain.gleaning import merge_rounds
from services.extractor.domain.guidance import ExtractionConfig, Guidance
from services.extractor.domain.parsing import parse_answer
from services.extractor.domain.prompt import (
    continue_prompt,
    prompt_version,
    system_prompt,
    user_prompt,
)
from services.extractor.domain.row_collector import MAX_DESCRIPTION
from services.extractor.handler import extraction_key
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


def batch_rules(settings: ExtractorSettings) -> BatchRules:
    """Return how passages are extracted in batches, and those of which workspaces."""
    return BatchRules(
        settings.batches,
        settings.extract_llm_batch_gather,
        settings.extract_llm_batch_poll,
        are_required=settings.extract_llm_batch,
    )


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


def branch_config(settings: ExtractorSettings, branch: BranchSettings) -> ExtractionConfig:
    """Return what is asked of a model for a branch. Raises `ConfigurationError` for a prompt or
    types of entities that cannot be used.
    """
    config = extraction_config(settings)
    if branch.prompt:
        try:
            check_instructions(branch.prompt)
        except ValueError as error:
            raise ConfigurationError(str(error)) from None
        config = replace(config, instructions=branch.prompt)
    if branch.entity_types:
        # YAML is imported only if a branch has types of its own.
        from services.extractor.adapters.guidance_file import parse_guidance  # noqa: PLC0415

        content = branch.entity_types.encode()
        config = replace(config, guidance=parse_guidance(content, "the branch's entity types"))
    return config


def with_branch_model(settings: ExtractorSettings, branch: BranchSettings) -> ExtractorSettings:
    """Return the settings with the model of a branch, at the same endpoint."""
    if not branch.extract_model:
        return settings
    return settings.model_copy(update={"extract_llm_model": branch.extract_model})


def chunks_to_extract(
    chunks: Iterable[Chunk], extracted_keys: Container[str], settings: ExtractorSettings
) -> list[Chunk]:
    """Return the chunks that a model has not extracted as the settings say now, where the events of
    those that it has are known by their cache keys. Without a model none is paid for.
    """
    model = language_model(settings, "extract")
    if model is None:
        return []
    config = extraction_config(settings)
    # One that has no room for a second round is extracted with the prompt of the first.
    rounds = (False, True) if config.gleaning else (False,)
    versions = [prompt_version(config, gleaning=is_second) for is_second in rounds]
    return [
        chunk
        for chunk in chunks
        if not any(
            extraction_key(model.model, version, chunk) in extracted_keys for version in versions
        )
    ]


def _guidance(path: str) -> Guidance:
    if not path:
        return Guidance()
    # YAML is imported only if a file is named.
    from services.extractor.adapters.guidance_file import read_guidance  # noqa: PLC0415

    return read_guidance(path)
