"""The reader as a network that learns: the layers of its base, and a head."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from benchmarks.reader.base import Base
from offline.reading.pieces import Pair

HEAD = 128
"""Inner values of a head that begins with nothing."""
POSITIONS = 256
PADDING = 1
_NAMES = ("q", "k", "v", "ao", "fi", "fo")
_NORMS = ("aln", "oln")


class Layer(nn.Module):
    """A layer of BERT, with the names that the base has for its weights."""

    def __init__(self, base: Base, number: int, *, taught: bool) -> None:
        super().__init__()
        self.heads = base.heads
        for name in _NAMES:
            inputs = base.inner if name == "fo" else base.width
            outputs = base.inner if name == "fi" else base.width
            linear = nn.Linear(inputs, outputs)
            linear.weight.data = torch.from_numpy(base.matrix(f"l{number}.{name}.w", inputs))
            linear.bias.data = torch.from_numpy(base.floats(f"l{number}.{name}.b"))
            setattr(self, name, linear)
        for name in _NORMS:
            setattr(self, name, norm(base, f"l{number}.{name}"))
        self.requires_grad_(taught)

    def forward(self, hidden: Any, mask: Any) -> Any:
        """Return the next state, shape (texts, pieces, width)."""
        texts, pieces, width = hidden.shape
        query, key, value = (
            linear(hidden).view(texts, pieces, self.heads, -1).transpose(1, 2)
            for linear in (self.q, self.k, self.v)
        )
        shares = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        attention = shares.transpose(1, 2).reshape(texts, pieces, width)
        middle = self.aln(hidden + self.ao(attention))
        return self.oln(middle + self.fo(functional.gelu(self.fi(middle))))


def norm(base: Base, name: str) -> nn.LayerNorm:
    """Return a layer normalisation of the base."""
    result = nn.LayerNorm(base.width, base.epsilon)
    result.weight.data = torch.from_numpy(base.floats(f"{name}.w"))
    result.bias.data = torch.from_numpy(base.floats(f"{name}.b"))
    return result


class Network(nn.Module):
    """Judges pairs: the logarithm of the odds that the sentence of a pair answers its question.

    `taught`: how many upper layers learn, with the head; those below and the tables of words stay
    as they are.
    """

    def __init__(self, base: Base, piece_numbers: Sequence[int], taught: int) -> None:
        super().__init__()
        words = torch.from_numpy(base.matrix("emb.word", base.width)[list(piece_numbers)])
        positions = torch.from_numpy(base.matrix("emb.pos", base.width))[:POSITIONS]
        types = torch.from_numpy(base.matrix("emb.type", base.width))
        self.words = nn.Embedding.from_pretrained(words)
        self.register_buffer("positions", positions + types[0])
        self.register_buffer("other_type", types[-1] - types[0])
        self.norm = norm(base, "emb.ln").requires_grad_(requires_grad=False)
        self.layers = nn.ModuleList(
            Layer(base, number, taught=number >= base.layers - taught)
            for number in range(base.layers)
        )
        head = {name: torch.from_numpy(array.copy()) for name, array in base.head().items()}
        self.hidden = nn.Linear(2 * base.width, len(head["hidden.bias"]) if head else HEAD)
        self.out = nn.Linear(self.hidden.out_features, 1)
        self.active: Callable[[Any], Any] = torch.tanh if head else functional.gelu
        if head:
            self.load_state_dict(head, strict=False)

    def forward(self, pairs: Sequence[Pair]) -> Any:
        """Return a judgement for each pair."""
        pieces = torch.full((len(pairs), max(len(pair.pieces) for pair in pairs)), PADDING)
        is_other = torch.ones(pieces.shape)
        for row, pair in enumerate(pairs):
            pieces[row, : len(pair.pieces)] = torch.tensor(pair.pieces)
            is_other[row, : pair.question] = 0
        present = pieces != PADDING
        types = is_other[:, :, None] * self.other_type
        state = self.norm(self.words(pieces) + self.positions[: pieces.shape[1]] + types)
        for layer in self.layers:
            state = layer(state, present[:, None, None, :])
        weights = present.float()[:, :, None]
        mean = (state * weights).sum(1) / weights.sum(1)
        pooled_state = torch.cat([mean, state[:, 0]], 1)
        return self.out(self.active(self.hidden(pooled_state)))[:, 0]
