"""Documents on their way to a bus that is away for a moment, and to one that is full."""

from pathlib import Path
from typing import Any

import pytest

from operations import adding
from operations.adding import AddOutcome, add_documents
from operations.documents import DocumentSource
from publishing.documents import Added
from runtime.errors import Unavailable
from runtime.retries import Backoff


class FailingPublisher:
    """Adds a document to nothing once it has raised all its errors."""

    def __init__(self, *errors: Exception) -> None:
        self.errors, self.calls = list(errors), 0

    async def __call__(self, *_: Any, **__: Any) -> Added:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return Added("d", 7, is_new=True, track_id="t")


async def add(publisher: FailingPublisher, folder: Path, patch: pytest.MonkeyPatch) -> AddOutcome:
    patch.setattr(adding, "add_document", publisher)
    patch.setattr(adding, "BUS_RETURNS", Backoff(first=0.001, longest=0.001))
    file = folder / "a.txt"
    file.write_text("text", "utf-8")
    bus: Any = None
    return await add_documents(
        bus, "w", [DocumentSource(file, "a.txt", "d")], track_id="t", on_done=lambda _: None
    )


async def test_a_document_is_added_again_when_the_bus_was_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher = FailingPublisher(
        Unavailable("the bus does not answer"), Unavailable("the bus does not answer")
    )
    outcome = await add(publisher, tmp_path, monkeypatch)
    assert ([document.id for document in outcome.added], publisher.calls) == (["d"], 3)


@pytest.mark.parametrize(
    ("error", "calls"),
    [(Unavailable("gone"), adding.BUS_TRIES), (Unavailable("full", retry_after=30.0), 1)],
)
async def test_a_bus_that_stays_away_and_a_full_log_end_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Unavailable, calls: int
) -> None:
    publisher = FailingPublisher(*[error] * 20)
    with pytest.raises(Unavailable, match=str(error)):
        await add(publisher, tmp_path, monkeypatch)
    assert publisher.calls == calls
