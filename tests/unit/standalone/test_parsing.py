"""Files to text: what is read, and what is refused for which reason."""

import random

import pytest

from runtime.errors import InvalidInput
from standalone import parsing
from standalone.parsing import parse, sandbox
from standalone.parsing.decoding import decode
from tests.unit.standalone import files

GERMAN = "Die Käufer prüfen große Öfen, während der Bäcker die Brötchen für übermütige Gäste backt. " * 4
RUSSIAN = "Широкая электрификация южных губерний даст мощный толчок подъёму сельского хозяйства. " * 4
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。" * 6
CHINESE = "知识图谱是一种用图模型来描述知识和建模世界万物之间关联关系的技术方法。" * 6


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "utf-8"), (GERMAN, "utf-8-sig"), (GERMAN, "utf-16"), (GERMAN, "utf-32"), (GERMAN, "utf-16-le"),
        (GERMAN, "utf-16-be"), (GERMAN, "cp1252"), (RUSSIAN, "koi8-r"), (RUSSIAN, "cp1251"), (JAPANESE, "cp932"),
        (CHINESE, "gb18030"), (CHINESE, "big5"), ("", "utf-8"), ("a\tb\r\nc😀", "utf-8"),
    ],
)  # fmt: skip
def test_text_is_read_in_its_encoding(text: str, encoding: str) -> None:
    if encoding == "big5":
        text = "知識圖譜是一種用圖模型來描述知識和建模世界萬物之間關聯關係的技術方法。" * 6
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    "data",
    [
        random.Random(7).randbytes(4000),
        bytes(500),
        b"PK\x03\x04" + random.Random(1).randbytes(400),
        b"\xff\xfe" + b"\xd8\x00" * 9 + b"a",
        b"\x7fELF\x02\x01\x01\0\0\0\0\0" * 30,
        b"text with \0 one zero byte",
    ],
)
def test_binary_data_are_refused_and_never_guessed_at(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="binary"):
        decode(data)


async def test_html_keeps_headings_and_tables_and_drops_scripts_and_pictures() -> None:
    page = (
        "<html><head><title>t</title><style>x{}</style><script>alert(1)</script></head><body><h1>Caf&eacute;</h1>"
        "<p>a <b>b</b> &lt;c&gt;<img src='data:image/png;base64,AAAA'></p>"
        "<table><tr><th>x</th></tr><tr><td>1</td></tr></table></body></html>"
    )
    text = await parse(page.encode(), "page.HTML")
    assert text.startswith("# Café")
    assert "a **b** <c>" in text
    assert "| x |" in text
    assert "alert" not in text
    assert "base64" not in text


async def test_deeply_nested_html_does_no_harm() -> None:
    assert "x" not in (await parse(b"<div>" * 100_000, "deep.htm")).strip("<div>")


async def test_pdf_pages_become_paragraphs() -> None:
    assert await parse(files.pdf("Ada Lovelace", "", "Grüße"), "a.pdf") == "Ada Lovelace\n\nGrüße"


async def test_a_pdf_is_known_by_its_content_too() -> None:
    assert await parse(files.pdf("Ada Lovelace"), "really-a-pdf.txt") == "Ada Lovelace"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (files.pdf(""), "no text layer"),
        (files.pdf("secret", password="sesame"), "password"),
        (files.pdf("Ada")[:60], "damaged"),
        (b"", "damaged"),
        (b"just text", "damaged, or not a PDF"),
    ],
)
async def test_a_pdf_without_readable_text_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        await parse(data, "a.pdf")


async def test_word_headings_lists_and_tables_become_markdown() -> None:
    assert await parse(files.docx(), "a.docx") == (
        "# Engines\n\nTwo of them.\n\n## Analytical\n\n- never built\n\n"
        "| name | who \\| when |\n| --- | --- |\n| Difference Engine | 差分机 |\n\nThe end."
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (files.docx(text=False), "no text"),
        (files.bomb(), "zip bomb"),
        (files.docx()[:400], "damaged"),
        (b"", "damaged"),
        (files.pdf("a pdf"), "damaged, or not a Word document"),
    ],
)
async def test_a_word_file_without_readable_text_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        await parse(data, "a.docx")


async def test_a_parser_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(InvalidInput, match="takes more than 0 s"):
        await sandbox.parse_apart("pdf", files.pdf("slow"), seconds=0.001)


async def test_a_parser_that_dies_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    # Python itself cannot start without these: the child ends with a code of its own.
    monkeypatch.setattr(sandbox, "_PASSED_ON", ())
    monkeypatch.setattr(sandbox.sys, "executable", "/bin/false")
    with pytest.raises(InvalidInput, match="the parser fails on it"):
        await sandbox.parse_apart("docx", files.docx())


async def test_parsers_see_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "OPENAI_API_KEY" not in sandbox._PASSED_ON
    assert await sandbox.parse_apart("pdf", files.pdf("Ada")) == "Ada"


async def test_a_name_without_suffix_is_read_as_utf_8_only() -> None:
    assert await parse("Grüße".encode(), "LICENSE") == "Grüße"
    for data in ("Grüße".encode("cp1252"), b"a\0b"):
        with pytest.raises(InvalidInput, match="not UTF-8"):
            await parse(data, "LICENSE")


async def test_unknown_kinds_and_too_large_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match=r"\.exe are not read; known: \.md"):
        await parse(b"x", "a.exe")
    monkeypatch.setattr(parsing, "MAX_FILE_BYTES", 2**20)
    with pytest.raises(InvalidInput, match="2 MB is more than the 1 MB"):
        await parse(b"x" * 2**21, "a.txt")
