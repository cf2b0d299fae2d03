"""The route that tells in which languages documents are, and whether their vectors know them."""

import asyncio

from fastapi import APIRouter
from pydantic import BaseModel, Field

from knowledge.passage_languages import count_languages, model_that_knows, unknown_language
from runtime.errors import Retryable
from runtime.models.open import as_setting
from services.gateway.auth.viewers import CurrentViewer
from services.gateway.search.dependencies import SearchDeps
from services.gateway.system.dependencies import SystemDependencies, SystemDeps
from services.gateway.system.routes import PATIENCE
from services.gateway.workspaces import Workspace
from services.query.partitions import status_partition
from services.query.status.passage_sample import sample_passages

router = APIRouter(tags=["documents"])


class DocumentLanguages(BaseModel):
    """The languages of some passages of the workspace, as far as the caller sees them."""

    passages: int = Field(description="that were looked at: all of a few hundred, else a sample")
    languages: dict[str, int] = Field(
        description="passages by language, most frequent first; tables, programs: english"
    )
    embedding_model: str = Field(
        description="that made the vectors, as EMBEDDING_MODEL names it; empty: nobody tells now"
    )
    unknown_language: str = Field(
        description="of most passages, where a built-in model does not know it; else empty"
    )
    advised_model: str = Field(
        description="built in, and knows that language; `lightstream embedding set` takes it"
    )


@router.get("/documents/languages")
async def document_languages(
    search: SearchDeps, deps: SystemDeps, workspace: Workspace, viewer: CurrentViewer
) -> DocumentLanguages:
    """Return in which languages documents are, and whether the embedding model of their vectors
    knows the one that most passages are in.
    """
    partition = await status_partition(search.pointers, workspace)
    visible_ids = (await search.visibility.of(workspace, viewer)).ids if viewer else None
    passages = await sample_passages(search.passages, partition, visible_ids)
    languages = count_languages(passage.content for passage in passages)
    model = await _embedding_model(deps, workspace)
    unknown = unknown_language(languages, model)
    return DocumentLanguages(
        passages=len(passages),
        languages=dict(languages.most_common()),
        embedding_model=model,
        unknown_language=unknown,
        advised_model=model_that_knows(unknown) if unknown else "",
    )


async def _embedding_model(deps: SystemDependencies, workspace: str) -> str:
    """Return what embeds the workspace; empty while nobody answers questions."""
    generation = (await deps.pointers.live()).of_workspace(workspace).vectors
    try:
        async with asyncio.timeout(PATIENCE):
            configuration = await deps.questions.configuration(generation)
    except (Retryable, TimeoutError):
        return ""
    return as_setting(str(configuration["embedding_model"]))
