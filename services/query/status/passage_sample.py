"""Some passages of a workspace, for what is told of all of them."""

from collections.abc import Collection

from contracts.graph import Partition
from services.query.passage import Passage
from services.query.status.port import Passages

SAMPLE_SIZE = 256
"""Passages that are read at most, or a few more."""

BEGINNINGS = tuple(f"doc-{digit}" for digit in "0123456789abcdef")
"""Where ids that are made of hashes lie apart, so that not all of a sample is of one document."""


async def sample_passages(
    passages: Passages, partition: Partition, visible_ids: Collection[str] | None = None
) -> list[Passage]:
    """Return all passages of a small workspace, and of a larger one some from several documents;
    only those of documents with these ids, if given.
    """
    sample = await passages.page(partition, "", SAMPLE_SIZE)
    if len(sample) == SAMPLE_SIZE:
        parts = [
            await passages.page(partition, beginning, SAMPLE_SIZE // len(BEGINNINGS))
            for beginning in ("", *BEGINNINGS)
        ]
        sample = {id: passage for part in parts for id, passage in part.items()}
    return [
        passage
        for passage in sample.values()
        if visible_ids is None or passage.document_id in visible_ids
    ]
