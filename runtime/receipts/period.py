"""The receipts of a period as one file that verifies by itself: a graph of PROV-O for each, their
events as the log has them, and the part of the audit chain in which they stand.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runtime.bus.codec import explain
from runtime.bus.records import line_of
from runtime.errors import InvalidInput
from runtime.receipts.exported import (
    MAX_BYTES,
    ChainExcerpt,
    ChainPart,
    ExportedReceipt,
    FileFindings,
    Hash,
    Proof,
    ReceiptFile,
    digest_of,
    parsed_file,
    recorded_receipt,
)
from runtime.receipts.provenance import CONTEXT, provenance
from runtime.receipts.reading import StoredReceipt

FORMAT = 2
"""Of the proof of several receipts."""


class PlacedRecord(BaseModel):
    """An event as a line of a backup has it, and its place among the leaves of the chain."""

    model_config = ConfigDict(extra="forbid", strict=True)

    record: str
    leaf: Hash
    place: int = Field(ge=0)


class PeriodProof(BaseModel):
    """What a file of several receipts is verified by. `sha256`: of the whole file in its canonical
    form, without this field.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    format: int
    receipts: list[PlacedRecord] = Field(min_length=1)
    chain: ChainPart
    sha256: Hash


class NamedGraph(BaseModel):
    """The graph of one receipt. What two answers say of one passage stands apart."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str = Field(alias="@id")
    graph: list[dict[str, Any]] = Field(alias="@graph")


class PeriodFile(BaseModel):
    """The file of several receipts, in JSON-LD."""

    model_config = ConfigDict(extra="forbid", strict=True)

    context: dict[str, str | None] = Field(alias="@context")
    graph: list[NamedGraph] = Field(alias="@graph")
    proof: PeriodProof


@dataclass(frozen=True)
class ExportedPeriod:
    """A file of several receipts that was read, and each of them as a file of its own has it.
    `digest`: of the file as it is.
    """

    file: PeriodFile
    receipts: Sequence[ExportedReceipt]
    digest: str

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "ExportedPeriod":
        """Return the receipts of a file that was parsed. Raises InvalidInput for anything else."""
        try:
            file = PeriodFile.model_validate(document)
        except ValidationError as error:
            raise InvalidInput(f"no file of receipts: {explain(error)}") from None
        graphs, records = file.graph, file.proof.receipts
        if len(graphs) != len(records):
            raise InvalidInput(
                f"no file of receipts: it has {len(graphs)} graphs and {len(records)} events"
            )
        chain = ChainExcerpt(**file.proof.chain.model_dump(), place=0)
        _ = chain.links  # each copy has them then: they are computed once
        receipts = [
            _alone(file, graph, record, chain.model_copy(update={"place": record.place}))
            for graph, record in zip(graphs, records, strict=True)
        ]
        return cls(file, receipts, digest_of(document))

    def verify(self) -> FileFindings:
        """Compare everything in the file with everything else in it."""
        count = len(self.receipts)
        findings = FileFindings("", self.file.proof.chain.links[-1], receipts=count)
        findings.note(
            "file",
            is_well=self.digest == self.file.proof.sha256,
            well="as it was written",
            problem="it is not as it was written: its hash is another one",
        )
        ids = [receipt_file.receipt.event.receipt for receipt_file in self.receipts]
        findings.note(
            "receipts",
            is_well=len(set(ids)) == count and self._has_named_graphs(ids),
            well=f"{count}, each once and under its name",
            problem="a receipt is there twice, or its graph has another name",
        )
        problem_count = len(findings.problems)
        for id, receipt_file in zip(ids, self.receipts, strict=True):
            findings.problems.extend(f"{id}: {problem}" for problem in receipt_file.problems())
        if len(findings.problems) == problem_count:
            findings.verified.append(
                "events, chain, graphs, texts: those of every receipt are as they were"
            )
        return findings

    def has_link(self, link: str) -> bool:
        """Return whether the chain had this hash when the last of the receipts came, or later."""
        return all(receipt_file.has_link(link) for receipt_file in self.receipts)

    def name_of_text(self, text: str) -> str:
        """Return what a text is in one of the receipts, by its hash; empty for none of them."""
        for receipt_file in self.receipts:
            if name := receipt_file.name_of_text(text):
                return f"{name} of {receipt_file.receipt.event.receipt}"
        return ""

    def _has_named_graphs(self, ids: Sequence[str]) -> bool:
        return [graph.id for graph in self.file.graph] == [_graph_name(id) for id in ids]


def read_export(data: bytes) -> ExportedReceipt | ExportedPeriod:
    """Return what a file holds: one receipt, or several. Raises InvalidInput for anything else."""
    document = parsed_file(data)
    if document["proof"].get("format") == FORMAT:
        return ExportedPeriod.of(document)
    return ExportedReceipt.of_document(document)


def exported_period(
    receipts: Sequence[StoredReceipt],
    chain: ChainPart,
    places: Sequence[int],
    texts: Sequence[Mapping[str, str]],
) -> str:
    """Return the file of these receipts. `places`: of each among the leaves of the chain; `texts`:
    of passages that it is to hold for each, by their ids.

    Raises InvalidInput where it would be larger than a file may be.
    """
    proof: dict[str, Any] = {
        "format": FORMAT,
        "receipts": [
            {"record": line_of(receipt.record).decode(), "leaf": receipt.leaf, "place": place}
            for receipt, place in zip(receipts, places, strict=True)
        ],
        "chain": chain.model_dump(),
    }
    graphs = [
        {
            "@id": _graph_name(receipt.event.receipt),
            "@graph": provenance(receipt, texts_of_receipt),
        }
        for receipt, texts_of_receipt in zip(receipts, texts, strict=True)
    ]
    document: dict[str, Any] = {"@context": CONTEXT, "@graph": graphs, "proof": proof}
    proof["sha256"] = digest_of(document)
    text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    if (size := len(text.encode())) > MAX_BYTES:
        raise InvalidInput(
            f"the {len(receipts)} receipts of this period take {size >> 20} MiB, and a file has "
            f"{MAX_BYTES >> 20} MiB at most: export shorter periods, with --since and --until"
        )
    return text


def _alone(
    file: PeriodFile, graph: NamedGraph, record: PlacedRecord, chain: ChainExcerpt
) -> ExportedReceipt:
    """Return one of the receipts as it stands in a file of its own."""
    proof = Proof.model_construct(
        format=FORMAT, record=record.record, leaf=record.leaf, chain=chain, sha256=""
    )
    receipt_file = ReceiptFile.model_construct(context=file.context, graph=graph.graph, proof=proof)
    return ExportedReceipt(receipt_file, recorded_receipt(record.record), "")


def _graph_name(receipt: str) -> str:
    return f"urn:uuid:{receipt}#provenance"
