"""The settings of access: credentials, rate limits, allowed origins and what is public.

They are apart from the other settings so that no route holds a secret.
"""

import re
from typing import Literal

from pydantic import Field, SecretStr, field_validator

from runtime.settings import Settings
from services.gateway.request_forms import (
    MAX_DOCUMENT_BODY,
    MAX_LOGIN_BODY,
    MAX_REQUEST_BODY,
    PREFIX_PATTERN,
)


class AccessSettings(Settings):
    """Settings of access, with LightRAG's names and defaults where it has them.

    Unlike there, `/api/*` needs credentials and no other origin is allowed.
    """

    lightrag_api_prefix: str = Field(
        default="",
        description=(
            "path below which a reverse proxy shows the service, as `/rag`; stripped or not"
        ),
    )
    lightrag_api_key: SecretStr = Field(
        default=SecretStr(""), description="one key that may do everything"
    )
    lightstream_api_keys: SecretStr = Field(
        default=SecretStr(""),
        description="`name:key:workspaces:right, …`; workspaces joined by + or *, read or write",
    )
    lightstream_principals: str = Field(
        default="",
        description=(
            "whose documents a credential sees: `key:<name>=user:<name> group:<name>, …`; "
            "`on-behalf`: of those whom a request names; else all"
        ),
    )
    auth_accounts: SecretStr = Field(
        default=SecretStr(""), description="`user:password, user:{bcrypt}$2b$…`, for the login page"
    )
    lightstream_account_rights: str = Field(
        default="", description="`user:workspaces:right, …`; else everything"
    )
    token_secret: SecretStr = Field(
        default=SecretStr(""), description="signs login tokens; at least 32 characters"
    )
    token_expire_hours: float = Field(
        default=48, gt=0, le=8760, description="life of a login token"
    )
    guest_token_expire_hours: float = Field(
        default=24, gt=0, le=8760, description="life of a guest's token"
    )
    token_auto_renew: bool = Field(
        default=True, description="send a new token in X-New-Token before one ends"
    )
    token_renew_threshold: float = Field(
        default=0.5, ge=0, le=1, description="part of its life that is left then"
    )
    token_renew_max_hours: float = Field(
        default=168, gt=0, le=8760, description="hours after a login for which tokens are renewed"
    )
    jwt_algorithm: Literal["HS256"] = Field(default="HS256", description="no other is taken")
    login_max_failed_attempts: int = Field(
        default=5, ge=0, description="failures until a lock-out; 0: never"
    )
    login_lockout_window_seconds: float = Field(
        default=300, gt=0, description="for so long they count"
    )
    whitelist_paths: str = Field(
        default="/health", description="open without credentials; `/x/*` is all below /x/"
    )
    lightstream_allow_open: bool | Literal["localhost"] = Field(
        default=False,
        description="listen beyond this machine without credentials; `localhost`: but answer only "
        "who calls it by that name, as one does who published a container's port to himself",
    )
    cors_origins: str = Field(
        default="", description="web pages of other origins that may call; `*`: all"
    )
    rate_limit_per_minute: int = Field(
        default=1200,
        ge=0,
        description="requests of a credential or address; 0: no limit; on loopback only if set",
    )
    rate_limit_queries_per_minute: int = Field(
        default=240, ge=0, description="questions among them; 0: no limit; on loopback only if set"
    )
    max_login_body: int = Field(
        default=MAX_LOGIN_BODY, ge=256, description="bytes of a request to /login; else 413"
    )
    max_request_body: int = Field(
        default=MAX_REQUEST_BODY,
        ge=1024,
        description="bytes of a question, an edit and all that has no limit of its own",
    )
    max_document_body: int = Field(
        default=MAX_DOCUMENT_BODY, ge=1024, description="bytes of a request that adds documents"
    )
    enable_api_docs: bool = Field(default=True, description="show /docs and /openapi.json")
    webui_dir: str = Field(
        default="", description="the folder of a web page that is served at /webui; empty: none"
    )

    @field_validator("lightrag_api_prefix")
    @classmethod
    def _plain_prefix(cls, prefix: str) -> str:
        prefix = "/" + prefix.strip("/") if prefix.strip("/") else ""
        if prefix and not re.fullmatch(PREFIX_PATTERN, prefix):
            raise ValueError("give a path of letters, digits and -._~, as /rag")
        return prefix

    @property
    def has_credentials(self) -> bool:
        """Return whether any credentials are configured."""
        return any(
            secret.get_secret_value()
            for secret in (self.lightrag_api_key, self.lightstream_api_keys, self.auth_accounts)
        )

    @property
    def contradictions(self) -> list[str]:
        """Return a sentence for each setting that has no effect, or another one than it seems to
        have.
        """
        messages: list[str] = []
        accounts = bool(self.auth_accounts.get_secret_value())
        if self.token_secret.get_secret_value() and not self.has_credentials:
            messages.append("TOKEN_SECRET is set but no credentials are: everybody is let in")
        if self.lightstream_allow_open is True and self.has_credentials:
            messages.append(
                "LIGHTSTREAM_ALLOW_OPEN has no effect: credentials are set, so everybody is "
                "asked for them"
            )
        if "*" in self.cors_origins and not self.has_credentials:
            messages.append(
                "CORS_ORIGINS=* without credentials: any web page that somebody opens may "
                "read and change all"
            )
        if accounts and self.login_max_failed_attempts == 0:
            messages.append("LOGIN_MAX_FAILED_ATTEMPTS=0: passwords may be guessed without end")
        return messages
