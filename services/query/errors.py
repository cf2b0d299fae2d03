"""Why a request of a caller cannot be met. Each kind has an HTTP status, which the API gives to it."""

from runtime.errors import InvalidInput


class BadRequest(InvalidInput):
    """What was given is of a kind that is not taken (400)."""


class NotFound(InvalidInput):
    """What the request speaks of does not exist (404)."""


class Conflict(InvalidInput):
    """It would replace what the caller may not know of (409)."""


class TooLarge(InvalidInput):
    """It has more bytes than are taken (413)."""


class NotSupported(InvalidInput):
    """This deployment does not do it (501)."""
