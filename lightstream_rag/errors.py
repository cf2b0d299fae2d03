"""What can go wrong between a client and Lightstream; one `except LightstreamError` catches all of
it.

LightstreamError
├── Misconfigured      an address, a key or a name that cannot be used; nothing was sent
├── AccessDenied       401 or 403: credentials are missing, wrong, or not for this
├── InvalidRequest     any other 4xx: the request cannot be met as it is
│   ├── NotFound           404
│   ├── Conflict           409
│   ├── TooLarge           413
│   └── NotOffered         501: this deployment does not do it
├── Unavailable        502, 503, 504, or no answer at all; may succeed later
│   ├── RateLimited        429
│   └── TimedOut           the answer took too long; the service may still be at it
├── ServerFault        any other answer that is none; `error_id` is in the log of the service
└── StillProcessing    documents were not through when the waiting ended
"""

import re
from collections.abc import Sequence
from typing import cast

from runtime import errors

_ERROR_ID = re.compile(r"error_id: ([0-9a-f]{8,64})")

KEY = (
    "give a key that may do this in this workspace: api_key, or LIGHTSTREAM_API_KEY (or "
    "LIGHTRAG_API_KEY)"
)


class LightstreamError(errors.ServiceError):
    """Root of all errors of the client. Neither keys nor addresses are ever in it."""

    def __init__(
        self, message: str, *, status: int = 0, detail: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status, 0 where there was none."""
        self.detail = detail
        """The server's description of the error."""
        self.retry_after = retry_after
        """Seconds to wait before a retry, None when the server named none."""

    @property
    def error_id(self) -> str:
        """Return the id under which the service logged details, "" when there is none."""
        match = _ERROR_ID.search(self.detail)
        return match[1] if match else ""


class Misconfigured(LightstreamError, errors.ConfigurationError):
    """An address, a key or a name that cannot be used."""


class AccessDenied(LightstreamError, errors.ConfigurationError):
    """Credentials are missing, wrong, or not for this."""


class InvalidRequest(LightstreamError, errors.InvalidInput):
    """The request cannot be met as it is."""


class NotFound(InvalidRequest):
    """The document, entity or other thing that the request names does not exist."""


class Conflict(InvalidRequest):
    """The request would replace an existing document."""


class TooLarge(InvalidRequest):
    """The request or the file has more bytes than the server accepts."""


class NotOffered(InvalidRequest):
    """This deployment does not offer the function."""


class Unavailable(LightstreamError, errors.Unavailable):
    """The service does not answer now; the same request may succeed later. Whether a change was
    made is unknown.
    """


class RateLimited(Unavailable):
    """Too many requests."""


class TimedOut(Unavailable):
    """The answer took too long; the service may still be at it."""


class ServerFault(LightstreamError):
    """The service failed, or the answer did not come from Lightstream."""


class StillProcessing(LightstreamError):
    """Documents were not finished after the timeout; their processing goes on."""


BY_STATUS: dict[int, type[LightstreamError]] = {
    401: AccessDenied,
    403: AccessDenied,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    429: RateLimited,
    501: NotOffered,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def error_of_response(
    path: str, status: int, body: object, retry_after: float | None
) -> LightstreamError:
    """Return the error of a response; `body` is its JSON, None when it has none."""
    kind = BY_STATUS.get(status, InvalidRequest if 400 <= status < 500 else ServerFault)
    detail = _detail(body) or f"HTTP status {status}"
    message = f"{path}: {detail}"
    if kind is AccessDenied:
        message = f"the query service refuses {path}: {detail}; {KEY}"
    return kind(message, status=status, detail=detail, retry_after=retry_after)


def timeout_error(path: str, fault: Exception) -> TimedOut:
    """Return the error for a response that did not come in time."""
    return TimedOut(f"the query service takes too long for {path} ({type(fault).__name__})")


def connection_error(path: str, fault: Exception) -> Unavailable:
    """Return the error for a connection that failed. The text of the fault is left out: it may name
    an address.
    """
    return Unavailable(f"the query service does not answer {path} ({type(fault).__name__})")


def _detail(body: object) -> str:
    """Return the text of an error: FastAPI's `detail` is a sentence or a list; `/query/data` has a
    `message`.
    """
    if not isinstance(body, dict):
        return ""
    fields = cast("dict[str, object]", body)
    detail = fields.get("detail") or fields.get("message") or ""
    if not isinstance(detail, list):
        return str(detail)
    return "; ".join(_fault(fault) for fault in cast("Sequence[object]", detail)[:5])


def _fault(fault: object) -> str:
    return (
        str(cast("dict[str, object]", fault).get("msg", ""))
        if isinstance(fault, dict)
        else str(fault)
    )
