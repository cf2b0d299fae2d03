"""tiktoken 0.14.0: an encoding without the vocabulary that it keeps a second time.

Beside what it encodes with it keeps the dictionary of all 200,000 tokens that it was made of, which
only copies of an encoding of another name are made with: 27 MB. Upstream: none found.
May go when `test_an_encoding_keeps_its_vocabulary_a_second_time` fails
(`tests/unit/runtime/test_workarounds.py`).
"""

import tiktoken


def without_ranks(encoding: tiktoken.Encoding) -> tiktoken.Encoding:
    """Return the encoding, which has no dictionary of its tokens any more."""
    encoding._mergeable_ranks = {}  # pyright: ignore
    return encoding
