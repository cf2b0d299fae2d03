"""Converts an error into a status code and a sentence. Details are only logged, under the id in the
answer.
"""

import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import structlog
from pydantic import BaseModel
from starlette.responses import JSONResponse

from runtime.errors import (
    InvalidInput,
    ModelChanged,
    ModelRefused,
    NotFound,
    NotServing,
    Poison,
    RateLimited,
    Retryable,
    TextFailure,
)

logger = structlog.get_logger(__name__)

OLLAMA_PREFIX = "/api/"
OPENAI_PREFIX = "/v1/"
"""Paths below which errors have the form of Ollama's and of OpenAI's protocol."""

OPENAI_ERRORS = {
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("permission_error", "not_permitted"),
    404: ("invalid_request_error", "not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
    500: ("server_error", "internal_error"),
    502: ("server_error", "model_refused"),
    503: ("server_error", "unavailable"),
}
"""Type and code of OpenAI's errors, by status; any other is `invalid_request_error` without a
code.
"""


def error_response(
    path: str, status: int, detail: Any, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return an error in the form that clients of the path expect. `detail`: a sentence, or a list
    of field errors.
    """
    if not path.startswith((OLLAMA_PREFIX, OPENAI_PREFIX)):
        return JSONResponse({"detail": detail}, status, headers)
    # Neither protocol knows 422.
    status = 400 if status == 422 else status
    message = detail if isinstance(detail, str) else "; ".join(map(_field_error, detail))
    return JSONResponse(
        {"error": message if path.startswith(OLLAMA_PREFIX) else openai_error(status, message)},
        status,
        headers,
    )


def openai_error(status: int, message: str, code: str | None = None) -> dict[str, Any]:
    """Return the object `error` of OpenAI's protocol."""
    kind, default_code = OPENAI_ERRORS.get(status, ("invalid_request_error", None))
    return {"message": message, "type": kind, "param": None, "code": code or default_code}


def protocol_errors(model: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """Return `responses` for routes of a protocol, all of whose errors have the shape of the
    model.
    """
    # Without 4XX FastAPI would document its own 422 in the OpenAPI document.
    codes = {
        str(code): HTTPStatus(code).phrase for code in (400, 401, 403, 404, 413, 429, 500, 502, 503)
    }
    return {
        code: {"model": model, "description": phrase}
        for code, phrase in {**codes, "4XX": "Refused"}.items()
    }


def _field_error(fault: Mapping[str, Any]) -> str:
    field = ".".join(str(part) for part in fault["loc"] if part != "body")
    return f"{field}: {fault['msg']}" if field else str(fault["msg"])


def no_document(id: str) -> NotFound:
    """Return the error of a document that is not there, or that who asks may not see."""
    return NotFound(f"there is no document {id!r}; GET /documents lists them")


MODEL_REFUSALS = {
    "content": (422, "refuses to answer this: ask in other words"),
    "length": (
        422,
        "takes no request of this length: ask for less, such as with a lower max_total_tokens",
    ),
    "text": (422, "fails for this text each time, while it answers others: ask in other words"),
    "request": (502, "refused the request: whoever runs this service finds the reason in its log"),
}
"""Status code and sentence by the reason for which a model refuses a request for good."""


def describe_error(error: Exception, path: str) -> tuple[int, str]:
    """Return the status code of an error and its sentence, and log what the sentence leaves out."""
    if isinstance(error, InvalidInput):
        return 422, str(error)
    id = uuid4().hex
    if isinstance(error, Poison) and error.model:
        logger.warning(
            "a model refused", error_id=id, path=path, model=error.model, error=str(error)
        )
        unusable = (502, "answered what cannot be used")
        status, sentence = (
            MODEL_REFUSALS[error.reason] if isinstance(error, ModelRefused) else unusable
        )
        return status, f"the {error.model} {sentence}{_provider_sentence(error)} (error_id: {id})"
    if not isinstance(error, Retryable):
        logger.error("internal error", error_id=id, path=path, exc_info=error)
        return 500, f"Internal server error (error_id: {id})"
    logger.warning("unavailable", error_id=id, path=path, error=f"{type(error).__name__}: {error}")
    if isinstance(error, ModelChanged | NotServing):
        return 503, f"{error} (error_id: {id})"
    return 503, f"{_unavailable(error)} (error_id: {id})"


def _provider_sentence(error: Poison | TextFailure) -> str:
    """Return what the provider itself says, as the end of our sentence; it has no address and no
    key.
    """
    return f". Its provider says: {error.sentence}" if error.sentence else ""


def _unavailable(error: Retryable) -> str:
    if not error.model:
        return "a part of the system does not answer now; try again"
    if isinstance(error, TextFailure):
        advice = "try again, or ask in other words"
        return (
            f"the {error.model} failed for this text, while it answers others; "
            f"{advice}{_provider_sentence(error)}"
        )
    if isinstance(error, RateLimited):
        wait = f" in {math.ceil(error.retry_after)} s" if error.retry_after else ""
        return (
            f"the {error.model} is paused or busy, as its provider asks to wait or fails; try "
            f"again{wait}"
        )
    return f"the {error.model} does not answer now; try again"
