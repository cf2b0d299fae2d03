"""The graph that runs all-MiniLM-L6-v2 in 8-bit integers: its weights as they are, activations
quantised text by text.

The packaged model has 8-bit weights, but turns them into floats when it is loaded, and computes in
these. Here each matrix product is one operator that scales its input to 8 bits by the greatest
value of the text, multiplies integers, and scales back; attention and activations are single
operators too.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offline.embeddings import onnx_messages as onnx

LAYERS = 6
HEADS = 12
WIDTH = 384
EPSILON = 1e-12
_TYPES = {onnx.FLOAT: np.float32, onnx.INT8: np.int8}
_CONTRIB = "com.microsoft"
"""The domain of onnxruntime's own operators."""

Array = NDArray[Any]


def quantized_graph(content: bytes, *, signed: bool) -> bytes:
    """Return a model with the input `input_ids` and the output `last_hidden_state`, from the bytes
    of the packaged one.

    Texts run alone: a batch would share one scale. `signed`: weights as signed integers, which
    processors with instructions for products of 8 bits want; others overflow in them, so they get
    the same weights plus 128. The products are the same.
    """
    return _Builder(_tensors(content), signed).model()


def weights_and_zeros(weights: NDArray[np.int8], *, signed: bool) -> tuple[Array, Array]:
    """Return weights, shape (rows, columns), as bytes of this kind, and the zero point of each
    column.
    """
    columns = int(weights.shape[1])
    if signed:
        return weights, np.zeros(columns, np.int8)
    shifted_weights = (weights.astype(np.int16) + 128).astype(np.uint8)
    zeros: NDArray[np.uint8] = np.full(columns, 128, np.uint8)
    return shifted_weights, zeros


def _tensors(content: bytes) -> dict[str, Array]:
    """Return the weights of a model by name: those of floats and of 8-bit integers."""
    return {
        tensor.name: np.frombuffer(tensor.raw_data, _TYPES[tensor.data_type]).reshape(
            tuple(tensor.dims)
        )
        for tensor in onnx.parsed(content).graph.initializer
        if tensor.data_type in _TYPES and tensor.raw_data
    }


class _Builder:
    def __init__(self, tensors: dict[str, Array], signed: bool) -> None:
        self._tensors = tensors
        self._signed = signed
        # In the order of the graph, six for each layer: query, key, value, output, and the two of
        # the feed-forward net.
        names = [name for name in tensors if name.startswith("val_") and name.endswith("_q")]
        self._matrices = [(tensors[name], tensors[f"{name[:-1]}scale"]) for name in names]
        self._model = onnx.model()
        self._graph = self._model.graph

    def model(self) -> bytes:
        """Return the serialized model."""
        self._model.ir_version = 9
        self._model.opset_import.add(domain="", version=18)
        self._model.opset_import.add(domain=_CONTRIB, version=1)
        self._graph.name = "minilm"
        self._value(self._graph.input, "input_ids", onnx.INT64, ["batch", "sequence"])
        self._value(
            self._graph.output, "last_hidden_state", onnx.FLOAT, ["batch", "sequence", WIDTH]
        )
        hidden_state = self._embedded()
        for layer in range(LAYERS):
            hidden_state = self._layer(layer, hidden_state)
        return self._model.SerializeToString()

    def _embedded(self) -> str:
        """Add words, positions and the token type; the tables stay in 8 bits."""
        prefix = "inner.embeddings"
        self._node("Shape", ["input_ids"], "length", start=1, end=2)
        bounds = [self._constant("zero", np.array([0], np.int64)), "length", "zero"]
        rows: list[str] = []
        for table, select in (("word", "Gather"), ("position", "Slice")):
            parts: list[str] = []
            for part in ("q", "scale"):
                values = self._constant(
                    f"{table}_{part}", self._tensors[f"{prefix}.{table}_embeddings.weight_{part}"]
                )
                index = ["input_ids"] if select == "Gather" else bounds
                parts.append(self._node(select, [values, *index], f"{table}_{part}_rows"))
            floats = self._node("Cast", [parts[0]], f"{table}_floats", to=onnx.FLOAT)
            rows.append(self._node("Mul", [floats, parts[1]], f"{table}_rows"))
        kind = self._constant("kind", self._tensors[f"{prefix}.token_type_embeddings.weight"][0])
        words = self._node("Add", [rows[0], kind], "typed")
        words_and_positions = self._node("Add", [words, rows[1]], "placed")
        return self._node(
            "LayerNormalization",
            [words_and_positions, *self._norm(prefix)],
            "hidden_0",
            epsilon=EPSILON,
            axis=-1,
        )

    def _layer(self, layer: int, hidden_state: str) -> str:
        prefix = f"inner.encoder.layer.{layer}"
        query, key, value, out, wide, narrow = self._matrices[6 * layer : 6 * layer + 6]
        query_key_value = (
            np.concatenate([query[0], key[0], value[0]], 1),
            np.concatenate([query[1], key[1], value[1]], 1),
        )
        bias = np.concatenate(
            [self._tensors[f"{prefix}.attention.self.{x}.bias"] for x in ("query", "key", "value")]
        )
        self._product(hidden_state, query_key_value, bias, f"qkv_{layer}")
        parts = [f"{name}_{layer}" for name in ("query", "key", "value")]
        self._node("Split", [f"qkv_{layer}"], *parts, axis=-1, num_outputs=3)
        attention = self._node("MultiHeadAttention", parts, f"attended_{layer}", num_heads=HEADS)
        output = self._product(
            attention, out, self._tensors[f"{prefix}.attention.output.dense.bias"], f"out_{layer}"
        )
        middle = self._skip(output, hidden_state, f"{prefix}.attention.output", f"middle_{layer}")
        inner = self._product(
            middle, wide, self._tensors[f"{prefix}.intermediate.dense.bias"], f"wide_{layer}"
        )
        active = self._node("Gelu", [inner], f"active_{layer}")
        output = self._product(
            active, narrow, self._tensors[f"{prefix}.output.dense.bias"], f"narrow_{layer}"
        )
        is_last = layer == LAYERS - 1
        return self._skip(
            output,
            middle,
            f"{prefix}.output",
            "last_hidden_state" if is_last else f"hidden_{layer + 1}",
        )

    def _product(self, operand: str, matrix: tuple[Array, Array], bias: Array, result: str) -> str:
        """Multiply by a matrix of 8-bit integers with a scale for each column, and add the bias."""
        weights, scales = matrix
        weights, zero = weights_and_zeros(weights, signed=self._signed)
        values = {"weights": weights, "scales": scales.reshape(-1), "zero": zero, "bias": bias}
        names = [self._constant(f"{result}_{name}", array) for name, array in values.items()]
        return self._node("DynamicQuantizeMatMul", [operand, *names], result)

    def _skip(self, output: str, residual: str, prefix: str, result: str) -> str:
        return self._node(
            "SkipLayerNormalization",
            [output, residual, *self._norm(prefix)],
            result,
            epsilon=EPSILON,
        )

    def _norm(self, prefix: str) -> list[str]:
        return [
            self._constant(name, self._tensors[name])
            for name in (f"{prefix}.LayerNorm.{x}" for x in ("weight", "bias"))
        ]

    def _node(
        self, operator: str, inputs: list[str], *outputs: str, **attributes: float | int
    ) -> str:
        """Add an operator and return the name of its first output."""
        standard = operator in {
            "Shape",
            "Gather",
            "Slice",
            "Cast",
            "Mul",
            "Add",
            "LayerNormalization",
            "Split",
        }
        node = self._graph.node.add(
            op_type=operator, input=inputs, output=outputs, domain="" if standard else _CONTRIB
        )
        for name, value in attributes.items():
            onnx.set_attribute(node, name, value)
        return outputs[0]

    def _constant(self, name: str, array: Array) -> str:
        types = {"float32": onnx.FLOAT, "uint8": onnx.UINT8, "int8": onnx.INT8, "int64": onnx.INT64}
        content = np.ascontiguousarray(array)
        self._graph.initializer.add(
            name=name,
            data_type=types[content.dtype.name],
            dims=content.shape,
            raw_data=content.tobytes(),
        )
        return name

    def _value(self, values: Any, name: str, kind: int, shape: list[str | int]) -> None:
        tensor = values.add(name=name).type.tensor_type
        tensor.elem_type = kind
        for size in shape:
            tensor.shape.dim.add(**{"dim_value" if isinstance(size, int) else "dim_param": size})
