"""What pages, presentations, OpenDocument texts and books leave out is counted and said; what
stands there is read.
"""

from io import BytesIO
from typing import Any

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from runtime.errors import InvalidInput
from runtime.parsing import docx, epub, html, odt, pptx
from runtime.parsing.files import parse
from tests.support import office_files as office
from tests.support.binary_data import BASE64
from tests.support.word_xml import drawing, p, word

GIF = b"GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\4\1\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"


def test_a_page_gives_alternative_texts_and_says_what_it_left_out() -> None:
    content = html.text(
        '<p>a <img src="x.png" alt="A lamp &amp; a \'man\' > here"> b</p><img '
        "src=y><template><p>T</p></template>"
        '<p hidden>H</p><div class="x" style="color:red; display: '
        'none">N</div><noscript>S</noscript><video></video>'
        "<iframe src=x></iframe><p>c</p>"
    )
    assert "[Picture: A lamp & a 'man' > here]" in content.text
    assert content.text.endswith("c")
    assert not {"T", "H", "N", "S"} & set(content.text.replace("\n", " ").split())
    assert set(content.warnings) == {
        "1 sound or film was left out",
        "1 embedded object was left out: add it as a file of its own",
        "4 parts that browsers do not show were left out",
        "2 pictures were left out: only text is read",
    }


def test_a_presentation_gives_its_charts_and_names_its_pictures() -> None:
    deck: Any = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    data = CategoryChartData()
    data.categories = ["1921", "1922"]
    data.add_series("Tonnes", (40, 55))
    frame = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *[Inches(1)] * 4, data)
    frame.chart.has_title = True
    frame.chart.chart_title.text_frame.text = "Catch of herring"
    picture = slide.shapes.add_picture(BytesIO(GIF), 0, 0)
    picture._element.nvPicPr.cNvPr.set("descr", "A lighthouse at dusk")
    slide.shapes.add_picture(BytesIO(GIF), 0, 0)
    content = pptx.text(office.saved(deck))
    for line in ("Chart: Catch of herring", "| 1921 | 40 |", "[Picture: A lighthouse at dusk]"):
        assert line in content.text.split("\n")
    assert content.warnings == ("2 pictures were left out: smaller than 64 pixels",)


def test_an_open_document_gives_its_comments_and_counts_pictures_and_deletions() -> None:
    draw = (
        'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    )
    body = (
        "<text:tracked-changes "
        f"{draw}><text:changed-region><text:deletion><text:p>GONE</text:p></text:deletion>"
        f"</text:changed-region></text:tracked-changes><text:p {draw}>The "
        "rent<office:annotation><dc:creator>Ada"
        "</dc:creator><text:p>Too "
        "low.</text:p></office:annotation><draw:frame><draw:image/></draw:frame></text:p>"
        f"<text:p {draw}><draw:frame><draw:text-box><text:p>In a "
        "box</text:p></draw:text-box></draw:frame></text:p>"
    )
    content = odt.text(office.odt(body))
    assert "Comment by Ada: Too low." in content.text
    assert "In a box" in content.text
    assert "GONE" not in content.text
    assert set(content.warnings) == {
        "1 picture was left out: only text is read",
        "1 tracked deletion was left out: changes are read as accepted",
    }


def test_a_book_counts_the_pictures_of_all_chapters() -> None:
    assert epub.text(office.epub()).warnings == ("1 picture was left out: only text is read",)


def test_a_document_of_pictures_alone_is_refused_with_their_number() -> None:
    with pytest.raises(InvalidInput, match=r"has no text in it \(2 pictures were left out"):
        docx.text(word(p(drawing("<pic:pic/>"), drawing("<pic:pic/>"))))


async def test_binary_data_in_any_file_is_left_out_and_said_with_its_bytes() -> None:
    for name, text in {
        "a.md": f"Lamp ![lamp](data:image/png;base64,{BASE64}) built by Gustav Hale.",
        "a.json": f'{{"photo": "{BASE64}", "built by": "Gustav Hale"}}',
        "a.css": f"src: url(data:font/woff2;base64,{BASE64}) by Gustav Hale",
        "a.html": f"<p>{BASE64}</p><p>Gustav Hale</p>",
        "a.ipynb": f'{{"cells": [{{"cell_type": "raw", "source": "{BASE64} Gustav Hale"}}]}}',
    }.items():
        document = await parse(text.encode(), name)
        assert "Gustav Hale" in document.text
        assert len(document.text) < 100
        assert any("40,0" in warning for warning in document.warnings), name


async def test_a_file_of_nothing_but_binary_data_is_refused() -> None:
    with pytest.raises(
        InvalidInput, match=r"a\.md: has no text in it \(1 inline file \(image/png; 40,0"
    ):
        await parse(f"![](data:image/png;base64,{BASE64})".encode(), "a.md")
