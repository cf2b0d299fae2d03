"""Files as other programs leave them: strict Office files, saved pages, logs of terminals, old line
ends.
"""

import pytest

from runtime.errors import InvalidInput
from runtime.parsing.files import parse
from runtime.parsing.plain import plain
from tests.support import office_files as office

STRICT = {
    b"http://schemas.openxmlformats.org/spreadsheetml/2006/main": b"spreadsheetml/main",
    b"http://schemas.openxmlformats.org/presentationml/2006/main": b"presentationml/main",
    b"http://schemas.openxmlformats.org/wordprocessingml/2006/main": b"wordprocessingml/main",
    b"http://schemas.openxmlformats.org/drawingml/2006/main": b"drawingml/main",
    b"http://schemas.openxmlformats.org/officeDocument/2006/relationships": (
        b"officeDocument/relationships"
    ),
}


def strict(_: str, part: bytes) -> bytes:
    """The part in the strict form."""
    for transitional, schema in STRICT.items():
        part = part.replace(transitional, b"http://purl.oclc.org/ooxml/" + schema)
    return part


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.xlsx", office.xlsx()), ("a.pptx", office.pptx()), ("a.docx", office.docx())],
)
async def test_a_strict_office_file_has_the_text_of_any_other(name: str, data: bytes) -> None:
    text = (await parse(data, name)).text
    assert (await parse(office.changed(data, strict), name)).text == text
    assert len(text) > 50


PAGE = (
    b"From: <Saved by a browser>\r\nSubject: Office\r\nMIME-Version: 1.0\r\n"
    b'Content-Type: multipart/related; boundary="b"\r\n\r\n--b\r\nContent-Type: text/html\r\n'
    b"Content-Transfer-Encoding: quoted-printable\r\n\r\n"
    b"<html><body><h1>Staff</h1><p>Ada=20leads the office.</p></body></html>\r\n--b--\r\n"
)


@pytest.mark.parametrize("suffix", ["mht", "mhtml"])
async def test_a_saved_page_is_read_as_a_page(suffix: str) -> None:
    text = (await parse(PAGE, f"page.{suffix}")).text
    assert "Subject: Office" in text and "# Staff\n\nAda leads the office." in text


async def test_values_in_lines_are_read_whatever_the_file_is_called() -> None:
    lines = b'{"a": 1}\n{"a": 2}\n'
    assert (await parse(lines, "a.json")).text == (await parse(lines, "a.jsonl")).text
    for data, place in ((b'{"a": 1}\n{"a": \n', "line 2"), (b'{\n"a": 1,\n}', "line 3")):
        with pytest.raises(InvalidInput, match=place):
            await parse(data, "a.json")


async def test_a_flat_document_is_refused_with_the_way_out() -> None:
    with pytest.raises(InvalidInput, match=r"save it as \.odt"):
        await parse(b"<?xml version='1.0'?><office:document/>", "a.fodt")


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("\x1b[1;31mERROR\x1b[0m Ada\n\x1b]0;title\x07ok\x1b(B", "ERROR Ada\nok"),
        ("N\bNA\bAM\bME\n _\bx\n", "NAME\n x\n"),
        ("# Head\r\rText\r", "# Head\n\nText\n"),
        ("one\r\ntwo\r\n", "one\r\ntwo\r\n"),
    ],
)
def test_a_text_is_as_a_terminal_shows_it(text: str, result: str) -> None:
    assert plain(text) == result
