"""Which answers must be told again: those that read passages which have another text by now."""

from collections.abc import Sequence

from contracts.events import EvidencePassage
from contracts.graph import Partition
from contracts.ids import sha256
from runtime.receipts.reading import StoredReceipt
from services.query.status.port import Documents, Passages


async def changed_passages(
    receipts: Sequence[StoredReceipt], documents: Documents, passages: Passages, status: Partition
) -> list[int]:
    """Return for each receipt how many of the passages that were read are not in the documents any
    more as they were. Texts are read only of documents that have another version now.
    """
    evidence = [receipt.event.evidence.passages for receipt in receipts]
    flat = [passage for of_receipt in evidence for passage in of_receipt]
    statuses = await documents.get(status, {passage.document_id for passage in flat})
    versions = {
        id: document.version
        for id, (document, _) in statuses.items()
        if document.version > document.deleted
    }
    doubtful = {
        passage.chunk_id
        for passage in flat
        if versions.get(passage.document_id, passage.version) != passage.version
    }
    texts = await passages.get(status, doubtful)
    hashes = {id: sha256(passage.content) for id, passage in texts.items()}

    def is_as_it_was(passage: EvidencePassage) -> bool:
        version = versions.get(passage.document_id)
        return version is not None and (
            version == passage.version or hashes.get(passage.chunk_id) == passage.sha256
        )

    return [sum(not is_as_it_was(passage) for passage in of_receipt) for of_receipt in evidence]
