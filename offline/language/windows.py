"""Windows of a passage: runs of whole sentences, as long as the built-in embedder is good at.

One vector of a long passage is the mean of all that it says, and near to none of it. A question is
compared with each window; a passage is as near as its nearest.
"""

from collections.abc import Iterator

from offline.language.sentences import Sentence, sentences

MOST_WINDOWS = 16
"""Windows that a passage has at most: of longer ones they are longer."""

_BYTES = {"all-MiniLM-L6-v2-int8": 800, "universal-sentence-encoder-multilingual-3": 300}
"""Bytes of UTF-8 of a window, by the beginning of the embedder's name: some 200 tokens of English,
and about as many of other scripts; for the encoder of sentences few of them.
"""


def has_windows(model: str) -> bool:
    """Return whether passages are embedded in windows by the embedder of that name. Those that cost
    money have none.
    """
    return _window_bytes(model) > 0


def windows_of(model: str, text: str) -> list[str]:
    """Return the windows of a passage in order, none of a passage that is one; no sentence is in
    two.
    """
    size = _window_bytes(model)
    length = len(text.encode("utf-8", "replace"))
    if not size or length <= size:
        return []
    parts = sentences(text)
    size = max(size, length // MOST_WINDOWS)
    while len(spans := list(_spans(parts, size))) > MOST_WINDOWS:
        size += size // 4
    return [text[start:end] for start, end in spans] if len(spans) > 1 else []


def _window_bytes(model: str) -> int:
    return next((size for name, size in _BYTES.items() if model.startswith(name)), 0)


def _spans(parts: list[Sentence], size: int) -> Iterator[tuple[int, int]]:
    """Yield the ends of runs of sentences that have at most `size` bytes, or are one sentence."""
    start = end = length = 0
    for part in parts:
        own_length = len(part.text.encode("utf-8", "replace"))
        if length and length + own_length > size:
            yield start, end
            length = 0
        if not length:
            start = part.start
        end = part.end
        length += own_length
    if length:
        yield start, end
