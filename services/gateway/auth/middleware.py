"""Authentication, authorization and rate limits in front of every route.

A middleware and not a dependency of each route: a new route is closed without a line of its own,
and no body of a denied request is read.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runtime.bus.actor import acting_as
from runtime.bus.nats.region import WritingRegion
from runtime.retries import format_retry_after
from services.gateway.auth.config import AuthConfig, is_loopback
from services.gateway.auth.credentials import Token
from services.gateway.auth.lifetimes import answered_until
from services.gateway.auth.permissions import (
    ALL_WORKSPACES,
    ANONYMOUS,
    READING_POST_PREFIXES,
    SAFE_METHODS,
    Permissions,
    Principal,
    matches_any,
    required_right,
    split_list,
    viewer_of,
)
from services.gateway.dependencies import provided
from services.gateway.errors import OPENAI_PREFIX, error_response
from services.gateway.workspaces import DefaultWorkspace
from services.query.visibility.viewer import Viewer

PROBE_PATHS = ("/health/live", "/health/ready")
"""Probes of an orchestrator, which has no credentials; they name a part that does not answer, never
its data.
"""

PUBLIC_PATHS = (*PROBE_PATHS, "/login", "/auth-status")
"""Paths that are always served without credentials."""

DOCS_PATHS = ("/docs", "/docs/*", "/redoc", "/openapi.json")
"""Paths of the API reference, served without credentials where ENABLE_API_DOCS is set."""

POLLED_PATHS = ("/health", "/documents/paginated", "/documents/pipeline_status")
"""Paths that the web interface polls, which renew no token: a forgotten tab would stay logged in
for ever.
"""

PRINCIPAL_PATH = "/auth/principal"
"""Path that says which workspaces there are for a caller, who therefore need not name one."""

OWN_STORES_PREFIX = "/operations/rebuild"
"""Before the paths of what concerns the stores of this region alone, whoever writes the log."""

ON_BEHALF_HEADER = "x-on-behalf-of"
"""Header that names whose documents a request sees: `user:ann, group:legal`."""

WORKSPACE_HEADERS = ("lightrag-workspace", "x-workspace")
"""Headers that name the workspace of a request; both may be sent when they agree."""

DEFAULT_WORKSPACE = "default"
"""The workspace of requests that name none, until the service is wired and its setting is known."""


@dataclass
class AuthError(Exception):
    """A request is denied; carries the status code, the sentence and the headers of the answer."""

    status: int
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def response(self, path: str) -> JSONResponse:
        """Return the error in the form that clients of the path expect."""
        challenge = {"WWW-Authenticate": "Bearer"} if self.status == 401 else {}
        return error_response(path, self.status, self.detail, {**self.headers, **challenge})


def too_many_requests(seconds: float, detail: str) -> AuthError:
    """Return a 429 whose Retry-After header holds the seconds, rounded up."""
    return AuthError(429, detail, {"Retry-After": format_retry_after(seconds)})


class AuthMiddleware:
    """Pass a permitted request on with `state.principal` and `state.workspace` set, and answer
    every other one.

    `public`: further paths that need neither credentials nor a workspace.
    """

    def __init__(self, app: ASGIApp, config: AuthConfig, public: tuple[str, ...] = ()) -> None:
        self._app = app
        self._config = config
        public_paths = (*PUBLIC_PATHS, *public)
        self._public_paths = (
            *public_paths,
            *(DOCS_PATHS if config.docs else ()),
            *config.whitelist,
        )
        self._paths_without_workspace = (*public_paths, *DOCS_PATHS, PRINCIPAL_PATH)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI 3. A websocket is closed: there is no route for one."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        new_token = ""
        try:
            new_token = self._authorize(scope, Headers(scope=scope))
        except AuthError as error:
            await error.response(scope["path"])(scope, receive, send)
            return

        async def send_with_token(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-New-Token"] = new_token
            await send(message)

        with acting_as(scope["state"]["principal"].name):
            sending = send_with_token if new_token else send
            ends = scope["state"].get("token_ends")
            if ends is None:
                await self._app(scope, receive, sending)
            else:
                await answered_until(ends, self._app, scope, receive, sending)

    def _authorize(self, scope: Scope, headers: Headers) -> str:
        """Set the principal and the workspace of a request, and return a new token when one is due,
        else "".

        Raises AuthError for a request that is denied.
        """
        path = scope["path"]
        method = scope["method"]
        state = scope.setdefault("state", {})
        default = default_workspace(scope)
        state["principal"], state["workspace"] = Principal("nobody", signed_in=False), ""
        state["viewer"] = self._config.anonymous_viewer
        if path in PROBE_PATHS:
            return ""
        if self._config.is_open:
            _refuse_foreign_origins(method, headers, self._config)
        principal, token, denial = self._authenticate(headers, default)
        state["token_ends"] = self._config.tokens.ends(token) if token else None
        state["principal"] = principal = principal or Principal(
            "nobody",
            Permissions(frozenset({default})),
            signed_in=False,
            viewer=self._config.anonymous_viewer,
        )
        state["viewer"] = requested_viewer(principal, headers)
        self._limit_rate(principal, client_address(scope), method, path)
        if denial and not matches_any(path, self._public_paths):
            raise denial
        if not matches_any(path, self._paths_without_workspace):
            requested_workspace = _requested_workspace(headers)
            permissions = principal.permissions
            # Below /v1/ the model in the body may name the workspace: see `authorized_workspace`.
            later = (
                path.startswith(OPENAI_PREFIX)
                and not requested_workspace
                and permissions.resolve_workspace("", default) is None
            )
            state["workspace"] = (
                ""
                if later
                else _permitted_workspace(principal, requested_workspace, default, denial)
            )
            right = required_right(method, path)
            if not permissions.allows(right, state["workspace"]):
                raise AuthError(403, "these credentials may read only")
            if right == "write" and not path.startswith(OWN_STORES_PREFIX):
                _refuse_in_following_region(scope)
        return self._renewed_token(token) if token and path not in POLLED_PATHS else ""

    def _authenticate(
        self, headers: Headers, default: str
    ) -> tuple[Principal | None, Token | None, AuthError | None]:
        """Return the principal and the token it was read from, or why there is none, in LightRAG's
        order and words.
        """
        config = self._config
        if config.is_open:
            return ANONYMOUS, None, None
        key = _single_header(headers, "x-api-key")
        bearer = _bearer_token(headers)
        # Clients of OpenAI's API send their key as a bearer token.
        if principal := config.keys.find(bearer) if bearer else None:
            return principal, None, None
        if bearer:
            token = config.tokens.read(bearer)
            if token and token.role == "reader":
                return _reader(token, default), token, None
            account = config.accounts.get(token.name) if token and token.role == "user" else None
            if account and token and account.password_fingerprint == token.password_fingerprint:
                return account.principal, token, None
            # A guest's token grants nothing; where there are no accounts, the web interface sends
            # it with the key.
            if config.accounts or token is None or token.role != "guest":
                return None, None, AuthError(401, "Invalid token")
        if principal := config.keys.find(key) if key else None:
            return principal, None, None
        if config.accounts:
            return None, None, AuthError(401, "No credentials provided. Please login.")
        return None, None, AuthError(403, "Invalid API Key" if key else "API Key required")

    def _limit_rate(self, principal: Principal, address: str, method: str, path: str) -> None:
        client = (
            principal.name
            if principal.signed_in and principal is not ANONYMOUS
            else f"address:{address}"
        )
        now = time.monotonic()
        wait = self._config.request_limit.take(client, now)
        if not wait and method == "POST" and path.startswith(READING_POST_PREFIXES):
            wait = self._config.query_limit.take(client, now)
        if wait:
            raise too_many_requests(wait, "too many requests; try again later")

    def _renewed_token(self, token: Token) -> str:
        account = self._config.accounts.get(token.name) if token.role == "user" else None
        seconds_left = token.expires_at - time.time()
        if account is None or seconds_left >= self._config.renew_below * (
            token.expires_at - token.issued_at
        ):
            return ""
        due = self._config.renewals.take(token.name, time.monotonic())
        return self._config.tokens.renew(token) if due else ""


def _refuse_in_following_region(scope: Scope) -> None:
    """Raise AuthError where another region is written to: nothing of the request is read."""
    if region := provided(scope["app"], WritingRegion):
        raise AuthError(421, region.refusal)


def _reader(token: Token, default: str) -> Principal:
    """Return who reads with a token that another system has signed: it sees what its user and its
    groups may see. Raises AuthError for names that no principal can have.
    """
    workspaces = frozenset(token.workspaces or (default,)) - {ALL_WORKSPACES}
    try:
        viewer = viewer_of([f"user:{token.name}", *(f"group:{group}" for group in token.groups)])
    except ValueError:
        raise AuthError(401, "Invalid token") from None
    return Principal(f"reader:{token.name}", Permissions(workspaces, "read"), viewer=viewer)


def client_address(scope: Scope) -> str:
    """Return the IP address of the client; of IPv6 its /64 network, all of which one client may
    have.
    """
    host = (scope.get("client") or ("", 0))[0]
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return host
    return (
        str(address.ipv4_mapped)
        if address.ipv4_mapped
        else f"{IPv6Address(int(address) >> 64 << 64)}/64"
    )


def _bearer_token(headers: Headers) -> str:
    scheme, _, value = _single_header(headers, "authorization").partition(" ")
    return value.strip() if scheme.lower() == "bearer" else ""


def _single_header(headers: Headers, name: str) -> str:
    """Return the header's value. Raises AuthError when it is given twice: a proxy may have read the
    other one.
    """
    values = headers.getlist(name)
    if len(values) > 1:
        raise AuthError(400, f"the header {name} must not be given twice")
    return values[0].strip() if values else ""


def _requested_workspace(headers: Headers) -> str:
    names = {value for name in WORKSPACE_HEADERS if (value := _single_header(headers, name))}
    if len(names) > 1:
        raise AuthError(400, "the request names two workspaces")
    return next(iter(names), "")


def requested_viewer(principal: Principal, headers: Headers) -> Viewer | None:
    """Return whose documents a request sees: those that its credential is bound to, or whom the
    header names.

    Raises AuthError where the header names principals and the credential is bound to others.
    """
    on_behalf_of = _single_header(headers, ON_BEHALF_HEADER)
    if not on_behalf_of:
        return principal.viewer
    # One that sees everything may say that it wants to see less.
    if principal.viewer is not None and not principal.asks_for_others:
        raise AuthError(403, f"these credentials may not ask for others: {ON_BEHALF_HEADER}")
    try:
        return viewer_of(split_list(on_behalf_of))
    except ValueError as error:
        raise AuthError(400, f"{ON_BEHALF_HEADER}: {error}") from None


def viewer_of_user(user: str | None, viewer: Viewer | None, request: Request) -> Viewer | None:
    """Return whose documents a request of OpenAI's API sees: those of the user that its body names,
    where the credential asks for others and no header has named any; else those of the viewer.

    Raises AuthError for a user that none can be.
    """
    principal: Principal = request.state.principal
    if not user or not principal.asks_for_others or viewer != principal.viewer:
        return viewer
    try:
        return viewer_of([user])
    except ValueError as error:
        raise AuthError(400, f"user: {error}") from None


def authorized_workspace(scope: Scope, named_workspace: str = "") -> str:
    """Return the workspace of a request below /v1/, whose model may name it in the body;
    `named_workspace` is that one.

    Raises AuthError when the headers name another one, or when the credentials do not cover it.
    """
    state = scope["state"]
    in_headers = _requested_workspace(Headers(scope=scope))
    if named_workspace and in_headers and named_workspace != in_headers:
        raise AuthError(400, "the request names two workspaces")
    return _permitted_workspace(
        state["principal"], named_workspace or in_headers, default_workspace(scope), None
    )


def _permitted_workspace(
    principal: Principal, requested_workspace: str, default: str, denial: AuthError | None
) -> str:
    # Existing and unknown workspaces get the same 403, so that callers cannot find out which ones
    # exist.
    workspace = principal.permissions.resolve_workspace(requested_workspace, default)
    if workspace is None:
        raise denial or AuthError(403, "these credentials are not for this workspace")
    return workspace


def default_workspace(scope: Scope) -> str:
    """Return the workspace of requests that name none."""
    default = provided(scope["app"], DefaultWorkspace)
    return default.name if default else DEFAULT_WORKSPACE


def _refuse_foreign_origins(method: str, headers: Headers, config: AuthConfig) -> None:
    """Raise AuthError when a server without credentials is called by a web page of another origin.

    A browser sends forms and plain text anywhere without asking, and the host name of a page may
    resolve to this machine.
    """
    host = headers.get("host", "")
    if config.loopback and not is_loopback(_hostname(host)):
        raise AuthError(
            403, "without credentials this server answers to localhost only; set LIGHTRAG_API_KEY"
        )
    origin = headers.get("origin")
    if (
        method in SAFE_METHODS
        or origin is None
        or origin in config.cors_origins
        or "*" in config.cors_origins
    ):
        return
    # Sec-Fetch-Site comes first: a proxy may have changed the host name, and a page can forge
    # neither of the two.
    site = headers.get("sec-fetch-site") or (
        "same-origin" if origin.partition("://")[2] == host else "cross-site"
    )
    if site != "same-origin":
        raise AuthError(403, "web pages of other origins may not call; see CORS_ORIGINS")


def _hostname(host: str) -> str:
    """Return the name or address in a Host header, "" when there is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
