"""Error responses of routes in the OpenAPI document."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Code = Literal[400, 401, 403, 404, 409, 413, 422, 429, 500, 501, 502, 503]


class Fault(BaseModel):
    """The error of one field of a request."""

    loc: list[str | int]
    msg: str
    type: str


class Problem(BaseModel):
    """The body of an error: cause and remedy in a sentence, or an error for each invalid field."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"detail": "the log is full; try again"}]}
    )

    detail: str | list[Fault] = Field(description="a list for the fields of a request")


DESCRIPTIONS: dict[Code, str] = {
    400: "a header is given twice, or the body, a name or a change is of a kind that is not taken",
    401: "credentials are missing or wrong",
    403: "these credentials are not for this",
    404: "there is nothing of that name",
    409: "there is another document of that name",
    413: "the request or the file is too large; the limit is named",
    422: "a field is wrong or a text cannot be used",
    429: "too many requests",
    500: "a bug; the log has it under the id that is told",
    501: "this deployment does not do it",
    502: "a model refused the request, or answered what cannot be used",
    503: "a part of the system or a model does not answer now, or the log is full",
}

COMMON_CODES: tuple[Code, ...] = (400, 401, 403, 413, 422, 429, 500, 503)
"""Error codes of every route, which come from the middleware."""

RETRY_AFTER = {
    "Retry-After": {
        "description": "seconds to wait before trying again",
        "schema": {"type": "integer", "minimum": 1},
    }
}
CHALLENGE = {"WWW-Authenticate": {"description": "`Bearer`", "schema": {"type": "string"}}}

PUBLIC_ROUTE: dict[str, Any] = {"security": [{}]}
"""`openapi_extra` of a route that also answers without credentials."""

Responses = dict[int | str, dict[str, Any]]


def error_responses(*codes: Code) -> Responses:
    """Return these codes with their descriptions, for `responses` of a route."""
    headers = {401: CHALLENGE, 429: RETRY_AFTER, 503: RETRY_AFTER}
    return {
        code: {
            "model": Problem,
            "description": DESCRIPTIONS[code],
            **({"headers": headers[code]} if code in headers else {}),
        }
        for code in codes
    }
