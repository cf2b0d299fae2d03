"""Chunkers and parsers of other packages, with the example of docs/plugins.md."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.chunking import Chunking
from contracts.events import ChunksCreated, DocumentAdded
from contracts.graph import Generations
from operations.intake.handed_in import handed_in
from operations.sources.open import open_source
from operations.sources.sync import Sync, SyncRequest
from runtime.bus.codec import decode
from runtime.bus.memory import MemoryBlobs, MemoryLog
from runtime.errors import ConfigurationError, InvalidInput, Poison
from runtime.parsing.files import parse
from runtime.parsing.routing import OWN_PARSERS
from runtime.parsing.settings import ParserSettings
from runtime.plugins.chunking import InstalledChunkers
from services.chunker.domain.defaults import ChunkingDefaults
from services.chunker.domain.plugin_spans import Offsets, plugin_spans, uncut_characters
from services.chunker.handler import DocumentLimits, on_document_added
from services.chunker.port import Cutters
from services.chunker.settings import ChunkerSettings
from services.gateway.documents.models import ChunkingOption
from tests.support.chunking import CodePointTokenizer
from tests.support.events import added, delivered
from tests.support.plugin_packages import install_package, use_packages

PAGE = Path(__file__).resolve().parents[3] / "docs/plugins.md"
MINUTES = "# Council\n\nItem 1\nThe quay is sold.\nItem 2\nThe mill stays.\nIt is old."

FAULTY = """
import os

def raises(text, **_):
    raise ValueError("no minutes,\\n but a letter")

def words(text, **_):
    return text.split()

def aborts(text, **_):
    print("noise", flush=True)
    os.abort()

def partly(text, **_):
    print("noise", flush=True)
    return [(0, 4)]
"""
FAULTY_PROJECT = """
[project]
name = "faulty"
version = "0.1"
[project.entry-points."lightstream.chunkers"]
raises = "faulty:raises"
words = "faulty:words"
aborts = "faulty:aborts"
partly = "faulty:partly"
absent = "faulty:absent"
[project.entry-points."lightstream.parsers"]
bad = "faulty:raises"
number = "faulty:len"
"""


@pytest.fixture(autouse=True)
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages with the example of the page, and one whose plugins are wrong."""
    page = PAGE.read_text("utf-8")
    (project,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    install_package(tmp_path, project, "acme_minutes", code)
    install_package(tmp_path, FAULTY_PROJECT, "faulty", FAULTY)
    use_packages(tmp_path, monkeypatch)
    yield tmp_path


async def cut(chunker: str, text: str = MINUTES, size: int = 20) -> list[ChunksCreated]:
    events = await on_document_added(
        delivered(added("d", text, chunking=Chunking.by(chunker, size=size))),
        Generations(),
        blobs=MemoryBlobs(),
        cutters=Cutters(CodePointTokenizer(), InstalledChunkers()),
        chunking=ChunkingDefaults(Chunking(size=100, overlap=0)),
        limits=DocumentLimits(1_000_000, 10),
    )
    return [event async for event in events if isinstance(event, ChunksCreated)]


async def test_the_example_of_the_page_cuts_a_document() -> None:
    [event] = await cut("minutes", size=40)
    assert [(chunk.content, chunk.headings) for chunk in event.chunks] == [
        ("# Council", ("Council",)),
        ("Item 1\nThe quay is sold.", ("Council",)),
        ("Item 2\nThe mill stays.\nIt is old.", ("Council",)),
    ]
    assert all(MINUTES[chunk.start : chunk.end] == chunk.content for chunk in event.chunks)
    assert event.warnings == ()


async def test_the_example_of_the_page_reads_a_file() -> None:
    services = ParserSettings().parsing_services()
    parsed = await parse(b"Who owns the quay? | The Trust.\n", "faq.QA", services=services)
    assert parsed.text == "## Who owns the quay?\n\nThe Trust."


async def test_sources_and_the_intake_have_plugins_read_files_too(tmp_path: Path) -> None:
    folder = tmp_path / "questions"
    folder.mkdir()
    (folder / "faq.qa").write_text("Who owns the quay? | The Trust.\n", "utf-8")
    (folder / "map.bad").write_text("none", "utf-8")
    services = ParserSettings().parsing_services()
    log = MemoryLog()
    source = open_source(str(folder), services)
    outcome = await Sync(log, MemoryBlobs(), source, SyncRequest("w", services=services)).run()
    assert outcome.additions == ["questions/faq.qa"]
    [refusal] = outcome.refusals
    assert refusal.name == "questions/map.bad"
    assert refusal.reason.startswith("the parser 'bad' of faulty 0.1 cannot read it")
    event = decode(log.messages[0].data, log.messages[0].subject, {}).data
    assert isinstance(event, DocumentAdded) and event.text and event.text.startswith("## Who owns")

    file = handed_in("kb.in.w", {"file-name": "a/faq.qa", "content-type": "text/html"}, b"x")
    assert file.parsed_name(services) == "a/faq.qa"
    assert file.parsed_name(OWN_PARSERS) == "a/faq.qa.html"


@pytest.mark.parametrize(
    ("chunker", "reason"),
    [
        ("raises", "the chunker 'raises' of faulty 0.1 fails on it: ValueError: no minutes, but a"),
        ("words", "of faulty 0.1 gives '#' as chunk 1: it has to give pairs of offsets"),
        ("aborts", "of faulty 0.1 crashes"),
        ("absent", "of faulty 0.1 cannot be loaded: AttributeError: .*absent"),
        ("nobody", r"no installed package has 'nobody' in lightstream.chunkers \(aborts, absent"),
    ],
)
async def test_a_chunker_that_fails_is_named_with_its_package(chunker: str, reason: str) -> None:
    with pytest.raises(Poison, match=reason):
        await cut(chunker)


async def test_what_a_chunker_leaves_out_is_warned_of_and_what_it_prints_is_dropped() -> None:
    [event] = await cut("partly", "left right")
    assert [chunk.content for chunk in event.chunks] == ["left"]
    assert event.warnings == (
        "the chunker 'partly' of faulty 0.1 has left 5 characters out of the chunks",
    )


@pytest.mark.parametrize(
    ("offsets", "reason"),
    [
        ([(0, 11)], "0 to 11 as chunk 1, which is no part of a text of 10 characters"),
        ([(-1, 4)], "no part"),
        ([(4, 4)], "no part"),
        ([(4, 6), (2, 8)], "2 to 8 as chunk 2, which begins before the chunk before it, at 4"),
        ([(0, 9)], "has 9 tokens, at most 8 are taken"),
        ([(0, 8)] * 3, "more than 2 times the text"),
    ],
)
def test_offsets_that_cannot_be_chunks_are_refused(offsets: Offsets, reason: str) -> None:
    with pytest.raises(Poison, match=f"the chunker .*{reason}"):
        list(plugin_spans("0123456789", offsets, "the chunker x", CodePointTokenizer(), 8))


def test_characters_outside_of_all_chunks_are_counted_without_blanks() -> None:
    text = "ab cd ef gh"
    spans = list(plugin_spans(text, [(3, 5), (4, 6)], "x", CodePointTokenizer(), 8))
    assert uncut_characters(text, spans) == 6


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a.bad", "a.bad: the parser 'bad' of faulty 0.1 cannot read it: ValueError: no minutes"),
        ("a.number", "of faulty 0.1 cannot be loaded: AttributeError"),
    ],
)
async def test_a_parser_that_fails_is_named_with_its_package(name: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        await parse(b"text", name, services=ParserSettings().parsing_services())


def test_a_rule_decides_between_a_plugin_and_our_own_parser(
    packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = FAULTY_PROJECT.split("[project.entry")[0].replace("faulty", "other")
    entries = '[project.entry-points."lightstream.parsers"]\nhtml = "h:f"\nbad = "h:f"\n'
    install_package(packages / "more", project + entries, "h", "")
    use_packages(packages / "more", monkeypatch)
    services = ParserSettings().parsing_services()
    names = ("a.qa", "a.html", "a", "two-packages-have.bad")
    assert [services.engine(name) for name in names] == ["plugin", *["native"] * 3]
    monkeypatch.setenv("LIGHTRAG_PARSER", "html:plugin; qa:native")
    services = ParserSettings().parsing_services()
    assert [services.engine(name) for name in ("a.qa", "a.html")] == ["native", "plugin"]
    monkeypatch.setenv("LIGHTRAG_PARSER", "pdf:plugin")
    with pytest.raises(ConfigurationError, match="plugins read html, number, qa: install"):
        ParserSettings().parsing_services()


def test_a_strategy_that_nobody_brings_is_refused_with_those_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    option: dict[str, Any] = {"strategy": "minutes", "params": {"size": 40}}
    chunking = ChunkingOption.model_validate(option).chunking()
    assert chunking == Chunking(chunker="minutes", size=40)
    for name in ("custom", "Minutes", ""):
        with pytest.raises(ValueError, match=r"strategy|pattern"):
            ChunkingOption.model_validate({"strategy": name})
    with pytest.raises(ValueError, match=r"'hours', but token, recursive, .*minutes"):
        ChunkingOption.model_validate({"strategy": "hours"})
    monkeypatch.setenv("CHUNK_STRATEGY", "minutes")
    assert ChunkerSettings().chunking.chunker == "minutes"
    monkeypatch.setenv("CHUNK_STRATEGY", "hours")
    with pytest.raises(ConfigurationError, match=r"CHUNK_STRATEGY: .*'hours', but token"):
        ChunkerSettings()


def test_of_the_settings_and_the_document_the_document_names_who_cuts() -> None:
    settings = Chunking(chunker="minutes", size=100, overlap=10)
    assert Chunking(strategy="recursive").over(settings).chunker is None
    assert Chunking(split_by_character="|").over(settings).chunker is None
    assert Chunking(size=50).over(settings).chunker == "minutes"
    assert Chunking(chunker="other").over(settings).chunker == "other"
    with pytest.raises(ValueError, match="a chunker has rules of its own"):
        Chunking(chunker="minutes", split_by_character="|")
