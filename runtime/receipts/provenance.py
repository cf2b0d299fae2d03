"""An answer as a graph of the W3C's PROV-O, in JSON-LD: what was used, who asked, which model wrote
it, on what it rests.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from contracts.events import EvidenceEntity, EvidencePassage, EvidenceRelation, RecordedText
from runtime.receipts.reading import StoredReceipt

CONTEXT: dict[str, str | None] = {
    "prov": "http://www.w3.org/ns/prov#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "lightstream": "urn:lightstream:terms:",
    "proof": None,
}
"""What the names of the graph mean; the proof beside it is no part of the graph."""

Node = dict[str, Any]


def provenance(receipt: StoredReceipt, texts: Mapping[str, str]) -> list[Node]:
    """Return the nodes of the graph. `texts`: those of passages that are to stand in it, by the
    passages' ids.
    """
    return _Provenance(receipt, texts).nodes()


def passage_texts(nodes: Sequence[Any]) -> dict[str, str]:
    """Return the texts of passages that stand in a graph, by the passages' ids."""
    return {
        node["lightstream:passage"]: node["prov:value"]
        for node in nodes
        if isinstance(node, dict) and {"lightstream:passage", "prov:value"} <= node.keys()
    }


@dataclass(frozen=True)
class _Provenance:
    receipt: StoredReceipt
    texts: Mapping[str, str]

    def nodes(self) -> list[Node]:
        event = self.receipt.event
        evidence = event.evidence
        nodes = [
            self._activity(),
            self._text("question", event.question, self._origin_of_question()),
            self._text("answer", event.answer, self._origin_of_answer()),
            *self._agents(),
            *map(self._document, evidence.documents),
            *map(self._passage, evidence.passages),
            *map(self._graph_item, (*evidence.entities, *evidence.relations)),
        ]
        return [_without_blanks(node) for node in nodes]

    def _activity(self) -> Node:
        event = self.receipt.event
        settings = event.settings
        return {
            "@id": self._answer_urn(),
            "@type": "prov:Activity",
            "prov:startedAtTime": _time(event.asked_at),
            "prov:endedAtTime": _time(event.asked_at + timedelta(milliseconds=event.duration_ms)),
            "prov:wasAssociatedWith": _references([self._asker(), self._model()]),
            "prov:used": _references([self._answer_urn("question"), *self._evidence()]),
            "lightstream:workspace": self.receipt.envelope.workspace,
            "lightstream:form": event.form,
            "lightstream:position": event.position,
            "lightstream:isPast": event.is_past,
            "lightstream:mode": settings.mode,
            "lightstream:chosenMode": settings.chosen_mode,
            "lightstream:effort": settings.effort,
            "lightstream:isWrittenByModel": event.by_model,
            "lightstream:isCached": event.is_cached,
            "lightstream:promptSha256": event.prompt_sha256,
            "lightstream:earlierTurns": event.turns,
            "lightstream:end": event.end,
            "lightstream:cost": [
                {
                    "lightstream:step": cost.step,
                    "lightstream:model": cost.model,
                    "lightstream:tokensRead": cost.usage.prompt,
                    "lightstream:tokensWritten": cost.usage.completion,
                }
                for cost in event.costs
            ],
        }

    def _text(self, name: str, recorded: RecordedText, origin: Node) -> Node:
        return {
            "@id": self._answer_urn(name),
            "@type": "prov:Entity",
            "lightstream:sha256": recorded.sha256,
            "prov:value": recorded.text,
            **origin,
        }

    def _origin_of_question(self) -> Node:
        return {"prov:wasAttributedTo": _references([self._asker()])}

    def _origin_of_answer(self) -> Node:
        return {
            "prov:wasGeneratedBy": {"@id": self._answer_urn()},
            "prov:wasAttributedTo": _references([self._model()]),
            "prov:wasDerivedFrom": _references(self._evidence()),
        }

    def _agents(self) -> list[Node]:
        viewer = self.receipt.event.viewer or ()
        asker: Node = {
            "@id": self._asker(),
            "@type": "prov:Agent",
            "lightstream:name": self.receipt.asker,
            "prov:actedOnBehalfOf": _references(map(self._principal, viewer)),
        }
        principals: list[Node] = [
            {"@id": self._principal(name), "@type": "prov:Agent", "lightstream:name": name}
            for name in viewer
        ]
        model: Node = {
            "@id": self._model(),
            "@type": "prov:SoftwareAgent",
            "lightstream:name": self.receipt.event.model,
        }
        return [node for node in (asker, *principals, model) if node["@id"]]

    def _document(self, document: str) -> Node:
        return {
            "@id": self._urn("document", document),
            "@type": "prov:Entity",
            "lightstream:document": document,
            "lightstream:isErased": document in self.receipt.event.erased_documents or None,
        }

    def _passage(self, passage: EvidencePassage) -> Node:
        return {
            "@id": self._urn("passage", passage.chunk_id),
            "@type": "prov:Entity",
            "lightstream:passage": passage.chunk_id,
            "lightstream:sha256": passage.sha256,
            "lightstream:documentVersion": passage.version,
            "lightstream:reference": passage.reference,
            "lightstream:filePath": passage.file_path,
            "prov:value": self.texts.get(passage.chunk_id),
            "prov:wasDerivedFrom": {"@id": self._urn("document", passage.document_id)},
        }

    def _graph_item(self, item: EvidenceEntity | EvidenceRelation) -> Node:
        documents = self.receipt.event.evidence.documents
        names: Node = (
            {"lightstream:name": item.name}
            if isinstance(item, EvidenceEntity)
            else {"lightstream:source": item.source, "lightstream:target": item.target}
        )
        return {
            "@id": self._urn("graph", item.id),
            "@type": "prov:Entity",
            **names,
            "lightstream:revision": item.revision,
            "lightstream:support": item.support,
            "prov:wasDerivedFrom": _references(
                self._urn("document", documents[place]) for place in item.documents
            ),
        }

    def _evidence(self) -> list[str]:
        evidence = self.receipt.event.evidence
        passages = [self._urn("passage", passage.chunk_id) for passage in evidence.passages]
        items = (*evidence.entities, *evidence.relations)
        return passages + [self._urn("graph", item.id) for item in items]

    def _answer_urn(self, part: str = "") -> str:
        return f"urn:uuid:{self.receipt.event.receipt}" + (f"#{part}" if part else "")

    def _asker(self) -> str:
        return self._principal(self.receipt.asker) if self.receipt.asker else ""

    def _principal(self, name: str) -> str:
        return f"urn:lightstream:principal:{quote(name, safe='')}"

    def _model(self) -> str:
        model = self.receipt.event.model
        return f"urn:lightstream:model:{quote(model, safe='')}" if model else ""

    def _urn(self, kind: str, name: str) -> str:
        workspace = self.receipt.envelope.workspace
        return f"urn:lightstream:{kind}:{quote(workspace, safe='')}:{quote(name, safe='')}"


def _references(ids: Iterable[str]) -> list[Node]:
    return [{"@id": id} for id in ids if id]


def _time(at: datetime) -> Node:
    return {"@type": "xsd:dateTime", "@value": at.isoformat()}


def _without_blanks(node: Node) -> Node:
    return {name: value for name, value in node.items() if value not in (None, "", [])}
