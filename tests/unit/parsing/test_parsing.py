"""Files to text: what is read, what is known about it, and what is refused for which reason."""

import hashlib
import re
from pathlib import Path

import pytest

from cli.documents import add
from contracts.text import MAX_TEXT_BYTES
from runtime.errors import InvalidInput
from runtime.parsing import content, files
from runtime.parsing.content import MAX_TEXT, joined, paged
from runtime.parsing.files import parse
from runtime.parsing.folders import is_document, why_no_document
from runtime.parsing.kinds import KINDS, SUFFIXES, VARIANTS, refuse_kind
from runtime.parsing.names import validated_text
from tests.support import office_files as office
from tests.support.pdf_files import pdf

ROOT = Path(__file__).resolve().parents[3]

GERMAN = (
    "Die Käufer prüfen große Öfen, während der Bäcker die Brötchen für übermütige Gäste backt. " * 4
)


@pytest.mark.parametrize(
    "code",
    [
        "<style>p > a { color: red; }\n@media print { p { margin: 0; } }\n",
        "<style>p {}</style><style type='text/css'>\nbody { margin: 0; }\n",
        "<script>if (a < 2) { b = 1; }\n",
    ],
)
async def test_styles_and_scripts_without_an_end_are_no_text_of_html(code: str) -> None:
    page = f"<html><head>{code}<p>Bees sleep.</p><h2>Why?<a href='#y'>¶</a></h2></html>"
    assert (await parse(page.encode(), "a.html")).text.split() == ["Bees", "sleep.", "##", "Why?"]


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
    result = await parse(pdf("Ada Lovelace", "", "Grüße", "B C", ""), "a.pdf")
    assert result.text == "Ada Lovelace\n\nGrüße\n\nB C"
    assert [result.text[start : start + 3] for start in result.pages] == [
        "Ada",
        "Grü",
        "Grü",
        "B C",
        "",
    ]


async def test_the_last_page_without_text_begins_at_the_end() -> None:
    result = await parse(pdf("Ada", ""), "a.pdf")
    assert (result.text, result.pages) == ("Ada", (0, 3))


async def test_a_pdf_is_known_by_its_content_too() -> None:
    result = await parse(pdf("Ada Lovelace"), "really-a-pdf.txt")
    assert (result.text, result.metadata["media_type"]) == ("Ada Lovelace", "application/pdf")


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
async def test_a_pdf_without_readable_text_is_refused_with_the_reason(
    data: bytes, reason: str
) -> None:
    with pytest.raises(InvalidInput, match=f"a.pdf: .*{reason}"):
        await parse(data, "a.pdf")


async def test_a_pdf_with_too_many_pages_is_refused() -> None:
    pages = b"<</Type/Pages/Count %d/Kids[4 0 R]>>"
    content = pdf("Ada").replace(pages % 1, pages % 99999)
    with pytest.raises(
        InvalidInput, match=r"a\.pdf: has 99,999 pages, at most 10,000 are read: split it"
    ):
        await parse(content, "a.pdf")


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
        "encoding": "utf-8",
        "encoding_confidence": 1.0,
    }
    assert (await parse(data, "")).metadata == {}
    assert (await parse(office.xlsx(), "a.xlsx")).metadata["media_type"] == (
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    )


@pytest.mark.parametrize(
    "name", ["LICENSE", "notes.v2", "a.py", "a.unheard-of", "conf.d", "x.YAML", ""]
)
async def test_plain_text_of_any_name_is_read(name: str) -> None:
    for encoding in ("utf-8", "utf-16", "cp1252"):
        assert (await parse(GERMAN.encode(encoding), name)).text == GERMAN
    with pytest.raises(InvalidInput, match="binary data, not text"):
        await parse(b"\0\1\2\3" * 30, name)


async def test_everything_lightrag_takes_is_read() -> None:
    """The list of LightRAG's DocumentManager."""
    suffixes = (
        ".txt .md .mdx .pdf .docx .pptx .xlsx .rtf .odt .tex .epub .html .htm .csv .json .xml "
        ".yaml .yml .log .conf .ini .properties .sql .bat .sh .c .h .cpp .hpp .py .java .js .ts "
        ".swift .go .rb .php .css .scss .less"
    )
    assert set(suffixes.split()) <= set(SUFFIXES)


async def test_a_too_large_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 2**20)
    with pytest.raises(
        InvalidInput, match=r"a\.txt: 2 MB is more than the 1 MB a file may have: split it"
    ):
        await parse(b"x" * 2**21, "a.txt")


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("a.exe", "their source code is"),
        ("a.pem", "holds keys"),
        ("a.zip", "unpack the archive"),
        ("a.tar.GZ", "unpack the archive"),
        ("a.doc", "save it as .docx"),
        ("a.xls", "save it as .xlsx or .csv"),
        ("a.pps", "save it as .pptx"),
        ("a.msg", "save it as .eml .*; text is read, and .html .*.mbox"),
        ("a.odg", "save it as .pdf"),
        ("a.mobi", "save it as .pdf"),
        ("a.bmp", "save it as .png"),
    ],
)
async def test_a_file_of_another_kind_is_refused_with_the_way_out(name: str, way_out: str) -> None:
    suffix = "." + name.lower().rpartition(".")[2]
    with pytest.raises(
        InvalidInput, match=f"{name}: files of kind {suffix} are not read: .*{way_out}"
    ):
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
        (b"\x89PNG\r\n\x1a\n" + bytes(30), "a picture: name it .png"),
        (b"\xff\xd8\xff\xe0" + bytes(30), "a picture: name it .jpg"),
        (b"\x7fELF\2\1\1" + bytes(30), "a program"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
            "old or protected Office file: save it as .docx",
        ),
    ],
)
async def test_an_archive_under_the_name_of_a_text_is_refused(
    name: str, data: bytes, reason: str
) -> None:
    with pytest.raises(
        InvalidInput, match=f"^{name + ': ' if name else ''}not text but .*{reason}"
    ):
        await parse(data, name)


async def test_a_text_may_begin_like_an_archive() -> None:
    assert (await parse(b"BZhang leads the Harbour Office.", "a.txt")).text.startswith("BZhang")


@pytest.mark.parametrize(
    "name",
    [
        "../../x.txt",
        "..\\x.txt",
        "C:\\x.txt",
        "/etc/passwd",
        "a\0.txt",
        "a\n.txt",
        "a//b.txt",
        "./a.txt",
        "a/",
        "..",
        "\udcff.txt",
        "a/../../b.txt",
        "x" * 4000 + ".txt",
        "/".join(["x" * 200] * 6),
    ],
)
async def test_a_name_that_could_be_a_path_out_is_refused(name: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"not a plain file name: give one|too long: give one"
    ) as refusal:
        await parse(b"text", name)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 1400


@pytest.mark.parametrize(
    "name", ["a b.txt", "Grüße\u202f9.41.md", "notes/2026/a.txt", "تقرير.pdf", "a..b", "...", "a:b"]
)
def test_a_plain_name_is_taken_as_it_is(name: str) -> None:
    assert validated_text(name) == name


def test_every_kind_says_its_media_type() -> None:
    assert all("/" in kind.media_type for kind in KINDS.values())
    assert [suffix for suffix in SUFFIXES if suffix != suffix.lower() or refused(suffix)] == []


def refused(suffix: str) -> bool:
    try:
        refuse_kind(suffix)
    except InvalidInput:
        return True
    return False


def test_the_documentation_lists_every_kind() -> None:
    with_parser = [suffix for suffix, kind in KINDS.items() if kind.parser]
    suffixes = " ".join(suffix for suffix in with_parser if suffix not in VARIANTS)
    variants = "Office templates, slide shows and files with macros"
    others = "and text of any other name"
    help_text = " ".join((add.__doc__ or "").split())
    assert f"Add documents: {suffixes}, {variants}, {others}." in help_text
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    assert (
        f"Files are {suffixes}, [{variants}](docs/files.md#which-files-are-read), {others}"
        in readme
    )
    table = (ROOT / "docs/files.md").read_text("utf-8").partition("## Which files are read?")[2]
    assert [suffix for suffix in SUFFIXES if f"`{suffix}`" not in table] == []


def test_the_page_shows_as_markdown_what_parsers_read_into_it() -> None:
    lines = {"pdf", "rtf", "json", "jsonl", "eml", "mbox", "svg", "picture", "scanned_pdf"}
    source = (ROOT / "web/src/ui/Prose.tsx").read_text("utf-8")
    listed = source.partition("const MARKDOWN")[2].partition(".split")[0]
    words = " ".join(re.findall(r'"([^"]+)"', listed)).split()
    read = {
        suffix[1:] for suffix, kind in KINDS.items() if kind.parser and kind.parser not in lines
    }
    assert set(words) == read | {"md", "mdx", "markdown"}


def test_one_rule_says_which_files_of_a_folder_are_documents(tmp_path: Path) -> None:
    files = {
        "a.py": b"x = 1",
        "b.unheard": GERMAN.encode("utf-16"),
        "LICENSE": b"free",
        "c.pdf": b"%PDF",
        "d.txt": b"\0\1",
        "cut": ("x" * 4095 + "ß").encode(),
        "empty.txt": b"",
        "__init__.py": b"",
        "program": b"\x7fELF\0\0",
        "picture.gif": b"text",
        "e.unheard": b"\0\1\2",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "gone.txt").symlink_to("nowhere")
    result = {path.name for path in tmp_path.iterdir() if is_document(path)}
    assert result == {"a.py", "b.unheard", "LICENSE", "c.pdf", "d.txt", "cut", "gone.txt"}
    reasons = {path.name: why_no_document(path) for path in tmp_path.iterdir()}
    assert {name: reason for name, reason in reasons.items() if reason} == {
        "empty.txt": "empty",
        "__init__.py": "empty",
        "program": "of a kind that is not read, and no text",
        "picture.gif": reasons["picture.gif"],
        "e.unheard": "of a kind that is not read, and no text",
    }
    assert reasons["picture.gif"].startswith("files of kind .gif are not read: ")
