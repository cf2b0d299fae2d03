"""An answer as golden questions judge it."""

from runtime.golden.judging import GivenAnswer
from services.query.answer import Answer


def given_answer(answer: Answer) -> GivenAnswer:
    """Return the answer with the passages and documents of the files that it refers to."""
    references = answer.retrieval.references
    cited_ids = set(references.values())
    passages = [passage for id, passage in answer.retrieval.passages if id in cited_ids]
    names = {passage.document_id for passage in passages} | references.keys()
    return GivenAnswer(
        answer.text,
        [passage.content for passage in passages],
        names,
        answer.by_model,
        list(references),
    )
