"""Long descriptions on a running stack: condensed by the model, replayed for nothing, and gone with
their documents.
"""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.support.corpus import documents
from tests.support.language_model import LanguageModel, serving
from tests.support.stack import Stack, at_rest, running, until

pytestmark = pytest.mark.nightly

COUNT = 40
TEXTS = documents(COUNT)
KEPT = dict(list(TEXTS.items())[: COUNT * 3 // 4])
GONE = dict(list(TEXTS.items())[COUNT * 3 // 4 :])


@pytest.fixture(scope="module")
def model() -> Generator[LanguageModel]:
    with serving() as model:
        model.varied = True
        yield model


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, model: LanguageModel) -> Generator[Stack]:
    folder = tmp_path_factory.mktemp("summaries") / "data"
    with running(folder, SUMMARY_QUIET_SECONDS="1", **model.environment()) as stack:
        yield stack


def settled(stack: Stack, count: int, workspace: str) -> dict[str, Any]:
    """The digest once every document is processed and nothing is being summarised."""
    assert stack.settled(count, workspace)["processed"] == count
    until(lambda: at_rest(stack), stack.logs)
    return stack.digest(workspace)


@pytest.fixture(scope="module")
def loaded(stack: Stack) -> dict[str, Any]:
    stack.add(TEXTS)
    return settled(stack, COUNT, "default")


def test_names_in_many_documents_have_a_description_the_model_made(
    stack: Stack, model: LanguageModel, loaded: dict[str, Any]
) -> None:
    body = {"query": "Harbour Office", "mode": "local", "only_need_context": True}
    with stack.client() as client:
        context = client.post("/query", json=body).json()["response"]
    assert "passages in one, " in context
    mentions = sum(text.count(" Office") for text in TEXTS.values())
    assert 0 < model.calls["summary"] < mentions + len(TEXTS)


def test_a_rebuild_takes_the_summaries_from_the_log(
    stack: Stack, model: LanguageModel, loaded: dict[str, Any]
) -> None:
    calls = dict(model.calls)
    assert stack.json("rebuild", "all")["language_model_calls"] == 0
    assert settled(stack, COUNT, "default") == loaded
    assert {kind: n for kind, n in model.calls.items() if kind != "embed"} == {
        kind: n for kind, n in calls.items() if kind != "embed"
    }


def test_deleted_documents_leave_no_word_in_a_summary(
    stack: Stack, model: LanguageModel, loaded: dict[str, Any]
) -> None:
    stack.add(KEPT, "never")
    never = settled(stack, len(KEPT), "never")
    before = model.calls["summary"]
    stack.json("delete", *GONE, "--yes", "--wait")
    assert settled(stack, len(KEPT), "default") == never
    assert model.calls["extract"] == COUNT + len(KEPT), "deleting extracts nothing"
    # What is summarised anew are the descriptions that had a part in what is gone.
    assert model.calls["summary"] - before <= loaded["counts"]["graph"]["entities"]


def test_a_merger_that_starts_again_reads_a_hub_of_a_hundred_descriptions_and_goes_on(
    stack: Stack,
) -> None:
    texts = {
        f"mill-{number}.txt": f"The Tide Mill ground sack number {number}." for number in range(101)
    }
    last = dict([texts.popitem()])
    stack.add(texts, "hub")
    settled(stack, len(texts), "hub")
    stack.kill("merger")
    stack.add(last, "hub")
    # Others wait behind a batch that never ends.
    stack.add({"other.txt": "The Corn Mill stood still."}, "quiet")
    assert stack.settled(1, "quiet")["processed"] == 1
    digest = settled(stack, len(texts) + 1, "hub")
    assert digest["counts"]["graph"]["entities"] == 1


def test_summaries_that_are_due_since_a_rebuild_are_made_without_another_change(
    tmp_path: Path, model: LanguageModel
) -> None:
    texts = {f"dam-{number}.txt": f"The Salt Dam held in year {number}." for number in range(6)}
    limits = {"SUMMARY_QUIET_SECONDS": "0.5", **model.environment()}
    with running(tmp_path / "data", **limits) as stack:
        stack.add(texts)
        unsummarized = settled(stack, len(texts), "default")
        before = model.calls["summary"]
        stack.down()
        # From here on six descriptions are too many, and no document says anything new.
        stack.env["FORCE_LLM_SUMMARY_ON_MERGE"] = "4"
        stack.up()
        stack.json("rebuild", "all")
        summarized = settled(stack, len(texts), "default")
        made = model.calls["summary"] - before
        assert made > 0
        assert summarized != unsummarized
        stack.json("rebuild", "all")
        assert settled(stack, len(texts), "default") == summarized
        assert model.calls["summary"] - before == made, "what was made once is in the log"
