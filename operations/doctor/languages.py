"""A finding about the languages of documents: whether the model of their vectors knows them."""

from collections.abc import AsyncIterator
from contextlib import suppress

from contracts.ids import origin_of
from lightstream_rag.languages import DocumentLanguages
from operations.query_service import query_client
from runtime.errors import ServiceError
from runtime.findings import Finding

ANY_MODEL = (
    "no built-in model knows it: a model of a provider may, `lightstream rebuild vectors "
    "--embedding-model NAME` goes over to it"
)


async def examine_languages(base: str, workspace: str) -> AsyncIterator[Finding]:
    """Yield a finding where most passages of the workspace are in a language that the model of its
    vectors does not know; nothing where that cannot be asked, of which others tell.
    """
    # A service that is older than this program has no such route.
    with suppress(ServiceError):
        async with query_client(base, workspace) as client:
            if finding := finding_of(await client.document_languages(), workspace):
                yield finding


def finding_of(languages: DocumentLanguages, workspace: str) -> Finding | None:
    """Return what is to be said of these languages of a workspace; None for nothing."""
    language = languages.unknown_language
    if not language:
        return None
    count = languages.languages[language]
    what = (
        f"{count} of {languages.passages} passages looked at in workspace {workspace} are in "
        f"{language.title()}, which the embedding model {languages.embedding_model} does not know: "
        "questions in the same language find them by their words, questions in another language "
        "hardly ever"
    )
    if not languages.advised_model:
        return Finding("note", what, ANY_MODEL)
    command = f"lightstream embedding set {languages.advised_model}"
    todo = (
        f"`{command} --workspace {origin_of(workspace) or workspace}` says what vectors of a model "
        "that knows it would take"
    )
    return Finding("note", what, todo)
