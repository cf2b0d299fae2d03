"""When a filter of a streamed text reads its buffer again, so that small pieces do not make its
time quadratic.
"""


def size_to_read_again(size: int) -> int:
    """Return how many characters a buffer of this size must have before it is worth reading again:
    an eighth more.

    A buffer that needs more input is read from its beginning each time. So each character is read
    about nine times at most, however small the pieces are, and a short buffer is read again at its
    next character.
    """
    return size + size // 8
