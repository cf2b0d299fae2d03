"""Signatures of Standard Webhooks: HMAC-SHA256 over id, time and body, by the public
specification.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    """Return a random secret as the specification writes it: `whsec_` and base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signed_headers(keys: Sequence[str], message_id: str, at: int, body: bytes) -> dict[str, str]:
    """Return the headers of one attempt, signed with each of these secrets.

    `at`: Unix seconds of this attempt, which receivers hold against replays.
    """
    signed_bytes = f"{message_id}.{at}.".encode() + body
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(f"v1,{_signature(secret, signed_bytes)}" for secret in keys),
    }


def _signature(secret: str, signed_bytes: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.new(key, signed_bytes, hashlib.sha256).digest()).decode()
