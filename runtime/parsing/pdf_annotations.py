"""What people wrote into a PDF: filled fields of forms, and notes on its pages."""

import ctypes
from typing import Any

import pypdfium2
from pypdfium2 import raw

from runtime.parsing.omissions import Omissions, left_out

ATTACHMENT = left_out("attached file", "attached files", "add it as a file of its own")

MAX_ANNOTATIONS = 5000
"""Annotations of a page that are read."""

_NOTES = {
    raw.FPDF_ANNOT_FREETEXT: "Note",
    raw.FPDF_ANNOT_TEXT: "Note",
    raw.FPDF_ANNOT_HIGHLIGHT: "Comment",
    raw.FPDF_ANNOT_UNDERLINE: "Comment",
    raw.FPDF_ANNOT_STRIKEOUT: "Comment",
    raw.FPDF_ANNOT_SQUIGGLY: "Comment",
    raw.FPDF_ANNOT_SQUARE: "Comment",
    raw.FPDF_ANNOT_CIRCLE: "Comment",
    raw.FPDF_ANNOT_LINE: "Comment",
    raw.FPDF_ANNOT_STAMP: "Stamp",
    raw.FPDF_ANNOT_CARET: "Comment",
    raw.FPDF_ANNOT_INK: "Comment",
}
_BOXES = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)
_NO_VALUE = (
    raw.FPDF_FORMFIELD_PUSHBUTTON,
    raw.FPDF_FORMFIELD_SIGNATURE,
    raw.FPDF_FORMFIELD_UNKNOWN,
)


class Annotations:
    """The annotations of one page."""

    def __init__(
        self, document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, omissions: Omissions
    ) -> None:
        self._form = document.formenv
        self._page = page
        self._omissions = omissions

    def lines(self) -> list[str]:
        """Return a line for each filled field, ticked box and note."""
        unique_lines: dict[str, None] = {}
        for index in range(min(raw.FPDFPage_GetAnnotCount(self._page), MAX_ANNOTATIONS)):
            annotation = raw.FPDFPage_GetAnnot(self._page, index)
            if annotation:
                try:
                    unique_lines[self._line(annotation)] = None
                finally:
                    raw.FPDFPage_CloseAnnot(annotation)
        return [line for line in unique_lines if line]

    def _line(self, annotation: Any) -> str:
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        if kind == raw.FPDF_ANNOT_WIDGET:
            return self._field(annotation) if self._form else ""
        if kind == raw.FPDF_ANNOT_FILEATTACHMENT:
            self._omissions.add(ATTACHMENT)
        if kind not in _NOTES:
            return ""
        words = _words(raw.FPDFAnnot_GetStringValue, annotation, b"Contents")
        return f"{_NOTES[kind]}: {words}" if words else ""

    def _field(self, annotation: Any) -> str:
        kind = raw.FPDFAnnot_GetFormFieldType(self._form, annotation)
        if kind in _NO_VALUE:
            return ""
        name = _words(raw.FPDFAnnot_GetFormFieldAlternateName, self._form, annotation)
        name = name or _words(raw.FPDFAnnot_GetFormFieldName, self._form, annotation)
        if kind in _BOXES:
            is_checked = raw.FPDFAnnot_IsChecked(self._form, annotation)
            value = _words(raw.FPDFAnnot_GetFormFieldExportValue, self._form, annotation) or "yes"
            return f"{name}: {value}" if is_checked else ""
        value = _words(raw.FPDFAnnot_GetFormFieldValue, self._form, annotation)
        return f"{name}: {value}" if value else ""


def _words(read: Any, *arguments: Any) -> str:
    """Return the text that a function of pdfium writes as UTF-16, on one line."""
    size = read(*arguments, None, 0)
    if size <= 2:
        return ""
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    read(*arguments, buffer, size)
    text = bytes(buffer)[: size - 2].decode("utf-16-le", "replace")
    return " ".join(text.replace("\0", " ").split())
