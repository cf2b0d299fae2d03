"""How long bodies of requests may be where no setting says it."""

from contracts.text import MAX_TEXT_BYTES

MAX_DOCUMENT_BODY = 2 * MAX_TEXT_BYTES + 1024 * 1024
"""Bytes of a request that adds documents: JSON escapes usually take twice the bytes of UTF-8, also
for Chinese.
"""

MAX_REQUEST_BODY = 1024 * 1024
"""Bytes of any other request: the longest question with every character escaped takes three
quarters of it.
"""

MAX_LOGIN_BODY = 16 * 1024
"""Bytes of a login, which needs no credentials."""
