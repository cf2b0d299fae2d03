"""Cuts where a text changes its subject, told by vectors of its sentences: the strategy that
LightRAG calls `semantic_vector`.

The distance at a border is that between the two sentences before and the two behind it. Where it is
greater than at 95 % of borders, and at headings, a chunk ends that is long enough; a chunk that
would be too long is cut at the greatest distance in it. No text is repeated.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import hypot

from offline.language.sentences import Sentence, sentences
from runtime.errors import Poison
from services.chunker.domain.packing import GLUED, BorderedPiece, packed
from services.chunker.domain.pieces import Piece, joined_spans
from services.chunker.domain.recursive import split_piece
from services.chunker.domain.spans import Span, TokenCodec

MAX_SENTENCES = 100_000
"""Sentences of one text; each takes some 5 ms of one core."""

SentenceVector = Callable[[str], Sequence[float]]
"""Returns the vector of a sentence, the same for the same sentence."""

_NEIGHBOURS = 2
"""Sentences on either side of a border that are compared."""

_USUAL = 0.95
"""The part of all borders at which a text does not change its subject."""

_HEADING = -2.0
_SAME_BLOCK = 1.0
_INSIDE_SENTENCE = 2.0
"""Weights of borders; that of others is the distance below zero, from -2 to 0."""


def split_by_meaning(
    texts: Iterable[str], tokens: TokenCodec, size: int, vector: SentenceVector
) -> Iterator[Span]:
    """Yield spans of at most `size` tokens. The text is held in memory.

    Raises Poison for one of more than 100,000 sentences.
    """
    text = "".join(texts)
    for run in packed(_pieces(text, tokens, size, vector), size):
        yield from joined_spans(run, tokens, size)


def _pieces(
    text: str, tokens: TokenCodec, size: int, vector: SentenceVector
) -> Iterator[BorderedPiece]:
    text_sentences = sentences(text)
    if len(text_sentences) > MAX_SENTENCES:
        raise Poison(
            f"the text has {len(text_sentences):,} sentences, `semantic` takes at most "
            f"{MAX_SENTENCES:,}: choose `paragraph` or `recursive`, or split the document"
        )
    weights = _weights(text_sentences, vector)
    threshold = _usual_weight(weights)
    starts = [0, *(sentence.start for sentence in text_sentences[1:]), len(text)]
    for number, weight in enumerate(weights):
        start, end = starts[number : number + 2]
        sentence_piece = Piece.of(text[start:end], start, tokens)
        for piece in split_piece(sentence_piece, tokens, size):
            yield BorderedPiece(piece, weight, ends=weight < threshold)
            weight = _INSIDE_SENTENCE


def _weights(text: Sequence[Sentence], vector: SentenceVector) -> list[float]:
    """Return the weight of the border before each sentence."""
    vectors: dict[int, Sequence[float]] = {}
    weights: list[float] = []
    for number, sentence in enumerate(text):
        previous_sentence = text[number - 1] if number else None
        if sentence.heading and not (previous_sentence and previous_sentence.heading):
            weights.append(_HEADING)
        elif previous_sentence is None or previous_sentence.heading:
            weights.append(GLUED)
        elif _is_row(sentence) and _is_row(previous_sentence):
            weights.append(_SAME_BLOCK)
        else:
            indexes = range(max(0, number - _NEIGHBOURS), min(len(text), number + _NEIGHBOURS))
            vectors = {index: vectors.get(index) or vector(text[index].text) for index in indexes}
            left_vectors = [vectors[index] for index in indexes if index < number]
            right_vectors = [vectors[index] for index in indexes if index >= number]
            weights.append(-round(_distance(left_vectors, right_vectors), 4))
    return weights


def _is_row(sentence: Sentence) -> bool:
    """Return whether it is a line of code or a row of a table."""
    return sentence.code or sentence.text.startswith("|")


def _distance(
    left_vectors: Sequence[Sequence[float]], right_vectors: Sequence[Sequence[float]]
) -> float:
    """Return one less the cosine between the sums of both, 0 to 2."""
    sums = [
        [sum(column) for column in zip(*side, strict=True)]
        for side in (left_vectors, right_vectors)
    ]
    product = sum(first * second for first, second in zip(*sums, strict=True))
    return 1 - product / (hypot(*sums[0]) * hypot(*sums[1]) or 1)


def _usual_weight(weights: Sequence[float]) -> float:
    """Return the weight below which a border is a change of subject."""
    distances = sorted((weight for weight in weights if _HEADING < weight <= 0), reverse=True)
    return distances[int(_USUAL * (len(distances) - 1))] if distances else 0.0
