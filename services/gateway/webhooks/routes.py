"""The routes about webhooks: register an address, see how it goes, replay, test, remove. A secret
is shown once.
"""

import time
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Request
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from contracts.events import EVENTS
from contracts.subjects import of_workspace
from contracts.text import encodable
from services.gateway.auth.audit import note_details
from services.gateway.caller_places import CallerPlaces, end_of_log
from services.gateway.egress import resolved
from services.gateway.operations.scope import NotedReason
from services.gateway.places import Places
from services.gateway.reference.responses import error_responses
from services.gateway.strict_model import StrictModel
from services.gateway.webhooks.dependencies import WebhookDeps
from services.gateway.webhooks.endpoints import (
    NOTICES,
    Endpoint,
    EndpointState,
    no_webhook,
)
from services.gateway.webhooks.signing import new_secret
from services.gateway.workspaces import Workspace
from services.query.errors import BadRequest

router = APIRouter()

WebhookId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", examples=["5f0e9a510f4b9a7f"])]
Reason = Annotated[str, Field(max_length=1000, description="why; the audit log has it")]
TYPES = (*NOTICES, *EVENTS)


class NewWebhook(StrictModel):
    """Where to send what. The address must be https, and public unless the deployment allows its
    network.
    """

    url: str = Field(min_length=8, max_length=2000, examples=["https://example.com/lightstream"])
    types: list[str] = Field(
        default=list(NOTICES),
        min_length=1,
        max_length=32,
        description="types of events, and what documents come to",
    )
    description: Annotated[str, AfterValidator(encodable)] = Field(default="", max_length=500)
    include_body: bool = Field(
        default=False, description="send events whole, with the texts they carry"
    )
    after: int | None = Field(
        default=None, ge=0, le=2**53, description="send from behind this place on"
    )
    reason: Reason = ""


class Webhook(BaseModel):
    """An address and how far it is."""

    id: str
    workspace: str
    url: str
    types: list[str]
    description: str
    include_body: bool
    state: Literal["active", "failing", "disabled"]
    cursor: int = Field(
        description="everything up to this place was delivered, or was not asked for"
    )
    lag: int = Field(description="events of the workspace behind the cursor")
    failures: int = Field(description="attempts in a row that failed")
    last_error: str | None
    last_success: AwareDatetime | None
    next_attempt: AwareDatetime | None
    created_at: AwareDatetime
    created_by: str = Field(
        description="on whose credentials it depends: without them nothing is sent"
    )
    former_secret_until: AwareDatetime | None = Field(
        default=None, description="until then messages are signed with the former secret too"
    )

    @classmethod
    async def of(
        cls, deps: WebhookDeps, endpoint: Endpoint, state: EndpointState, places: Places
    ) -> "Webhook":
        """Return the address as the API shows it, without its secret."""
        next_attempt = 0.0 if state.disabled else state.next_attempt
        return cls(
            id=endpoint.id,
            workspace=endpoint.workspace,
            url=endpoint.url,
            types=list(endpoint.types),
            description=endpoint.description,
            include_body=endpoint.with_body,
            state="disabled" if state.disabled else "failing" if state.failures else "active",
            cursor=places.shown(state.cursor),
            lag=await deps.feed.count(of_workspace(endpoint.workspace), state.cursor),
            failures=state.failures,
            last_error=state.last_error or None,
            last_success=datetime.fromisoformat(state.last_success) if state.last_success else None,
            next_attempt=datetime.fromtimestamp(next_attempt, UTC) if next_attempt else None,
            created_at=datetime.fromisoformat(endpoint.created_at),
            created_by=endpoint.created_by,
            former_secret_until=datetime.fromtimestamp(endpoint.former_until, UTC)
            if endpoint.former_secret
            else None,
        )


class CreatedWebhook(Webhook):
    """An address with its new secret, which is shown this once."""

    secret: str = Field(description="`whsec_…`: what receivers check signatures with")


class WebhookList(BaseModel):
    """The addresses of the workspace."""

    webhooks: list[Webhook]


class ReplayRequest(StrictModel):
    """From where to send again."""

    after: int = Field(
        ge=0,
        le=2**53,
        description="the first event sent is the one behind this place",
        examples=[0],
    )
    reason: Reason = ""


class Rotation(StrictModel):
    """For how long receivers may still check with the secret that they have."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"keep_hours": 24}]})

    keep_hours: int = Field(
        default=24,
        ge=0,
        le=24 * 30,
        description="hours for which messages are signed with both secrets",
    )
    reason: Reason = ""


class TestResult(BaseModel):
    """How the receiver answered a message of the type `test`."""

    delivered: bool
    status: int | None
    error: str | None


class Removed(BaseModel):
    """The address is removed, with its secret."""

    id: str


@router.get("/webhooks")
async def list_webhooks(
    deps: WebhookDeps, workspace: Workspace, places: CallerPlaces
) -> WebhookList:
    """Return the addresses of the workspace, and how far each is."""
    webhooks = list[Webhook]()
    for endpoint in await deps.endpoints.all(workspace):
        if stored_state := await deps.endpoints.state(endpoint.id):
            webhooks.append(await Webhook.of(deps, endpoint, stored_state.state, places))
    return WebhookList(webhooks=webhooks)


@router.post("/webhooks", responses=error_responses(409))
async def add_webhook(
    request: Request,
    body: NewWebhook,
    deps: WebhookDeps,
    workspace: Workspace,
    places: CallerPlaces,
) -> CreatedWebhook:
    """Register an address. The answer has its secret, which is shown this once."""
    if unknown_types := sorted(set(body.types).difference(TYPES)):
        raise BadRequest(
            f"unknown types: {', '.join(unknown_types)[:200]}; there are {', '.join(TYPES)}"
        )
    target, *_ = await resolved(body.url, deps.webhooks.allowed_networks)
    note_details(request, host=target.host, types=body.types, reason=body.reason)
    cursor = (
        await end_of_log(deps.log, places) if body.after is None else places.sequence(body.after)
    )
    new_endpoint = Endpoint(
        id="",
        workspace=workspace,
        url=body.url,
        types=tuple(dict.fromkeys(body.types)),
        secret=new_secret(),
        description=body.description,
        with_body=body.include_body,
        created_by=request.state.principal.name,
    )
    endpoint = await deps.endpoints.add(new_endpoint, cursor)
    shown_webhook = await Webhook.of(deps, endpoint, EndpointState(cursor), places)
    return CreatedWebhook(**shown_webhook.model_dump(), secret=endpoint.secret)


@router.delete("/webhooks/{webhook_id}", responses=error_responses(404))
async def remove_webhook(
    webhook_id: WebhookId, deps: WebhookDeps, workspace: Workspace, _: NotedReason
) -> Removed:
    """Send nothing more there, and forget the secret."""
    await deps.endpoints.get(webhook_id, workspace)
    await deps.endpoints.remove(webhook_id)
    return Removed(id=webhook_id)


@router.post("/webhooks/{webhook_id}/enable", responses=error_responses(404))
async def enable_webhook(
    request: Request,
    webhook_id: WebhookId,
    deps: WebhookDeps,
    workspace: Workspace,
    places: CallerPlaces,
    _: NotedReason,
) -> Webhook:
    """Try again at once, from where it stopped. From now on it depends on the credentials of this
    request.
    """
    await deps.endpoints.get(webhook_id, workspace)
    endpoint = await deps.endpoints.adopt(webhook_id, request.state.principal.name)
    return await Webhook.of(deps, endpoint, await deps.endpoints.change_state(webhook_id), places)


@router.post("/webhooks/{webhook_id}/rotate", responses=error_responses(404))
async def rotate_webhook(
    request: Request,
    webhook_id: WebhookId,
    body: Rotation,
    deps: WebhookDeps,
    workspace: Workspace,
    places: CallerPlaces,
) -> CreatedWebhook:
    """Give it a new secret, which is shown this once. For a time messages are signed with the
    former one too.
    """
    note_details(request, keep_hours=body.keep_hours, reason=body.reason)
    await deps.endpoints.get(webhook_id, workspace)
    endpoint = await deps.endpoints.rotate(
        webhook_id, new_secret(), time.time() + body.keep_hours * 3600
    )
    stored_state = await deps.endpoints.state(webhook_id)
    if stored_state is None:
        raise no_webhook(webhook_id)
    shown_webhook = await Webhook.of(deps, endpoint, stored_state.state, places)
    return CreatedWebhook(**shown_webhook.model_dump(), secret=endpoint.secret)


@router.post("/webhooks/{webhook_id}/replay", responses=error_responses(404))
async def replay_webhook(
    request: Request,
    webhook_id: WebhookId,
    body: ReplayRequest,
    deps: WebhookDeps,
    workspace: Workspace,
    places: CallerPlaces,
) -> Webhook:
    """Send everything behind a place again, or skip what cannot be delivered. Ids of messages stay
    the same.
    """
    note_details(request, after=body.after, reason=body.reason)
    endpoint = await deps.endpoints.get(webhook_id, workspace)
    cursor = places.sequence(body.after)
    state = await deps.endpoints.change_state(webhook_id, cursor=cursor)
    return await Webhook.of(deps, endpoint, state, places)


@router.post("/webhooks/{webhook_id}/test", responses=error_responses(404))
async def test_webhook(
    webhook_id: WebhookId, deps: WebhookDeps, workspace: Workspace
) -> TestResult:
    """Send a message of the type `test` now, and say how the receiver answered. Nothing is counted
    as failed.
    """
    outcome = await deps.trials.send(await deps.endpoints.get(webhook_id, workspace))
    return TestResult(
        delivered=not outcome.error, status=outcome.status or None, error=outcome.error or None
    )
