"""Signatures of Standard Webhooks: HMAC-SHA256 over id, time and body, by the public specification."""

import base64
import hashlib
import hmac
import secrets

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    """Return a random secret as the specification writes it: `whsec_` and base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signed_headers(secret: str, message_id: str, at: int, body: bytes) -> dict[str, str]:
    """Return the headers of one attempt; `at`: Unix seconds of this attempt, which receivers hold against replays."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signature = hmac.new(key, f"{message_id}.{at}.".encode() + body, hashlib.sha256).digest()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{base64.b64encode(signature).decode()}",
    }
