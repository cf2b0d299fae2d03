"""A service whose handler does what its documents are called: the real runtime around the simplest
possible work.

`python -m tests.support.trial_service DURABLE WORKERS FOLDER` is the service; `trial_service`
starts one. Document `poison` can never be handled, `bug` raises an error nobody foresaw, `later`
succeeds at the second delivery, `hang-up` closes the connection, `slow` takes a second, `brief-…`
the fiftieth part of one. Any other one becomes a DocumentDeleted event, once there is no file
`FOLDER/hold`; `FOLDER/begun-<document>` says that one waits for that. `long-…` waits for the file
`FOLDER/long` to be gone, too. For `stuck-…` some store does not answer while there is a file
`FOLDER/down`. A handler counts as stuck after `TRIAL_STALLED` seconds.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from contracts.envelope import Envelope, wrap
from contracts.events import DocumentAdded, DocumentDeleted, Event
from contracts.graph import Generations
from embedded.local_http import local_client
from embedded.processes import Process, free_port
from runtime import health as health_pages
from runtime.bus.port import Delivery
from runtime.bus.processor import each
from runtime.errors import Poison, Unavailable
from runtime.health import Health
from runtime.service import Bus, Subscription, run
from runtime.settings import Settings
from tests.support import services

SECONDS = {"slow": 1.0, "brief": 0.02}
"""How long a document takes, by what it is called up to a hyphen."""

ROOT = Path(__file__).resolve().parents[2]


def document(
    name: str, *, id: str | None = None, workspace: str = "trial", text: str = "text"
) -> Envelope[Event]:
    """A DocumentAdded event; its id is the name unless another is given."""
    added = DocumentAdded(document_id=name, text=text)
    return wrap(
        added, id=id or f"event-{name}", source="tests", workspace=workspace, time=datetime.now(UTC)
    )


@asynccontextmanager
async def trial_service(
    nats_url: str,
    folder: Path,
    durable: str = "chunker",
    workers: int = 1,
    *,
    wait: bool = True,
    **env: str,
) -> AsyncGenerator[Process]:
    """The service as a child process, ready unless told not to `wait`. Its health page is at
    `env["PORT"]`.
    """
    port = str(free_port())

    async def probe() -> None:
        assert await health(process, "ready") == 200

    process = Process(
        "trial",
        [sys.executable, "-m", "tests.support.trial_service", durable, str(workers), str(folder)],
        folder,
        probe,
        env={
            "NATS_URL": nats_url,
            "PORT": port,
            "PYTHONPATH": str(ROOT),
            "OTEL_TRACES_EXPORTER": "none",
            **env,
        },
        launch=services.launch,
    )
    await process.spawn()
    try:
        if wait:
            await process.ready()
        yield process
    finally:
        await process.stop()


async def health(process: Process, page: str) -> int:
    """The status of `/health/<page>`; 0 when nobody answers in the two seconds an orchestrator may
    wait.
    """
    async with local_client(5.0) as client:
        try:
            return (
                await client.get(f"http://127.0.0.1:{process.env['PORT']}/health/{page}", timeout=2)
            ).status_code
        except httpx.HTTPError:
            return 0


def is_held(folder: Path, name: str) -> bool:
    """Return whether the document of that name has to wait."""
    is_long = name.startswith("long-")
    return (folder / "hold").exists() or (is_long and (folder / "long").exists())


def main() -> None:
    """Run the service."""
    durable = sys.argv[1]
    workers = int(sys.argv[2])
    folder = Path(sys.argv[3])
    health_pages.STALLED = float(os.environ.get("TRIAL_STALLED", health_pages.STALLED))

    @asynccontextmanager
    async def build(bus: Bus, _: Health) -> AsyncGenerator[Sequence[Subscription]]:
        async def handle(delivery: Delivery[Any], _: Generations) -> Sequence[Event]:
            if not isinstance(delivery.event, DocumentAdded):
                return []
            match delivery.event.document_id:
                case "poison":
                    raise Poison("it is poison")
                case "bug":
                    raise RuntimeError("nobody foresaw this")
                case "later" if delivery.attempt == 1:
                    raise Unavailable("not yet")
                case "hang-up":
                    await bus.jetstream._nc.close()
            if delivery.event.document_id.startswith("stuck-") and (folder / "down").exists():
                raise Unavailable("a store of this workspace is down")
            while is_held(folder, delivery.event.document_id):
                (folder / f"begun-{delivery.event.document_id}").touch()
                await asyncio.sleep(0.02)
            await asyncio.sleep(SECONDS.get(delivery.event.document_id.partition("-")[0], 0.0))
            return [DocumentDeleted(document_id=delivery.event.document_id)]

        yield [Subscription(durable, each(handle), workers)]

    run("chunker", Settings(nats_url=os.environ["NATS_URL"]), build)


if __name__ == "__main__":
    main()
