"""Word documents and presentations: structure is kept, and slides have their places."""

from email.message import EmailMessage

import pytest

from runtime.errors import InvalidInput
from runtime.parsing.files import parse
from runtime.parsing.kinds import VARIANTS
from runtime.parsing.omissions import MACROS
from tests.support import office_files as office
from tests.support.office_variants import has_macros, saved_as, usual_file, with_macros


async def test_word_headings_lists_and_tables_become_markdown() -> None:
    assert (await parse(office.docx(), "a.docx")).text == (
        "# Engines\n\nTwo of them.\n\n## Analytical\n\n- never built\n\n"
        "| name | who \\| when |\n| --- | --- |\n| Difference Engine No. 2 | 差分机 |\n\nThe end."
    )


async def test_slides_become_headings_with_lists_tables_groups_and_notes() -> None:
    result = await parse(office.pptx(), "a.pptx")
    first = (
        "## Slide 1: Harbour plan\n\n- Dredge the basin\n  - Build a pier\n\nNotes: Thank Ada "
        "Marlow."
    )
    assert result.text == (
        f"{first}\n\n## Slide 3 (hidden): Costs\n\n| part | cost |\n| --- | --- |\n| pier | "
        "9\\|10 |\n\n"
        "approved\nin May\n\nby Hector Vane"
    )
    assert result.pages == (0, len(first) + 2, len(first) + 2), "the second slide is empty"


async def test_opendocument_headings_lists_and_tables_become_markdown() -> None:
    result = await parse(office.odt(), "a.odt")
    assert result.text.startswith("# Harbour Office\n\nÅsa Lind leads it <since> May & June.\n\n")
    assert "- one\n" in result.text
    assert "| Ada\\|x" in result.text
    assert "DELETED" not in result.text, "what was deleted while changes were tracked is no text"
    assert result.metadata["media_type"] == "application/vnd.oasis.opendocument.text"


async def test_chapters_of_a_book_are_read_in_their_order() -> None:
    result = await parse(office.epub(), "a.epub")
    assert result.text == "# Two\n\nBörje came *later*.\n\n# One\n\nÅsa Lind leads the office."


async def test_rich_text_becomes_lines_with_every_letter() -> None:
    result = await parse(office.RICH_TEXT, "a.rtf")
    assert result.text == "Lefèvre & Łódź – 😀\nÅsa|36|\nlast"
    assert (await parse(office.RICH_TEXT, "really-rich.txt")).text == result.text
    cyrillic = b"{\\rtf1\\ansi\\ansicpg1251 \\'cf\\'ee\\'f0\\'f2}"
    assert (await parse(cyrillic, "a.rtf")).text == "Порт"


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.odt", office.docx(), "damaged, or not an OpenDocument text"),
        ("a.odt", office.odt("<text:p/>"), "has no text in it"),
        ("a.odt", office.odt(protected=True), "protected by a password"),
        ("a.epub", office.odt(), "damaged, or not an e-book"),
        (
            "a.epub",
            office.changed(office.epub(), lambda n, p: None if n.endswith("one.xhtml") else p),
            "damaged",
        ),
        ("a.rtf", b"just text", "damaged, or not Rich Text Format"),
        ("a.rtf", b"{\\rtf1 }", "has no text in it"),
    ],
)
async def test_a_book_or_text_without_readable_text_is_refused(
    name: str, data: bytes, reason: str
) -> None:
    with pytest.raises(InvalidInput, match=f"^{name}: {reason}"):
        await parse(data, name)


@pytest.mark.parametrize("suffix", VARIANTS)
async def test_a_variant_has_the_text_of_its_usual_kind(suffix: str) -> None:
    name, data = usual_file(suffix)
    usual = await parse(data, name)
    result = await parse(saved_as(suffix, data), f"a{suffix}")
    assert (result.text, result.pages) == (usual.text, usual.pages)
    assert result.metadata["media_type"] == VARIANTS[suffix].media_type
    assert (MACROS in result.warnings) == has_macros(suffix)


@pytest.mark.parametrize("suffix", VARIANTS)
async def test_a_variant_of_another_kind_is_refused(suffix: str) -> None:
    with pytest.raises(InvalidInput, match="damaged, or not"):
        await parse(office.archive(a=b"just an archive"), f"a{suffix}")


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("a.docx", "word/vbaProject.bin"),
        ("a.pptx", "ppt/vbaProject.bin"),
        ("a.xlsx", "xl/vbaProject.bin"),
        ("a.odt", "Basic/Standard/Module1.xml"),
    ],
)
async def test_macros_are_left_out_with_a_warning(name: str, part: str) -> None:
    makers = {"a.docx": office.docx, "a.pptx": office.pptx, "a.xlsx": office.xlsx}
    data = makers.get(name, office.odt)()
    usual = await parse(data, name)
    result = await parse(with_macros(data, part), name)
    assert result.text == usual.text
    assert MACROS not in usual.warnings and MACROS in result.warnings
    assert "boo" not in result.text


async def test_an_attached_slide_show_is_known_by_its_media_type() -> None:
    mail = EmailMessage()
    mail["Subject"] = "The plan"
    mail.set_content("Here it is.")
    main, sub = VARIANTS[".ppsm"].media_type.split("/")
    mail.add_attachment(saved_as(".ppsm", office.pptx()), maintype=main, subtype=sub)
    assert "Dredge the basin" in (await parse(mail.as_bytes(), "a.eml")).text


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.docx", office.docx(text=False), "has no text in it"),
        ("a.pptx", office.pptx(text=False), "has no text in it"),
        ("a.docx", office.docx()[:400], "damaged, or not a Word document: open it in the program"),
        ("a.pptx", office.pptx()[:-300], "damaged, or not a presentation: open it in the program"),
        ("a.xlsx", b"", "damaged, or not a spreadsheet: open it in the program"),
        ("a.docx", b"%PDF-1.4 a PDF", "damaged, or not a Word document"),
        ("a.docx", office.xlsx(), "damaged, or not a Word document"),
        ("a.pptx", office.docx(), "damaged, or not a presentation"),
        ("a.xlsx", office.pptx(), "damaged, or not a spreadsheet"),
        ("a.xlsx", office.archive(a=b"just an archive"), "damaged, or not a spreadsheet"),
    ],
)
async def test_an_office_file_without_readable_text_is_refused(
    name: str, data: bytes, reason: str
) -> None:
    with pytest.raises(InvalidInput, match=f"^{name}: {reason}"):
        await parse(data, name)
