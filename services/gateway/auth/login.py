"""The routes `/login`, `/auth-status` and `/auth/verify` in LightRAG's shapes, and
`/auth/principal` of our own.
"""

import time
from typing import Annotated, Any

from fastapi import APIRouter, Form, HTTPException, Request

from runtime.version import VERSION
from services.gateway.auth.config import AuthConfig
from services.gateway.auth.login_models import AuthStatus, CurrentPrincipal, LoggedIn, Verified
from services.gateway.auth.middleware import client_address, default_workspace, too_many_requests
from services.gateway.auth.permissions import Principal
from services.gateway.auth.viewers import shows_no_documents
from services.gateway.brand import brand_of
from services.gateway.reference.responses import PUBLIC_ROUTE

router = APIRouter(tags=["access"])

GUEST = "guest"
GUEST_MESSAGE = "Authentication is disabled. Using guest access."

UserName = Annotated[str, Form(max_length=1024, examples=["ada"])]
Password = Annotated[str, Form(max_length=1024, examples=["correct horse battery staple"])]


@router.get(
    "/auth-status",
    response_model=AuthStatus,
    response_model_exclude_unset=True,
    openapi_extra=PUBLIC_ROUTE,
)
@shows_no_documents
async def auth_status(request: Request) -> dict[str, Any]:
    """Say whether a login is needed. Where there are no accounts, return a guest's token, which
    permits nothing.
    """
    config: AuthConfig = request.app.state.auth
    if config.accounts:
        return {"auth_configured": True, **_deployment(request, "enabled")}
    return {"auth_configured": False, **_guest_login(request, config)}


@router.post(
    "/login", response_model=LoggedIn, response_model_exclude_unset=True, openapi_extra=PUBLIC_ROUTE
)
@shows_no_documents
async def login(request: Request, username: UserName, password: Password) -> dict[str, Any]:
    """Return a token for a user's name and password."""
    config: AuthConfig = request.app.state.auth
    if not config.accounts:
        return _guest_login(request, config)
    request.state.principal = request.state.principal.renamed(f"login:{username[:64]}")
    address = client_address(request.scope)
    client = f"{address}:{username}"
    if wait := config.lockout.begin(client, time.monotonic()):
        raise _locked_out(wait)
    wait = config.address_lockout.begin(address, time.monotonic())
    account = await config.accounts.verify(username, password)
    if account is None and wait:
        raise _locked_out(wait)
    if account is None:
        raise HTTPException(401, "Incorrect credentials", {"WWW-Authenticate": "Bearer"})
    config.lockout.succeeded(client)
    if not wait:
        config.address_lockout.take_back(address)
    request.state.principal = account.principal
    token = config.tokens.issue(username, "user", account.password_fingerprint)
    return {"access_token": token, "token_type": "bearer", **_deployment(request, "enabled")}


@router.get("/auth/verify")
@shows_no_documents
async def verify() -> Verified:
    """Confirm the credentials: the middleware answers when they are not valid."""
    return Verified()


@router.get("/auth/principal")
@shows_no_documents
async def current_principal(request: Request) -> CurrentPrincipal:
    """Return who is calling and what they may do, so that a page offers nothing that would be
    refused.
    """
    principal: Principal = request.state.principal
    permissions = principal.permissions
    return CurrentPrincipal(
        name=principal.name,
        right="read" if request.state.viewer else permissions.access_right,
        sees_all_documents=request.state.viewer is None,
        workspaces=sorted(permissions.workspaces),
        default_workspace=permissions.resolve_workspace("", default_workspace(request.scope)) or "",
    )


def _locked_out(wait: float) -> HTTPException:
    error = too_many_requests(wait, "Too many failed login attempts; try again later.")
    return HTTPException(error.status, error.detail, dict(error.headers))


def _guest_login(request: Request, config: AuthConfig) -> dict[str, Any]:
    token = config.tokens.issue(GUEST, GUEST)
    return {
        "access_token": token,
        "token_type": "bearer",
        "message": GUEST_MESSAGE,
        **_deployment(request, "disabled"),
    }


def _deployment(request: Request, mode: str) -> dict[str, Any]:
    title, description = brand_of(request.app)
    return {
        "auth_mode": mode,
        "core_version": VERSION,
        "api_version": VERSION,
        "webui_title": title,
        "webui_description": description,
        "ai_content_notice_enabled": False,
    }
