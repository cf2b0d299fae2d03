"""Number the sources of an answer 1, 2, 3 as they appear in it, as the web page does."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lightstream_rag.models import Reference

CODE = re.compile(r"(```[\s\S]*?(?:```|$)|`[^`\n]*`)")
CITATION = re.compile(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\](?!\()")


def number_citations(
    answer: str, references: Sequence["Reference"]
) -> tuple[str, list[tuple[int, "Reference"]]]:
    """Return the answer with new numbers, and its references with theirs: those that it cites in
    their order, then the others. Code, and numbers in brackets that cite nothing, stay.
    """
    known_ids = {reference.reference_id for reference in references}
    parts = CODE.split(answer)
    prose = parts[::2]
    cited_ids = (
        id for part in prose for citation in CITATION.finditer(part) for id in _ids_in(citation)
    )
    order = dict.fromkeys([id for id in cited_ids if id in known_ids])
    order |= dict.fromkeys(reference.reference_id for reference in references)
    numbers = {id: number for number, id in enumerate(order, 1)}

    def renumbered(citation: re.Match[str]) -> str:
        ids = _ids_in(citation)
        if not known_ids.issuperset(ids):
            return citation[0]
        return f"[{', '.join(str(numbers[id]) for id in ids)}]"

    parts[::2] = [CITATION.sub(renumbered, part) for part in prose]
    sources = [(numbers[reference.reference_id], reference) for reference in references]
    return "".join(parts), sorted(sources, key=lambda source: source[0])


def _ids_in(citation: re.Match[str]) -> list[str]:
    return [id.strip() for id in citation[1].split(",")]
