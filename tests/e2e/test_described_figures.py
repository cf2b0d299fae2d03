"""A stack with a model that sees pictures: a question whose answer stands in a figure alone, and
what becomes of the figure.
"""

from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lightstream_rag.models import Document
from tests.support.misbehaving_provider import MisbehavingProvider, good_answers, serving
from tests.support.misbehaving_provider.chat import MODEL
from tests.support.misbehaving_provider.server import KEY
from tests.support.pictures import picture, word_file
from tests.support.stack import Stack, running, until
from tests.support.stored_bytes import files_with

pytestmark = pytest.mark.nightly

KEEPER = "Oda Brandvold"
PAINTER = "Ines Moorcock"
QUESTION = "Who keeps the gauge at Wreyland Lighthouse?"

ASKED = {"query": QUESTION, "mode": "naive", "include_chunk_content": True}


@pytest.fixture(scope="module")
def provider() -> Generator[MisbehavingProvider]:
    with serving() as provider:
        yield provider


@pytest.fixture(scope="module")
def stack(
    tmp_path_factory: pytest.TempPathFactory, provider: MisbehavingProvider
) -> Generator[Stack]:
    """A stack whose only model sees pictures: all else is done offline."""
    settings = {"VLM_BASE_URL": provider.url, "VLM_MODEL": MODEL, "VLM_API_KEY": KEY}
    with running(tmp_path_factory.mktemp("figures") / "data", **settings) as stack:
        yield stack


@pytest.fixture(scope="module")
def document(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Document:
    """A document with two figures, of which its text says nothing but their names."""
    file = tmp_path_factory.mktemp("files") / "gauges.docx"
    file.write_bytes(word_file(picture(), picture(bar=40)))
    assert stack.run("add", str(file), "--wait").returncode == 0
    with stack.service() as service:
        (document,) = service.all_documents()
    return document


def test_what_only_a_figure_says_is_answered_with_the_figure(
    stack: Stack, provider: MisbehavingProvider, document: Document
) -> None:
    with stack.client() as client:
        answer = client.post("/query", json=ASKED).json()
        assert KEEPER in answer["response"]
        (reference,) = answer["references"]
        figures = [figure for place in reference["chunks"] for figure in place.get("figures", [])]
        described = next(figure for figure in figures if KEEPER in figure.get("description", ""))
        shown = client.get(f"/documents/{document.id}/figures/{described['sha256']}")
        assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
        costs = client.get("/operations/cost?by=stage").json()["groups"]
    assert [(group["name"], group["calls"]) for group in costs if group["calls"]] == [
        ("chunker", len(provider.asked("figure")))
    ]


def test_a_rebuild_asks_nobody_and_fills_what_was_paid(
    stack: Stack, provider: MisbehavingProvider, document: Document
) -> None:
    count = len(provider.log)
    before = stack.digest()
    assert stack.run("rebuild", "all").returncode == 0
    assert (stack.digest(), len(provider.log)) == (before, count)


def test_another_model_describes_again_and_the_former_words_are_of_the_past(
    stack: Stack,
    provider: MisbehavingProvider,
    document: Document,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(good_answers, "FIGURE", f"{good_answers.FIGURE} {PAINTER} drew it.")
    count = len(provider.asked("figure"))
    past = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    stack.down()
    stack.env["VLM_MODEL"] = "rows-2"
    stack.up()
    assert stack.json("figures", "describe")["figures"] == 0
    estimate = stack.json("figures", "describe", "--again")
    assert [(item["model"], item["calls"]) for item in estimate["models"]] == [("rows-2", count)]
    described = stack.json("figures", "describe", "--again", "--yes", "--wait")
    assert described["requested"] == {document.id: count}
    assert len(provider.asked("figure")) == 2 * count
    with stack.client() as client:
        answer = client.post("/query", json=ASKED).json()
        former = client.post("/query", json={**ASKED, "as_of": past}).json()
        models = client.get("/operations/cost?by=model").json()["groups"]
    assert (PAINTER in str(answer["references"]), PAINTER in str(former)) == (True, False)
    assert KEEPER in former["response"]
    assert [group["calls"] for group in models if group["name"].startswith("rows-")] == [count] * 2
    with stack.service() as service:
        (now,) = service.all_documents()
    assert now.chunks_count == document.chunks_count, "the former descriptions are gone"
    before = stack.digest()
    assert stack.run("rebuild", "all").returncode == 0
    assert (stack.digest(), len(provider.asked("figure"))) == (before, 2 * count)
    assert stack.json("figures", "describe", "--again")["figures"] == 0


def test_while_the_model_is_away_the_text_is_found_and_the_figure_waits(
    stack: Stack, provider: MisbehavingProvider, document: Document, tmp_path: Path
) -> None:
    provider.set_mode(chat="down")
    (tmp_path / "later.docx").write_bytes(word_file(picture(bar=60), caption="Moss on a pier."))
    assert stack.run("add", str(tmp_path / "later.docx")).returncode == 0
    question = {"query": "Moss on a pier", "mode": "naive", "only_need_context": True}
    with stack.client() as client:
        until(lambda: "Moss" in client.post("/query", json=question).json()["response"])
    assert stack.counts()["processing"] == 1
    provider.set_mode(chat="")
    assert stack.settled(2)["processed"] == 2


def test_of_an_erased_document_no_description_is_left(stack: Stack, document: Document) -> None:
    assert files_with(stack.folder, KEEPER.encode())
    for erased in (document.id, "later.docx"):
        outcome = stack.run("erase", erased, "--yes")
        assert outcome.returncode == 0, outcome.stderr
    for name in (KEEPER, PAINTER):
        assert files_with(stack.folder, name.encode()) == []
