"""The gate before every route: who asks, in which workspace, with which right, and how often.

It stands before the routes and not in them, so that a new route is closed without anybody having thought of it, and no
body is read of a request that is refused.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runtime.retries import format_retry_after
from services.query.api.auth.config import Door, is_local
from services.query.api.auth.credentials import Token
from services.query.api.auth.permissions import ANYONE, READING_BELOW, UNSEEN, Caller, Grant, listed, need
from services.query.api.errors import OPENAI, answered

PROBES = ("/health/live", "/health/ready")
"""For supervisors, who have no credentials; they say which part does not answer and nothing of what it holds."""

ALWAYS = (*PROBES, "/login", "/auth-status")
DOCS = ("/docs", "/docs/*", "/redoc", "/openapi.json")

NOT_RENEWED = ("/health", "/documents/paginated", "/documents/pipeline_status")
"""What the web interface polls: it would be renewed for ever by a forgotten tab."""

WORKSPACE_HEADERS = ("lightrag-workspace", "x-workspace")
USUAL = "default"


@dataclass
class Refused(Exception):
    """The answer to a request that is not let through."""

    status: int
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def response(self, path: str) -> JSONResponse:
        """As JSON, for the clients of that path."""
        challenge = {"WWW-Authenticate": "Bearer"} if self.status == 401 else {}
        return answered(path, self.status, self.detail, {**self.headers, **challenge})


def too_often(seconds: float, detail: str) -> Refused:
    """429 with the seconds to wait."""
    return Refused(429, detail, {"Retry-After": format_retry_after(seconds)})


class Gate:
    """Lets a request through with `state.caller` and `state.workspace`, or answers it itself."""

    def __init__(self, app: ASGIApp, door: Door, public: tuple[str, ...] = ()) -> None:
        self._app, self._door = app, door
        shown = (*ALWAYS, *public)
        self._shown = (*shown, *(DOCS if door.docs else ()), *door.whitelist)
        self._unbound = (*shown, *DOCS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI 3. A websocket is closed: there is no route for one."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        renewed = ""
        try:
            renewed = self._admit(scope, Headers(scope=scope))
        except Refused as refused:
            await refused.response(scope["path"])(scope, receive, send)
            return

        async def renewing(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-New-Token"] = renewed
            await send(message)

        await self._app(scope, receive, renewing if renewed else send)

    def _admit(self, scope: Scope, headers: Headers) -> str:
        """Note who asks and for which workspace; gives a new token when it is time for one. Raises Refused."""
        path, method = scope["path"], scope["method"]
        state = scope.setdefault("state", {})
        state["caller"], state["workspace"] = Caller("nobody", signed_in=False), ""
        if path in PROBES:
            return ""
        if self._door.open:
            _local_only(method, headers, self._door)
        caller, token, refusal = self._asker(headers)
        state["caller"] = caller = caller or Caller("nobody", Grant(frozenset({usual(scope)})), signed_in=False)
        self._count(caller, address(scope), method, path)
        if refusal and not listed(path, self._shown):
            raise refusal
        if not listed(path, self._unbound):
            named = _named(headers)
            # Below /v1/ the model may name it, inside the body: see `entered`.
            later = path.startswith(OPENAI) and not named and caller.grant.workspace("", usual(scope)) is None
            state["workspace"] = "" if later else _workspace(caller, named, usual(scope), refusal)
            if not caller.grant.allows(need(method, path)):
                raise Refused(403, "these credentials may read only")
        return self._renewal(token) if token and path not in NOT_RENEWED else ""

    def _asker(self, headers: Headers) -> tuple[Caller | None, Token | None, Refused | None]:
        """Who asks, the token that says so, and why nobody is known otherwise. LightRAG's order and answers."""
        door = self._door
        if door.open:
            return ANYONE, None, None
        key, bearer = _one(headers, "x-api-key"), _bearer(headers)
        # Clients of OpenAI's API have no other place for a key.
        if found := door.keys.find(bearer) if bearer else None:
            return found, None, None
        if bearer:
            token = door.tokens.read(bearer)
            account = door.accounts.get(token.name) if token and token.role == "user" else None
            if account and token and account.mark == token.mark:
                return account.caller, token, None
            # A guest's token opens nothing; where there are no accounts, the web interface sends it beside the key.
            if door.accounts or token is None or token.role != "guest":
                return None, None, Refused(401, "Invalid token")
        if found := door.keys.find(key) if key else None:
            return found, None, None
        if door.accounts:
            return None, None, Refused(401, "No credentials provided. Please login.")
        return None, None, Refused(403, "Invalid API Key" if key else "API Key required")

    def _count(self, caller: Caller, address: str, method: str, path: str) -> None:
        who = caller.name if caller.signed_in and caller is not ANYONE else f"address:{address}"
        now = time.monotonic()
        wait = self._door.requests.take(who, now)
        if not wait and method == "POST" and path.startswith(READING_BELOW):
            wait = self._door.queries.take(who, now)
        if wait:
            raise too_often(wait, "too many requests; try again later")

    def _renewal(self, token: Token) -> str:
        account = self._door.accounts.get(token.name)
        left = token.ends - time.time()
        if account is None or left >= self._door.renew_below * (token.ends - token.issued):
            return ""
        due = self._door.renewed.take(token.name, time.monotonic())
        return self._door.tokens.renewed(token) if due else ""


def address(scope: Scope) -> str:
    """Where a request comes from: the address, of IPv6 the network of 64 bits, for one caller may have all of it."""
    host = (scope.get("client") or ("", 0))[0]
    try:
        found = ip_address(host)
    except ValueError:
        return host
    if not isinstance(found, IPv6Address):
        return host
    return str(found.ipv4_mapped) if found.ipv4_mapped else f"{IPv6Address(int(found) >> 64 << 64)}/64"


def _bearer(headers: Headers) -> str:
    scheme, _, value = _one(headers, "authorization").partition(" ")
    return value.strip() if scheme.lower() == "bearer" else ""


def _one(headers: Headers, name: str) -> str:
    """The header's value. Raises Refused when it stands there twice: a proxy may have read the other one."""
    found = headers.getlist(name)
    if len(found) > 1:
        raise Refused(400, f"the header {name} must not be given twice")
    return found[0].strip() if found else ""


def _named(headers: Headers) -> str:
    named = {value for name in WORKSPACE_HEADERS if (value := _one(headers, name))}
    if len(named) > 1:
        raise Refused(400, "the request names two workspaces")
    return next(iter(named), "")


def entered(scope: Scope, named: str = "") -> str:
    """The workspace of a request whose model may name it, for whom the gate has let in without asking for one.

    Raises Refused when its headers name another one, or the credentials are not for it.
    """
    state, outside = scope["state"], _named(Headers(scope=scope))
    if named and outside and named != outside:
        raise Refused(400, "the request names two workspaces")
    return _workspace(state["caller"], named or outside, usual(scope), None)


def _workspace(caller: Caller, named: str, usual: str, refusal: Refused | None) -> str:
    # 403 for every workspace that is not the caller's, there or not: no store is asked, so nothing can tell.
    found = caller.grant.workspace(named, usual)
    if found is None:
        raise refusal or Refused(403, "these credentials are not for this workspace")
    return found


def usual(scope: Scope) -> str:
    """The workspace of requests that name none."""
    context = getattr(scope["app"].state, "context", None)
    return context.settings.workspace if context else USUAL


def _local_only(method: str, headers: Headers, door: Door) -> None:
    """Without credentials a web page that somebody opens here must not be able to use the API. Raises Refused.

    A browser sends forms and plain text anywhere without asking; and a page can have its own name lead to this machine.
    """
    host = headers.get("host", "")
    if door.local and not is_local(_name(host)):
        raise Refused(403, "without credentials this server answers to localhost only; set LIGHTRAG_API_KEY")
    origin = headers.get("origin")
    if method in UNSEEN or origin is None or origin in door.origins or "*" in door.origins:
        return
    # Where a browser says it, that counts: a proxy may have changed the name of the host, a page cannot forge either.
    site = headers.get("sec-fetch-site") or ("same-origin" if origin.partition("://")[2] == host else "cross-site")
    if site != "same-origin":
        raise Refused(403, "web pages of other origins may not call; see CORS_ORIGINS")


def _name(host: str) -> str:
    """The name or address in a Host header; empty for what is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
