"""Branches in the extractor: another model, prompt or types for one workspace, and nothing paid
twice.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from contracts.envelope import wrap
from contracts.events import BranchCreated, BranchSettings
from contracts.ids import branch_workspace, origin_of
from runtime.bus.memory import MemoryLog
from runtime.errors import ConfigurationError
from runtime.stores.documents.memory import MemoryRows
from services.extractor.adapters.branch_extractors import BranchExtractors
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.domain.extraction import Extraction
from services.extractor.domain.guidance import ExtractionConfig
from services.extractor.domain.prompt import prompt_version, system_prompt
from services.extractor.settings import ExtractorSettings
from services.extractor.wiring import branch_config, with_branch_model

BRANCH = branch_workspace("w", "small")


async def test_only_a_branch_has_an_extractor_of_its_own_and_one_for_all_its_passages() -> None:
    log = MemoryLog()
    settings = BranchSettings(extract_model="small-1")
    event = BranchCreated(name="small", origin="w", settings=settings)
    at = datetime(2026, 3, 14, tzinfo=UTC)
    await log.publish(wrap(event, id="1", source="test", workspace=BRANCH, time=at))
    opened: list[BranchSettings] = []

    def open_branch(branch: BranchSettings) -> Any:
        opened.append(branch)
        return f"extractor of {branch.extract_model}", None

    usual: Any = "usual"
    extractors = BranchExtractors(log, usual, open_branch, patience=0)
    for workspace, extractor in (
        ("w", "usual"),
        ("w..other", "usual"),
        (BRANCH, "extractor of small-1"),
        (BRANCH, "extractor of small-1"),
    ):
        assert await extractors.of(workspace) == extractor
    assert opened == [settings]


async def test_a_branch_finds_what_its_origin_has_extracted_and_not_the_other_way_round() -> None:
    cache = ExtractionCache(MemoryRows())
    await cache.put("w", "of-origin", Extraction((), ()))
    await cache.put(BRANCH, "of-branch", Extraction((), ()))
    keys = ["of-origin", "of-branch", "of-nobody"]
    assert (await cache.get(BRANCH, keys)).keys() == {"of-origin", "of-branch"}
    assert (await cache.get("w", keys)).keys() == {"of-origin"}
    assert not await cache.get("v..small", keys)


def test_a_prompt_takes_the_place_of_ours_with_its_placeholders() -> None:
    usual = ExtractionConfig()
    config = replace(usual, instructions='Say {"a": 1} in {language}.\n{form}\n{types}')
    prompt = system_prompt(config)
    assert prompt.startswith('Say {"a": 1} in English.\nAnswer with rows only')
    assert "    Person: a human being" in prompt
    versions = [prompt_version(config, gleaning=True) for config in (usual, config)]
    assert versions[0] != versions[1]


def test_a_branch_changes_model_prompt_and_types_and_nothing_else() -> None:
    settings = ExtractorSettings(max_gleaning=0)
    branch = BranchSettings(
        extract_model="small-1", prompt="{form}", entity_types="entity_types_guidance: [Ship]"
    )
    config = branch_config(settings, branch)
    assert (config.instructions, config.guidance.types) == ("{form}", "    Ship")
    assert config.gleaning == 0
    assert with_branch_model(settings, branch).extract_llm_model == "small-1"
    assert with_branch_model(settings, BranchSettings()) == settings


@pytest.mark.parametrize(
    ("branch", "reason"),
    [
        (BranchSettings(prompt="Read it."), r"the prompt lacks \{form\}"),
        (BranchSettings(entity_types="types: [Ship]"), "the branch's entity types line 1: `types`"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_reason(
    branch: BranchSettings, reason: str
) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        branch_config(ExtractorSettings(), branch)


def test_the_name_tells_whose_branch_a_workspace_is() -> None:
    assert origin_of(BRANCH) == "w"
    assert [origin_of(name) for name in ("w", "w.x", "w..", "w..B")] == [None] * 4
