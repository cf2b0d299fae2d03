"""Files that mean harm, and damaged ones: each is refused with its name, the reason and the way
out.
"""

import asyncio
import random
import struct
import zipfile
from collections.abc import Callable
from io import BytesIO

import pytest

from runtime.errors import InvalidInput
from runtime.parsing import package
from runtime.parsing.files import parse
from runtime.parsing.package import check
from tests.support import office_files as office
from tests.support.open_document_files import CELL, SLIDE, odp, ods
from tests.support.pdf_files import pdf
from tests.support.shares import share

WHAT = "a Word document"
MAIN = "word/document.xml"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
BILLION = f'<!DOCTYPE x [<!ENTITY a0 "ha">{LAUGHS}]>'.encode()
EXTERNAL = b'<!DOCTYPE x [<!ENTITY a9 SYSTEM "file:///etc/hostname">]>'
OUTSIDE = b'<!DOCTYPE x SYSTEM "http://127.0.0.1:9/evil.dtd">'

KINDS: dict[str, tuple[Callable[[], bytes], str]] = {
    "a.docx": (office.docx, "word/document.xml"),
    "a.pptx": (office.pptx, "ppt/slides/slide1.xml"),
    "a.xlsx": (office.xlsx, "xl/worksheets/sheet1.xml"),
}


def with_type(data: bytes, part: str, document_type: bytes) -> bytes:
    """The file with a document type before the root of one part, and its last entity in every text
    there.
    """

    def change(name: str, xml: bytes) -> bytes:
        if name != part:
            return xml
        start = xml.index(b"?>") + 2 if xml.startswith(b"<?xml") else 0
        return xml[:start] + document_type + xml[start:].replace(b"a</", b"&a9;</")

    return office.changed(data, change)


@pytest.mark.parametrize(
    "document_type", [BILLION, EXTERNAL, OUTSIDE], ids=["billion laughs", "file", "address"]
)
@pytest.mark.parametrize("name", KINDS)
async def test_xml_with_a_document_type_is_refused(name: str, document_type: bytes) -> None:
    make, part = KINDS[name]
    with pytest.raises(
        InvalidInput, match=f"{name}: has a document type in its XML.*: save it anew"
    ):
        await parse(with_type(make(), part, document_type), name)


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ('<?xml version="1.0"?><!DOCTYPE x><x/>'.encode("utf-16"), "document type"),
        ("<!DOCTYPE x><x/>".encode("utf-16-be"), "document type"),
        (b"<x>" + b" " * 2**18 + b"<!DOCTYPE x>", "document type"),
        (b"<x>" + b" " * (2**18 - 7) + b"<!ENTITY x>", "document type"),
        (b'\n <?xml version="1.0" encoding="UTF-7"?>+ADwAIQ-DOCTYPE x+AD4-<x/>', "encoding"),
        ("<!DOCTYPE x><x/>".encode("utf-32-be"), "encoding"),
        ("<!DOCTYPE x><x/>".encode("utf-32"), "encoding"),
        ("<?xml version='1.0'?>".encode("cp037"), "encoding"),
    ],
)
def test_a_document_type_is_found_however_it_is_written(part: bytes, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        check(office.archive(**{"any/part": part}), WHAT)


def test_pictures_and_text_that_speak_of_document_types_are_let_through() -> None:
    svg = b'<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd"><svg/>'
    film = struct.pack(">I", 0x3C) + b"ftypmp42<!DOCTYPE"
    check(
        office.archive(
            **{"media/a.svg": svg, "media/a.mp4": film, MAIN: b"<x>&lt;!DOCTYPE&gt;</x>"}
        ),
        WHAT,
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (
            office.archive(**{MAIN: bytes(64 * 2**20)}),
            r"inflates to 64 MB in 1 parts, .* \(a zip bomb\?\): split it",
        ),
        (office.archive(**{f"p{number}": b"" for number in range(5001)}), "in 5,001 parts"),
        (office.archive(**{"../../etc/passwd": b"x"}), "names that no Office program gives"),
        (office.archive(**{"/etc/passwd": b"x"}), "names that no Office program gives"),
        (office.archive(**{"word\\document.xml": b"x"}), "names that no Office program gives"),
        (
            office.archive(**{MAIN: b"<a/>", MAIN.upper(): b"<b/>"}),
            "names that no Office program gives",
        ),
        (
            OLE + bytes(500) + "EncryptedPackage".encode("utf-16-le"),
            "protected by a password: save it without",
        ),
        (OLE + bytes(500), "an older Office format, not a Word document: save it as one"),
    ],
)
def test_a_package_that_means_harm_is_refused_before_a_library_reads_it(
    data: bytes, reason: str
) -> None:
    with pytest.raises(InvalidInput, match=reason):
        check(data, WHAT)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_unusual_compression_is_refused(method: int) -> None:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr(MAIN, b"<x/>")
    with pytest.raises(InvalidInput, match="damaged, or not a Word document"):
        check(out.getvalue(), WHAT)


def test_a_protected_part_is_refused() -> None:
    data = bytearray(office.archive(**{MAIN: b"<x/>"}))
    directory = data.index(b"PK\1\2")
    data[6] |= 1
    data[directory + 8] |= 1
    with pytest.raises(InvalidInput, match="protected by a password"):
        check(bytes(data), WHAT)


def test_an_archive_that_lies_about_its_size_is_refused() -> None:
    data = bytearray(office.archive(**{MAIN: b"<x>" + b" " * 2**20}))
    directory = data.index(b"PK\1\2")
    data[directory + 24 : directory + 28] = struct.pack("<I", 100)
    with pytest.raises(InvalidInput, match="damaged"):
        check(bytes(data), WHAT)


def test_a_modest_file_may_be_packed_very_well(monkeypatch: pytest.MonkeyPatch) -> None:
    well_packed = office.archive(**{MAIN: b"<x>" + b" " * 2**20})
    assert len(well_packed) * package.MAX_RATIO < 2**20
    check(well_packed, WHAT)
    monkeypatch.setattr(package, "MODEST", 2**19)
    with pytest.raises(InvalidInput, match="zip bomb"):
        check(well_packed, WHAT)


async def test_archives_inside_of_an_office_file_are_not_opened() -> None:
    inner = office.archive(**{MAIN: bytes(150 * 2**20)})
    content = office.changed(
        office.docx(), lambda _, part: part, **{"word/embeddings/inner.zip": inner}
    )
    assert (await parse(content, "a.docx")).text.startswith("# Engines")


HOSTILE_BOOKS = [
    ("a.odt", "content.xml"),
    ("a.epub", "META-INF/container.xml"),
    ("a.epub", "OEBPS/content.opf"),
]


@pytest.mark.parametrize(
    "document_type", [BILLION, EXTERNAL, OUTSIDE], ids=["billion laughs", "file", "address"]
)
@pytest.mark.parametrize(("name", "part"), HOSTILE_BOOKS)
async def test_xml_of_books_with_a_document_type_is_refused(
    name: str, part: str, document_type: bytes
) -> None:
    content = with_type(SEEDS[name], part, document_type)
    with pytest.raises(InvalidInput, match=f"{name}: has a document type in its XML"):
        await parse(content, name)


async def test_chapters_may_have_a_document_type_and_its_entities_stay_names() -> None:
    result = await parse(with_type(office.epub(), "OEBPS/one.xhtml", BILLION), "a.epub")
    assert "haha" not in result.text
    outside = EXTERNAL.replace(b"/etc/hostname", b"/etc/passwd")
    assert (
        "root:"
        not in (await parse(with_type(office.epub(), "OEBPS/one.xhtml", outside), "a.epub")).text
    )


@pytest.mark.parametrize("name", ["a.odt", "a.epub"])
async def test_books_that_inflate_to_too_much_are_refused(name: str) -> None:
    bomb = office.changed(
        SEEDS[name], lambda _, part: part, **{"OEBPS/big.xhtml": bytes(64 * 2**20)}
    )
    with pytest.raises(InvalidInput, match=f"{name}: inflates to .*zip bomb"):
        await parse(bomb, name)


async def test_a_chapter_counts_once_and_one_outside_of_the_book_is_damage() -> None:
    def often(name: str, part: bytes) -> bytes:
        return (
            part.replace(b'<itemref idref="c1"/>', b'<itemref idref="c1"/>' * 20_000)
            if "opf" in name
            else part
        )

    assert (await parse(office.changed(office.epub(), often), "a.epub")).text.count("Åsa Lind") == 1

    def outside(name: str, part: bytes) -> bytes:
        return part.replace(b'"one.xhtml"', b'"../../../../etc/passwd"') if "opf" in name else part

    with pytest.raises(InvalidInput, match=r"a\.epub: damaged, or not an e-book"):
        await parse(office.changed(office.epub(), outside), "a.epub")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            '<text:p>a<text:s text:c="2000000000"/>b</text:p>',
            "memory|more than 20,971,520 characters",
        ),
        (
            '<table:table table:name="t"><table:table-row '
            'table:number-rows-repeated="1000000"><table:table-cell '
            'table:number-columns-repeated="16000"><text:p>x</text:p></table:table-cell></table:table-row></table:table>',
            "tables have more than 1,000,000 cells",
        ),
        (
            "<text:section>" * 50_000 + "</text:section>" * 50_000,
            "damaged|nested too deeply|or the parser fails on it",
        ),
    ],
    ids=["blanks", "cells", "depth"],
)
async def test_what_multiplies_in_an_opendocument_text_is_bounded(body: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=f"a.odt: .*(?:{reason})"):
        await parse(office.odt(body), "a.odt")


@pytest.mark.parametrize(
    "data",
    [
        b"{\\rtf1" * 20_000,
        b"{\\rtf1 \\u99999999999999 x}",
        b"{\\rtf1 \\ansicpg99999 \\'zz}",
        b"{\\rtf1 \\bin999999999 }",
    ],
)
async def test_a_hostile_rich_text_is_read_or_refused(data: bytes) -> None:
    [answer] = await asyncio.gather(parse(data, "a.rtf"), return_exceptions=True)
    assert isinstance(answer, InvalidInput) or not isinstance(answer, BaseException)
    assert "the parser fails" not in str(answer)


SEEDS = {
    "a.pdf": pdf("Ada Marlow", "Hector Vane"),
    "a.docx": office.docx(),
    "a.pptx": office.pptx(),
    "a.xlsx": office.xlsx(),
    "a.odt": office.odt(),
    "a.ods": ods(
        "<table:table table:name='S'><table:table-row>"
        + CELL.format("x")
        + "</table:table-row></table:table>"
    ),
    "a.odp": odp(SLIDE),
    "a.mbox": b"From a@b Mon Jan  1 00:00:00 2024\nSubject: x\n\nHello\n",
    "a.svg": b"<svg><title>Map</title><text>Port Elm</text></svg>",
    "a.epub": office.epub(),
    "a.rtf": office.RICH_TEXT,
    "a.eml": b"From: ada@example.org\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nAda\n--x\n"  # noqa: E501
    b"Content-Type: text/html\n"
    b"Content-Transfer-Encoding: base64\n\nPHA+SGVjdG9yPC9wPg==\n--x--\n",
    "a.ipynb": b'{"cells": [{"cell_type": "code", "source": ["a"], "outputs": [{"text": "b"}]}]}',
    "a.html": b"<h1>Ada</h1><table><tr><td>x</table>",
    "a.csv": b'a,b\n"x",2\n' * 20,
    "a.json": b'{"a": [1, {"b": "c"}], "d": null}',
    "a.jsonl": b'{"a": 1}\n{"b": [2]}\n',
    "a.txt": "Grüße aus Öland".encode(),
}


DAMAGES = (
    "cut short",
    "bytes overwritten",
    "a piece left out",
    "empty",
    "its end cut off",
    "noise behind its first bytes",
)


def damages(data: bytes) -> dict[str, bytes]:
    """The file with each of DAMAGES."""
    chance = random.Random(len(data))
    cut = chance.randrange(1, len(data))
    start, end = sorted(chance.sample(range(len(data)), 2))
    overwritten = bytearray(data)
    for _ in range(max(3, len(data) // 500)):
        overwritten[chance.randrange(len(data))] = chance.randrange(256)
    return {
        "cut short": data[:cut],
        "bytes overwritten": bytes(overwritten),
        "a piece left out": data[:start] + data[end:],
        "empty": b"",
        "its end cut off": data[:-2],
        "noise behind its first bytes": data[:20] + chance.randbytes(500),
    }


@pytest.mark.parametrize("name", SEEDS)
async def test_a_sound_file_is_read(name: str) -> None:
    assert (await parse(SEEDS[name], name)).text


@pytest.mark.parametrize("damage", share(DAMAGES, daily=2))
@pytest.mark.parametrize("name", SEEDS)
async def test_a_damaged_file_is_read_or_refused_and_nothing_else(name: str, damage: str) -> None:
    try:
        result = await parse(damages(SEEDS[name])[damage], name)
    except InvalidInput as refusal:
        reason = str(refusal)
        assert reason.startswith(f"{name}: ")
        assert "the parser fails on it" not in reason
        assert any(
            way in reason for way in ("save", "add a file", "amend", "open it", "not text")
        ), reason
    else:
        assert isinstance(result.text, str)


DAMAGED_PARTS: dict[str, Callable[[bytes, int], bytes | None]] = {
    "cut short": lambda xml, place: xml[:place],
    "a byte no encoding has": lambda xml, place: xml[:place] + b"\xff" + xml[place + 1 :],
    "values far out": lambda xml, _: xml.replace(b'="1"', b'="-99999999999999999999"'),
    "missing": lambda _, __: None,
    "empty": lambda _, __: b"",
    "another root": lambda _, __: b"<x/>",
}


@pytest.mark.parametrize("damage", share(DAMAGED_PARTS, daily=2))
@pytest.mark.parametrize("kind", KINDS)
async def test_a_part_that_is_damaged_inside_a_sound_archive_is_no_surprise(
    kind: str, damage: str
) -> None:
    make, part = KINDS[kind]
    xml = zipfile.ZipFile(BytesIO(make())).read(part)
    place = random.Random(kind).randrange(100, len(xml) - 100)
    damaged = DAMAGED_PARTS[damage](xml, place)
    variant = office.changed(make(), lambda name, sound: damaged if name == part else sound)
    [answer] = await asyncio.gather(parse(variant, kind), return_exceptions=True)
    if isinstance(answer, BaseException):
        assert isinstance(answer, InvalidInput)
        assert str(answer).startswith(f"{kind}: ")
        assert "the parser fails on it" not in str(answer)
