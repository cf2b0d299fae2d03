"""PDF files for the parsers, made by hand: with a text layer, scanned, protected."""

import hashlib
from io import BytesIO

_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
"""Of passwords, PDF 1.7 section 7.6.3.3."""

_ID = b"0123456789abcdef"


def pdf(*pages: str, password: str = "") -> bytes:
    """A PDF with one line of text on each page (an empty one has no text), protected if a password is given."""
    key = _key(password) if password else b""
    objects = {1: b"<</Type/Catalog/Pages 2 0 R>>", 3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"}
    numbers = [4 + 2 * index for index in range(len(pages))]
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    objects[2] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(pages), kids)
    for number, text in zip(numbers, pages, strict=True):
        stream = b"BT /F1 12 Tf 72 700 Td (%s) Tj ET" % text.encode("cp1252") if text else b"0 0 200 200 re f"
        stream = (
            _rc4(hashlib.md5(key + (number + 1).to_bytes(3, "little") + b"\0\0").digest()[:10], stream)
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
    return _written(objects, b"/Root 1 0 R/ID[<%s><%s>]%s" % (_ID.hex().encode(), _ID.hex().encode(), protection))


def _written(objects: dict[int, bytes], trailer: bytes) -> bytes:
    out, places = BytesIO(), {}
    out.write(b"%PDF-1.4\n")
    for number in sorted(objects):
        places[number] = out.tell()
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, objects[number]))
    start, size = out.tell(), max(objects) + 1
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
    box, j = list(range(256)), 0
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) % 256
        box[i], box[j] = box[j], box[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + box[i]) % 256
        box[i], box[j] = box[j], box[i]
        out.append(byte ^ box[(box[i] + box[j]) % 256])
    return bytes(out)
