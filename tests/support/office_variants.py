"""Office files as they are saved as templates, as slide shows and with macros."""

from pathlib import PurePosixPath

from runtime.parsing.kinds import KINDS, VARIANTS
from tests.support import office_files as office
from tests.support.open_document_files import CELL, SLIDE, odp, ods

_OPEN_XML = b"application/vnd.openxmlformats-officedocument."
_MAIN_TYPES = {
    ".docm": b"application/vnd.ms-word.document.macroEnabled",
    ".dotx": _OPEN_XML + b"wordprocessingml.template",
    ".dotm": b"application/vnd.ms-word.template.macroEnabledTemplate",
    ".pptm": b"application/vnd.ms-powerpoint.presentation.macroEnabled",
    ".ppsx": _OPEN_XML + b"presentationml.slideshow",
    ".ppsm": b"application/vnd.ms-powerpoint.slideshow.macroEnabled",
    ".potx": _OPEN_XML + b"presentationml.template",
    ".potm": b"application/vnd.ms-powerpoint.template.macroEnabled",
    ".xlsm": b"application/vnd.ms-excel.sheet.macroEnabled",
    ".xltx": _OPEN_XML + b"spreadsheetml.template",
    ".xltm": b"application/vnd.ms-excel.template.macroEnabled",
}
"""The content types of their main parts."""

_MACRO_PARTS = {"docx": "word/vbaProject.bin", "pptx": "ppt/vbaProject.bin"}


def with_macros(data: bytes, part: str = "xl/vbaProject.bin") -> bytes:
    """The file with programs in it."""
    program = b'Sub AutoOpen()\nMsgBox "boo"\nEnd Sub'
    return office.changed(data, lambda _, content: content, **{part: program})


def has_macros(suffix: str) -> bool:
    """Whether files of that suffix have programs in them here."""
    return suffix.endswith("m")


def saved_as(suffix: str, data: bytes) -> bytes:
    """The Office file as its program saves it under another suffix."""
    kind = VARIANTS[suffix]
    usual = KINDS[f".{kind.parser}"].media_type.encode()
    if suffix in _MAIN_TYPES:
        usual, media_type = usual + b".main+xml", _MAIN_TYPES[suffix] + b".main+xml"
    else:
        media_type = kind.media_type.encode()
    names = ("[Content_Types].xml", "mimetype", "META-INF/manifest.xml")

    def change(name: str, part: bytes) -> bytes:
        return part.replace(usual, media_type) if name in names else part

    saved = office.changed(data, change)
    if not has_macros(suffix):
        return saved
    return with_macros(saved, _MACRO_PARTS.get(str(kind.parser), "xl/vbaProject.bin"))


def usual_file(suffix: str) -> tuple[str, bytes]:
    """The name and the bytes of a file of the kind that the suffix is a variant of."""
    parser = str(VARIANTS[suffix].parser)
    sheet = f"<table:table><table:table-row>{CELL.format('Ada')}</table:table-row></table:table>"
    data = {
        "docx": office.docx,
        "pptx": office.pptx,
        "xlsx": office.xlsx,
        "odt": office.odt,
        "ods": lambda: ods(sheet),
        "odp": lambda: odp(SLIDE),
    }[parser]()
    return str(PurePosixPath("a").with_suffix(f".{parser}")), data
