"""Word documents of raw XML, one feature of the format each, and what a reader must find in
them.
"""

from dataclasses import dataclass, field

from tests.support.word_xml import (
    SPACES,
    box,
    control,
    drawing,
    inserted,
    instruction,
    mark,
    notes,
    p,
    r,
    table,
    tc,
    tr,
)

CHART = (
    f"<c:chartSpace {SPACES}><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Catch of "
    "herring</a:t></a:r></a:p></c:rich>"
    "</c:tx></c:title><c:plotArea><c:barChart><c:ser><c:tx><c:strRef><c:strCache><c:pt "
    "idx='0'><c:v>Tonnes</c:v></c:pt>"
    "</c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache><c:pt "
    "idx='0'><c:v>1921</c:v></c:pt>"
    "<c:pt "
    "idx='1'><c:v>1922</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache>"
    "<c:pt idx='0'><c:v>40</c:v></c:pt><c:pt "
    "idx='1'><c:v>55</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>"
    "</c:barChart></c:plotArea></c:chart></c:chartSpace>"
)
DIAGRAM = (
    "<dgm:dataModel "
    f"{SPACES}><dgm:ptLst><dgm:pt><dgm:t><a:p><a:r><a:t>Board</a:t></a:r></a:p></dgm:t></dgm:pt>"
    "<dgm:pt><dgm:t><a:p><a:r><a:t>Harbour "
    "master</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>"
)
NUMBERING = (
    f"<w:numbering {SPACES}><w:abstractNum w:abstractNumId='0'>"
    "<w:lvl w:ilvl='0'><w:start w:val='1'/><w:numFmt w:val='decimal'/><w:lvlText "
    "w:val='Article %1.'/></w:lvl>"
    "<w:lvl w:ilvl='1'><w:start w:val='1'/><w:numFmt w:val='lowerLetter'/><w:lvlText "
    "w:val='%1(%2)'/></w:lvl>"
    "<w:lvl w:ilvl='2'><w:start w:val='1'/><w:numFmt w:val='bullet'/><w:lvlText w:val='•'/></w:lvl>"
    "</w:abstractNum><w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num></w:numbering>"
)


def numbered(text: str, level: int) -> str:
    """A paragraph of the numbered list."""
    return p(
        text,
        properties=(
            f'<w:pPr><w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr></w:pPr>'
        ),
    )


@dataclass(frozen=True)
class Feature:
    """A body with one feature, its parts, the lines it must give, words that must not stand there,
    and warnings.
    """

    body: str
    lines: tuple[str, ...]
    absent: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    parts: dict[str, str] = field(default_factory=dict[str, str])


_RUBY = (
    "<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>みなと</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>港</w:t></w:r>"
    "</w:rubyBase></w:ruby></w:r>"
)
_MATH = (
    "<m:oMath><m:r><m:t>v=</m:t></m:r><m:f><m:num><m:r><m:t>s</m:t></m:r></m:num><m:den><m:r><m:t>t</m:t></m:r></m:den>"
    "</m:f><m:r><m:t>+</m:t></m:r><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup>"
    "</m:sSup></m:oMath>"
)
_FIELD = (
    mark("begin")
    + instruction("IF ")
    + mark("begin")
    + instruction("MERGEFIELD X")
    + mark("separate")
    + r("INNER")
    + mark("end")
    + r("CODE")
    + mark("separate")
    + r("the result")
    + mark("end")
)
_DELETED_MARK = '<w:pPr><w:rPr><w:del w:id="1" w:author="a"/></w:rPr></w:pPr>'
_PAGE = (mark("begin"), instruction(" PAGE "), mark("separate"), r("Page"), mark("end"))
_COMMENTS = (
    f'<w:comments {SPACES}><w:comment w:id="2" '
    f'w:author="Ada">{p("Too low.")}</w:comment></w:comments>'
)
_PICTURE = "<pic:pic><pic:blipFill><a:blip/></pic:blipFill></pic:pic>"
_CHECKBOX = (
    '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:checked/></w:checkBox></w:ffData></w:fldChar></w:r>'
    + instruction("FORMCHECKBOX")
    + mark("end")
)

FEATURES: dict[str, Feature] = {
    "tracked insertion": Feature(
        p(
            "rent is ",
            inserted("<w:r><w:delText>four</w:delText></w:r>", "del"),
            inserted(r("seven")),
            " crowns",
        ),
        ("rent is seven crowns",),
        ("four",),
        ("1 tracked deletion",),
    ),
    "tracked move": Feature(
        p(inserted(r("keys with Bruno"), "moveFrom"), "first")
        + p(inserted(r("keys with Ada"), "moveTo")),
        ("first", "keys with Ada"),
        ("Bruno",),
    ),
    "insertion in a deletion": Feature(
        p("a", inserted(inserted(r("GONE")), "del"), "b"), ("ab",), ("GONE",)
    ),
    "deleted paragraph mark": Feature(p("Har", properties=_DELETED_MARK) + p("bour"), ("Harbour",)),
    "deleted row": Feature(
        table(tr("a", "b"), tr("GONE", "c", properties='<w:trPr><w:del w:id="1"/></w:trPr>')),
        ("| a | b |",),
        ("GONE",),
    ),
    "control of a block": Feature(control(p("The tenant is Bruno.")), ("The tenant is Bruno.",)),
    "control in a line": Feature(p("deposit ", control(r("1200")), "."), ("deposit 1200.",)),
    "control of a row": Feature(
        table(tr("a", "b"), control(tr("c", "d"))), ("| a | b |", "| c | d |")
    ),
    "control of a cell": Feature(
        table(tr("a", control(tc("b"))), tr("c", tc(control(p("d"))))), ("| c | d |",)
    ),
    "control with a placeholder": Feature(
        p("Name: ", control(r("Click to enter text"), "<w:showingPlcHdr/>")), ("Name:",), ("Click",)
    ),
    "cells merged across": Feature(
        table(tr(tc("Tariff", '<w:gridSpan w:val="3"/>')), tr("a", "b", "c")),
        ("| Tariff |  |  |", "| a | b | c |"),
    ),
    "cells merged down": Feature(
        table(tr(tc("Board", '<w:vMerge w:val="restart"/>'), "a"), tr(tc("", "<w:vMerge/>"), "b")),
        ("| Board | a |", "|  | b |"),
    ),
    "rows of different lengths": Feature(
        table(
            tr("a", "b", "c"),
            tr("d", properties='<w:trPr><w:gridBefore w:val="1"/></w:trPr>'),
            tr(tc("", "<w:vMerge/>"), "e"),
        ),
        ("| a | b | c |", "|  | d |  |", "|  | e |  |"),
    ),
    "spans that are no numbers": Feature(
        table(
            tr(tc("a", '<w:gridSpan w:val="x"/>'), tc("b", '<w:gridSpan w:val="99999999"/>')),
            tr("c"),
        ),
        ("| a | b |" + "  |" * 61, "| c |" + "  |" * 62),
    ),
    "table without rows": Feature(table() + p("after"), ("after",)),
    "table in a table": Feature(
        table(tr("a", "b"), tr(tc(table(tr("c", "d"), tr("e", "f")) + p("")), "g")),
        ("| c, d; e, f | g |",),
    ),
    "text box": Feature(p("before", box("Letter box"), "after"), ("beforeafter", "Letter box")),
    "text box of an old program": Feature(
        p(
            f"<w:r><w:pict><v:shape><v:textbox><w:txbxContent>{p('Old box')}</w:txbxContent></v:textbox></v:shape>"
            "</w:pict></w:r>"
        ),
        ("Old box",),
    ),
    "footnote": Feature(
        p("Berth nine", '<w:r><w:footnoteReference w:id="2"/></w:r>', " is let."),
        ("Berth nine[^1] is let.", "[^1]: Since 1921."),
        ("SEPARATOR",),
        parts={"footnotes": notes("footnote", "Since 1921.")},
    ),
    "endnote": Feature(
        p("Berth", '<w:r><w:endnoteReference w:id="2"/></w:r>'),
        ("[^1]: At the end.",),
        parts={"endnotes": notes("endnote", "At the end.")},
    ),
    "comment": Feature(
        p("The rent", '<w:r><w:commentReference w:id="2"/></w:r>'),
        ("The rent", "Comment by Ada: Too low."),
        parts={"comments": _COMMENTS},
    ),
    "header and footer": Feature(
        p("Body"),
        ("Body", "Header: Port Elm Harbour Office", "Footer: Confidential"),
        ("Page",),
        parts={
            "header": f"<w:hdr {SPACES}>{p('Port Elm Harbour Office')}</w:hdr>",
            "footer": f"<w:ftr {SPACES}>{p('Confidential', *_PAGE)}</w:ftr>",
        },
    ),
    "hyperlink": Feature(
        p("see ", '<w:hyperlink r:id="x">' + r("the tariff") + "</w:hyperlink>"),
        ("see the tariff",),
    ),
    "field": Feature(
        p("It is ", _FIELD, "."), ("It is the result.",), ("INNER", "CODE", "MERGEFIELD")
    ),
    "simple field": Feature(
        p('<w:fldSimple w:instr="DATE">' + r("1 May") + "</w:fldSimple>"), ("1 May",), ("DATE",)
    ),
    "checked box": Feature(p(_CHECKBOX, " paid"), ("☒ paid",)),
    "smart tag": Feature(
        p('<w:smartTag w:element="x">' + r("Ada Marlow") + "</w:smartTag>"), ("Ada Marlow",)
    ),
    "unknown wrapper": Feature(
        f'<w:customXml w:element="x">{p("<w:bdo>" + r("wrapped") + "</w:bdo>")}</w:customXml>',
        ("wrapped",),
    ),
    "ruby": Feature(p(_RUBY, "の長"), ("港(みなと)の長",)),
    "symbol": Feature(p("5 ", '<w:r><w:sym w:font="Symbol" w:char="F06D"/></w:r>', "m"), ("5 μm",)),
    "hyphen and breaks": Feature(
        p(
            "<w:r><w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t><w:softHyphen/><w:t>c</w:t><w:tab/><w:t>d</w:t><w:br/>"
            "<w:t>e</w:t></w:r>"
        ),
        ("a-bc\td", "e"),
    ),
    "equation": Feature(p("Speed ", _MATH), ("Speed v=s/t+x^2",)),
    "equation of its own": Feature(
        f"<w:p><m:oMathPara>{_MATH}</m:oMathPara></w:p>", ("v=s/t+x^2",)
    ),
    "hidden text": Feature(
        p("seen", r("UNSEEN", "<w:rPr><w:vanish/></w:rPr>")),
        ("seen",),
        ("UNSEEN",),
        ("6 characters of hidden text",),
    ),
    "picture": Feature(
        p("A", drawing(_PICTURE, "A lighthouse at dusk")),
        ("[Picture: A lighthouse at dusk]",),
        (),
        ("1 picture",),
    ),
    "chart": Feature(
        p("A", drawing('<c:chart r:id="chart"/>')),
        ("Chart: Catch of herring", "|  | Tonnes |", "| 1921 | 40 |"),
        parts={"chart": CHART},
    ),
    "diagram": Feature(
        p("A", drawing('<dgm:relIds r:dm="data"/>')),
        ("Board; Harbour master",),
        parts={"data": DIAGRAM},
    ),
    "embedded object": Feature(
        p("A", '<w:r><w:object><o:OLEObject ProgID="Excel.Sheet.12"/></w:object></w:r>'),
        ("A",),
        (),
        ("1 embedded object",),
    ),
    "numbers of a list": Feature(
        numbered("Rent", 0)
        + numbered("monthly", 1)
        + numbered("in crowns", 2)
        + numbered("yearly", 1)
        + numbered("Keys", 0)
        + numbered("spare", 1),
        (
            "Article 1. Rent",
            "1(a) monthly",
            "- in crowns",
            "1(b) yearly",
            "Article 2. Keys",
            "2(a) spare",
        ),
        parts={"numbering": NUMBERING},
    ),
}
"""Feature of the format → a document that has it."""
