"""Providers of vectors alone, and NVIDIA: OpenAI's form with odds of their own."""

from collections.abc import Mapping
from typing import Any, cast

from runtime.models.bindings import Connection
from runtime.models.json_values import as_dict
from runtime.models.wires.addresses import join_url, strip_path
from runtime.models.wires.fields import renamed_fields, vectors
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
        body |= renamed_fields(body, {"dimensions": "output_dimension"})
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
        self.address = strip_path(self.address, "/v2/embed", "/v2", "/v1")

    def embedding(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`."""
        body = dict(fields)
        body |= renamed_fields(body, {"input": "texts", "dimensions": "output_dimension"})
        defaults = {
            "input_type": "search_document",
            "embedding_types": ["float"],
            "truncate": "NONE",
        }
        return Request(join_url(self.address, "v2/embed"), {**defaults, **body})

    def vectors(self, answer: Any) -> dict[str, Any]:
        """See `OpenAiWire`."""
        body = as_dict(answer)
        rows = as_dict(body.get("embeddings")).get("float")
        if not isinstance(rows, list):
            return body
        billed_units = as_dict(as_dict(body.get("meta")).get("billed_units"))
        return vectors(rows, billed_units.get("input_tokens"))


class TeiWire(OpenAiWire):
    """Text Embeddings Inference of Hugging Face: `POST /embed`, which answers a bare list.

    A text beyond the model's tokens is refused rather than cut without a word (`truncate`).
    """

    form = "the format of text-embeddings-inference"
    base64_forms = ()
    number_forms = PLAIN

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.address = strip_path(self.address, "/v1", "/embed")

    def embedding(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`."""
        body = dict(fields)
        body.pop("model")
        body |= renamed_fields(body, {"input": "inputs"})
        defaults = {"truncate": False, "normalize": True}
        return Request(join_url(self.address, "embed"), {**defaults, **body})

    def vectors(self, answer: Any) -> dict[str, Any]:
        """See `OpenAiWire`."""
        return vectors(cast(list[Any], answer)) if isinstance(answer, list) else as_dict(answer)
