"""What tools find, as lines of JSON that a model reads."""

import json
from collections.abc import Sequence

from services.query.passage import Passage


def passage_text(passage: Passage) -> str:
    """Return a passage word for word, with its place."""
    return _line({**_place(passage), "text": passage.content})


def snippets_text(passage: Passage, snippets: Sequence[str]) -> str:
    """Return parts of a passage, with its place."""
    return _line({**_place(passage), "snippets": list(snippets)})


def names_text(names: Sequence[str]) -> str:
    """Return names of entities."""
    return _line({"entities": list(names)})


def _place(passage: Passage) -> dict[str, object]:
    place = {
        "document_id": passage.document_id,
        "order": passage.order,
        "file": passage.file_path,
        "headings": " → ".join(passage.headings),
    }
    return {name: value for name, value in place.items() if value != ""}


def _line(fields: dict[str, object]) -> str:
    return json.dumps(fields, ensure_ascii=False)
