"""In which languages the documents of a workspace are, and whether their vectors know them."""

from lightstream_rag.flows import Flow, get, parse_as
from lightstream_rag.models import ResponseModel


class DocumentLanguages(ResponseModel):
    """The languages of some passages. `unknown_language`: of most of them, where the embedding
    model does not know it; `advised_model`: the built-in one that does. Both may be empty.
    """

    passages: int
    languages: dict[str, int]
    embedding_model: str
    unknown_language: str
    advised_model: str


def document_languages() -> Flow[DocumentLanguages]:
    """Return in which languages documents are, and whether their vectors know them."""
    return get("/documents/languages", parse_as(DocumentLanguages))
