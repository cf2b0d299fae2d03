"""Embeddings: modes by what is refused or given wrongly, and marker words of bad texts.

`POST /mode {"embeddings": …}`; several modes are joined by `+`, as `base64-string+batch-10`.
"""

import base64
import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from offline.embeddings.lexical import vector
from tests.support.misbehaving_provider.refusals import Refusal

DIMENSION = 64
WIDE = 256
"""The model's own dimension where `dimensions` may ask for fewer."""

WINDOW = 512
"""Tokens of a text that the modes `window-…` take."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Ask:
    """A request: its texts, and its other fields."""

    texts: Sequence[str]
    fields: Mapping[str, Any]

    @property
    def longest(self) -> int:
        """Tokens of the longest text, as this model counts them."""
        return max((tokens(text) for text in self.texts), default=0)

    @property
    def is_base64(self) -> bool:
        return self.fields.get("encoding_format") == "base64"


def tokens(text: str) -> int:
    """Return the tokens of a text, by a rule of this model's own: 1.3 a word."""
    return int(len(_WORD.findall(text)) * 1.3)


Judge = Callable[[Ask], Refusal | None]


def _of_base64(status: int, body: Any) -> Judge:
    return lambda ask: Refusal(status, body) if ask.is_base64 else None


def _of_length(status: int, body: Callable[[int], Any]) -> Judge:
    return lambda ask: Refusal(status, body(ask.longest)) if ask.longest > WINDOW else None


def _of_batch(limit: int, status: int, body: Any) -> Judge:
    return lambda ask: Refusal(status, body) if len(ask.texts) > limit else None


def _of_missing(name: str, status: int, body: Any) -> Judge:
    return lambda ask: None if name in ask.fields else Refusal(status, body)


def _of_present(name: str, status: int, body: Any) -> Judge:
    return lambda ask: Refusal(status, body) if name in ask.fields else None


def _always(status: int, body: Any) -> Judge:
    return lambda ask: Refusal(status, body)


REFUSING: Mapping[str, Judge] = {
    "base64-object": _of_base64(
        400, {"error": {"message": "encoding_format 'base64' is not supported, only 'float'"}}
    ),
    "base64-string": _of_base64(
        400, {"error": "encoding_format 'base64' is not supported, only 'float'"}
    ),
    "base64-misleading": _of_base64(
        400,
        {
            "error": {
                "message": "Invalid request: unable to deserialize the backend response.",
                "code": None,
            }
        },
    ),
    "base64-detail": _of_base64(
        422,
        {
            "detail": [
                {
                    "type": "enum",
                    "loc": ["body", "encoding_format"],
                    "msg": "Input should be 'float'",
                }
            ]
        },
    ),
    "base64-message": _of_base64(
        422, {"object": "error", "message": "Extra inputs are not permitted"}
    ),
    "base64-media": _of_base64(415, "Unsupported Media Type"),
    "base64-500": _of_base64(500, {"error": {"message": "KeyError: 'base64'"}}),
    "window-500": _of_length(
        500,
        lambda count: {
            "error": {
                "code": 500,
                "type": "server_error",
                "message": f"input ({count} tokens) is too large "
                "to process. increase the physical batch size (current batch size: 512)",
            }
        },
    ),
    "window-413": _of_length(
        413,
        lambda count: {
            "error": (
                f"Input validation error: `inputs` must have less than 512 tokens. Given: {count}"
            ),
            "error_type": "Validation",
        },
    ),
    "window-422": _of_length(
        422, lambda count: {"detail": f"sequence of {count} tokens exceeds 512"}
    ),
    "window-400": _of_length(
        400, lambda count: {"error": {"message": "the input length exceeds the context length"}}
    ),
    "window-array": _of_length(
        400,
        lambda count: [
            {
                "error": {
                    "code": 400,
                    "message": f"{count} tokens are too many",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
    ),
    "batch-10": _of_batch(
        10,
        400,
        {
            "error": {
                "message": "batch size is invalid, it should not be larger than 10.: input.contents"
            }
        },
    ),
    "batch-4": _of_batch(
        4, 422, {"error": "batch size > maximum allowed batch size 4", "error_type": "Validation"}
    ),
    "batch-1": _of_batch(1, 400, {"detail": "only one input is supported"}),
    "batch-413": _of_batch(8, 413, "Request Entity Too Large"),
    "input-type": _of_missing(
        "input_type", 400, {"detail": "'input_type' parameter is required for asymmetric models"}
    ),
    "no-dimensions": _of_present(
        "dimensions", 400, {"error": {"message": "dimensions is not supported"}}
    ),
    "busy": _always(429, {"error": {"message": "slow down"}}),
    "down": _always(503, {"error": {"message": "Model is loading"}}),
    "error200": _always(
        200, {"error": {"message": "No successful provider responses.", "code": 404}}
    ),
}
"""Modes that refuse a request."""

TEXTS: Mapping[str, Refusal] = {
    "ZZEMBED500": Refusal(
        500, {"error": {"message": "CUDA error: device-side assert on this text"}}
    ),
    "ZZEMBED400": Refusal(400, {"error": {"message": "invalid byte sequence in this text"}}),
    "ZZEMBED403": Refusal(403, {"error": {"message": "input was flagged", "code": 403}}),
    "ZZEMBEDLARGE": Refusal(
        500, {"error": {"code": 500, "message": "input is too large to process"}}
    ),
    "ZZEMBED200": Refusal(
        200, {"error": {"message": "the upstream refused this text", "code": 400}}
    ),
}
"""Texts that the server never takes, whatever the mode."""


def embedded(request: Mapping[str, Any], modes: str) -> Refusal:
    """Return the answer to a request in these modes."""
    texts = request["input"] if isinstance(request["input"], list) else [request["input"]]
    ask = Ask(texts, {name: value for name, value in request.items() if name != "input"})
    together = "\n".join(texts)
    for marker, refusal in TEXTS.items():
        if marker in together:
            return refusal
    mode_names = modes.split("+")
    for mode in mode_names:
        refusal_of_mode = REFUSING[mode](ask) if mode in REFUSING else None
        if refusal_of_mode is not None:
            return refusal_of_mode
    return Refusal(200, _answer(ask, frozenset(mode_names)))


def _answer(ask: Ask, modes: frozenset[str]) -> dict[str, Any]:
    dimension = int(ask.fields.get("dimensions") or WIDE) if "dims" in modes else DIMENSION
    is_base64 = ask.is_base64 and "base64-ignored" not in modes
    data: list[dict[str, Any]] = []
    for index, text in enumerate(ask.texts):
        numbers = list(vector(text, dimension))
        if "nan" in modes:
            numbers[0] = math.nan
        if "zeros" in modes:
            numbers = [0.0] * dimension
        encoding = base64.b64encode(struct.pack(f"<{dimension}f", *numbers)).decode()
        data.append(
            {"object": "embedding", "index": index, "embedding": encoding if is_base64 else numbers}
        )
    _spoil(data, modes)
    count = sum(tokens(text) for text in ask.texts)
    usage = {
        "prompt_tokens": count,
        "total_tokens": float(count) + 0.5 if "usage" in modes else count,
    }
    return {"object": "list", "model": "words-1", "data": data, "usage": usage}


def _spoil(data: list[dict[str, Any]], modes: frozenset[str]) -> None:
    """Spoil what tells which vector is of which text."""
    if "index-zero" in modes:
        for item in data:
            item["index"] = 0
    if "index-missing" in modes:
        for item in data:
            del item["index"]
    if "reversed" in modes:
        data.reverse()
    if "short" in modes and len(data) > 1:
        data.pop()
