"""Files to text: what is read, what is known about it, and what is refused for which reason."""

import hashlib
import random
from pathlib import Path

import pytest

from runtime.bus.publisher import MAX_TEXT_BYTES
from runtime.errors import InvalidInput
from runtime.parsing import content, files
from runtime.parsing.content import MAX_TEXT, joined, paged
from runtime.parsing.decoding import decode
from runtime.parsing.files import parse
from runtime.parsing.kinds import KINDS, SUFFIXES
from runtime.parsing.names import checked
from standalone.cli.documents import add
from tests.support import office_files as office
from tests.support.pdf_files import pdf

ROOT = Path(__file__).resolve().parents[3]

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
    text = (await parse(page.encode(), "page.HTML")).text
    assert text.startswith("# Café")
    assert "a **b** <c>" in text
    assert "| x |" in text
    assert "alert" not in text
    assert "base64" not in text


async def test_pdf_pages_become_paragraphs_and_begin_where_pages_says() -> None:
    found = await parse(pdf("Ada Lovelace", "", "Grüße", "B C", ""), "a.pdf")
    assert found.text == "Ada Lovelace\n\nGrüße\n\nB C"
    assert [found.text[start : start + 3] for start in found.pages] == ["Ada", "Grü", "Grü", "B C", ""]


async def test_the_last_page_without_text_begins_at_the_end() -> None:
    found = await parse(pdf("Ada", ""), "a.pdf")
    assert (found.text, found.pages) == ("Ada", (0, 3))


async def test_a_pdf_is_known_by_its_content_too() -> None:
    found = await parse(pdf("Ada Lovelace"), "really-a-pdf.txt")
    assert (found.text, found.metadata["media_type"]) == ("Ada Lovelace", "application/pdf")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pdf(""), "no text layer"),
        (pdf("secret", password="sesame"), "password: save it without one"),
        (pdf("Ada")[:60], "damaged"),
        (b"", "damaged"),
        (b"just text", "damaged, or not a PDF: open it in a viewer"),
    ],
)
async def test_a_pdf_without_readable_text_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidInput, match=f"a.pdf: .*{reason}"):
        await parse(data, "a.pdf")


async def test_a_pdf_with_too_many_pages_is_refused() -> None:
    pages = b"<</Type/Pages/Count %d/Kids[4 0 R]>>"
    many = pdf("Ada").replace(pages % 1, pages % 99999)
    with pytest.raises(InvalidInput, match=r"a\.pdf: has 99,999 pages, at most 10,000 are read: split it"):
        await parse(many, "a.pdf")


def test_a_text_is_bounded_whatever_the_file_has(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_TEXT <= MAX_TEXT_BYTES, "a longer one would be refused at publishing"
    monkeypatch.setattr(content, "MAX_TEXT", 100)
    assert len(joined(["x" * 49, "", "y" * 49]).text) == 100
    for gather in (joined, paged):
        with pytest.raises(InvalidInput, match="more than 100 characters of text: split it"):
            gather("x" * 30 for _ in range(10**9))


async def test_a_file_is_described_by_its_metadata() -> None:
    data = "Grüße".encode()
    assert (await parse(data, "notes/Letter.MD")).metadata == {
        "file_name": "Letter.MD",
        "media_type": "text/markdown",
        "file_size": 7,
        "file_sha256": hashlib.sha256(data).hexdigest(),
    }
    assert (await parse(data, "")).metadata == {}
    assert (await parse(office.xlsx(), "a.xlsx")).metadata["media_type"] == (
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    )


async def test_a_name_without_suffix_is_read_as_utf_8_only() -> None:
    assert (await parse("Grüße".encode(), "LICENSE")).text == "Grüße"
    for data in ("Grüße".encode("cp1252"), b"a\0b"):
        with pytest.raises(InvalidInput, match=r"LICENSE: not UTF-8 .* give it one"):
            await parse(data, "LICENSE")


async def test_a_too_large_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 2**20)
    with pytest.raises(InvalidInput, match=r"a\.txt: 2 MB is more than the 1 MB a file may have: split it"):
        await parse(b"x" * 2**21, "a.txt")


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("a.exe", "read when its name ends in .txt; known: .md .txt"),
        ("a.zip", "unpack the archive"),
        ("a.tar.GZ", "unpack the archive"),
        ("a.doc", "save it as .docx"),
        ("a.docm", "save it as .docx"),
        ("a.xls", "save it as .xlsx or .csv"),
        ("a.odp", "save it as .pptx"),
        ("a.epub", "save it as .pdf"),
        ("a.jpeg", "text recognition"),
        ("a.xml", "read when its name ends in .txt"),
    ],
)
async def test_a_file_of_another_kind_is_refused_with_the_way_out(name: str, way_out: str) -> None:
    suffix = "." + name.lower().rpartition(".")[2]
    with pytest.raises(InvalidInput, match=f"{name}: files of kind {suffix} are not read: .*{way_out}"):
        await parse(b"x", name)


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.json", "a.md", "a.html", "README", ""])
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (office.archive(a=b"text"), "a zip archive: unpack"),
        (b"\x1f\x8b\x08\0" + bytes(30), "a gzip archive: unpack"),
        (b"BZh91AY&SY" + bytes(30), "a bzip2 archive: unpack"),
        (b"\xfd7zXZ\0" + bytes(30), "an xz archive: unpack"),
        (b"a.txt".ljust(257, b"\0") + b"ustar\0", "a tar archive: unpack"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old or protected Office file: save it as .docx"),
    ],
)
async def test_an_archive_under_the_name_of_a_text_is_refused(name: str, data: bytes, reason: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{name + ': ' if name else ''}not text but .*{reason}"):
        await parse(data, name)


async def test_a_text_may_begin_like_an_archive() -> None:
    assert (await parse(b"BZhang leads the Harbour Office.", "a.txt")).text.startswith("BZhang")


@pytest.mark.parametrize(
    "name",
    ["../../x.txt", "..\\x.txt", "C:\\x.txt", "/etc/passwd", "a\0.txt", "a\n.txt", "a//b.txt", "./a.txt", "a/", "..",
     "\udcff.txt", "a/../../b.txt", "x" * 4000 + ".txt", "/".join(["x" * 200] * 6)],
)  # fmt: skip
async def test_a_name_that_could_be_a_path_out_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"not a plain file name: give one|too long: give one") as refusal:
        await parse(b"text", name)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 1400


@pytest.mark.parametrize(
    "name", ["a b.txt", "Grüße\u202f9.41.md", "notes/2026/a.txt", "تقرير.pdf", "a..b", "...", "a:b"]
)
def test_a_plain_name_is_taken_as_it_is(name: str) -> None:
    assert checked(name) == name


def test_every_kind_says_its_media_type() -> None:
    assert SUFFIXES == (
        ".md", ".txt", ".rst", ".html", ".htm", ".pdf", ".docx", ".pptx", ".xlsx", ".csv", ".tsv", ".json", ".jsonl"
    )  # fmt: skip
    assert all("/" in kind.media_type for kind in KINDS.values())


def test_the_documentation_lists_every_kind() -> None:
    known = " ".join(SUFFIXES)
    shown = " ".join((add.__doc__ or "").split())
    assert f"Add documents: {known}, and UTF-8 text without a suffix." in shown
    assert f"Files are {known}," in (ROOT / "README.md").read_text("utf-8")
    table = (ROOT / "docs/operations.md").read_text("utf-8").partition("## Which files are read?")[2]
    assert [suffix for suffix in SUFFIXES if f"`{suffix}`" not in table] == []
