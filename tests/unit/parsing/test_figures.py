"""Pictures of a file become figures, which its text names; logos, rules and scans do not."""

import zipfile
from email.message import EmailMessage
from io import BytesIO
from typing import Any

import pytest
from pptx import Presentation

from runtime.parsing import docx, eml, epub, html, markdown, odt, pdf, pptx
from runtime.parsing.figures import MAX_FIGURES
from runtime.parsing.files import parse
from runtime.parsing.settings import ParserSettings
from tests.support import open_document_files
from tests.support.office_files import saved
from tests.support.pictures import inline, pdf_with_picture, picture, word_file

KEEPING_NONE = ParserSettings(keep_figures=False).parsing_services()
CAPTION = "Figure 1. The catch of herring."


async def test_a_figure_leaves_the_sandbox_with_its_caption_and_its_bytes() -> None:
    data = picture()
    document = await parse(word_file(data), "port.docx")
    (figure,) = document.figures
    assert figure.data == data
    assert (figure.media_type, figure.width, figure.height) == ("image/png", 200, 120)
    assert figure.caption == CAPTION
    assert f"Port Elm.\n\n[Figure 1]\n\n{CAPTION}" in document.text
    assert not document.warnings


def test_a_page_of_a_pdf_names_its_figure_above_the_line_below_it_and_where_it_stands() -> None:
    content = pdf.text(pdf_with_picture(picture()))
    assert content.text.split("\n\n") == ["The gauge at Port Elm.", "[Figure 1]", CAPTION]
    (figure,) = content.figures
    assert (figure.page, figure.caption) == (1, CAPTION)
    assert figure.box is not None
    left, top, right, bottom = figure.box
    assert 0 < left < right < 1
    assert 0 < top < bottom < 1


def test_a_slide_names_its_figure_by_the_words_for_those_who_do_not_see_it() -> None:
    deck: Any = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    shape = slide.shapes.add_picture(BytesIO(picture(kind="JPEG")), 914400, 914400)
    shape._element.nvPicPr.cNvPr.set("descr", "The catch [of herring]")
    content = pptx.text(saved(deck))
    assert content.text == "## Slide 1\n\n[Figure 1: The catch (of herring)]"
    assert (content.figures[0].page, content.figures[0].media_type) == (1, "image/jpeg")


@pytest.mark.parametrize("parser", [html, markdown])
def test_a_picture_inside_of_a_text_becomes_a_figure_and_one_elsewhere_is_counted(
    parser: Any,
) -> None:
    address = inline(picture())
    source = {
        html: f"<p>See <img alt='The catch' src='{address}'> and <img src='http://x/y.png'>.</p>",
        markdown: f"See ![The catch]({address}) and ![](http://x/y.png).",
    }[parser]
    content = parser.text(source)
    assert "See [Figure 1: The catch] and" in content.text
    assert [figure.data for figure in content.figures] == [picture()]


def test_a_book_has_the_pictures_beside_its_chapters() -> None:
    with BytesIO() as output:
        with zipfile.ZipFile(output, "w") as archive:
            archive.writestr(
                "META-INF/container.xml",
                "<container><rootfiles><rootfile full-path='b/x.opf'/></rootfiles></container>",
            )
            archive.writestr(
                "b/x.opf",
                "<package><manifest><item id='a' href='t/a.xhtml' "
                "media-type='application/xhtml+xml'/></manifest>"
                "<spine><itemref idref='a'/></spine></package>",
            )
            archive.writestr("b/t/a.xhtml", "<p>See <img src='../i/a%20b.png' alt='A'/></p>")
            archive.writestr("b/i/a b.png", picture())
        content = epub.text(output.getvalue())
    assert content.text == "See [Figure 1: A]"
    assert len(content.figures) == 1


def test_logos_and_small_pictures_are_no_figures_and_a_picture_that_returns_is_one() -> None:
    logo, chart = picture(bar=20), picture()
    content = docx.text(word_file(chart, logo, logo, logo, picture(40, 40), chart))
    assert [figure.data for figure in content.figures] == [chart]
    assert content.text.count("[Figure 1]") == 2
    assert set(content.warnings) == {
        "3 pictures were left out: the same in several places, as a logo is",
        "1 picture was left out: smaller than 64 pixels",
    }


def test_a_picture_in_a_form_that_browsers_do_not_show_is_written_anew() -> None:
    (figure,) = docx.text(word_file(picture(kind="TIFF"))).figures
    assert (figure.media_type, figure.data[:4]) == ("image/png", b"\x89PNG")


def test_a_document_has_so_many_figures_and_the_rest_is_counted() -> None:
    pictures = [
        inline(picture(bar=number % 100, width=200 + number // 100)) for number in range(105)
    ]
    content = html.text("".join(f"<p><img src='{address}'></p>" for address in pictures))
    assert len(content.figures) == MAX_FIGURES
    assert content.text.endswith(f"[Figure {MAX_FIGURES}]")
    assert content.warnings[0].startswith("5 pictures were left out: at most 100")


def test_what_is_no_picture_or_claims_too_many_pixels_is_counted() -> None:
    bomb = bytearray(picture())
    bomb[16:24] = (100_000).to_bytes(4) * 2
    for data in (b"<svg onload='alert(1)'/>", bytes(bomb), picture()[:60]):
        content = html.text(f"<p>Tide <img alt='A' src='{inline(data)}'></p>")
        assert (content.text, content.figures) == ("Tide [Picture: A]", ())


def test_pictures_of_a_message_and_of_its_attachments_are_its_figures() -> None:
    message = EmailMessage()
    message["From"] = "ada@port.example"
    message.set_content("The gauge is attached.")
    message.add_attachment(picture(), "image", "png", filename="gauge.png")
    word_type = "vnd.openxmlformats-officedocument.wordprocessingml.document"
    report = word_file(picture(bar=40))
    message.add_attachment(report, "application", word_type, filename="report.docx")
    content = eml.text(message.as_bytes())
    assert [figure.data for figure in content.figures] == [picture(), picture(bar=40)]
    assert "[Figure 1: gauge.png]" in content.text
    assert f"[Figure 2: {CAPTION}]" in content.text
    assert not content.warnings


def test_pictures_of_open_documents_are_figures() -> None:
    image = '<draw:image xlink:href="Pictures/1.png"/><svg:desc>The catch</svg:desc>'
    body = f"<text:p>The gauge.<draw:frame>{image}</draw:frame></text:p>"
    content = odt.text(open_document_files.document("text", body, **{"Pictures/1.png": "PNG"}))
    assert content.figures == ()
    assert "[Picture: The catch]" in content.text
    file = with_part(open_document_files.document("text", body), "Pictures/1.png", picture())
    content = odt.text(file)
    assert [figure.data for figure in content.figures] == [picture()]
    assert "The gauge.\n\n[Figure 1: The catch]" in content.text


def with_part(package: bytes, name: str, data: bytes) -> bytes:
    output = BytesIO(package)
    with zipfile.ZipFile(output, "a") as archive:
        archive.writestr(name, data)
    return output.getvalue()


async def test_figures_are_left_out_where_that_is_wanted() -> None:
    document = await parse(word_file(picture()), "port.docx", services=KEEPING_NONE)
    assert document.figures == ()
