"""The graph of a transformer encoder that multiplies in 8-bit integers, for onnxruntime.

Each matrix product is one operator that scales its input to 8 bits by the greatest value of the
text, multiplies integers, and scales back; attention and activations are single operators too.
Texts run alone: a batch would share one scale.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offline.embeddings import onnx_messages as onnx

EPSILON = 1e-12
_CONTRIB = "com.microsoft"
"""The domain of onnxruntime's own operators."""
_STANDARD = {"Shape", "Gather", "Slice", "Cast", "Mul", "Add", "LayerNormalization", "Split"}

Array = NDArray[Any]


@dataclass(frozen=True)
class Matrix:
    """Weights of 8 bits, shape (inputs, outputs), with a scale and a bias for each output."""

    weights: NDArray[np.int8]
    scales: Array
    bias: Array


@dataclass(frozen=True)
class Norm:
    """Weight and bias of a layer normalisation."""

    weight: Array
    bias: Array


@dataclass(frozen=True)
class Layer:
    """A layer of the encoder: query, key and value stand side by side in one matrix."""

    query_key_value: Matrix
    out: Matrix
    middle_norm: Norm
    wide: Matrix
    narrow: Matrix
    norm: Norm


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


class TransformerGraph:
    """A graph under construction. `signed`: weights as signed integers, which processors with
    instructions for products of 8 bits want; others overflow in them, so they get the same weights
    plus 128. The products are the same.
    """

    def __init__(self, name: str, *, heads: int, signed: bool) -> None:
        self._heads = heads
        self._signed = signed
        self._model = onnx.model()
        self._model.ir_version = 9
        self._model.opset_import.add(domain="", version=18)
        self._model.opset_import.add(domain=_CONTRIB, version=1)
        self._graph = self._model.graph
        self._graph.name = name

    def serialized(self) -> bytes:
        """Return the model as onnxruntime reads it."""
        return self._model.SerializeToString()

    def input(self, name: str, kind: int, shape: list[str | int]) -> str:
        """Declare an input of the graph and return its name."""
        return self._value(self._graph.input, name, kind, shape)

    def output(self, name: str, kind: int, shape: list[str | int]) -> str:
        """Declare an output of the graph and return its name."""
        return self._value(self._graph.output, name, kind, shape)

    def layer(self, number: int, layer: Layer, hidden_state: str, result: str) -> str:
        """Add a layer of the encoder over the hidden state and return the name of its result."""
        self.product(hidden_state, layer.query_key_value, f"qkv_{number}")
        parts = [f"{name}_{number}" for name in ("query", "key", "value")]
        self.node("Split", [f"qkv_{number}"], *parts, axis=-1, num_outputs=3)
        attention = self.node(
            "MultiHeadAttention", parts, f"attended_{number}", num_heads=self._heads
        )
        output = self.product(attention, layer.out, f"out_{number}")
        middle = self._skip(output, hidden_state, layer.middle_norm, f"middle_{number}")
        inner = self.product(middle, layer.wide, f"wide_{number}")
        active = self.node("Gelu", [inner], f"active_{number}")
        output = self.product(active, layer.narrow, f"narrow_{number}")
        return self._skip(output, middle, layer.norm, result)

    def product(self, operand: str, matrix: Matrix, result: str) -> str:
        """Multiply by a matrix of 8-bit integers and add the bias."""
        weights, zero = weights_and_zeros(matrix.weights, signed=self._signed)
        values = {
            "weights": weights,
            "scales": matrix.scales.reshape(-1),
            "zero": zero,
            "bias": matrix.bias,
        }
        names = [self.constant(f"{result}_{name}", array) for name, array in values.items()]
        return self.node("DynamicQuantizeMatMul", [operand, *names], result)

    def normalized(self, operand: str, norm: Norm, result: str) -> str:
        """Normalise the last axis."""
        inputs = [operand, *self._norm(norm, result)]
        return self.node("LayerNormalization", inputs, result, epsilon=EPSILON, axis=-1)

    def node(
        self, operator: str, inputs: list[str], *outputs: str, **attributes: float | int
    ) -> str:
        """Add an operator and return the name of its first output."""
        domain = "" if operator in _STANDARD else _CONTRIB
        node = self._graph.node.add(op_type=operator, input=inputs, output=outputs, domain=domain)
        for name, value in attributes.items():
            onnx.set_attribute(node, name, value)
        return outputs[0]

    def constant(self, name: str, array: Array) -> str:
        """Add a constant and return its name."""
        types = {"float32": onnx.FLOAT, "uint8": onnx.UINT8, "int8": onnx.INT8, "int64": onnx.INT64}
        content = np.ascontiguousarray(array)
        self._graph.initializer.add(
            name=name,
            data_type=types[content.dtype.name],
            dims=content.shape,
            raw_data=content.tobytes(),
        )
        return name

    def _skip(self, output: str, residual: str, norm: Norm, result: str) -> str:
        inputs = [output, residual, *self._norm(norm, result)]
        return self.node("SkipLayerNormalization", inputs, result, epsilon=EPSILON)

    def _norm(self, norm: Norm, result: str) -> list[str]:
        return [
            self.constant(f"{result}_norm_weight", norm.weight),
            self.constant(f"{result}_norm_bias", norm.bias),
        ]

    @staticmethod
    def _value(values: Any, name: str, kind: int, shape: list[str | int]) -> str:
        tensor = values.add(name=name).type.tensor_type
        tensor.elem_type = kind
        for size in shape:
            tensor.shape.dim.add(**{"dim_value" if isinstance(size, int) else "dim_param": size})
        return name
