"""The graph that runs all-MiniLM-L6-v2 in 8-bit integers: its weights as they are, activations
quantised text by text.

The packaged model has 8-bit weights, but turns them into floats when it is loaded, and computes in
these.
"""

import numpy as np

from offline.embeddings import onnx_messages as onnx
from offline.embeddings.transformer_graph import Array, Layer, Matrix, Norm, TransformerGraph

LAYERS = 6
HEADS = 12
WIDTH = 384
_TYPES = {onnx.FLOAT: np.float32, onnx.INT8: np.int8}
_TABLES = "inner.embeddings"


def quantized_graph(content: bytes, *, signed: bool) -> bytes:
    """Return a model with the input `input_ids` and the output `last_hidden_state`, from the bytes
    of the packaged one. `signed`: see `TransformerGraph`.
    """
    tensors = _tensors(content)
    graph = TransformerGraph("minilm", heads=HEADS, signed=signed)
    graph.input("input_ids", onnx.INT64, ["batch", "sequence"])
    graph.output("last_hidden_state", onnx.FLOAT, ["batch", "sequence", WIDTH])
    hidden_state = _embedded(graph, tensors)
    # In the order of the packaged graph, six for each layer: query, key, value, output, and the
    # two of the feed-forward net.
    matrices = [name for name in tensors if name.startswith("val_") and name.endswith("_q")]
    for number in range(LAYERS):
        result = "last_hidden_state" if number == LAYERS - 1 else f"hidden_{number + 1}"
        layer = _layer(tensors, number, matrices[6 * number : 6 * number + 6])
        hidden_state = graph.layer(number, layer, hidden_state, result)
    return graph.serialized()


def _tensors(content: bytes) -> dict[str, Array]:
    """Return the weights of a model by name: those of floats and of 8-bit integers."""
    return {
        tensor.name: np.frombuffer(tensor.raw_data, _TYPES[tensor.data_type]).reshape(
            tuple(tensor.dims)
        )
        for tensor in onnx.parsed(content).graph.initializer
        if tensor.data_type in _TYPES and tensor.raw_data
    }


def _embedded(graph: TransformerGraph, tensors: dict[str, Array]) -> str:
    """Add words, positions and the token type; the tables stay in 8 bits."""
    graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    bounds = [graph.constant("zero", np.array([0], np.int64)), "length", "zero"]
    rows: list[str] = []
    for table, select in (("word", "Gather"), ("position", "Slice")):
        parts: list[str] = []
        for part in ("q", "scale"):
            values = graph.constant(
                f"{table}_{part}", tensors[f"{_TABLES}.{table}_embeddings.weight_{part}"]
            )
            index = ["input_ids"] if select == "Gather" else bounds
            parts.append(graph.node(select, [values, *index], f"{table}_{part}_rows"))
        floats = graph.node("Cast", [parts[0]], f"{table}_floats", to=onnx.FLOAT)
        rows.append(graph.node("Mul", [floats, parts[1]], f"{table}_rows"))
    kind = graph.constant("kind", tensors[f"{_TABLES}.token_type_embeddings.weight"][0])
    words = graph.node("Add", [rows[0], kind], "typed")
    words_and_positions = graph.node("Add", [words, rows[1]], "placed")
    return graph.normalized(words_and_positions, _norm(tensors, _TABLES), "hidden_0")


def _layer(tensors: dict[str, Array], number: int, names: list[str]) -> Layer:
    prefix = f"inner.encoder.layer.{number}"
    weights = [tensors[name] for name in names]
    scales = [tensors[f"{name[:-1]}scale"] for name in names]
    biases = [
        tensors[f"{prefix}.{part}.bias"]
        for part in (
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
            "intermediate.dense",
            "output.dense",
        )
    ]
    side_by_side = Matrix(
        np.concatenate(weights[:3], 1), np.concatenate(scales[:3], 1), np.concatenate(biases[:3])
    )
    out, wide, narrow = (Matrix(weights[i], scales[i], biases[i]) for i in (3, 4, 5))
    middle_norm = _norm(tensors, f"{prefix}.attention.output")
    return Layer(side_by_side, out, middle_norm, wide, narrow, _norm(tensors, f"{prefix}.output"))


def _norm(tensors: dict[str, Array], prefix: str) -> Norm:
    weight, bias = (tensors[f"{prefix}.LayerNorm.{part}"] for part in ("weight", "bias"))
    return Norm(weight, bias)
