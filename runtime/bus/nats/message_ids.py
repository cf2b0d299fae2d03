"""Ids of messages on the wire: bound to who publishes and to the subject.

The server knows one list of ids for a whole stream. Whoever can guess the id of a message that is
not published yet could publish another one under it, and the real one would be dropped as its
repetition; and the server's answer to a guess tells whether somebody has published it. So an id is
a keyed hash: nobody else who publishes can compute it.
"""

import hashlib
import hmac
from functools import lru_cache

from nats.js import JetStreamContext

from runtime.workarounds.nats_py import connection_of, server_address

SALT = b"lightstream message ids"
"""Of the key: the ids stand in backups, and a password must not be found by trying it on them."""


def publisher_key(jetstream: JetStreamContext) -> bytes:
    """Return a key that only who has the connection's password or token can derive; empty without
    any.
    """
    client = connection_of(jetstream)
    secret = client.options.get("password") or client.options.get("token")
    if not secret and (address := server_address(client)):
        secret = address.password or address.username
    return _derived(str(secret)) if secret else b""


@lru_cache(maxsize=64)
def _derived(secret: str) -> bytes:
    return hashlib.scrypt(secret.encode(), salt=SALT, n=1 << 13, r=8, p=1, dklen=32)


def message_id(key: bytes, scope: str, id: str) -> str:
    """Return the id on the wire of what has this id within the scope. The same publisher repeats
    it.
    """
    return hmac.new(key, f"{scope}\n{id}".encode(), hashlib.sha256).hexdigest()[:40]
