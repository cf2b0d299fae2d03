"""Answers of `/login`, `/auth-status` and `/auth/verify` in LightRAG's shapes, and of
`/auth/principal`.
"""

from typing import Literal

from pydantic import BaseModel, Field


class _About(BaseModel):
    auth_mode: Literal["enabled", "disabled"]
    core_version: str
    api_version: str
    webui_title: str | None
    webui_description: str | None
    ai_content_notice_enabled: bool


class LoggedIn(_About):
    """The answer to a login: a user's token, or a guest's where there are no accounts."""

    access_token: str
    token_type: Literal["bearer"]
    message: str | None = None


class AuthStatus(_About):
    """Whether a login is needed; if not, a guest's token, which grants no permissions."""

    auth_configured: bool
    access_token: str | None = None
    token_type: Literal["bearer"] | None = None
    message: str | None = None


class CurrentPrincipal(BaseModel):
    """Who is calling, and what they may do."""

    name: str = Field(examples=["user:ada"])
    right: Literal["read", "write"] = Field(
        description="`read` also where only a part of the documents is seen: who writes sees all"
    )
    sees_all_documents: bool = Field(
        description="false: routes of the log and of operations are closed to these credentials"
    )
    workspaces: list[str] = Field(
        description="those the credentials are bound to; `*` is every one"
    )
    default_workspace: str = Field(
        description="the one of requests that name none; empty when they must name one"
    )


class Verified(BaseModel):
    """The credentials are valid."""

    status: Literal["ok"] = "ok"
