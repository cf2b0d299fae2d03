"""`/login`, `/auth-status` and `/auth/verify`, in LightRAG's shapes, for its web interface and its clients."""

import time
from typing import Annotated, Any

from fastapi import APIRouter, Form, HTTPException, Request

from services.query.api.auth.config import Door
from services.query.api.auth.login_models import AuthStatus, LoggedIn, Verified
from services.query.api.auth.middleware import address, too_often
from services.query.api.context import VERSION, brand
from services.query.api.reference.responses import ANYBODY

router = APIRouter(tags=["access"])

GUEST = "guest"
OPEN = "Authentication is disabled. Using guest access."

UserName = Annotated[str, Form(max_length=1024, examples=["ada"])]
Password = Annotated[str, Form(max_length=1024, examples=["correct horse battery staple"])]


@router.get("/auth-status", response_model=AuthStatus, response_model_exclude_unset=True, openapi_extra=ANYBODY)
async def auth_status(request: Request) -> dict[str, Any]:
    """Whether one has to log in. Where there are no accounts, a guest's token comes along, which opens nothing."""
    door: Door = request.app.state.door
    if door.accounts:
        return {"auth_configured": True, **_about(request, "enabled")}
    return {"auth_configured": False, **_guest(request, door)}


@router.post("/login", response_model=LoggedIn, response_model_exclude_unset=True, openapi_extra=ANYBODY)
async def login(request: Request, username: UserName, password: Password) -> dict[str, Any]:
    """A token for a user's name and password."""
    door: Door = request.app.state.door
    if not door.accounts:
        return _guest(request, door)
    request.state.caller = request.state.caller.named(f"login:{username[:64]}")
    who = f"{address(request.scope)}:{username}"
    if wait := door.lockout.begin(who, time.monotonic()):
        refused = too_often(wait, "Too many failed login attempts; try again later.")
        raise HTTPException(refused.status, refused.detail, dict(refused.headers))
    account = await door.accounts.verified(username, password)
    if account is None:
        raise HTTPException(401, "Incorrect credentials", {"WWW-Authenticate": "Bearer"})
    door.lockout.succeeded(who)
    request.state.caller = account.caller
    token = door.tokens.make(username, "user", account.mark)
    return {"access_token": token, "token_type": "bearer", **_about(request, "enabled")}


@router.get("/auth/verify")
async def verify() -> Verified:
    """Whether the credentials hold: the gate answers when they do not."""
    return Verified()


def _guest(request: Request, door: Door) -> dict[str, Any]:
    token = door.tokens.make(GUEST, GUEST)
    return {"access_token": token, "token_type": "bearer", "message": OPEN, **_about(request, "disabled")}


def _about(request: Request, mode: str) -> dict[str, Any]:
    title, description = brand(request.app)
    return {
        "auth_mode": mode,
        "core_version": VERSION,
        "api_version": VERSION,
        "webui_title": title,
        "webui_description": description,
        "ai_content_notice_enabled": False,
    }
