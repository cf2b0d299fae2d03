"""Which answers must be told again: those that read passages which have another text by now, or
rested on entities and relations that people have edited since.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contracts.events import AnswerEvidence, EvidencePassage
from contracts.graph import Partition
from contracts.ids import entity_vector_id, relation_vector_id, sha256
from knowledge.edit import Edit, standing_edits
from runtime.bus.port import Log
from runtime.receipts.reading import StoredReceipt
from services.gateway.past.logged_edits import logged_edits
from services.query.status.port import Documents, Passages


async def changed_passages(
    receipts: Sequence[StoredReceipt], documents: Documents, passages: Passages, status: Partition
) -> list[int]:
    """Return for each receipt how many of the passages that were read are not in the documents any
    more as they were. Texts are read only of documents that have a newer version.

    Of a branch that was dropped the documents of its origin count: what it read is older than it.
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
        if versions.get(passage.document_id, 0) > passage.version
    }
    texts = await passages.get(status, doubtful)
    hashes = {id: sha256(passage.content) for id, passage in texts.items()}

    def is_as_it_was(passage: EvidencePassage) -> bool:
        version = versions.get(passage.document_id)
        return version is not None and (
            version <= passage.version or hashes.get(passage.chunk_id) == passage.sha256
        )

    return [sum(not is_as_it_was(passage) for passage in of_receipt) for of_receipt in evidence]


async def edited_items(receipts: Sequence[StoredReceipt], log: Log, workspace: str) -> list[int]:
    """Return for each receipt how many of its entities and relations people have edited since the
    place in the log that it was answered from, edits that were taken back again aside.

    Of a receipt without names an edit of an entity counts for that entity alone, and not for its
    relations. Raises `Unavailable`.
    """
    positions = [
        receipt.event.position
        for receipt in receipts
        if receipt.event.evidence.entities or receipt.event.evidence.relations
    ]
    if not positions or not await logged_edits(log, workspace, min(positions)):
        return [0] * len(receipts)
    edits = await logged_edits(log, workspace)
    sequences = [edit.sequence for edit in edits]
    changes: dict[int, _GraphChanges] = {}
    counts: list[int] = []
    for receipt in receipts:
        edit_count = bisect_right(sequences, receipt.event.position)
        if edit_count not in changes:
            changes[edit_count] = _GraphChanges.between(edits[:edit_count], edits)
        counts.append(changes[edit_count].count_in(receipt.event.evidence))
    return counts


_MOVING = frozenset(
    {"rename_entity", "merge_entities", "accept_alias", "split_entity", "delete_entity"}
)
"""Operations after which relations of the entity have another end, or none."""


@dataclass(frozen=True)
class _GraphChanges:
    """What people changed between two places in the log: ids of entities and relations, and names
    of entities whose relations are others now.
    """

    ids: frozenset[str]
    moved_names: frozenset[str]

    @classmethod
    def between(cls, edits_then: Sequence[Edit], edits_now: Sequence[Edit]) -> "_GraphChanges":
        then, now = _by_place(edits_then), _by_place(edits_now)
        changes = [(then | now)[place] for place in then.keys() ^ now.keys()]
        ids = {id for edit in changes for id in _ids(edit)}
        moves = [edit for edit in changes if edit.operation in _MOVING]
        return cls(frozenset(ids), frozenset(name for edit in moves for name in edit.all_names))

    def count_in(self, evidence: AnswerEvidence) -> int:
        """Return how many entities and relations of the evidence are among them."""
        entity_count = sum(entity.id in self.ids for entity in evidence.entities)
        return entity_count + sum(
            relation.id in self.ids
            or not self.moved_names.isdisjoint((relation.source, relation.target))
            for relation in evidence.relations
        )


def _by_place(edits: Sequence[Edit]) -> dict[tuple[int, tuple[str, ...]], Edit]:
    """Return the edits in force. Of a merge, a part of the names may be."""
    return {(edit.sequence, edit.names): edit for edit in standing_edits(edits)}


def _ids(edit: Edit) -> Iterable[str]:
    if edit.operation.endswith("relation"):
        return (relation_vector_id(*edit.names),)
    return map(entity_vector_id, edit.all_names)
