"""What a request may look like: how long its body is where no setting says it, and below which
path of a proxy it comes.
"""

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

PREFIX_PATTERN = r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,63}){1,8}"
"""One name or several: neither the address of another host nor a path that climbs."""
