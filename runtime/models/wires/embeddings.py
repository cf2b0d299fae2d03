"""Providers of vectors alone, and NVIDIA: OpenAI's form with odds of their own."""

from collections.abc import Mapping
from typing import Any, cast

from runtime.models.bindings import Connection
from runtime.models.json_values import as_dict
from runtime.models.wires.addresses import joined, without
from runtime.models.wires.fields import moved, vectors
from runtime.models.wires.openai import PLAIN, OpenAiWire, Request


class JinaWire(OpenAiWire):
    """`POST https://api.jina.ai/v1/embeddings`: base64 by another name."""

    form = "Jina's format"
    base64_forms = ({"embedding_type": "base64"},)
    number_forms = PLAIN


class VoyageWire(OpenAiWire):
    """`POST https://api.voyageai.com/v1/embeddings`: the dimension by another name."""

    form = "Voyage's format"
    number_forms = PLAIN
    max_texts = 1000

    def embedding(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`."""
        body = dict(fields)
        body |= moved(body, {"dimensions": "output_dimension"})
        return super().embedding(body)


class NvidiaWire(OpenAiWire):
    """NVIDIA's endpoints: a kind of text is told always, `passage` where nothing else is."""

    def embedding(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`."""
        return super().embedding({"input_type": "passage", "truncate": "NONE", **fields})


class CohereWire(OpenAiWire):
    """`POST https://api.cohere.com/v2/embed`: a kind of text is told always."""

    form = "Cohere's format"
    base64_forms = ()
    number_forms = PLAIN
    max_texts = 96

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.address = without(self.address, "/v2/embed", "/v2", "/v1")

    def embedding(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`."""
        body = dict(fields)
        body |= moved(body, {"input": "texts", "dimensions": "output_dimension"})
        usual = {"input_type": "search_document", "embedding_types": ["float"], "truncate": "NONE"}
        return Request(joined(self.address, "v2/embed"), {**usual, **body})

    def vectors(self, answer: Any) -> dict[str, Any]:
        """See `OpenAiWire`."""
        body = as_dict(answer)
        rows = as_dict(body.get("embeddings")).get("float")
        if not isinstance(rows, list):
            return body
        billed = as_dict(as_dict(body.get("meta")).get("billed_units"))
        return vectors(rows, billed.get("input_tokens"))


class TeiWire(OpenAiWire):
    """Text Embeddings Inference of Hugging Face: `POST /embed`, which answers a bare list.

    A text beyond the model's tokens is refused rather than cut without a word (`truncate`).
    """

    form = "the format of text-embeddings-inference"
    base64_forms = ()
    number_forms = PLAIN

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.address = without(self.address, "/v1", "/embed")

    def embedding(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`."""
        body = dict(fields)
        body.pop("model")
        body |= moved(body, {"input": "inputs"})
        usual = {"truncate": False, "normalize": True}
        return Request(joined(self.address, "embed"), {**usual, **body})

    def vectors(self, answer: Any) -> dict[str, Any]:
        """See `OpenAiWire`."""
        return vectors(cast(list[Any], answer)) if isinstance(answer, list) else as_dict(answer)
