"""LightRAG's own HTTP server, for `benchmarks.measuring.peer`, in an environment of its own with
`lightrag-hku`.

    [PEER_ONE_CLIENT=1] PEER_PYTHON benchmarks/measuring/peer_server.py

Its settings are variables of the environment, as it ships. With PEER_ONE_CLIENT its functions for
OpenAI's routes share one client for all calls, where they would open one for each. (It reads the
command line itself, when it is imported.)
"""

import os
from typing import Any

from lightrag.api.lightrag_server import main
from lightrag.llm import openai

ONE_CLIENT = "PEER_ONE_CLIENT"


class SharedClient:
    """A client that whoever uses it cannot close."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def __aenter__(self) -> "SharedClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        return

    async def close(self) -> None:
        """Stay open."""


def share_clients() -> None:
    """Give all calls with the same configuration the same client."""
    create, clients = openai.create_openai_async_client, dict[str, SharedClient]()

    def shared(**configuration: Any) -> SharedClient:
        key = repr(sorted(configuration.items()))
        if key not in clients:
            clients[key] = SharedClient(create(**configuration))
        return clients[key]

    openai.create_openai_async_client = shared


if __name__ == "__main__":
    if os.environ.get(ONE_CLIENT):
        share_clients()
    main()
