"""A service of the release after this one: it knows version 2 of DocumentAdded, and everything else
as it is.

`python -m tests.support.upgraded_service NAME` runs the real service of that name; `upgraded`
starts one.
"""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from contracts import events, upcast
from contracts.subjects import subject
from embedded.processes import Process
from embedded.programs import service_module
from tests.support.services import service


def upgrade() -> None:
    """Make this process one of the next release."""

    class DocumentAdded(events.DocumentAdded):
        version = 2

    events.EVENTS["DocumentAdded"] = DocumentAdded
    cast("dict[tuple[str, int], Any]", upcast.STEPS)["DocumentAdded", 1] = dict


def newer(document: str, workspace: str) -> tuple[str, bytes]:
    """Subject and bytes of a DocumentAdded as the next release writes it."""
    event = {
        "specversion": "1.0",
        "id": f"{workspace}-{document}",
        "source": "/the/next/release",
        "type": "lightstream.DocumentAdded.v2",
        "subject": document,
        "workspace": workspace,
        "data": {"document_id": document, "text": f"Ada Marlow wrote {document}."},
    }
    return subject(workspace, document, "DocumentAdded"), json.dumps(event).encode()


@asynccontextmanager
async def upgraded(name: str, folder: Path, **env: str) -> AsyncGenerator[Process]:
    """The service of the next release, ready."""
    async with service(name, folder, module="tests.support.upgraded_service", **env) as process:
        yield process


def main() -> None:
    """Run the service."""
    upgrade()
    import_module(service_module(sys.argv[1])).main()


if __name__ == "__main__":
    main()
