"""Texts that were cut before they were embedded, noted for whoever asked for their vectors."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_cuts: ContextVar[dict[str, int] | None] = ContextVar("cut texts", default=None)


@contextmanager
def noted_cuts() -> Generator[dict[str, int]]:
    """Collect the texts that are cut inside: each with the number of its characters that were
    embedded.

    Those of tasks that are started inside are among them.
    """
    token = _cuts.set(cuts := dict[str, int]())
    try:
        yield cuts
    finally:
        _cuts.reset(token)


def note_cut(text: str, characters: int) -> None:
    """Note that only so many characters of a text were embedded, where somebody collects that."""
    if (cuts := _cuts.get()) is not None:
        cuts[text] = characters
