"""Errors of a request that its client can avoid; the API maps each kind to the status code in its
docstring. What a request names and is not there is `NotFound` of `runtime/errors.py`.
"""

from runtime.errors import InvalidInput


class BadRequest(InvalidInput):
    """The request has a value of an unsupported kind (400)."""


class Conflict(InvalidInput):
    """The request would replace something that exists (409)."""


class TooLarge(InvalidInput):
    """The request or the file has more bytes than the limit (413)."""


class NotSupported(InvalidInput):
    """This deployment does not support the request (501)."""
