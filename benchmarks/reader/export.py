"""The files of `offline/reading` out of a network that has learned."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
import torch
from sentencepiece import sentencepiece_model_pb2 as messages

from benchmarks.reader.base import Base
from benchmarks.reader.e5 import E5, MARKS
from benchmarks.reader.network import Network

UNKNOWN = 3


def piece_model(base: E5, piece_numbers: Sequence[int]) -> bytes:
    """Return a SentencePiece model of the kept pieces."""
    model = messages.ModelProto()
    kinds = messages.ModelProto.SentencePiece
    for number, piece in enumerate(piece_numbers):
        kind = kinds.CONTROL if number < MARKS else kinds.NORMAL
        model.pieces.add(
            piece=base.pieces[piece],
            score=0.0 if number < MARKS else base.scores[piece],
            type=kinds.UNKNOWN if number == UNKNOWN else kind,
        )
    trainer = model.trainer_spec
    trainer.model_type = messages.TrainerSpec.UNIGRAM
    trainer.bos_id, trainer.pad_id, trainer.eos_id, trainer.unk_id = range(MARKS)
    trainer.bos_piece, trainer.pad_piece, trainer.eos_piece = base.pieces[:UNKNOWN]
    trainer.vocab_size = len(piece_numbers)
    model.normalizer_spec.name = "identity"
    return model.SerializeToString()


def cutter(model: bytes) -> Any:
    """Return what cuts a text into the pieces of a model, as texts."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return lambda text: processor.encode(text, out_type=str)


def weights_file(base: Base, piece_numbers: Sequence[int], network: Network) -> bytes:
    """Return the content of `reader.npz` or `english.npz`."""
    words, scales = base.packed_words(piece_numbers)
    arrays: dict[str, Any] = {
        "layers": np.int64(len(network.layers)),
        "words": words,
        "word_scales": scales,
        "positions": network.positions.numpy().astype(np.float16),
        **_norm("words", network.norm),
    }
    if network.other_type.any():
        arrays["other_type"] = network.other_type.numpy()
    for number, layer in enumerate(network.layers):
        arrays |= _matrix(f"{number}.query_key_value", layer.q, layer.k, layer.v)
        arrays |= _matrix(f"{number}.out", layer.ao)
        arrays |= _matrix(f"{number}.wide", layer.fi)
        arrays |= _matrix(f"{number}.narrow", layer.fo)
        arrays |= _norm(f"{number}.middle", layer.aln) | _norm(f"{number}.layer", layer.oln)
    for name in ("hidden", "out"):
        linear = getattr(network, name)
        arrays[f"head.{name}.weight"] = linear.weight.detach().numpy()
        arrays[f"head.{name}.bias"] = linear.bias.detach().numpy()
    content = BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


def read(network: Network, file: Path) -> None:
    """Give a network the weights that a file as `reader.npz` or `english.npz` has, so that it goes
    on learning.
    """
    with np.load(file) as arrays:
        for number, layer in enumerate(network.layers):
            if f"{number}.out" not in arrays:
                continue
            _read_matrix(arrays, f"{number}.query_key_value", layer.q, layer.k, layer.v)
            _read_matrix(arrays, f"{number}.out", layer.ao)
            _read_matrix(arrays, f"{number}.wide", layer.fi)
            _read_matrix(arrays, f"{number}.narrow", layer.fo)
            _put(layer.aln, arrays, f"{number}.middle.norm")
            _put(layer.oln, arrays, f"{number}.layer.norm")
        _put(network.hidden, arrays, "head.hidden")
        _put(network.out, arrays, "head.out")


def _matrix(name: str, *linears: Any) -> dict[str, Any]:
    """Return weights as integers of 8 bits, shape (inputs, outputs), with a scale an output."""
    weights = np.concatenate([linear.weight.detach().numpy().T for linear in linears], 1)
    scales = np.abs(weights).max(axis=0) / 127
    return {
        name: np.rint(weights / scales).astype(np.int8),
        f"{name}.scales": scales.astype(np.float32),
        f"{name}.bias": np.concatenate([linear.bias.detach().numpy() for linear in linears]),
    }


def _read_matrix(arrays: Any, name: str, *linears: Any) -> None:
    """Give layers the weights that `_matrix` has written."""
    weights = arrays[name] * arrays[f"{name}.scales"]
    outputs = np.cumsum([linear.out_features for linear in linears])[:-1]
    biases = np.split(arrays[f"{name}.bias"], outputs)
    for linear, weight, bias in zip(linears, np.split(weights, outputs, 1), biases, strict=True):
        linear.weight.data = torch.from_numpy(np.ascontiguousarray(weight.T))
        linear.bias.data = torch.from_numpy(bias.copy())


def _put(layer: Any, arrays: Any, name: str) -> None:
    layer.weight.data = torch.from_numpy(arrays[f"{name}.weight"])
    layer.bias.data = torch.from_numpy(arrays[f"{name}.bias"])


def _norm(name: str, norm: Any) -> dict[str, Any]:
    return {
        f"{name}.norm.weight": norm.weight.detach().numpy(),
        f"{name}.norm.bias": norm.bias.detach().numpy(),
    }
