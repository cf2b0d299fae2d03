"""What a caller is told of an error: never what is inside it. The log has the rest, under the id that is told."""

from uuid import uuid4

import structlog

from runtime.errors import InvalidInput, ModelChanged, Retryable

logger = structlog.get_logger(__name__)


def told(error: Exception, path: str) -> tuple[int, str]:
    """The HTTP status of an error and the sentence for it."""
    if isinstance(error, InvalidInput):
        return 422, str(error)
    id = uuid4().hex
    if not isinstance(error, Retryable):
        logger.error("internal error", error_id=id, path=path, exc_info=error)
        return 500, f"Internal server error (error_id: {id})"
    logger.warning("unavailable", error_id=id, path=path, error=f"{type(error).__name__}: {error}")
    if isinstance(error, ModelChanged):
        return 503, f"{error} (error_id: {id})"
    return 503, f"a part of the system does not answer now; try again (error_id: {id})"
