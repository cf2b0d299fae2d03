"""Files that a service reads: which rule fits, what is sent, and what its answers become."""

from pathlib import Path

import pytest

from contracts.chunking import Chunking
from operations.documents import find_documents, read_document
from runtime.errors import ConfigurationError, InvalidInput, Unavailable
from runtime.parsing.engines import Engine, ServiceAddress
from runtime.parsing.files import parse
from runtime.parsing.routing import ParsingServices, parse_rules
from runtime.parsing.settings import ParserSettings
from tests.support.parsing_services import MARKDOWN, ParsingServer, parsing_server


def services(server: ParsingServer, rules: str, seconds: float = 30.0) -> ParsingServices:
    addresses: dict[Engine, ServiceAddress] = {
        "docling": ServiceAddress(server.url, "key-d"),
        "mineru": ServiceAddress(f"{server.url}/"),
    }
    return ParsingServices(parse_rules(rules), addresses, seconds)


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ("a.PDF", "docling"),
        ("scans/2026/a.pdf", "mineru"),
        ("letter-7.docx", "mineru"),
        ("a.docx", "native"),
        ("a.md", "native"),
        ("a.zip", "native"),
        ("a.png", "mineru"),
    ],
)
def test_the_first_rule_that_fits_says_who_reads_a_file(name: str, engine: Engine) -> None:
    rules = "scans/*:mineru-iet; pdf:docling(force_ocr=true), docx:legacy; p?g:mineru;*:docling"
    rules = rules.replace("docx:legacy", "letter-*.docx:mineru, docx:legacy, md:native")
    assert ParsingServices(parse_rules(rules)).engine(name) == engine


def test_the_letter_of_the_first_rule_that_fits_says_how_a_text_is_cut() -> None:
    rules = "pdf:mineru(x=V)-iteP; *:docling-V; md:native-teR; *:legacy-F"
    services = ParsingServices(parse_rules(rules))
    names = ("a.pdf", "a.docx", "a.md", "a.txt")
    cuts = [services.chunking(name) for name in names]
    assert cuts == [Chunking.by(name) for name in ("paragraph", "semantic", "semantic", "token")]
    assert ParsingServices().chunking("a.pdf") is None


def test_suffixes_are_those_of_files_that_somebody_else_reads() -> None:
    rules = parse_rules("pdf:docling; scans/*.png:mineru; letters/*:mineru; svg:plugin")
    services = ParsingServices(rules, plugins=frozenset({"qa", "svg"}))
    assert services.suffixes() == {
        "docling": [".pdf"],
        "mineru": [".docx", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".gif", ".bmp"],
        "plugin": [".svg", ".qa"],
    }
    assert ParsingServices().suffixes() == {}


async def test_a_file_carries_how_its_rule_has_it_cut() -> None:
    services = ParsingServices(parse_rules("txt:native-P"))
    assert (await parse(b"text", "a.txt", services=services)).chunking == Chunking(
        chunker="paragraph"
    )
    assert (await parse(b"text", "a.log", services=services)).chunking is None


@pytest.mark.parametrize("rules", ["pdf", ":docling", "pdf:tika", "pdf:native-RP"])
def test_rules_of_no_use_are_told(rules: str) -> None:
    with pytest.raises(ConfigurationError, match="LIGHTRAG_PARSER: "):
        parse_rules(rules)


def test_a_service_without_an_address_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIGHTRAG_PARSER", "pdf:docling")
    with pytest.raises(ConfigurationError, match="set DOCLING_ENDPOINT to its address"):
        ParserSettings().parsing_services()
    monkeypatch.setenv("DOCLING_ENDPOINT", "http://docling:5001")
    assert ParserSettings().parsing_services().reads("a.pdf")


async def test_docling_reads_a_file_page_by_page() -> None:
    async with parsing_server() as server:
        result = await parse(b"%PDF-", "tides.pdf", services=services(server, "pdf:docling"))
    assert result.text == f"{MARKDOWN}\n\nPage two"
    assert result.pages == (0, len(MARKDOWN) + 2)
    assert result.metadata["media_type"] == "application/pdf"
    assert server.keys == ["key-d"] and server.polls == 2
    (form,) = server.forms
    assert form["to_formats"] == "md" and form["files"] == "tides.pdf: %PDF-"


async def test_mineru_reads_a_picture() -> None:
    async with parsing_server() as server:
        result = await parse(b"\x89PNG", "a/b.png", services=services(server, "png:mineru"))
    assert result.text == MARKDOWN and result.metadata["media_type"] == "image/png"
    assert server.keys == [""] and server.forms[0]["return_md"] == "true"


async def test_a_file_that_a_service_cannot_read_is_refused_with_its_reason() -> None:
    async with parsing_server() as server:
        server.outcome = "failure"
        with pytest.raises(InvalidInput, match=r"b\.pdf: docling cannot read it: the model ran"):
            await parse(b"%PDF-", "b.pdf", services=services(server, "pdf:docling"))
        server.status = 422
        with pytest.raises(InvalidInput, match=r"mineru refuses it \(HTTP 422\): the file is dam"):
            await parse(b"%PDF-", "b.pdf", services=services(server, "pdf:mineru"))


async def test_a_service_that_is_away_or_slow_is_no_fault_of_the_file() -> None:
    async with parsing_server() as server:
        server.status = 503
        with pytest.raises(Unavailable, match="mineru answers HTTP 503"):
            await parse(b"%PDF-", "b.pdf", services=services(server, "pdf:mineru"))
        server.status, server.polls_until_done = 200, 1000
        with pytest.raises(Unavailable, match=r"docling takes more than 0 s .* PARSER_TIMEOUT"):
            await parse(b"%PDF-", "b.pdf", services=services(server, "pdf:docling", 0.3))
    with pytest.raises(Unavailable, match="does not answer: ClientConnectorError"):
        await parse(b"%PDF-", "b.pdf", services=services(server, "pdf:docling"))


async def test_a_folder_gives_pictures_to_a_service_that_reads_them(tmp_path: Path) -> None:
    (tmp_path / "a.bmp").write_bytes(b"BM")
    assert not find_documents([str(tmp_path)]).sources
    async with parsing_server() as server:
        parsing_services = services(server, "bmp:docling")
        [source] = find_documents([str(tmp_path)], services=parsing_services).sources
        assert (await read_document(source)).text.startswith("# Tide tables")
