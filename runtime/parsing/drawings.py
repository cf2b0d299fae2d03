"""Text of charts and diagrams, which Office keeps in parts of their own."""

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from runtime.parsing.office_parts import attribute, child, descendants, local
from runtime.parsing.tables import cell, markdown

MAX_POINTS = 1000
"""Points of a chart that are read at most."""

_GENERATED = re.compile(
    r"\s*(?:Description automatically generated.*|AI-generated content.*)$", re.DOTALL
)
_FILE_NAME = re.compile(
    r"[\w\s.()-]*\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp|heic)", re.IGNORECASE
)


def alternative_text(description: str) -> str:
    """Return what somebody wrote for those who do not see a picture; empty for the name of a
    file.
    """
    words = " ".join(_GENERATED.sub("", description).split())
    return "" if _FILE_NAME.fullmatch(words) else words


def chart_text(root: Element) -> Iterator[str]:
    """Yield the title of a chart, and its series as a table."""
    title = " ".join(
        text for title_element in descendants(root, "title") if (text := paragraphs(title_element))
    )
    yield f"Chart: {title}" if title else "Chart"
    series = [_series(element) for element in descendants(root, "ser")]
    labels = list(dict.fromkeys(label for _, points in series for label in points))[:MAX_POINTS]
    if labels:
        head = ["", *(cell(name) for name, _ in series)]
        rows = [
            [cell(label), *(cell(points.get(label, "")) for _, points in series)]
            for label in labels
        ]
        yield markdown([head, *rows])


def _series(series: Element) -> tuple[str, dict[str, str]]:
    """Return the name of a series, and its values by their labels."""
    name = "".join(value for _, value in _points(child(series, "tx")))
    labels = dict(
        _points(child(series, "cat") if child(series, "cat") is not None else child(series, "xVal"))
    )
    values = _points(
        child(series, "val") if child(series, "val") is not None else child(series, "yVal")
    )
    return name, {labels.get(index, str(index + 1)): value for index, value in values}


def _points(element: Element | None) -> Iterator[tuple[int, str]]:
    if element is None:
        return
    for order, point in enumerate(descendants(element, "pt")):
        value = child(point, "v")
        index = attribute(point, "idx")
        yield (
            int(index) if index.isdecimal() else order,
            (value.text or "") if value is not None else "",
        )


def diagram_text(root: Element) -> str:
    """Return the texts of a diagram in their order."""
    return "; ".join(
        words
        for element in descendants(root, "t")
        if local(element) == "t" and (words := paragraphs(element))
    )


def paragraphs(element: Element) -> str:
    """Return the text of DrawingML below an element, on one line."""
    return " ".join(
        filter(
            None, (" ".join(_runs(paragraph).split()) for paragraph in descendants(element, "p"))
        )
    )


def _runs(paragraph: Element) -> str:
    return "".join(
        " " if local(run) == "br" else run.text or ""
        for run in paragraph.iter()
        if local(run) in {"t", "br"}
    )
