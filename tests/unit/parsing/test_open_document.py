"""OpenDocument texts, spreadsheets and presentations: what stands in them is read, and what is left
out is said.
"""

from runtime.parsing import odp, ods, odt
from tests.support import open_document_files as made

CELL = made.CELL
HIDDEN = '<style:style style:name="H"><style:text-properties text:display="none"/></style:style>'


def test_a_text_gives_headers_footers_notes_boxes_and_charts() -> None:
    chart = (
        "<office:document-content "
        f"{made.SPACES}><office:body><office:chart><chart:chart><chart:title>"
        f"<text:p>Catch</text:p></chart:title><table:table><table:table-row>{CELL.format(1921)}"
        f"{CELL.format(40)}</table:table-row></table:table></chart:chart></office:chart></office:body>"
        "</office:document-content>"
    )
    body = (
        '<text:h text:outline-level="2">Rent</text:h><text:p>Paid<text:s '
        'text:c="2"/>late<text:note>'
        "<text:note-citation>1</text:note-citation><text:note-body><text:p>By custom.</text:p>"
        "</text:note-body></text:note>."
        '<text:span text:style-name="H">secret</text:span></text:p>'
        "<text:p><draw:frame><draw:text-box><text:p>In a "
        "box</text:p></draw:text-box></draw:frame></text:p>"
        '<text:p><draw:frame><draw:object xlink:href="./Object '
        '1"/><draw:image/></draw:frame></text:p>'
        "<text:p><draw:custom-shape><text:p>On a shape</text:p></draw:custom-shape></text:p>"
        '<text:p><draw:frame><draw:object xlink:href="./Object '
        '2"/><draw:image/></draw:frame></text:p>'
        "<text:p><draw:frame><draw:image/><svg:desc>A lighthouse</svg:desc></draw:frame></text:p>"
    )
    masters = (
        "<style:master-page><style:header><text:p>Port Elm</text:p></style:header><style:footer>"
        "<text:p>Harbour Office</text:p></style:footer><style:footer-left><text:p>Harbour "
        "Office</text:p>"
        "</style:footer-left></style:master-page>"
    )
    data = made.document(
        "text", body, styles=HIDDEN, masters=masters, **{"Object 1/content.xml": chart}
    )
    content = odt.text(data)
    assert content.text.split("\n\n") == [
        "## Rent",
        "Paid  late[^1].",
        "[^1]: By custom.",
        "In a box",
        "Chart",
        "Catch",
        "| 1921 | 40 |\n| --- | --- |",
        "On a shape",
        "[Picture: A lighthouse]",
        "Header: Port Elm",
        "Footer: Harbour Office",
    ]
    assert set(content.warnings) == {
        "6 characters of hidden text were left out",
        "1 embedded object was left out: add it as a file of its own",
        "1 picture was left out: only text is read",
    }


def test_a_spreadsheet_gives_what_its_cells_show_and_says_what_is_hidden() -> None:
    styles = (
        '<style:style style:name="X"><style:table-properties table:display="false"/></style:style>'
    )
    rows = (
        f"<table:table-row>{CELL.format('Department')}{CELL.format('Pay')}</table:table-row>"
        "<table:table-row><table:table-cell "
        'table:number-rows-spanned="2"><text:p>Quay</text:p></table:table-cell>'
        '<table:table-cell office:value="1200.5"><text:p>1 200,50 '
        "kr</text:p><office:annotation><text:p>low"
        "</text:p></office:annotation></table:table-cell></table:table-row>"
        '<table:table-row table:visibility="collapse"><table:covered-table-cell/><table:table-cell '
        'table:formula="of:=SUM([.B2])"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="1048573"><table:table-cell '
        'table:number-columns-repeated="16384"/></table:table-row>'
    )
    body = (
        f'<table:table table:name="Staff">{rows}</table:table><table:table table:name="Old" '
        'table:style-name="X">'
        f'<table:table-row table:number-rows-repeated="2">{CELL.format("x")}{CELL.format("y")}'
        "</table:table-row></table:table>"
    )
    content = ods.text(made.ods(body, styles))
    assert "| Quay | 1 200,50 kr [Comment: low] |\n| Quay | =SUM([.B2]) |" in content.text
    assert "## Old (hidden)\n\n| x | y |\n| --- | --- |\n| x | y |" in content.text
    assert [warning.partition(":")[0] for warning in content.warnings] == [
        "1 cell whose value the file does not have stands as a formula",
        "1 hidden row was read",
        "1 hidden sheet was read",
    ]


def test_a_presentation_gives_titles_comments_and_notes() -> None:
    styles = (
        '<style:style style:name="X"><style:drawing-page-properties '
        'presentation:visibility="hidden"/></style:style>'
    )
    body = (
        '<draw:page draw:style-name="X"><draw:frame '
        'presentation:class="title"><draw:text-box><text:p>Plan</text:p>'
        "</draw:text-box></draw:frame><draw:frame><draw:text-box><text:list><text:list-item><text:p>Dredge</text:p>"
        "</text:list-item></text:list></draw:text-box></draw:frame><draw:frame><draw:plugin/></draw:frame>"
        "<office:annotation><dc:creator>Ada</dc:creator><text:p>Soon.</text:p></office:annotation>"
        "<presentation:notes><draw:page-thumbnail/><draw:frame "
        'presentation:class="notes"><draw:text-box>'
        "<text:p>Thank her.</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>"
    )
    content = odp.text(made.odp(body + made.SLIDE, styles))
    assert content.text == (
        "## Slide 1 (hidden): Plan\n\n- Dredge\n\nComment by Ada: Soon.\n\nNotes: Thank "
        "her.\n\n## Slide 2\n\nA pier"
    )
    assert len(content.pages) == 2
    assert set(content.warnings) == {"1 sound or film was left out", "1 hidden slide was read"}
