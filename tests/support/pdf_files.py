"""PDF files for the parsers, made by hand: with a text layer, scanned, protected."""

import hashlib
from io import BytesIO

_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
"""Of passwords, PDF 1.7 section 7.6.3.3."""

_ID = b"0123456789abcdef"


def pdf(*pages: str, password: str = "") -> bytes:
    """A PDF with one line of text on each page (an empty one has no text), protected if a password
    is given.
    """
    key = _key(password) if password else b""
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    }
    numbers = [4 + 2 * index for index in range(len(pages))]
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    objects[2] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(pages), kids)
    for number, text in zip(numbers, pages, strict=True):
        stream = (
            b"BT /F1 12 Tf 72 700 Td (%s) Tj ET" % text.encode("cp1252")
            if text
            else b"0 0 200 200 re f"
        )
        stream = (
            _rc4(
                hashlib.md5(key + (number + 1).to_bytes(3, "little") + b"\0\0").digest()[:10],
                stream,
            )
            if key
            else stream
        )
        objects[number] = (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>"
            % (number + 1)
        )
        objects[number + 1] = b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream)
    protection = b""
    if key:
        values = _owner(password).hex().encode(), _rc4(key, _PADDING).hex().encode()
        protection = b"/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<%s>/U<%s>>>" % values
    return _written(
        objects,
        b"/Root 1 0 R/ID[<%s><%s>]%s" % (_ID.hex().encode(), _ID.hex().encode(), protection),
    )


def drawn(
    stream: str, *, font: bytes = b"", objects: dict[int, bytes] | None = None, form: bytes = b""
) -> bytes:
    """A page on which this is drawn with the font F1, with annotations where the objects have some
    from 6 on.
    """
    content = stream.encode("latin-1")
    more = objects or {}
    notes = b" ".join(b"%d 0 R" % number for number, body in more.items() if b"/Subtype" in body)
    return _written(
        {
            1: b"<</Type/Catalog/Pages 2 0 R%s>>" % form,
            2: b"<</Type/Pages/Count 1/Kids[4 0 R]>>",
            3: font or b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            4: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R"
            b"/Annots[%s]>>" % notes,
            5: b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
            **more,
        },
        b"/Root 1 0 R",
    )


def line(left: int, bottom: int, text: str) -> str:
    """Draw a line of text at a place of the page."""
    return f"BT /F1 10 Tf {left} {bottom} Td ({text}) Tj ET\n"


def form() -> bytes:
    """A form: a field with a value, one without, a ticked box, a note and a comment on a
    passage.
    """
    place = b"/Rect[200 700 500 720]/F 4/P 4 0 R"
    fields = {
        6: b"<</Type/Annot/Subtype/Widget/FT/Tx/T(owner)/TU(Name of the owner)/V(Bruno Keel)%s>>"
        % place,
        7: b"<</Type/Annot/Subtype/Widget/FT/Tx/T(empty)%s>>" % place,
        8: b"<</Type/Annot/Subtype/Widget/FT/Btn/T(insured)/V/Yes/AS/Yes/AP<</N<</Yes 12 0 R/Off 12 0 R>>>>%s>>"
        % place,
        9: b"<</Type/Annot/Subtype/FreeText/Contents(Approved by Ada Marlow)%s>>" % place,
        10: b"<</Type/Annot/Subtype/Highlight/Contents(\xfe\xff\x00T\x00o\x00o\x01\x42)%s>>"
        % place,
        11: b"<</Type/Annot/Subtype/Link/Contents(a link)%s>>" % place,
        12: b"<</Length 0/Type/XObject/BBox[0 0 9 9]>>stream\n\nendstream",
    }
    entry = b"/AcroForm<</Fields[6 0 R 7 0 R 8 0 R]>>"
    return drawn(line(72, 780, "Application for a berth"), objects=fields, form=entry)


def without_letters(text: str) -> bytes:
    """A page whose font draws these characters and does not say which letters they are."""
    names = b"".join(b"/g%d " % code for code in range(32, 127))
    glyphs = b"".join(b"/g%d 6 0 R" % code for code in range(32, 127))
    font = (
        b"<</Type/Font/Subtype/Type3/FontBBox[0 0 500 700]/FontMatrix[.001 0 0 .001 0 "
        b"0]/FirstChar 32/LastChar 126"
        b"/Widths[%s]/Encoding<</Differences[32 %s]>>/CharProcs<<%s>>/Resources<<>>>>"
        % (b"600 " * 95, names, glyphs)
    )
    glyph = b"600 0 0 0 500 700 d1 50 0 400 600 re f"
    shape = {6: b"<</Length %d>>stream\n%s\nendstream" % (len(glyph), glyph)}
    return drawn(line(72, 700, text), font=font, objects=shape)


def columns(left: list[str], right: list[str], title: str = "") -> bytes:
    """A page with two columns whose lines a program drew from left to right, row by row."""
    rows = [
        line(60, 740 - 14 * row, one) + line(310, 740 - 14 * row, other)
        for row, (one, other) in enumerate(zip(left, right, strict=True))
    ]
    return drawn((line(60, 780, title) if title else "") + "".join(rows))


def ruled(rows: list[list[str]], top: int = 700, width: int = 90) -> str:
    """Draw a table from this height down: a line around each row, one between the columns; of a
    cell that begins with `<` the line on its left is missing.
    """
    right = 60 + width * len(rows[0])
    drawing = ""
    for number, row in enumerate(rows):
        above = top - 16 * number
        drawing += f"60 {above - 16} {right - 60} 16 re S\n"
        for column, words in enumerate(row):
            left = 60 + width * column
            if not words.startswith("<"):
                drawing += f"{left} {above} m {left} {above - 16} l S\n"
            drawing += line(left + 4, above - 12, words.removeprefix("<"))
    return drawing


def drawn_pages(*streams: str) -> bytes:
    """A document whose pages these are drawn on with the font F1."""
    objects: dict[int, bytes] = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    }
    numbers = [4 + 2 * index for index in range(len(streams))]
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    objects[2] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(streams), kids)
    for number, stream in zip(numbers, streams, strict=True):
        content = stream.encode("latin-1")
        objects[number] = (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>"
            b"/Contents %d 0 R>>" % (number + 1)
        )
        objects[number + 1] = b"<</Length %d>>stream\n%s\nendstream" % (len(content), content)
    return _written(objects, b"/Root 1 0 R")


def _written(objects: dict[int, bytes], trailer: bytes) -> bytes:
    out = BytesIO()
    places = {}
    out.write(b"%PDF-1.4\n")
    for number in sorted(objects):
        places[number] = out.tell()
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, objects[number]))
    start = out.tell()
    size = max(objects) + 1
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % size)
    for number in range(1, size):
        out.write(b"%010d 00000 n \n" % places[number])
    out.write(b"trailer<</Size %d%s>>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start))
    return out.getvalue()


def _padded(password: str) -> bytes:
    return (password.encode() + _PADDING)[:32]


def _owner(password: str) -> bytes:
    return _rc4(hashlib.md5(_padded(password)).digest()[:5], _padded(password))


def _key(password: str) -> bytes:
    permissions = (-4).to_bytes(4, "little", signed=True)
    return hashlib.md5(_padded(password) + _owner(password) + permissions + _ID).digest()[:5]


def _rc4(key: bytes, data: bytes) -> bytes:
    box = list(range(256))
    j = 0
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) % 256
        box[i], box[j] = box[j], box[i]
    out = bytearray()
    i = 0
    j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + box[i]) % 256
        box[i], box[j] = box[j], box[i]
        out.append(byte ^ box[(box[i] + box[j]) % 256])
    return bytes(out)
