"""The routes about the service itself: its health, its configuration, and the name that web pages
show.
"""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import RedirectResponse

from contracts.graph import Partition
from runtime.errors import Retryable
from runtime.stores.open import store_kinds
from runtime.version import VERSION
from services.gateway.auth.config import AuthConfig
from services.gateway.auth.viewers import CurrentViewer, shows_no_documents
from services.gateway.documents.models import Done
from services.gateway.operations.cost_routes import budget_state
from services.gateway.operations.dependencies import CostDeps
from services.gateway.reference.responses import PUBLIC_ROUTE, error_responses
from services.gateway.system.dependencies import SystemDependencies, SystemDeps
from services.gateway.system.models import Customization, Health
from services.gateway.workspaces import Workspace
from services.query.errors import NotSupported
from services.query.status.document_status import working

router = APIRouter(tags=["system"])

PATIENCE = 5.0
"""Seconds in which whoever answers questions says how it is set; pages ask for it all the time."""

AssetPart = Annotated[str, Path(max_length=256, examples=["logo"])]


@router.get("/", include_in_schema=False)
@shows_no_documents
async def root(request: Request) -> RedirectResponse:
    """Redirect to the web page of this service, else to LightRAG's, or to `/docs` when it has
    none.
    """
    config: AuthConfig = request.app.state.auth
    if config.own_page:
        return RedirectResponse("/ui/", 307)
    return RedirectResponse("/webui/" if config.web_page else "/docs", 307)


@router.get(
    "/health", response_model=Health, response_model_exclude_unset=True, openapi_extra=PUBLIC_ROUTE
)
async def health(
    request: Request,
    deps: SystemDeps,
    costs: CostDeps,
    workspace: Workspace,
    viewer: CurrentViewer,
) -> dict[str, Any]:
    """Return the health of the service, and its configuration to callers that are signed in. It has
    no secrets.
    """
    config: AuthConfig = request.app.state.auth
    live = await deps.pointers.live("status")
    # Whether something is worked on is told to those only who see all of it.
    counts = {} if viewer else await deps.documents.counts(Partition(workspace, live.status))
    fields = public_fields(config, counts)
    if not request.state.principal.signed_in:
        return fields
    return {
        **fields,
        **web_page_fields(deps, config, fields["pipeline_busy"]),
        "workspace": workspace,
        "budget_exceeded": (await budget_state(costs, workspace)).exceeded,
        "configuration": await configuration(deps, workspace, live.of_workspace(workspace).vectors),
    }


@router.get("/ui/customization", response_model=Customization)
@shows_no_documents
async def customization(deps: SystemDeps) -> dict[str, Any]:
    """Return the name that web pages show for this deployment."""
    settings = deps.settings
    return {
        "customized": False,
        "brand": {"title": settings.webui_title, "description": settings.webui_description},
    }


@router.get("/ui/customization/assets/{asset_hash}/{asset_id}", responses=error_responses(501))
@shows_no_documents
async def customization_asset(asset_hash: AssetPart, asset_id: AssetPart) -> Done:
    """Answer 501: this service has no files for customized pages."""
    raise NotSupported(
        "pages have no files of their own here; WEBUI_TITLE and WEBUI_DESCRIPTION set what "
        "they show"
    )


def public_fields(config: AuthConfig, counts: dict[str, int]) -> dict[str, Any]:
    """Return the fields that need no credentials."""
    return {
        "status": "healthy",
        "auth_mode": "enabled" if config.accounts else "disabled",
        "core_version": VERSION,
        "api_version": VERSION,
        "pipeline_busy": working(counts) > 0,
    }


def web_page_fields(deps: SystemDependencies, config: AuthConfig, busy: bool) -> dict[str, Any]:
    """Return the further fields that LightRAG's web page reads, in LightRAG's shape."""
    return {
        "webui_available": config.web_page is not None,
        "workspace_available": config.web_page is not None
        and (config.web_page / "workspace.html").is_file(),
        "api_docs_available": config.docs,
        "webui_title": deps.settings.webui_title,
        "webui_description": deps.settings.webui_description,
        "ai_content_notice_enabled": False,
        "pipeline_active": busy,
    }


async def configuration(
    deps: SystemDependencies, workspace: str, vectors_generation: int
) -> dict[str, Any]:
    """Return models, limits and stores, without addresses and keys; models, their limits and the
    store of vectors are left out while nobody answers questions.
    """
    try:
        async with asyncio.timeout(PATIENCE):
            of_answers = await deps.questions.configuration(vectors_generation)
    except (Retryable, TimeoutError):
        of_answers = {}
    kinds = store_kinds(deps.settings)
    return {
        **of_answers,
        "kv_storage": kinds.documents,
        "doc_status_storage": kinds.documents,
        "graph_storage": kinds.graph,
        "workspace": workspace,
        "storage_workspaces": dict.fromkeys(
            ("kv_storage", "doc_status_storage", "graph_storage", "vector_storage"), workspace
        ),
        "max_graph_nodes": deps.settings.max_graph_nodes,
    }
