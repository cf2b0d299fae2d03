"""Texts with binary data in them as people have them, and texts that only look a little like it."""

import base64
import binascii
import hashlib
import textwrap
import uuid
from random import Random

_RANDOM = Random(31)
_BYTES = _RANDOM.randbytes(30_000)
BASE64 = base64.b64encode(_BYTES).decode()
_HEX = _BYTES[:2000].hex()
_LINES = textwrap.fill(BASE64[:3001], 76)
_MODULUS = ":\n ".join(_BYTES[place : place + 15].hex(":") for place in range(0, 150, 15))
_WORDS = ["Reports", "2024", "Final", "Harbour", "and", "the", "Ada", "v2", "Board"]


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _dump(separator: str) -> str:
    rows = (
        f"{place:08x}{separator}{_BYTES[place : place + 16].hex(' ')}  |........|"
        for place in range(0, 512, 16)
    )
    return "\n".join(rows)


def _words(separator: str) -> str:
    return separator.join(_RANDOM.choice(_WORDS) for _ in range(80))


def _letters(letters: str, count: int) -> str:
    return "".join(_RANDOM.choice(letters) for _ in range(count))


BINARY = {
    "picture in Markdown": (f"A\n\n![lamp](data:image/png;base64,{BASE64})\n\nB", "A\n\nlamp\n\nB"),
    "titled picture": (f'![lamp]( <data:image/png;base64,{BASE64}> "the lamp" ) B', "lamp B"),
    "picture in HTML": (f'A <img src="data:image/png;base64,{BASE64}"> B', 'A <img src=""> B'),
    "font in CSS": (f"src:url(data:font/woff2;charset=utf-8;base64,{BASE64}) x", "src:url() x"),
    "picture as SVG": (f"url(data:image/svg+xml,{'%3Csvg' * 60}) x", "url() x"),
    "escaped address": (
        "x='data:image\\/png;base64," + BASE64[:3000].replace("/", "\\/") + "'; Ada",
        "x=''; Ada",
    ),
    "field of JSON": (f'{{"image": "{BASE64}", "name": "Ada"}}', '{"image": "", "name": "Ada"}'),
    "certificate": (
        (
            f"-----BEGIN CERTIFICATE-----\n{textwrap.fill(BASE64[:1700], 64)}\n-----END "
            "CERTIFICATE-----\nAda"
        ),
        "-----BEGIN CERTIFICATE-----\n\n-----END CERTIFICATE-----\nAda",
    ),
    "attachment in lines": (f"Hello\n\n{_LINES}\n\nAda Marlow", "Hello\n\n\n\nAda Marlow"),
    "lines in a string": (
        '"png": "' + _LINES.replace("\n", "\\n") + '", "x": 1',
        '"png": "", "x": 1',
    ),
    "hexadecimal digits": (f"x {_HEX} y", "x  y"),
    "hexadecimal lines": (f"x\n{textwrap.fill(_HEX, 60)}\ny", "x\n\ny"),
    "dump": (f"dump\n{_dump('  ')}\nend", "dump\nend"),
    "dump with colons": (f"dump\n{_dump(': ')}\nend", "dump\nend"),
    "array of a program": (
        "int a[] = {" + ", ".join(f"0x{byte:02x}" for byte in _BYTES[:200]) + ", }; done",
        "int a[] = {}; done",
    ),
    "modulus": (f"Modulus:\n {_MODULUS}:\nend", None),
    "source map": (
        '{"version":3,"mappings":"' + "AAAA,SAASA,GAAGC;" * 50 + '"}',
        '{"version":3,"mappings":""}',
    ),
    "much of one byte": (
        f"x {base64.b64encode(bytes(5000) + _BYTES[:3000] + bytes(900)).decode()} y",
        "x  y",
    ),
    "file of uuencode": (
        "file\nbegin 644 x.bin\n"
        + "".join(
            binascii.b2a_uu(_BYTES[place : place + 45]).decode() for place in range(0, 900, 45)
        )
        + "`\nend\nAda",
        "file\n\nAda",
    ),
}
"""Name → a text with binary data, and what is left of it; None where only its length is looked
at.
"""

NO_BINARY = {
    "DNA": _letters("ACGT", 3000),
    "DNA in small letters": _letters("acgt", 3000),
    "DNA in lines": textwrap.fill(_letters("ACGT", 3000), 60),
    "protein": _letters("ACDEFGHIKLMNPQRSTVWY", 900),
    "SHA-256": "\n".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(50)),
    "SHA-512": "\n".join(hashlib.sha512(bytes([n])).hexdigest() for n in range(50)),
    "checksums": "\n".join(
        f"{hashlib.sha256(bytes([n])).hexdigest()}  file{n}.txt" for n in range(50)
    ),
    "integrity": "\n".join(
        f"sha256-{_base64(hashlib.sha256(bytes([n])).digest())}" for n in range(50)
    ),
    "address": f"see https://example.com/a?sig={BASE64[:900]} ok",
    "slug": _words("-"),
    "path": _words("/"),
    "one name": _words(""),
    "snake": _words("_"),
    "digits": _letters("0123456789", 3000),
    "numbers": " ".join(str(_RANDOM.randint(10, 99)) for _ in range(300)),
    "Chinese": "港口办公室的记录" * 200,
    "German": "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft "
    * 20,
    "lines": "=" * 500 + "-" * 500 + "_" * 300,
    "UUIDs": "\n".join(str(uuid.UUID(bytes=_RANDOM.randbytes(16))) for _ in range(40)),
    "network cards": "00:1a:2b:3c:4d:5e\n" * 30,
    "molecule": "CC(C)CC1=CC=C(C=C1)C(C)C(=O)O" * 20,
}
"""Texts of which nothing is left out."""

STRAINS = {
    "lines of one length": ("x" * 57 + " ") * 20_000,
    "beginnings of addresses": "data:" * 200_000,
    "brackets": "](" * 200_000 + "![" * 200_000,
    "pictures without an end": "![a](data:image/png;base64," * 20_000,
    "beginnings of files": "begin 644 x\n" * 80_000,
    "short dumps": "00000000: ab cd ef 01 \n" * 40_000,
    "bytes": ("ab " * 47 + "x ") * 6_000,
    "blanks": " \n" * 400_000,
    "addresses": ("https://a/" + "x1Yz" * 300 + " ") * 800,
}
"""Texts that would take the time of a careless search: about a million characters each."""
