"""What an answer without a model says of its sources that are not in force."""

from services.query.answering.citations import cited_ids
from services.query.retrieval.results import RetrievalResult
from services.query.standing import Standing


def with_supersession_note(text: str, retrieval: RetrievalResult) -> str:
    """Return the answer, with a sentence for each document of which it cites a passage, or whose
    successor it cites, where that document is not in force.
    """
    references = retrieval.references
    cited = cited_ids(text, references.values())
    sentences = [
        sentence
        for standing in retrieval.standings.values()
        if (sentence := _sentence(standing, retrieval, cited))
    ]
    return f"{text}\n\n({' '.join(sentences)})" if sentences else text


def _sentence(standing: Standing, retrieval: RetrievalResult, cited: frozenset[str]) -> str:
    own_id = retrieval.references.get(standing.file_path, "")
    for successor in standing.successors:
        successor_id = retrieval.references.get(successor.file_path, "")
        if cited & {own_id, successor_id}:
            return (
                f"{_named(successor.file_path, successor_id)} supersedes "
                f"{_named(standing.file_path, own_id)} since {successor.since:%Y-%m-%d}."
            )
    if own_id not in cited:
        return ""
    if standing.valid_from:
        return f"{_named(standing.file_path, own_id)} holds from {standing.valid_from:%Y-%m-%d} on."
    return f"{_named(standing.file_path, own_id)} held until {standing.valid_until:%Y-%m-%d}."


def _named(file_path: str, reference: str) -> str:
    return f"{file_path} [{reference}]" if reference else file_path
