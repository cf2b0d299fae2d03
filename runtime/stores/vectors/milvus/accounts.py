"""The account that services have on a Milvus server: what they need of collections, and no
administration.

Tried on Milvus 2.3.5 by the tests of production. A server that asks for no password knows no
accounts.
"""

import asyncio
import logging
from typing import Any

import grpc

from runtime.errors import ConfigurationError, Unavailable
from runtime.workarounds.pymilvus import MilvusClient, MilvusException

ROLE = "lightstream"
"""The role that the account has."""

PRIVILEGES = {
    "Global": ("CreateCollection", "DescribeCollection", "ShowCollections"),
    "Collection": (
        "CreateIndex",
        "IndexDetail",
        "Load",
        "GetLoadState",
        "GetLoadingProgress",
        "Insert",
        "Upsert",
        "Delete",
        "Query",
        "Search",
        "Flush",
    ),
}
"""What the role may do, on any collection: their names hold generation and model. Dropping one is
the operator's.
"""


async def make_account(uri: str, token: str, account: str, *, timeout: float = 30.0) -> list[str]:
    """Make the account `user:password` with the role, by an administrator's `token`. Returns a line
    if it was changed.

    Raises ConfigurationError for an account of no use, or a server that gives none; `Unavailable`
    for a silent one.
    """
    user, _, password = account.partition(":")
    if not user or not password:
        raise ConfigurationError("MILVUS_SERVICES_TOKEN must be user:password")
    # Quiet: the client logs each refusal as an error, and a refusal is how it shows that the
    # password is another.
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
    try:
        return await asyncio.to_thread(_make_account, uri, token, user, password, timeout)
    except grpc.RpcError as error:
        raise Unavailable(f"Milvus does not answer: {type(error).__name__}") from None
    except MilvusException as error:
        raise ConfigurationError(
            f"Milvus does not make the account of the services: {error.message}"
        ) from None


def _make_account(uri: str, token: str, user: str, password: str, timeout: float) -> list[str]:
    client: Any = MilvusClient(uri, token=token, timeout=timeout, dedicated=True)
    try:
        has_changed = False
        if user not in client.list_users(timeout=timeout):
            client.create_user(user, password, timeout=timeout)
            has_changed = True
        elif not _lets_in(uri, f"{user}:{password}", timeout):
            # An administrator does not know the old password, which a change of it would ask for.
            client.drop_user(user, timeout=timeout)
            client.create_user(user, password, timeout=timeout)
            has_changed = True
        has_changed |= _has_role(client, user, timeout)
    finally:
        client.close()
    return [f"account {user} of the services"] if has_changed else []


def _lets_in(uri: str, token: str, timeout: float) -> bool:
    """Return whether the server accepts this password."""
    try:
        client: Any = MilvusClient(uri, token=token, timeout=timeout, dedicated=True)
        try:
            client.list_collections(timeout=timeout)
        finally:
            client.close()
    except (MilvusException, grpc.RpcError):
        return False
    return True


def _has_role(client: Any, user: str, timeout: float) -> bool:
    """Give the role all privileges and the user the role. Returns whether anything was missing."""
    has_changed = False
    if ROLE not in client.list_roles(timeout=timeout):
        client.create_role(ROLE, timeout=timeout)
        has_changed = True
    granted_privileges = {
        (privilege_row["object_type"], privilege_row["privilege"])
        for privilege_row in client.describe_role(ROLE)["privileges"]
    }
    for kind, privileges in PRIVILEGES.items():
        for privilege in privileges:
            if (kind, privilege) not in granted_privileges:
                client.grant_privilege(ROLE, kind, privilege, "*", timeout=timeout)
                has_changed = True
    if ROLE not in client.describe_user(user, timeout=timeout).get("roles", ()):
        client.grant_role(user, ROLE, timeout=timeout)
        has_changed = True
    return has_changed
