"""A stack with a language model: each passage is paid for once; a refused key and a busy provider
are waited for.
"""

import re
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from services.extractor.domain.guidance import DEFAULT
from services.extractor.domain.prompt import prompt_version
from tests.support.corpus import documents
from tests.support.language_model import (
    ANSWER,
    CHAT_MODEL,
    EMBEDDING_MODEL,
    KEY,
    USAGE,
    LanguageModel,
    serving,
)
from tests.support.raw_events import dead_letters, history
from tests.support.stack import Stack, running, until

WRONG_KEY = "sk-wrong-key-that-must-stay-secret"
TEXTS = {f"{name}": text for name, text in documents(24).items()}
COPIES = {f"copy-of-{name}": TEXTS[name] for name in list(TEXTS)[:6]}
COUNT = len(TEXTS) + len(COPIES)
PROMPT = USAGE["prompt_tokens"]
COMPLETION = USAGE["completion_tokens"]
PRICES = f'{{"{CHAT_MODEL}": {{"prompt": 1000, "completion": 2000}}}}'

REFUSED = r"refused the key \(HTTP 401: [^\n]*\): change LLM_API_KEY"
"""The sentence about a wrong key, with the provider's own in it."""


@pytest.fixture(scope="module")
def model() -> Generator[LanguageModel]:
    with serving() as model:
        yield model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documents as files: every text is short enough for one passage, and some texts come
    twice.
    """
    folder = tmp_path_factory.mktemp("texts")
    for name, text in (TEXTS | COPIES).items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def stack(
    tmp_path_factory: pytest.TempPathFactory, model: LanguageModel, folder: Path
) -> Generator[Stack]:
    """A stack whose key is refused, with documents."""
    with running(
        tmp_path_factory.mktemp("model") / "data",
        MODEL_PRICES=PRICES,
        **model.environment(WRONG_KEY),
    ) as stack:
        assert stack.run("add", str(folder)).returncode == 0
        yield stack


@pytest.fixture(scope="module")
def corpus(stack: Stack, model: LanguageModel) -> dict[str, Any]:
    """Started again with the right key, and everything processed: the digests."""
    stack.down()
    stack.env.update(model.environment())
    stack.up()
    assert stack.settled(COUNT)["processed"] == COUNT
    return stack.digest()


def test_a_refused_key_holds_documents_up_and_fails_none(
    stack: Stack, model: LanguageModel
) -> None:
    log = stack.folder / "services" / "extractor.log"
    until(lambda: model.refused >= 4 and re.search(REFUSED, log.read_text()), stack.logs)
    until(lambda: stack.counts()["processing"] == COUNT, stack.logs)
    counts = stack.counts()
    assert (counts["failed"], counts["partial"], counts["all"]) == (0, 0, COUNT)
    assert dead_letters(stack) == []
    report = until(lambda: tried_again(stack), stack.logs)
    paused = rf"at 127\.0\.0\.1 is paused since 20\S+: 127\.0\.0\.1 {REFUSED}"
    assert re.search(rf"^FAIL  {re.escape(CHAT_MODEL)} {paused}", report, re.MULTILINE), report
    _, _, cause = report.partition("are being tried again\n")
    assert re.search(REFUSED, cause.splitlines()[0]), report
    assert WRONG_KEY not in report
    with stack.client() as client:
        answer = client.post("/query", json={"query": "Who is Ada Marlow?", "mode": "mix"})
    assert answer.status_code == 503
    assert WRONG_KEY not in answer.text


def tried_again(stack: Stack) -> str | None:
    report = stack.run("doctor").stdout
    return report if "extractor: " in report and "are being tried again" in report else None


def test_a_good_key_lets_everything_through(corpus: dict[str, Any], stack: Stack) -> None:
    assert corpus["counts"]["status"]["documents"] == COUNT
    assert stack.json("status")["unfinished"] == []


def test_no_key_is_in_any_file(corpus: dict[str, Any], stack: Stack) -> None:
    files = [path for path in stack.folder.rglob("*") if path.is_file()]
    assert len(files) > 20
    result = [
        path for path in files for key in (KEY, WRONG_KEY) if key.encode() in path.read_bytes()
    ]
    assert result == []


def test_every_passage_is_asked_about_once_and_once_more_for_what_was_missed(
    corpus: dict[str, Any], model: LanguageModel
) -> None:
    assert set(model.passages) == set(TEXTS.values())
    assert set(model.passages.values()) == {1}
    assert (model.calls["extract"], model.calls["glean"]) == (len(TEXTS), len(TEXTS))


def test_the_ledger_says_what_the_provider_counted(corpus: dict[str, Any], stack: Stack) -> None:
    calls = 2 * len(TEXTS)
    report = until(lambda: complete_report(stack, calls), stack.logs)
    (extraction,) = [group for group in report["groups"] if group["name"] == "extractor"]
    assert (extraction["prompt"], extraction["completion"]) == (PROMPT * calls, COMPLETION * calls)
    assert extraction["money"] == pytest.approx(
        (PROMPT * 1000 + COMPLETION * 2000) * calls / 1_000_000
    )
    assert (extraction["saved_results"], extraction["unpriced"]) == (len(COPIES), 0)
    (embedding,) = [group for group in report["groups"] if group["name"] == "indexer"]
    assert (embedding["money"], embedding["unpriced"]) == (None, embedding["prompt"])
    assert embedding["prompt"] == embedding["calls"] * USAGE["total_tokens"] > 0
    costs = stack.run("cost", "--by", "model").stdout
    assert f"cached results saved {len(COPIES)} extractions" in costs
    assert f"{EMBEDDING_MODEL}: {embedding['calls']} calls" in costs


def complete_report(stack: Stack, calls: int) -> dict[str, Any] | None:
    """What was paid, once the ledger has all calls of the extraction: it is written after the
    documents' status.
    """
    report = stack.json("cost", "--by", "stage")
    return (
        report
        if {"name": "extractor", "calls": calls}.items() <= report["groups"][0].items()
        else None
    )


def test_events_say_which_model_and_prompt_and_what_it_cost(
    corpus: dict[str, Any], stack: Stack
) -> None:
    first = next(iter(COPIES))
    events = [
        event["data"]
        for name in (first, first.removeprefix("copy-of-"))
        for event in history(stack, stack.json("status", name)["id"])
    ]
    extractions = [event for event in events if event.type_name() == "EntitiesExtracted"]
    assert {(event.model, event.prompt_version) for event in extractions} == {
        (CHAT_MODEL, prompt_version(DEFAULT, gleaning=True))
    }
    paid = [(event.usage.prompt, event.usage.completion) for event in extractions]
    assert paid == [(2 * PROMPT, 2 * COMPLETION)] * 2
    assert sorted(event.cached for event in extractions) == [False, True]
    indexed = [event for event in events if event.type_name() == "VectorsIndexed"]
    assert {(event.model, event.dimension) for event in indexed} == {(EMBEDDING_MODEL, 64)}


def test_the_model_answers(corpus: dict[str, Any], stack: Stack, model: LanguageModel) -> None:
    answer = stack.json("ask", "What did Ada Marlow do in Port Elm?", "--mode", "mix")
    assert answer["response"] == ANSWER
    assert answer["llm_generated"] is True
    assert {reference["file_path"] for reference in answer["references"]} <= (TEXTS | COPIES).keys()
    assert (model.calls["keywords"], model.calls["answer"]) == (1, 1)
    answer = stack.run("ask", "What did Ada Marlow do in Port Elm?", "--mode", "mix").stdout
    assert ANSWER in answer
    assert "[1] " in answer
    # Nothing has happened in between, so the second time costs nothing.
    assert (model.calls["keywords"], model.calls["answer"]) == (1, 1)
    calls = until(lambda: charged(stack), stack.logs)
    assert {
        name: (count["calls"], count["prompt"], count["completion"])
        for name, count in calls.items()
    } == {
        "query-answer": (1, PROMPT, COMPLETION),
        "query-keywords": (1, PROMPT, COMPLETION),
        "query-embedding": asked_embeddings(calls),
    }


def charged(stack: Stack) -> dict[str, Any] | None:
    """What questions cost by step, once the ledger has it: it is written after the answer."""
    groups = {group["name"]: group for group in stack.json("cost", "--by", "stage")["groups"]}
    steps = {name: group for name, group in groups.items() if name.startswith("query-")}
    return steps if "query-answer" in steps else None


HOPS = {
    "sale.txt": "Rosa Quill sold the Copper Bell to Hanna Voss.",
    "tower.txt": "Hanna Voss gave it to the Salt Tower.",
    "keeper.txt": "The Salt Tower is kept by Otto Brandt.",
}
"""Each names what the next one is about."""


def test_with_high_effort_the_model_goes_from_name_to_name_and_pays_for_it(
    corpus: dict[str, Any], stack: Stack, model: LanguageModel
) -> None:
    stack.add(HOPS, "hops")
    assert stack.settled(len(HOPS), "hops")["processed"] == len(HOPS)
    question = "Who keeps the tower that has what Rosa Quill sold?"
    body = {"query": question, "mode": "naive", "chunk_top_k": 3, "effort": "high"}
    with stack.client("hops") as client:
        answer = client.post("/query/data", json={**body, "chunk_top_k": 1}).json()
        lines = client.post("/query/stream", json={**body, "include_progress": True}).text
    rounds = answer["metadata"]["processing_info"]["rounds"]
    assert rounds[-1]["ended"] == "the model asks for nothing more"
    assert [step["tool"] for found in rounds for step in found["steps"]] == ["find_text"] * (
        len(rounds) - 1
    )
    searched = " ".join(search for found in rounds for search in found["searches"])
    assert "Hanna Voss" in searched and "Salt Tower" in searched, searched
    assert '"progress": "using_tool", "detail": "find_text: ' in lines
    outcome = stack.run("ask", question, "--effort", "high", "--workspace", "hops")
    assert "searched: find_text: " in outcome.stdout + outcome.stderr
    assert model.calls["tools"] >= 3

    def paid() -> bool:
        report = stack.json("cost", "--by", "stage", "--workspace", "hops")
        steps = {group["name"]: group["calls"] for group in report["groups"]}
        return steps.get("query-assessment") == model.calls["tools"]

    until(paid, stack.logs)


def asked_embeddings(asked: dict[str, Any]) -> tuple[int, int, int]:
    """Every call for vectors of a question is counted with its tokens, however many there were."""
    calls = asked["query-embedding"]["calls"]
    assert calls > 0
    return calls, USAGE["total_tokens"] * calls, 0


def test_adding_the_same_files_again_costs_nothing(
    corpus: dict[str, Any], stack: Stack, model: LanguageModel, folder: Path
) -> None:
    before = (model.calls.copy(), model.embedded)
    outcome = stack.json("add", str(folder), "--wait")
    assert (len(outcome["added"]), len(outcome["unchanged"])) == (0, COUNT)
    assert (model.calls, model.embedded) == before
    assert stack.digest() == corpus


def test_an_estimate_adds_nothing_and_pays_nothing(
    corpus: dict[str, Any], stack: Stack, model: LanguageModel, folder: Path
) -> None:
    before = (model.calls.copy(), model.embedded)
    made = stack.json("add", str(folder), "--estimate", "--workspace", "estimated")
    assert (made["documents"], made["chunks"], made["models"][0]["calls"]) == (
        COUNT,
        COUNT,
        2 * COUNT,
    )
    assert made["money"] == made["models"][0]["money"] > 0
    assert "no price in MODEL_PRICES" in stack.run("add", str(folder), "--estimate").stdout
    assert (model.calls, model.embedded) == before
    assert stack.counts("estimated")["all"] == 0


def test_a_rebuild_asks_no_model(
    corpus: dict[str, Any], stack: Stack, model: LanguageModel
) -> None:
    before = (model.calls.copy(), model.embedded)
    paid = stack.json("cost", "--by", "document")
    done = stack.json("rebuild", "all")
    assert all(compared["same"] for compared in done["digests"].values())
    assert (model.calls, model.embedded) == before
    assert stack.digest() == corpus
    assert stack.json("cost", "--by", "document") == paid


@pytest.mark.nightly
def test_a_comparison_pays_for_its_questions_and_the_ledger_has_it(
    corpus: dict[str, Any], stack: Stack, model: LanguageModel, tmp_path: Path
) -> None:
    before, paid = model.calls.copy(), charged(stack) or {}
    (questions := tmp_path / "questions.txt").write_text(
        "Who keeps the light at the far end of the harbour?\n"
    )
    done = stack.json("rebuild", "start", "vectors", "--compare", str(questions))
    assert done["compared"]["same_answers"] == 1
    made = model.calls - before
    assert made["answer"] == 1 and made["extract"] == 0

    def counted() -> bool:
        calls = {name: count["calls"] for name, count in (charged(stack) or {}).items()}
        return calls.get("query-answer", 0) == paid.get("query-answer", {}).get("calls", 0) + 1

    until(counted, stack.logs)
    stack.json("rebuild", "cleanup", "vectors")
    assert stack.digest() == corpus


@pytest.mark.nightly
def test_without_the_document_store_each_text_is_embedded_again_but_no_language_model_asked(
    corpus: dict[str, Any], stack: Stack, model: LanguageModel, folder: Path
) -> None:
    stack.down()
    shutil.rmtree(stack.folder / "documents")
    stack.up()
    before = model.calls.copy()

    stack.json("rebuild", "all")

    assert stack.digest() == corpus
    assert model.calls - before == {"embed": model.calls["embed"] - before["embed"]}
    # What was paid for is known again: a new document with an old text costs nothing either.
    (folder / "late.txt").write_text(next(iter(TEXTS.values())))
    assert (
        stack.json("add", str(folder / "late.txt"), "--wait")["documents"][0]["status"]
        == "processed"
    )
    assert (model.calls["extract"], model.calls["glean"]) == (len(TEXTS), len(TEXTS))


def test_a_busy_provider_delays_and_fails_nothing(
    corpus: dict[str, Any], stack: Stack, model: LanguageModel
) -> None:
    more = documents(8, seed=12)
    model.be_busy(3.0)
    stack.add(more, "busy")
    assert stack.settled(len(more), "busy")["processed"] == len(more)
    assert model.busy >= 2
    assert all(model.passages[text] == 1 for text in more.values())
    assert "asks to wait" in (stack.folder / "services" / "extractor.log").read_text()
    assert dead_letters(stack) == []


def test_extraction_waits_for_a_budget_and_goes_on_when_it_is_raised(
    corpus: dict[str, Any], stack: Stack, model: LanguageModel
) -> None:
    space = ("--workspace", "limited")
    stack.json("budget", "set", "--tokens", "0", *space)
    text, before = next(iter(documents(1, seed=13).values())), model.calls["extract"]
    stack.add({"limited.txt": text}, "limited")
    stack.add({"unlimited.txt": text}, "unlimited")
    assert stack.settled(1, "unlimited")["processed"] == 1
    rows = until(lambda: waiting(stack.run("status", *space).stdout), stack.logs)
    assert "the budget of 0 tokens is spent" in rows
    counts = stack.counts("limited")
    assert (counts["processing"], counts["failed"]) == (1, 0)
    assert model.calls["extract"] == before + 1
    assert stack.json("budget", "show", *space)["exceeded"]
    with stack.client("limited") as client:
        assert (
            client.get("/health").json()["budget_exceeded"]
            == stack.json("budget", "show", *space)["exceeded"]
        )

    stack.json("budget", "set", "--tokens", "1000000", "--reason", "approved", *space)
    assert stack.settled(1, "limited")["processed"] == 1
    lines = stack.run("log", *space).stdout
    assert "budget 1,000,000 tokens: approved" in lines
    assert dead_letters(stack) == []
    assert stack.json("budget", "clear", "--yes", *space)["tokens"] is None


def waiting(rows: str) -> str | None:
    return rows if "parked" in rows else None
