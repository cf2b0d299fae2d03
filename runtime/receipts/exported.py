"""A receipt as a file that verifies by itself: a graph of PROV-O that says what the event says, the
event as the log has it, and its place in the audit chain.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Annotated, Any, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from contracts.events import AnswerGiven
from contracts.ids import sha256
from runtime.bus.codec import explain
from runtime.bus.records import line_of, parse_line
from runtime.errors import InvalidInput
from runtime.receipts.provenance import CONTEXT, passage_texts, provenance
from runtime.receipts.reading import StoredReceipt, stored_record

FORMAT = 1
"""Of the proof and of the graph. A file of a later one is verified by a later release."""

MAX_BYTES = 64 * 1024 * 1024
"""Bytes of a file at most."""

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ChainPart(BaseModel):
    """Part of the audit chain of questions and answers.

    `before`: hash of the link before the first leaf, empty at the beginning of the chain; `after`:
    hash of the last link.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    before: Hash | Annotated[str, Field(max_length=0)]
    leaves: list[Hash] = Field(min_length=1)
    after: Hash

    @cached_property
    def links(self) -> tuple[str, ...]:
        """Return the hash of the chain behind each leaf."""
        links = accumulate(self.leaves, lambda link, leaf: sha256(link + leaf), initial=self.before)
        return tuple(links)[1:]


class ChainExcerpt(ChainPart):
    """A part with one receipt. `place`: of the receipt among the `leaves`, from 0."""

    place: int = Field(ge=0)

    def has_link(self, link: str) -> bool:
        """Return whether the chain had this hash when the receipt came, or later."""
        return link in self.links[self.place :]


class Proof(BaseModel):
    """What a file is verified by. `record`: the event as a line of a backup has it; `sha256`: of
    the whole file in its canonical form, without this field.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    format: int
    record: str
    leaf: Hash
    chain: ChainExcerpt
    sha256: Hash


class ReceiptFile(BaseModel):
    """The file of a receipt, in JSON-LD."""

    model_config = ConfigDict(extra="forbid", strict=True)

    context: dict[str, str | None] = Field(alias="@context")
    graph: list[dict[str, Any]] = Field(alias="@graph")
    proof: Proof


@dataclass(frozen=True)
class FileFindings:
    """What was verified of a file: what is as it was, and what is not, a sentence each. `chain`:
    the hash in which its part of the audit chain ends; `receipt`: its id, empty for a file of
    several; `other_texts`: of texts that are none of it, though the file is as it was.
    """

    receipt: str
    chain: str
    receipts: int = 1
    verified: list[str] = field(default_factory=list[str])
    problems: list[str] = field(default_factory=list[str])
    other_texts: list[str] = field(default_factory=list[str])

    @property
    def is_well(self) -> bool:
        """Return whether the file is as it was, and every text that was compared is one of it."""
        return not (self.problems or self.other_texts)

    def note(self, subject: str, *, is_well: bool, well: str, problem: str) -> None:
        """Add one of two sentences about a subject."""
        if is_well:
            self.verified.append(f"{subject}: {well}")
        else:
            self.problems.append(f"{subject}: {problem}")


@dataclass(frozen=True)
class ExportedReceipt:
    """A file that was read, and the receipt in it. `digest`: of the file as it is."""

    file: ReceiptFile
    receipt: StoredReceipt
    digest: str

    @classmethod
    def of(cls, data: bytes) -> "ExportedReceipt":
        """Return the receipt of a file. Raises InvalidInput for anything else."""
        return cls.of_document(parsed_file(data))

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> "ExportedReceipt":
        """Return the receipt of a file that was parsed. Raises InvalidInput for anything else."""
        try:
            file = ReceiptFile.model_validate(document)
        except ValidationError as error:
            raise InvalidInput(f"no file of a receipt: {explain(error)}") from None
        if file.proof.format != FORMAT:
            raise InvalidInput(
                f"its format is {file.proof.format}, and this release knows {FORMAT}: verify it "
                "with the release that wrote it, or a later one"
            )
        return cls(file, recorded_receipt(file.proof.record), digest_of(document))

    def verify(self) -> FileFindings:
        """Compare everything in the file with everything else in it."""
        chain = self.file.proof.chain
        findings = FileFindings(self.receipt.event.receipt, chain.links[-1])
        findings.note(
            "file",
            is_well=self.digest == self.file.proof.sha256,
            well="as it was written",
            problem="it is not as it was written: its hash is another one",
        )
        self._verify_receipt(findings)
        return findings

    def problems(self) -> list[str]:
        """Return what is not as it was of the receipt, the hash of the file aside."""
        findings = FileFindings(self.receipt.event.receipt, "")
        self._verify_receipt(findings)
        return findings.problems

    def has_link(self, link: str) -> bool:
        """Return whether the chain had this hash when the receipt came, or later."""
        return self.file.proof.chain.has_link(link)

    def name_of_text(self, text: str) -> str:
        """Return what a text is in the receipt, by its hash; empty for none of its texts."""
        event = self.receipt.event
        names = {passage.sha256: passage.chunk_id for passage in event.evidence.passages}
        names = {hash: f"passage {name}" for hash, name in names.items() if hash}
        names |= {
            event.prompt_sha256: "the prompt",
            event.answer.sha256: "the answer",
            event.question.sha256: "the question",
        }
        return names.get(sha256(text), "")

    def _verify_receipt(self, findings: FileFindings) -> None:
        self._verify_event(findings)
        self._verify_chain(findings)
        self._verify_graph(findings)
        self._verify_texts(findings)
        self._verify_passages(findings)

    def _verify_event(self, findings: FileFindings) -> None:
        proof = self.file.proof
        findings.note(
            "event",
            is_well=sha256(proof.record) == proof.leaf,
            well=f"it has its hash, {proof.leaf}",
            problem="it does not have the hash by which the chain has it",
        )

    def _verify_chain(self, findings: FileFindings) -> None:
        proof = self.file.proof
        chain = proof.chain
        has_leaf = chain.place < len(chain.leaves) and chain.leaves[chain.place] == proof.leaf
        findings.note(
            "chain",
            is_well=has_leaf and chain.links[-1] == chain.after,
            well=f"it holds the event, and {len(chain.leaves) - chain.place - 1} behind it",
            problem="it does not hold the event, or is broken",
        )

    def _verify_graph(self, findings: FileFindings) -> None:
        graph = provenance(self.receipt, passage_texts(self.file.graph))
        is_well = canonical(self.file.graph) == canonical(graph) and self.file.context == CONTEXT
        findings.note(
            "graph",
            is_well=is_well,
            well="it says what the event says",
            problem="it does not say what the event says",
        )

    def _verify_texts(self, findings: FileFindings) -> None:
        event: AnswerGiven = self.receipt.event
        for name, recorded in (("question", event.question), ("answer", event.answer)):
            text = recorded.text
            findings.note(
                name,
                is_well=text is None or sha256(text) == recorded.sha256,
                well="by its hash alone" if text is None else "its text has its hash",
                problem="its text does not have its hash",
            )

    def _verify_passages(self, findings: FileFindings) -> None:
        passages = self.receipt.event.evidence.passages
        texts = passage_texts(self.file.graph)
        for passage in passages:
            text = texts.get(passage.chunk_id)
            if text is not None and sha256(text) != passage.sha256:
                findings.problems.append(
                    f"passages: the text of {passage.chunk_id} does not have its hash"
                )
        erased_count = sum(not passage.sha256 for passage in passages)
        hashes = len(passages) - erased_count - len(texts)
        findings.verified.append(
            f"passages: {len(texts)} with their texts, {hashes} by their hashes, "
            f"{erased_count} erased"
        )


def exported(receipt: StoredReceipt, chain: ChainExcerpt, texts: Mapping[str, str]) -> str:
    """Return the file of a receipt. `texts`: of passages that it is to hold, by their ids."""
    proof: dict[str, Any] = {
        "format": FORMAT,
        "record": line_of(receipt.record).decode(),
        "leaf": receipt.leaf,
        "chain": chain.model_dump(),
    }
    graph = provenance(receipt, texts)
    document: dict[str, Any] = {"@context": CONTEXT, "@graph": graph, "proof": proof}
    proof["sha256"] = digest_of(document)
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def recorded_receipt(record: str) -> StoredReceipt:
    """Return the receipt of a line of a backup. Raises InvalidInput for any other text."""
    try:
        receipt = stored_record(parse_line(record.encode()))
    except (ValueError, KeyError, TypeError, AttributeError):
        receipt = None
    if receipt is None:
        raise InvalidInput("no file of a receipt: its record is no event of an answer")
    return receipt


def canonical(value: Any) -> str:
    """Return the canonical form of a JSON value without fractions, as RFC 8785 has it."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest_of(document: Mapping[str, Any]) -> str:
    """Return the hash of a file in its canonical form, without the field that has it."""
    proof = {name: value for name, value in document["proof"].items() if name != "sha256"}
    return sha256(canonical({**document, "proof": proof}))


def parsed_file(data: bytes) -> dict[str, Any]:
    """Return the object in a file. Raises InvalidInput for what is no JSON, or says something
    twice.
    """
    if len(data) > MAX_BYTES:
        raise InvalidInput(f"no file of a receipt: it is larger than {MAX_BYTES >> 20} MiB")
    try:
        document = json.loads(
            data.decode(), object_pairs_hook=_without_repetition, parse_constant=_refuse_constant
        )
        document["proof"]["sha256"]
        canonical(document).encode()
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise InvalidInput(f"no file of a receipt: {error!s:.200}") from None
    return document


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise ValueError("it has a name twice in one object")
    return dict(pairs)


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
