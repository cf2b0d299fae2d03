"""The encoding of a text: what is said of it, and what is told from its bytes, in many
languages.
"""

import random
from pathlib import Path

import pytest

from runtime.errors import InvalidInput
from runtime.parsing.decoding import CANDIDATES, decode, looks_like_text
from runtime.parsing.encodings import SURE, codec, registered, superset, validated_encoding
from runtime.parsing.files import parse
from tests.support.encoded_texts import NAMES, SAMPLES

CASES = [
    pytest.param(text, encoding, id=f"{sample.language}, {encoding}, {kind}")
    for sample in SAMPLES
    for encoding in sample.encodings
    for kind, text in (("line", sample.line), ("paragraph", sample.paragraph))
    if text.encode(encoding, "ignore").decode(encoding) == text
]


@pytest.mark.parametrize(("text", "encoding"), CASES)
def test_prose_is_read_in_its_encoding_without_a_warning(text: str, encoding: str) -> None:
    result = decode(text.encode(encoding))
    assert result.text == text
    assert SURE <= result.encoding.confidence < 1
    assert result.encoding.warning == ""


def test_at_least_twelve_languages_and_encodings_are_tried() -> None:
    assert len({sample.language for sample in SAMPLES}) >= 20
    assert len({encoding for sample in SAMPLES for encoding in sample.encodings}) >= 20


@pytest.mark.parametrize(("text", "encoding"), NAMES)
def test_a_few_words_are_read_rightly_and_in_doubt_with_a_warning(text: str, encoding: str) -> None:
    result = decode(text.encode(encoding))
    assert (result.text, result.encoding.name) == (text, "windows-1252")
    assert bool(result.encoding.warning) == (result.encoding.confidence < SURE)


def test_hardly_any_three_words_in_a_row_are_read_wrongly_without_a_warning() -> None:
    right_count = wrong_count = unnoticed_count = 0
    for sample in SAMPLES:
        words = sample.paragraph.split()
        for encoding in sample.encodings[:1]:
            for place in range(0, len(words) - 3, 3):
                text = " ".join(words[place : place + 3])
                if not text.isascii():
                    result = decode(text.encode(encoding))
                    right_count += result.text == text
                    wrong_count += result.text != text
                    unnoticed_count += result.text != text and not result.encoding.warning
    assert right_count / (right_count + wrong_count) > 0.95
    assert unnoticed_count / (right_count + wrong_count) < 0.01


@pytest.mark.parametrize(
    "text",
    ["5 £ – 10 €", "20 °C, ±5 µm", "½ cup, ¼ cup", "“Fresh”, it’s Acme™ © 2026", "§ 5 – see above"],
)
def test_a_text_with_nothing_but_signs_beyond_ascii_is_western(text: str) -> None:
    result = decode(text.encode("cp1252"))
    assert (result.text, result.encoding.warning) == (text, "")


@pytest.mark.parametrize(
    ("data", "text", "name"),
    [
        (b"", "", "utf-8"),
        ("a\tb\r\nc😀".encode(), "a\tb\r\nc😀", "utf-8"),
        ("Grüße".encode("utf-8-sig"), "Grüße", "utf-8"),
        ("Grüße".encode("utf-16"), "Grüße", "utf-16-le"),
        ("\ufeffGrüße".encode("utf-16-be"), "Grüße", "utf-16-be"),
        ("Grüße aus Lübeck".encode("utf-16-le"), "Grüße aus Lübeck", "utf-16-le"),
        ("Grüße aus Lübeck".encode("utf-16-be"), "Grüße aus Lübeck", "utf-16-be"),
        ("Grüße".encode("utf-32"), "Grüße", "utf-32-le"),
        ("港湾局の局長".encode("iso2022_jp"), "港湾局の局長", "iso-2022-jp"),
        (b"\x1b[31mERROR\x1b[0m disk full\n", "\x1b[31mERROR\x1b[0m disk full\n", "utf-8"),
    ],
)
def test_marks_and_valid_utf_8_are_sure(data: bytes, text: str, name: str) -> None:
    result = decode(data)
    assert (result.text, result.encoding.name, result.encoding.warning) == (text, name, "")


@pytest.mark.parametrize(
    "head",
    [
        '<?xml version="1.0" encoding="iso-8859-2"?><a>{}</a>',
        "<!DOCTYPE html><html><head><meta charset=iso-8859-2></head><p>{}",
        '<html><meta http-equiv="Content-Type" content="text/html; charset=ISO-8859-2"><p>{}',
        '@charset "iso-8859-2"; /* {} */',
        "#!/usr/bin/python\n# -*- coding: iso-8859-2 -*-\n# {}",
        "\\documentclass{{article}}\\usepackage[latin2]{{inputenc}} {}",
    ],
)
def test_what_a_text_declares_is_believed(head: str) -> None:
    text = head.format("są: Łódź")
    result = decode(text.encode("iso-8859-2"))
    assert (result.text, result.encoding.name, result.encoding.warning) == (text, "iso-8859-2", "")


def test_valid_utf_8_goes_before_a_stale_declaration_and_a_wrong_one_is_not_believed() -> None:
    page = '<meta charset="iso-8859-1">Łódź'
    assert decode(page.encode()).text == page
    assert (
        decode(SAMPLES[0].paragraph.encode("cp1252"), declared_encoding="utf-8").text
        == SAMPLES[0].paragraph
    )


def test_the_encoding_that_is_asked_for_decides() -> None:
    assert decode("Łódź".encode("iso-8859-2"), "latin2").text == "Łódź"
    assert decode("Grüße".encode(), "latin-1").text == "GrÃ¼ÃŸe", "even against valid UTF-8"
    assert decode("“5 €”".encode("cp1252"), "iso-8859-1").text == "“5 €”", (
        "files in Latin-1 are in cp1252"
    )
    with pytest.raises(
        InvalidInput, match="not utf-8, as byte 4 shows: give the encoding it is in, or none"
    ):
        decode(b"caf\xe9", "utf-8")
    with pytest.raises(InvalidInput, match="'klingon' is no encoding that is known: give one like"):
        decode(b"", "klingon")


def test_a_few_broken_bytes_do_not_make_utf_8_something_else() -> None:
    text = "Größe, Höhe, Länge, Süßes, Öl, Äpfel: über alles"
    result = decode(text.encode() + b"\xc3")
    assert (result.text, result.encoding.name) == (f"{text}\ufffd", "utf-8")
    assert "were replaced" in result.encoding.warning


def test_the_guess_looks_at_what_is_beyond_ascii_wherever_it_stands() -> None:
    text = "plain line\n" * 20_000 + SAMPLES[1].paragraph
    assert decode(text.encode("cp1252")).text == text
    long_line = (
        "".join(sample.paragraph for sample in SAMPLES if "gb18030" in sample.encodings) * 200
    )
    assert decode(long_line.encode("gb18030")).text == long_line


@pytest.mark.parametrize(
    "data",
    [
        random.Random(7).randbytes(4000),
        bytes(500),
        b"PK\x03\x04" + random.Random(1).randbytes(400),
        b"\xff\xfe" + b"\xd8\x00" * 9 + b"a",
        b"\x7fELF\x02\x01\x01\0\0\0\0\0" * 30,
        b"text with \0 one zero byte",
        bytes(range(1, 32)) * 20,
    ],
)
def test_binary_data_are_refused_and_never_guessed_at(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="binary"):
        decode(data)


def test_the_beginning_of_a_file_tells_whether_it_is_text() -> None:
    for text in ("x" * 4095 + "ß", "ß" * 3000, "港" * 2000):
        for encoding in ("utf-8", "utf-16", "utf-16-le", "cp932" if "港" in text else "cp1252"):
            assert looks_like_text(text.encode(encoding)[:4096]), encoding
    for data in (
        b"\0\1\2",
        b"\x7fELF\x02\x01\x01\0\0\0\0\0" * 30,
        random.Random(7).randbytes(4096),
    ):
        assert not looks_like_text(data)


def test_every_name_that_is_told_is_one_that_can_be_asked_for() -> None:
    for candidate in CANDIDATES:
        assert superset(codec(registered(candidate)) or "") == superset(
            validated_encoding(candidate)
        )


async def test_files_of_tables_and_pages_are_read_in_their_encoding_too(tmp_path: Path) -> None:
    table = "nom;ville\n" + "".join(
        f"Hélène Lefèvre {n};Orléans près de la forêt\n" for n in range(5)
    )
    result = await parse(table.encode("cp1252"), "a.csv")
    assert "| Hélène Lefèvre 4 | Orléans près de la forêt |" in result.text
    assert result.metadata["encoding"] == "windows-1252"
    page = f'<meta charset="windows-1252"><p>{SAMPLES[1].line}</p>'
    assert SAMPLES[1].line in (await parse(page.encode("cp1252"), "a.html")).text
