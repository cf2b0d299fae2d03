"""What a document's reader is told of an extraction that may lack something."""

from offline.language.names import names
from runtime.models.port import Completion
from services.extractor.domain.extraction import Extraction
from services.extractor.domain.guidance import COMPLETION_MARK

LEAST_NAMES = 2
"""Distinct names of a passage that a model may not pass over without a warning."""

_SHOWN = 3
_LONGEST_NAME = 60


NARROW = (
    "the model read only a part of the passage or of its instructions: "
    "its context window is too small, raise it where the model is served"
)


def doubts(extraction: Extraction, passage: str, completion: Completion) -> tuple[str, ...]:
    """Return sentences on what an extraction may lack: none for one that is whole and has
    entities.
    """
    narrow = (NARROW,) if completion.narrow else ()
    return (*narrow, *_doubts(extraction, passage, completion.text, cut=completion.cut))


def _doubts(extraction: Extraction, passage: str, answer: str, *, cut: bool) -> tuple[str, ...]:
    rows = len(extraction.entities) + len(extraction.relations)
    if cut and rows:
        return (
            (
                f"the model's answer ended before its end: {rows} rows of it are kept, others may "
                "be missing"
            ),
        )
    if extraction.entities:
        return ()
    passage_names = list(dict.fromkeys(name.text[:_LONGEST_NAME] for name in names(passage)))
    is_answer = COMPLETION_MARK.lower() in answer.lower() or "{" in answer
    if len(passage_names) < (LEAST_NAMES if is_answer else 1):
        return ()
    examples = ", ".join(passage_names[:_SHOWN])
    complaint = (
        "the model found no entity"
        if is_answer
        else "the model's answer has no rows that can be read"
    )
    return (f"{complaint}, though the passage names {len(passage_names)}, such as {examples}",)
