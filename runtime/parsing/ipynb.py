"""Notebooks to Markdown: texts and code of the cells, and what the code printed."""

from collections.abc import Iterator
from typing import Any, cast

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, joined
from runtime.parsing.omissions import PICTURE, Omission, Omissions
from runtime.parsing.values import loaded

MAX_OUTPUT = 4000
"""Characters of what one cell printed."""

CUT_OUTPUT = Omission("1 long output was cut", "{} long outputs were cut")
OTHER_OUTPUT = Omission(
    "1 output that is no text was left out", "{} outputs that are no text were left out"
)
_TEXTS = ("text/markdown", "text/plain", "text/latex")

Fields = dict[str, Any]


def text(source: str) -> Content:
    """Return the cells in their order. Raises InvalidInput for what is no notebook, and for one
    without text.
    """
    notebook = _fields(loaded(source))
    sheets = [_fields(sheet) for sheet in _list(notebook.get("worksheets"))]
    cells = [cell for part in (notebook, *sheets) for cell in _list(part.get("cells"))]
    if "cells" not in notebook and not sheets:
        raise InvalidInput("no notebook: it has no cells: save it anew, or name it .json")
    info = _fields(notebook.get("metadata"))
    language = str(
        _fields(info.get("kernelspec")).get("language")
        or _fields(info.get("language_info")).get("name")
        or ""
    )
    omissions = Omissions()
    return joined(
        (block for cell in cells for block in _cell(_fields(cell), language, omissions)), omissions
    )


def _cell(cell: Fields, language: str, omissions: Omissions) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input")))
    kind = cell.get("cell_type")
    omissions.add(PICTURE, len(_fields(cell.get("attachments"))))
    if kind != "code":
        level = str(cell.get("level", "1"))
        yield (
            f"{'#' * (int(level) if level in '123456' else 1)} {source}"
            if kind == "heading"
            else source
        )
        return
    if source:
        fence = "```" if "```" not in source else "~~~~"
        yield f"{fence}{language}\n{source}\n{fence}"
    for output in _list(cell.get("outputs")):
        words = _output(_fields(output), omissions)
        omissions.add(CUT_OUTPUT, int(len(words) > MAX_OUTPUT))
        yield words[:MAX_OUTPUT]


def _output(output: Fields, omissions: Omissions) -> str:
    """Return what an output says as text; pictures and others are counted."""
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    data = _fields(output.get("data")) or output
    omissions.add(
        PICTURE, sum(name.startswith("image/") or name in ("png", "jpeg", "svg") for name in data)
    )
    for name in (*_TEXTS, "text"):
        if words := _joined(data.get(name)):
            return words
    other_types = [name for name in data if "/" in name and not name.startswith("image/")]
    omissions.add(OTHER_OUTPUT, int(bool(other_types)))
    return ""


def _joined(value: Any) -> str:
    """Return the lines of a source, which a notebook has as one string or as a list of them."""
    words = "".join(map(str, cast("list[Any]", value))) if isinstance(value, list) else value
    return words.strip() if isinstance(words, str) else ""


def _fields(value: Any) -> Fields:
    return cast(Fields, value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
